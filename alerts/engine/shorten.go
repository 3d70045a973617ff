package engine

import (
	"fmt"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// Shortened is what became of a rule that was made to judge a window.
type Shortened struct {
	Whole *Rule // as it was
	// Partial rules look back less far than they should: what they find is
	// there, but that they find nothing proves nothing. Those that ask for
	// little to have happened find nothing at all.
	Partial bool
}

// Shorten makes copies of rules that judge a window: what looks back farther is
// made to look back as far as the window does, and no condition has to hold for
// any time. A rate is the same over any time; what counts events, compares with
// an earlier time or sums up a time is not. A window of zero is one sample, of
// which there is no rate either.
func Shorten(groups []*Group, window time.Duration) ([]*Group, map[*Rule]*Shortened, error) {
	p := newParser()
	short := map[*Rule]*Shortened{}
	var copies []*Group
	for _, g := range groups {
		c := &Group{Name: g.Name, File: g.File, Limit: g.Limit}
		for _, r := range g.Rules {
			expr, err := p.ParseExpr(r.query)
			if err != nil {
				return nil, nil, fmt.Errorf("rule %s: %w", r.Name(), err)
			}
			blind := countsTooLittle(expr, window)
			rule := &Rule{Record: r.Record, Alert: r.Alert, Expr: expr, Labels: r.Labels, Annotations: r.Annotations, Group: c, key: r.key, changed: r.changed}
			short[rule] = &Shortened{Whole: r, Partial: shorten(expr, window)}
			if blind {
				if rule.Expr, err = p.ParseExpr("(" + expr.String() + ") unless on () vector(1)"); err != nil {
					return nil, nil, fmt.Errorf("rule %s: %w", r.Name(), err)
				}
			}
			rule.analyse()
			c.Rules = append(c.Rules, rule)
		}
		copies = append(copies, c)
	}
	inheritShort(copies, short)
	return copies, short, nil
}

// shorten changes an expression in place, and reports whether that is more than
// another time over which a rate is taken.
func shorten(expr parser.Expr, window time.Duration) (partial bool) {
	least := window + time.Millisecond // a range does not include its beginning
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.MatrixSelector:
			if n.Range > least && (window == 0 || !isRate(path)) {
				partial = true
			}
			if fit(&n.Range, &n.VectorSelector.(*parser.VectorSelector).OriginalOffset, least) {
				partial = true
			}
		case *parser.SubqueryExpr:
			if n.Range+n.OriginalOffset > least {
				partial = true
			}
			fit(&n.Range, &n.OriginalOffset, least)
		case *parser.VectorSelector:
			if n.OriginalOffset > window { // beside a range it fits by now
				n.OriginalOffset, partial = window, true
			}
		case *parser.BinaryExpr:
			if shortenAge(n, window) {
				partial = true
			}
		}
		return nil
	})
	return partial
}

// countsTooLittle reports whether an expression asks that fewer than so many
// events were counted in a time longer than the window. In less time there are
// fewer of them, so that a shortened rule would find what is not there: it is
// made one that finds nothing.
func countsTooLittle(expr parser.Expr, window time.Duration) (found bool) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		bound, ok := n.(*parser.BinaryExpr)
		if !ok || bound.Op != parser.LSS && bound.Op != parser.LTE {
			return nil
		}
		parser.Inspect(bound.LHS, func(n parser.Node, path []parser.Node) error {
			m, ok := n.(*parser.MatrixSelector)
			found = found || ok && m.Range > window+time.Millisecond && !isRate(path)
			return nil
		})
		return nil
	})
	return found
}

// fit makes a range that ends some time ago fit into a window, in proportion,
// and reports whether that moved its end.
func fit(span, offset *time.Duration, window time.Duration) (moved bool) {
	far := *span + max(*offset, 0)
	if far <= window {
		return false
	}
	share := float64(window) / float64(far)
	*span = max(time.Duration(float64(*span)*share), time.Millisecond)
	if *offset <= 0 {
		return false
	}
	*offset = time.Duration(float64(*offset) * share)
	return true
}

// isRate reports whether the call around a range selector means the same over
// any time.
func isRate(path []parser.Node) bool {
	for i := len(path) - 1; i >= 0; i-- {
		if call, ok := path[i].(*parser.Call); ok {
			switch call.Func.Name {
			case "rate", "irate", "deriv":
				return true
			}
			return false
		}
	}
	return false
}

// shortenAge deals with `time() - x > 1200`, which asks that something has been
// there for a while: in a short window nothing has, and it is taken to have.
func shortenAge(e *parser.BinaryExpr, window time.Duration) bool {
	age, ok := e.LHS.(*parser.BinaryExpr)
	least, number := e.RHS.(*parser.NumberLiteral)
	if !ok || !number || age.Op != parser.SUB || e.Op != parser.GTR && e.Op != parser.GTE || least.Val <= window.Seconds() {
		return false
	}
	if call, ok := age.LHS.(*parser.Call); !ok || call.Func.Name != "time" {
		return false
	}
	least.Val = -1
	return true
}

// inheritShort makes a rule partial that reads what a partial one records.
func inheritShort(groups []*Group, short map[*Rule]*Shortened) {
	recorded := recordedBy(groups)
	seen := map[*Rule]bool{} // also for rules that read each other
	var visit func(r *Rule) bool
	visit = func(r *Rule) bool {
		if seen[r] {
			return short[r].Partial
		}
		seen[r] = true
		for _, m := range r.metrics {
			for _, other := range recorded[m] {
				if visit(other) {
					short[r].Partial = true
				}
			}
		}
		return short[r].Partial
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			visit(r)
		}
	}
}
