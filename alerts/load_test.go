package alerts_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// Every threshold is in the rules it says it is in, and changing it changes
// these and no others.
func TestThresholds(t *testing.T) {
	list, err := alerts.Thresholds()
	if err != nil {
		t.Fatal(err)
	}
	before := queries(t, nil)
	names := map[string]bool{}
	for _, threshold := range list {
		if names[threshold.Name] || threshold.Why == "" || threshold.Unit == "" || len(threshold.Alerts) == 0 {
			t.Errorf("%s is there twice, or lacks its reason, its unit or its alerts", threshold.Name)
		}
		names[threshold.Name] = true
		const other = 123456789
		after := queries(t, alerts.Settings{threshold.Name: other})
		for rule, query := range after {
			switch listed, changed := slices.Contains(threshold.Alerts, rule), query != before[rule]; {
			case listed && (!changed || !strings.Contains(query, "123456789")):
				t.Errorf("%s is not in %s: %s", threshold.Name, rule, query)
			case changed && !listed:
				t.Errorf("%s changes %s", threshold.Name, rule)
			}
		}
		for _, rule := range threshold.Alerts {
			if before[rule] == "" {
				t.Errorf("%s is said to be in %s, which does not exist", threshold.Name, rule)
			}
		}
	}
}

// queries are the expressions by the names of their rules.
func queries(t *testing.T, set alerts.Settings) map[string]string {
	t.Helper()
	groups, err := alerts.Groups(set)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, g := range groups {
		for _, r := range g.Rules {
			all[r.Name()] += r.Query()
		}
	}
	return all
}

func TestParseSettings(t *testing.T) {
	list, err := alerts.Thresholds()
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	name := list[0].Name
	for _, c := range []struct{ pair, want string }{
		{name + "=0.5", ""}, {name + "=1e-7", ""}, {name + "=-3", ""},
		{name, "is not NAME=VALUE"}, {name + "=", "is not NAME=VALUE"}, {name + "=much", "is not NAME=VALUE"},
		{name + "=NaN", "is not NAME=VALUE"}, {name + "=+Inf", "is not NAME=VALUE"}, {"=1", `no threshold ""; there are ` + name},
		{"nosuch=1", `no threshold "nosuch"; there are ` + name},
	} {
		_, err := alerts.ParseSettings([]string{c.pair})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", c.pair, err, c.want)
		}
	}
}

// What is printed is the bundled rules, whole, with their comments.
func TestPrint(t *testing.T) {
	var printed bytes.Buffer
	if err := alerts.Print(&printed, nil, "", false); err != nil {
		t.Fatal(err)
	}
	parsed, err := engine.ParseRules("printed.yaml", printed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	bundled, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	compareGroups(t, parsed, bundled)
	comments := 0
	for _, file := range alerts.RuleFiles() {
		content, err := alerts.File(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			comment, is := strings.CutPrefix(strings.TrimSpace(line), "# ")
			if !is {
				continue
			}
			comments++
			if !strings.Contains(printed.String(), "# "+comment) {
				t.Errorf("%s: the comment %q is lost", file, comment)
			}
		}
	}
	if comments == 0 {
		t.Error("no comments to keep")
	}
}

func compareGroups(t *testing.T, got, want []*engine.Group) {
	t.Helper()
	text := func(groups []*engine.Group) []string {
		var all []string
		for _, g := range groups {
			for _, r := range g.Rules {
				all = append(all, strings.Join([]string{g.Name, r.Name(), r.Query(), r.For.String(), r.KeepFiringFor.String(), r.Labels.String(), r.Annotations.String()}, " | "))
			}
		}
		return all
	}
	g, w := text(got), text(want)
	if len(g) != len(w) {
		t.Fatalf("%d rules, want %d", len(g), len(w))
	}
	for i := range g {
		if g[i] != w[i] {
			t.Errorf("got  %s\nwant %s", g[i], w[i])
		}
	}
}

// A changed threshold is in what is printed, and nothing else is changed.
func TestPrintChanged(t *testing.T) {
	list, err := alerts.Thresholds()
	if err != nil || len(list) == 0 {
		t.Fatal(err)
	}
	set := alerts.Settings{list[0].Name: 0.777}
	var plain, printed bytes.Buffer
	if err := alerts.Print(&plain, nil, "", false); err != nil {
		t.Fatal(err)
	}
	if err := alerts.Print(&printed, set, "", false); err != nil {
		t.Fatal(err)
	}
	parsed, err := engine.ParseRules("printed.yaml", printed.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want, err := alerts.Groups(set)
	if err != nil {
		t.Fatal(err)
	}
	compareGroups(t, parsed, want)
	if strings.Count(printed.String(), "0.777") != strings.Count(plain.String(), "0.777")+len(list[0].Alerts) {
		t.Errorf("0.777 is %d times in what is printed, want %d", strings.Count(printed.String(), "0.777"), len(list[0].Alerts))
	}
}

// The same as an object of the Prometheus operator.
func TestPrintObject(t *testing.T) {
	var printed bytes.Buffer
	if err := alerts.Print(&printed, nil, "", true); err != nil {
		t.Fatal(err)
	}
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       yaml.Node
	}
	if err := yaml.Unmarshal(printed.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	if object.APIVersion != "monitoring.coreos.com/v1" || object.Kind != "PrometheusRule" || object.Metadata.Name != "rdmawatch" {
		t.Errorf("object %+v", object)
	}
	spec, err := yaml.Marshal(&object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := engine.ParseRules("spec", spec)
	if err != nil {
		t.Fatal(err)
	}
	bundled, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	compareGroups(t, parsed, bundled)
}

// Every rule of inhibit.yaml has a cause and a consequence among the alerts.
func TestInhibitionsNameAlerts(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	inhibitions, err := alerts.Inhibitions()
	if err != nil {
		t.Fatal(err)
	}
	for i, rule := range inhibitions {
		sources, targets := 0, 0
		for _, g := range groups {
			for _, r := range g.Rules {
				if r.Alert != "" && matches(example(r), rule.Source) {
					sources++
				}
				if r.Alert != "" && matches(example(r), rule.Target) {
					targets++
				}
			}
		}
		if sources == 0 || targets == 0 {
			t.Errorf("inhibit rule %d is about %d causes and %d consequences: %v, %v", i+1, sources, targets, rule.Source, rule.Target)
		}
	}
}

func matches(a engine.Alert, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(a.Labels.Get(m.Name)) })
}

// Links to runbooks lead where a site says, on the node and as printed; those of
// other rules stay.
func TestMoveRunbooks(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := engine.ParseRules("own.yaml", []byte(`groups: [{name: own, rules: [{alert: Own, expr: up, annotations: {runbook_url: "https://wiki.example/Own"}}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	alerts.MoveRunbooks(append(groups, own...), "http://node-7.example:10055/runbooks/")
	for _, g := range groups {
		for _, r := range g.Rules {
			if got, want := r.Annotations.Get("runbook_url"), "http://node-7.example:10055/runbooks/"+r.Alert; r.Alert != "" && got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	if got := own[0].Rules[0].Annotations.Get("runbook_url"); got != "https://wiki.example/Own" {
		t.Errorf("the own rule leads to %s", got)
	}
	var printed bytes.Buffer
	if err := alerts.Print(&printed, nil, "http://node-7.example:10055/runbooks", false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(printed.String(), alerts.RunbookBase) || !strings.Contains(printed.String(), "runbook_url: http://node-7.example:10055/runbooks/RDMAPortDown\n") {
		t.Error("the printed rules lead elsewhere")
	}
}
