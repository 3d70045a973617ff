package engine

import (
	"github.com/prometheus/common/model"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// lookback is how old a sample may be and still count as the present value;
// four rounds of evaluation may be missed.
const lookback = time.Minute

// analyse finds out what the expression reads and how far back. It is called
// again when the expression has been changed.
func (r *Rule) analyse() {
	r.query, r.metrics, r.needs, r.quiet, r.span = r.Expr.String(), nil, needs(r.Expr), empty(r.Expr), lookback
	parser.Inspect(r.Expr, func(n parser.Node, path []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			if name := metricName(s); name != "" && !slices.Contains(r.metrics, name) {
				r.metrics = append(r.metrics, name)
			}
			r.span = max(r.span, reach(s, path))
		}
		return nil
	})
}

// needs lists metrics without any of which the expression has no result, so
// that there is nothing to evaluate on a node that does not have them.
func needs(expr parser.Expr) []string {
	switch e := expr.(type) {
	case *parser.VectorSelector:
		if name := metricName(e); name != "" {
			return []string{name}
		}
	case *parser.MatrixSelector:
		return needs(e.VectorSelector)
	case *parser.SubqueryExpr:
		return needs(e.Expr)
	case *parser.ParenExpr:
		return needs(e.Expr)
	case *parser.UnaryExpr:
		return needs(e.Expr)
	case *parser.AggregateExpr:
		return needs(e.Expr)
	case *parser.BinaryExpr:
		left, right := needs(e.LHS), needs(e.RHS)
		switch e.Op {
		case parser.LOR:
			return slices.DeleteFunc(left, func(m string) bool { return !slices.Contains(right, m) })
		case parser.LUNLESS:
			return left
		}
		return append(left, right...)
	case *parser.Call:
		switch e.Func.Name {
		case "absent", "absent_over_time", "scalar", "vector":
			return nil
		}
		var all []string
		for _, arg := range e.Args {
			all = append(all, needs(arg)...)
		}
		return all
	}
	return nil
}

// metricName is the name that a selector asks for, "" if it does not ask for
// one name.
func metricName(s *parser.VectorSelector) string {
	if s.Name != "" {
		return s.Name
	}
	for _, m := range s.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

// forever is how far back a selector looks that names a point in time.
const forever = 1 << 62

// reach is how far back a selector looks from the time of evaluation: its
// range, its offset, and those of the subqueries around it.
func reach(s *parser.VectorSelector, path []parser.Node) time.Duration {
	if s.Timestamp != nil {
		return forever
	}
	far := lookback + s.OriginalOffset
	for _, n := range path {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			far += n.Range - lookback
		case *parser.SubqueryExpr:
			if n.Timestamp != nil {
				return forever
			}
			far += n.Range + n.OriginalOffset
		}
	}
	return max(far, lookback) // an offset may be negative
}

// wanted tells which metrics rules read and how far back they look.
type wanted struct {
	names    map[string]time.Duration
	patterns []pattern
}

// pattern is a selector that does not ask for one name.
type pattern struct {
	name []*labels.Matcher // none: any name
	span time.Duration
}

// wants collects what rules read.
func wants(groups []*Group) wanted {
	w := wanted{names: map[string]time.Duration{}}
	for _, g := range groups {
		for _, r := range g.Rules {
			parser.Inspect(r.Expr, func(n parser.Node, path []parser.Node) error {
				s, ok := n.(*parser.VectorSelector)
				if !ok {
					return nil
				}
				far := reach(s, path)
				if name := metricName(s); name != "" {
					w.names[name] = max(w.names[name], far)
					return nil
				}
				p := pattern{span: far}
				for _, m := range s.LabelMatchers {
					if m.Name == model.MetricNameLabel {
						p.name = append(p.name, m)
					}
				}
				w.patterns = append(w.patterns, p)
				return nil
			})
		}
	}
	return w
}

// span is how far back any rule looks at a metric, and whether one does at all.
func (w wanted) span(metric string) (far time.Duration, any bool) {
	far, any = w.names[metric]
	for _, p := range w.patterns {
		if !slices.ContainsFunc(p.name, func(m *labels.Matcher) bool { return !m.Matches(metric) }) {
			far, any = max(far, p.span), true
		}
	}
	return far, any
}

// windows tells of each rule how long it takes a new store until the rule sees
// all that it looks at: its span, and that of the recorded metrics it reads.
func windows(groups []*Group) map[*Rule]time.Duration {
	recorded := recordedBy(groups)
	known := map[*Rule]time.Duration{}
	var window func(r *Rule) time.Duration
	window = func(r *Rule) time.Duration {
		if w, ok := known[r]; ok {
			return w
		}
		known[r] = r.span // for rules that read each other in a circle
		deepest := time.Duration(0)
		for _, m := range r.metrics {
			for _, other := range recorded[m] {
				deepest = max(deepest, window(other))
			}
		}
		known[r] = r.span + deepest
		return known[r]
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			window(r)
		}
	}
	return known
}
