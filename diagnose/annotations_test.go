package diagnose

import (
	"reflect"
	"testing"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

func TestParseCauses(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       Cause
	}{
		{"a side at the end", "Cable pulled (card).", Cause{"Cable pulled.", []string{"card"}}},
		{"a hint behind the side", "Damaged cable (card): then a link alert is open too.", Cause{"Damaged cable: then a link alert is open too.", []string{"card"}}},
		{"one of two sides", "Loss upstream (switch or peer).", Cause{"Loss upstream.", []string{"switch", "peer"}}},
		{"two sides together", "Packets not ECN-capable (application, this host).", Cause{"Packets not ECN-capable.", []string{"application", "this host"}}},
		{"somebody else's program", "Too few receives (application at the peer).", Cause{"Too few receives.", []string{"application at the peer"}}},
		{"no side", "Bad luck.", Cause{"Bad luck.", []string{}}},
		{"brackets that name no side", "Bad luck (often).", Cause{"Bad luck (often).", []string{}}},
		{"a side nobody knows", "Bad luck (moon).", Cause{"Bad luck (moon).", []string{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ParseCauses("\n" + c.line + "\n\n"); !reflect.DeepEqual(got, []Cause{c.want}) {
				t.Errorf("causes %q, want %q", got, c.want)
			}
		})
	}
	if got := ParseCauses(""); got == nil || len(got) != 0 {
		t.Errorf("causes of nothing: %#v", got)
	}
}

func TestParseSteps(t *testing.T) {
	for _, c := range []struct {
		name, verify string
		want         []Step
	}{
		{"the outcome in the next line", "ls a\nhealthy: nothing | sick: something", []Step{{"ls a", "nothing", "something"}}},
		{"the outcome in the same line", "ls a: healthy: nothing | sick: something", []Step{{"ls a", "nothing", "something"}}},
		{"behind a semicolon", "ls a; healthy: nothing | sick: something", []Step{{"ls a", "nothing", "something"}}},
		{"two commands with one outcome", "I=eth0\nls $I\nhealthy: nothing | sick: something", []Step{{"I=eth0\nls $I", "nothing", "something"}}},
		{"two checks", "ls a\nhealthy: x | sick: y\nls b: healthy: z | sick: w", []Step{{"ls a", "x", "y"}, {"ls b", "z", "w"}}},
		{"more than two outcomes", "ls a\nhealthy: x | sick: y | both: z", []Step{{"ls a", "x", "y | both: z"}}},
		{"no outcome", "ls a", []Step{{"ls a", "", ""}}},
		{"a pipe in the command", "ls | wc\nhealthy: x | sick: y", []Step{{"ls | wc", "x", "y"}}},
		{"nothing", "", []Step{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ParseSteps(c.verify); !reflect.DeepEqual(got, c.want) {
				t.Errorf("steps %q, want %q", got, c.want)
			}
		})
	}
}

// Every cause of every bundled rule names its side, and every rule has a first
// check of which it is said what is seen on a healthy and on a sick node.
func TestAnnotationsOfRules(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			causes := ParseCauses(r.Annotations.Get("cause"))
			if len(causes) == 0 {
				t.Errorf("%s has no cause", r.Alert)
			}
			for _, c := range causes {
				if len(c.Sides) == 0 {
					t.Errorf("%s: cause %q does not end in one of %q in brackets", r.Alert, c.Text, Sides())
				}
			}
			steps := ParseSteps(r.Annotations.Get("verify"))
			if len(steps) == 0 || steps[0].Do == "" || steps[0].Healthy == "" && r.Labels.Get("scope") != engine.FleetScope {
				t.Errorf("%s: checks %q", r.Alert, steps)
			}
		}
	}
}

func bundled() ([]*engine.Group, error) { return alerts.Groups(nil) }
