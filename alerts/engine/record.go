package engine

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// Record evaluates no more than what later evaluations need to know of now:
// the rules whose recorded metrics some rule looks at over time, and what those
// read in turn. It is for who wants to judge a later moment only.
func (e *Engine) Record(ctx context.Context, now time.Time) {
	for _, g := range e.groups {
		for _, r := range g.Rules {
			if ctx.Err() != nil {
				return
			}
			if e.lasting[r] {
				e.evaluate(ctx, r, now, false)
			}
		}
	}
}

// lasting finds the recording rules whose past is looked at.
func lasting(groups []*Group) map[*Rule]bool {
	recorded := recordedBy(groups)
	found := map[*Rule]bool{}
	var add func(metric string)
	add = func(metric string) {
		for _, r := range recorded[metric] {
			if !found[r] {
				found[r] = true
				for _, m := range r.metrics {
					add(m)
				}
			}
		}
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			parser.Inspect(r.Expr, func(n parser.Node, path []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok && overTime(s, path) {
					add(metricName(s))
				}
				return nil
			})
		}
	}
	return found
}

// overTime reports whether a selector looks at more than the present value.
func overTime(s *parser.VectorSelector, path []parser.Node) bool {
	if s.OriginalOffset != 0 || s.Timestamp != nil {
		return true
	}
	for _, n := range path {
		switch n.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			return true
		}
	}
	return false
}
