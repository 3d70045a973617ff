package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"
)

// Inhibition says that alerts of one kind silence those of another kind while
// they fire, if both have equal values of some labels.
type Inhibition struct {
	Source, Target []*labels.Matcher
	Equal          []string
}

// ParseInhibitions reads a file with the inhibit_rules of an Alertmanager
// configuration.
func ParseInhibitions(content []byte) ([]Inhibition, error) {
	var file struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading inhibit rules: %w", err)
	}
	var inhibitions []Inhibition
	for i, r := range file.Rules {
		source, err := parseMatchers(r.Source)
		if err != nil {
			return nil, fmt.Errorf("inhibit rule %d: source_matchers: %w", i+1, err)
		}
		target, err := parseMatchers(r.Target)
		if err != nil {
			return nil, fmt.Errorf("inhibit rule %d: target_matchers: %w", i+1, err)
		}
		inhibitions = append(inhibitions, Inhibition{source, target, r.Equal})
	}
	return inhibitions, nil
}

// parseMatchers reads matchers as Alertmanager writes them: name = "value".
func parseMatchers(texts []string) ([]*labels.Matcher, error) {
	if len(texts) == 0 {
		return nil, fmt.Errorf("there are none, which would match every alert")
	}
	return newParser().ParseMetricSelector("{" + strings.Join(texts, ",") + "}")
}

// Inhibit tells which of the alerts are silenced, and by which alert. Only
// firing alerts silence, and none silences itself.
func Inhibit(inhibitions []Inhibition, alerts []Alert) map[int]*Alert {
	silenced := map[int]*Alert{}
	for _, rule := range inhibitions {
		for s := range alerts {
			source := &alerts[s]
			if source.State != Firing || !matches(source.Labels, rule.Source) {
				continue
			}
			for t := range alerts {
				target := &alerts[t]
				if t == s || silenced[t] != nil || target.State != Firing || !matches(target.Labels, rule.Target) {
					continue
				}
				// An alert that is both must not silence its equals.
				if matches(target.Labels, rule.Source) && matches(source.Labels, rule.Target) {
					continue
				}
				if equalOn(rule.Equal, source.Labels, target.Labels) {
					silenced[t] = source
				}
			}
		}
	}
	return silenced
}

func equalOn(names []string, a, b labels.Labels) bool {
	for _, name := range names {
		if a.Get(name) != b.Get(name) {
			return false
		}
	}
	return true
}
