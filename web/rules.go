package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// rulesView is the content of the page of rules.
type rulesView struct {
	frame
	Counts []stateCount
	Rules  []ruleRow // alerts, those that want attention first
	Record []ruleRow
}

// stateCount is how many rules are in a state.
type stateCount struct {
	State string
	N     int
}

// ruleRow is a rule and how it stands.
type ruleRow struct {
	Name, File, Group   string
	State               string // failing, firing, pending, inactive; of a record: failing, recorded
	Severity, Area      string
	Symptom             string
	Expr                string
	For, KeepFiringFor  time.Duration
	At                  time.Time // of the last evaluation; zero: none yet
	Duration            time.Duration
	Err                 string
	Alerts              []alertRow
	HasRunbook, IsAlert bool
	Changed             bool // by --alerting.set
}

// Mark is the name of the sign for the rule's state: a rule that fires has that
// of its severity.
func (r ruleRow) Mark() string {
	if r.State == string(engine.Firing) {
		return mark(r.Severity)
	}
	return mark(r.State)
}

// alertRow is an alert of a rule.
type alertRow struct {
	State   string
	Labels  string
	Summary string
	Since   time.Time
	Value   float64
}

// ruleStates lists the states, the one to look at first first.
var ruleStates = []string{"failing", "firing", "pending", "inactive"}

func (s *Site) rulesView(r Round) rulesView {
	v := rulesView{frame: s.frame("Rules · "+s.c.Node, "alerts", "", r.Report.Time)}
	v.Script, v.Worst = script, r.Report.Worst()
	active := map[string][]engine.Alert{}
	for _, a := range r.Alerts {
		if a.State != engine.Resolved {
			active[a.Name()] = append(active[a.Name()], a)
		}
	}
	for _, g := range r.Groups {
		for _, rule := range g.Rules {
			row := s.ruleRow(rule, r.Status[rule], active[rule.Alert])
			if rule.Alert == "" {
				v.Record = append(v.Record, row)
			} else {
				v.Rules = append(v.Rules, row)
			}
		}
	}
	slices.SortStableFunc(v.Rules, func(a, b ruleRow) int {
		return cmp.Or(
			slices.Index(ruleStates, a.State)-slices.Index(ruleStates, b.State),
			cmp.Compare(a.Area, b.Area),
			diagnose.Rank(b.Severity)-diagnose.Rank(a.Severity),
			cmp.Compare(a.Name, b.Name),
		)
	})
	slices.SortStableFunc(v.Record, func(a, b ruleRow) int { return cmp.Compare(b.Err, a.Err) })
	for _, state := range ruleStates {
		n := 0
		for _, row := range v.Rules {
			if row.State == state {
				n++
			}
		}
		v.Counts = append(v.Counts, stateCount{state, n})
	}
	return v
}

func (s *Site) ruleRow(rule *engine.Rule, status engine.RuleStatus, active []engine.Alert) ruleRow {
	row := ruleRow{
		Name: rule.Name(), File: strings.TrimPrefix(rule.Group.File, "rules/"), Group: rule.Group.Name, State: "inactive",
		Severity: rule.Severity(), Area: rule.Labels.Get("area"), Symptom: rule.Annotations.Get("symptom"),
		Expr: rule.Expr.Pretty(0), For: rule.For, KeepFiringFor: rule.KeepFiringFor,
		At: status.At, Duration: status.Duration,
		HasRunbook: bundled(rule.Alert), IsAlert: rule.Alert != "", Changed: rule.Changed(),
	}
	for _, a := range active {
		row.Alerts = append(row.Alerts, alertRow{
			State: string(a.State), Labels: labelText(a.Labels), Summary: a.Annotations.Get("summary"), Since: since(a), Value: a.Value,
		})
		if a.State == engine.Firing || row.State == "inactive" {
			row.State = string(a.State)
		}
	}
	if status.Err != nil {
		row.State, row.Err = "failing", status.Err.Error()
	}
	return row
}

func since(a engine.Alert) time.Time {
	if a.State == engine.Firing {
		return a.FiredAt
	}
	return a.ActiveAt
}

// labelText writes the labels that tell alerts of one rule apart.
func labelText(ls labels.Labels) string {
	var parts []string
	ls.Range(func(l labels.Label) {
		switch l.Name {
		case labels.AlertName, "instance", "severity", "area", "scope":
		default:
			parts = append(parts, l.Name+"="+l.Value)
		}
	})
	return strings.Join(parts, " ")
}
