package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// Group is a rule group: its rules are evaluated one after the other.
type Group struct {
	Name  string
	File  string
	Limit int
	Rules []*Rule
	// Ignored are settings of the file that only a server heeds: the node
	// evaluates all groups at its own interval, at the time of the reading.
	Ignored []string
}

// Rule is a recording or an alerting rule.
type Rule struct {
	Record, Alert string // one of them is the rule's name
	Expr          parser.Expr
	For           time.Duration
	KeepFiringFor time.Duration
	Labels        labels.Labels
	Annotations   labels.Labels
	Group         *Group

	key     string // tells rules apart that record one metric with several labels
	query   string
	changed bool     // by Replace
	metrics []string // that the expression selects
	needs   []string // without any of which it has no result
	quiet   quiet    // tells that it has no result
	span    time.Duration
}

// Name is the name of the alert or of the recorded metric.
func (r *Rule) Name() string { return r.Record + r.Alert }

// Severity is critical, warning or info.
func (r *Rule) Severity() string { return r.Labels.Get("severity") }

// Metrics lists the metrics that the expression selects.
func (r *Rule) Metrics() []string { return r.metrics }

// Needs lists metrics without any of which the expression has no result.
func (r *Rule) Needs() []string { return r.needs }

// Span is how far the expression looks back.
func (r *Rule) Span() time.Duration { return r.span }

// Query is the expression as text.
func (r *Rule) Query() string { return r.query }

// FleetScope is the value of the label scope of rules that compare nodes; only
// a central Prometheus can evaluate them.
const FleetScope = "fleet"

func newParser() parser.Parser { return parser.NewParser(parser.Options{}) }

// ParseRules reads a rule file in Prometheus' format. Its errors name the file
// and the line.
func ParseRules(file string, content []byte) ([]*Group, error) {
	p := newParser()
	parsed, errs := rulefmt.Parse(content, false, model.UTF8Validation, p, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		for i, err := range errs {
			errs[i] = fmt.Errorf("%s: %w", file, err)
		}
		// What is no YAML is said twice.
		errs = slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })
		return nil, errors.Join(errs...)
	}
	var groups []*Group
	for _, g := range parsed.Groups {
		group := &Group{Name: g.Name, File: file, Limit: g.Limit}
		if g.Interval != 0 {
			group.Ignored = append(group.Ignored, "interval")
		}
		if g.QueryOffset != nil {
			group.Ignored = append(group.Ignored, "query_offset")
		}
		for _, r := range g.Rules {
			rule, err := newRule(p, r, g.Labels)
			if err != nil {
				return nil, fmt.Errorf("%s: group %s: %s: %w", file, g.Name, r.Alert+r.Record, err)
			}
			rule.Group = group
			group.Rules = append(group.Rules, rule)
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func newRule(p parser.Parser, r rulefmt.Rule, groupLabels map[string]string) (*Rule, error) {
	expr, err := p.ParseExpr(r.Expr)
	if err != nil {
		return nil, err
	}
	b := labels.NewBuilder(labels.FromMap(groupLabels))
	for name, value := range r.Labels {
		b.Set(name, value)
	}
	rule := &Rule{
		Record: r.Record, Alert: r.Alert, Expr: expr,
		For: time.Duration(r.For), KeepFiringFor: time.Duration(r.KeepFiringFor),
		Labels: b.Labels(), Annotations: labels.FromMap(r.Annotations),
	}
	rule.key = rule.Name() + rule.Labels.String()
	rule.analyse()
	return rule, nil
}

// NodeScope leaves out the rules that only a central Prometheus can evaluate.
func NodeScope(groups []*Group) []*Group {
	var kept []*Group
	for _, g := range groups {
		node := &Group{Name: g.Name, File: g.File, Limit: g.Limit}
		for _, r := range g.Rules {
			if r.Labels.Get("scope") != FleetScope {
				node.Rules = append(node.Rules, r)
			}
		}
		if len(node.Rules) > 0 {
			kept = append(kept, node)
		}
	}
	return kept
}

// CheckNames refuses two alerts of one name: one name ties rule, runbook and
// scenarios.
func CheckNames(groups []*Group) error {
	seen := map[string]string{}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			where := fmt.Sprintf("%s, group %s", g.File, g.Name)
			if first, ok := seen[r.Alert]; ok {
				return fmt.Errorf("alert %s is defined twice: in %s and in %s", r.Alert, first, where)
			}
			seen[r.Alert] = where
		}
	}
	return nil
}

// Replace puts own groups beside the bundled ones: an alert or recorded metric
// that an own group defines takes the bundled one's place.
func Replace(bundled, own []*Group) []*Group {
	names := map[string]bool{}
	for _, g := range own {
		for _, r := range g.Rules {
			names[r.Name()] = true
		}
	}
	var groups []*Group
	for _, g := range bundled {
		kept := &Group{Name: g.Name, File: g.File, Limit: g.Limit}
		for _, r := range g.Rules {
			if !names[r.Name()] {
				kept.Rules = append(kept.Rules, r)
			}
		}
		if len(kept.Rules) > 0 {
			groups = append(groups, kept)
		}
	}
	return append(groups, own...)
}

// Replace puts other numbers in the place of some in the expression, wherever
// they stand there, and returns how often it did. All are replaced at once, so
// that a new number is never taken for an old one.
func (r *Rule) Replace(numbers map[float64]float64) int {
	n := 0
	parser.Inspect(r.Expr, func(node parser.Node, _ []parser.Node) error {
		if number, ok := node.(*parser.NumberLiteral); ok {
			if value, replaced := numbers[number.Val]; replaced {
				number.Val = value
				n++
			}
		}
		return nil
	})
	r.changed = r.changed || n > 0
	r.analyse()
	return n
}

// Changed reports whether Replace has changed the expression.
func (r *Rule) Changed() bool { return r.changed }

// MaxSpan is how far back a rule may look on the node: what is older is not
// kept in memory.
const MaxSpan = 2 * time.Hour

// CheckSpans refuses rules that look back farther than that.
func CheckSpans(groups []*Group) error {
	var errs []error
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.span > MaxSpan {
				errs = append(errs, fmt.Errorf("%s: group %s: %s looks back %s, and the node keeps %s", g.File, g.Name, r.Name(), r.span, MaxSpan))
			}
		}
	}
	return errors.Join(errs...)
}
