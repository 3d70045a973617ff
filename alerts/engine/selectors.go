package engine

import (
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// recordedBy tells which rules record a metric.
func recordedBy(groups []*Group) map[string][]*Rule {
	recorded := map[string][]*Rule{}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				recorded[r.Record] = append(recorded[r.Record], r)
			}
		}
	}
	return recorded
}

// Selector is a metric and what its labels must be.
type Selector struct {
	Metric   string
	Matchers []*labels.Matcher // without that of the name
}

// Selectors lists what a rule looks at, in the order in which it is written:
// what rules record is resolved into what they are recorded of. What must be
// absent (the right side of unless) is left out.
func Selectors(r *Rule, groups []*Group) []Selector {
	w := selectorWalk{recorded: recordedBy(groups), seen: map[*Rule]bool{}}
	w.walk(r.Expr, nil)
	return w.found
}

type selectorWalk struct {
	recorded map[string][]*Rule
	seen     map[*Rule]bool // on the way, for rules that read each other
	found    []Selector
}

func (w *selectorWalk) walk(n parser.Node, outer []*labels.Matcher) {
	switch n := n.(type) {
	case *parser.BinaryExpr:
		w.walk(n.LHS, outer)
		if n.Op != parser.LUNLESS {
			w.walk(n.RHS, outer)
		}
	case *parser.VectorSelector:
		w.selector(n, outer)
	default:
		for child := range parser.ChildrenIter(n) {
			w.walk(child, outer)
		}
	}
}

func (w *selectorWalk) selector(s *parser.VectorSelector, outer []*labels.Matcher) {
	name := metricName(s)
	matchers := append([]*labels.Matcher(nil), outer...)
	for _, m := range s.LabelMatchers {
		if m.Name != model.MetricNameLabel {
			matchers = append(matchers, m)
		}
	}
	if rules := w.recorded[name]; len(rules) > 0 {
		for _, r := range rules {
			if !w.seen[r] {
				w.seen[r] = true
				w.walk(r.Expr, matchers)
				w.seen[r] = false
			}
		}
	} else if name != "" {
		w.found = append(w.found, Selector{name, matchers})
	}
}
