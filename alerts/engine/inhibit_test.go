package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// alerts makes firing alerts from "Name device port", in that order.
func firing(texts ...string) []Alert {
	var all []Alert
	for _, text := range texts {
		state := Firing
		if rest, pending := strings.CutPrefix(text, "pending "); pending {
			text, state = rest, Pending
		}
		parts := strings.Fields(text)
		all = append(all, Alert{Labels: labels.FromStrings("alertname", parts[0], "device", parts[1], "port", parts[2]), State: state})
	}
	return all
}

func TestInhibit(t *testing.T) {
	const file = `inhibit_rules:
  - source_matchers: ['alertname = "Down"']
    target_matchers: ['area = ""', 'alertname =~ "Loss|Slow"']
    equal: [device, port]
  - source_matchers: ['alertname =~ "Flap|Down"']
    target_matchers: ['alertname =~ "Flap|Down|Bounce"']
    equal: [device]
  - source_matchers: ['alertname = "Loss"']
    target_matchers: ['alertname = "Ratio"']
    equal: [device, lane]
`
	rules, err := ParseInhibitions([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		alerts []Alert
		want   string
	}{
		{"the cause silences the consequence", firing("Loss a 1", "Down a 1"), "Loss by Down"},
		{"on the same port only", firing("Loss a 2", "Down a 1", "Slow b 1"), ""},
		{"a pending cause does not", firing("Loss a 1", "pending Down a 1"), ""},
		{"what is pending needs no silence", firing("pending Loss a 1", "Down a 1"), ""},
		{"an alert that is both does not silence its equals", firing("Down a 1", "Flap a 2"), ""},
		{"nor itself, but what is only a target", firing("Down a 1", "Bounce a 2"), "Bounce by Down"},
		{"what is silenced silences all the same, as in Alertmanager", firing("Down a 1", "Loss a 1", "Ratio a 1"), "Loss by Down, Ratio by Loss"},
		{"labels that both lack are equal", firing("Loss a 1", "Ratio a 2"), "Ratio by Loss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for i, by := range Inhibit(rules, c.alerts) {
				got = append(got, c.alerts[i].Name()+" by "+by.Name())
			}
			slices.Sort(got)
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("silenced: %q, want %q", text, c.want)
			}
		})
	}
}

// Ten thousand alerts that could silence ten thousand others take no time that
// grows with their product: the test itself would not end.
func TestInhibitMany(t *testing.T) {
	rules, err := ParseInhibitions([]byte(`inhibit_rules: [{source_matchers: ['alertname = "Down"'], target_matchers: ['alertname = "Loss"'], equal: [device, port]}]`))
	if err != nil {
		t.Fatal(err)
	}
	var all []Alert
	for i := range 10_000 {
		all = append(all, firing(fmt.Sprintf("Down d%d 1", i), fmt.Sprintf("Loss d%d 1", i))...)
	}
	silenced := Inhibit(rules, all)
	if len(silenced) != 10_000 || silenced[1].Labels.Get("device") != "d0" {
		t.Errorf("%d silenced, want 10000, the first by its own device", len(silenced))
	}
}

func TestParseInhibitionsErrors(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"no YAML", "inhibit_rules: [", "yaml"},
		{"a key that does not exist", "inhibit_rules: [{source_match: {a: b}}]", "source_match"},
		{"no source: it would silence everything", "inhibit_rules: [{target_matchers: ['a = \"b\"']}]", "inhibit rule 1: source_matchers: there are none"},
		{"no target", "inhibit_rules: [{source_matchers: ['a = \"b\"']}]", "inhibit rule 1: target_matchers"},
		{"a matcher that is none", "inhibit_rules: [{source_matchers: ['a ~ b']}]", "inhibit rule 1: source_matchers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := ParseInhibitions([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
