package alerts

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// Print writes the bundled rules with a site's thresholds as one rule file, or
// as a PrometheusRule object. Comments are kept. runbooks is another place for
// runbook_url; "" leaves it.
func Print(w io.Writer, set Settings, runbooks string, object bool) error {
	merged := &yaml.Node{Kind: yaml.SequenceNode}
	for _, file := range RuleFiles() {
		content, err := File(file)
		if err != nil {
			return err
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(content, &doc); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		groups, err := engine.ParseRules(file, content)
		if err != nil {
			return err
		}
		if err := Apply(groups, set); err != nil {
			return err
		}
		list := child(doc.Content[0], "groups")
		rewrite(list, groups, runbooks)
		keepComment(&doc, list)
		merged.Content = append(merged.Content, list.Content...)
	}
	spec := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("groups"), merged}}
	out := spec
	if object {
		out = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			scalar("apiVersion"), scalar("monitoring.coreos.com/v1"),
			scalar("kind"), scalar("PrometheusRule"),
			scalar("metadata"), {Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("name"), scalar("rdmawatch")}},
			scalar("spec"), spec,
		}}
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("printing rules: %w", err)
	}
	return encoder.Close()
}

// rewrite puts the expressions of groups into the YAML they were read from,
// where a threshold has changed them, and another place of the runbooks.
func rewrite(list *yaml.Node, groups []*engine.Group, runbooks string) {
	for i, g := range groups {
		rules := child(list.Content[i], "rules")
		for j, r := range g.Rules {
			if r.Changed() {
				expr := child(rules.Content[j], "expr")
				expr.Value, expr.Style = r.Query(), 0
			}
			link := child(child(rules.Content[j], "annotations"), "runbook_url")
			if moved, ok := movedRunbook(link.Value, runbooks); ok {
				link.Value = moved
			}
		}
	}
}

// keepComment moves what stands at the head of a file to its first group.
func keepComment(doc, list *yaml.Node) {
	if len(list.Content) == 0 {
		return
	}
	first := list.Content[0]
	comments := []string{doc.HeadComment, doc.Content[0].HeadComment, doc.Content[0].Content[0].HeadComment, first.HeadComment}
	comments = slices.DeleteFunc(comments, func(c string) bool { return c == "" })
	first.HeadComment = strings.Join(comments, "\n")
}

// child finds the value of a key.
func child(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}

func scalar(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }
