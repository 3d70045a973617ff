package engine

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// quiet tells from a look at the store that an expression has no result, so
// that it need not be evaluated. Nil: that cannot be told. Nearly all rules ask
// whether a counter of errors has moved, and on a quiet node none has.
type quiet func(s *store, now ms) bool

// fullEvery is how often a rule is evaluated all the same, in rounds: what is
// wrong with a rule, as two series where it wants one, shows before the fault
// comes that it is meant for.
const fullEvery = 20

// either is quiet if one of several is.
func either(proofs ...quiet) quiet {
	proofs = slices.DeleteFunc(proofs, func(p quiet) bool { return p == nil })
	switch len(proofs) {
	case 0:
		return nil
	case 1:
		return proofs[0]
	}
	return func(s *store, now ms) bool {
		return slices.ContainsFunc(proofs, func(p quiet) bool { return p(s, now) })
	}
}

// both is quiet if two are.
func both(a, b quiet) quiet {
	if a == nil || b == nil {
		return nil
	}
	return func(s *store, now ms) bool { return a(s, now) && b(s, now) }
}

// empty proves that an expression has no result.
func empty(expr parser.Expr) quiet {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return empty(e.Expr)
	case *parser.UnaryExpr:
		return empty(e.Expr)
	case *parser.AggregateExpr:
		return empty(e.Expr)
	case *parser.Call:
		if e.Func.Name == "label_replace" || e.Func.Name == "clamp_max" {
			return empty(e.Args[0])
		}
	case *parser.BinaryExpr:
		switch {
		case e.Op == parser.LOR:
			return both(empty(e.LHS), empty(e.RHS))
		case e.Op == parser.LUNLESS:
			return empty(e.LHS)
		case e.Op.IsComparisonOperator() && !e.ReturnBool && zeroFails(e.Op, e.RHS):
			return either(zero(e.LHS), empty(e.LHS))
		}
		return either(empty(e.LHS), empty(e.RHS))
	}
	return nil
}

// zeroFails reports whether neither zero nor NaN passes a comparison.
func zeroFails(op parser.ItemType, than parser.Expr) bool {
	number, ok := than.(*parser.NumberLiteral)
	if !ok {
		return false
	}
	switch op {
	case parser.GTR:
		return number.Val >= 0
	case parser.GTE:
		return number.Val > 0
	case parser.EQLC:
		return number.Val != 0
	}
	return false
}

// zero proves that every result of an expression, if there are any, is zero or
// NaN. What it goes through keeps that: no value is shifted, inverted, or
// chosen by its size.
func zero(expr parser.Expr) quiet {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return zero(e.Expr)
	case *parser.VectorSelector:
		if name := metricName(e); name != "" && presentTime(e) && e.OriginalOffset == 0 {
			return func(s *store, _ ms) bool { return allOf(s, name, (*ring).isZero) }
		}
	case *parser.AggregateExpr:
		switch e.Op {
		case parser.SUM, parser.MAX, parser.MIN, parser.AVG:
			return zero(e.Expr)
		}
	case *parser.Call:
		return zeroCall(e)
	case *parser.BinaryExpr:
		return zeroBinary(e)
	}
	return nil
}

func zeroCall(e *parser.Call) quiet {
	switch e.Func.Name {
	case "label_replace":
		return zero(e.Args[0])
	case "clamp_max":
		if number, ok := e.Args[1].(*parser.NumberLiteral); ok && number.Val >= 0 {
			return zero(e.Args[0])
		}
	case "rate", "increase", "delta", "changes", "resets":
		m, ok := e.Args[0].(*parser.MatrixSelector)
		if !ok {
			return nil
		}
		selector := m.VectorSelector.(*parser.VectorSelector)
		if name := metricName(selector); name != "" && presentTime(selector) && selector.OriginalOffset >= 0 {
			return unmoved(name, m.Range+selector.OriginalOffset)
		}
	}
	return nil
}

func zeroBinary(e *parser.BinaryExpr) quiet {
	switch {
	case e.Op == parser.ADD, e.Op == parser.SUB, e.Op == parser.LOR:
		return both(zero(e.LHS), zero(e.RHS))
	case e.Op == parser.MUL:
		return either(zero(e.LHS), zero(e.RHS))
	case e.Op == parser.DIV, e.Op == parser.LAND, e.Op == parser.LUNLESS:
		return zero(e.LHS)
	case e.Op.IsComparisonOperator() && !e.ReturnBool && e.LHS.Type() == parser.ValueTypeVector:
		return zero(e.LHS)
	}
	return nil
}

// presentTime reports whether a selector looks back from the time of
// evaluation, and not from one that it names.
func presentTime(s *parser.VectorSelector) bool {
	return s.Timestamp == nil && s.StartOrEnd == 0
}

// unmoved proves that no series of a metric has changed within a time.
func unmoved(metric string, span time.Duration) quiet {
	return func(s *store, now ms) bool {
		since := now - span.Milliseconds()
		return allOf(s, metric, func(r *ring) bool { return r.unmoved(since) })
	}
}

func allOf(s *store, metric string, is func(*ring) bool) bool {
	return !slices.ContainsFunc(s.byName[metric], func(r *ring) bool { return !is(r) })
}

// unmoved reports whether all points since a time have one value.
func (r *ring) unmoved(since ms) bool {
	if r.flat <= since {
		return true
	}
	first := r.after(since - 1)
	return first == len(r.points) || r.flat <= r.at(first).t
}

// isZero reports whether the last value is zero, or none at all.
func (r *ring) isZero() bool {
	n := len(r.points)
	if n == 0 {
		return true
	}
	v := r.at(n - 1).v
	return v == 0 || math.IsNaN(v)
}
