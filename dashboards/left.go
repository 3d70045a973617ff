package dashboards

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// comparison is what one branch of a rule compares.
type comparison struct {
	left   parser.Expr
	limits []bound     // numbers it is compared with
	right  parser.Expr // what else it is compared with, or nil
}

// bound is a number and how something is compared with it.
type bound struct {
	op    parser.ItemType
	value float64
}

// compared takes the comparisons out of the condition of an alert, so that what
// is compared can be drawn whether it is beyond its limit or not. Of what is
// only asked for as well (`and`, `unless`) nothing is left.
func compared(e parser.Expr) []comparison {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return compared(e.Expr)
	case *parser.BinaryExpr:
		return comparedBinary(e)
	case *parser.AggregateExpr:
		return comparedAggregate(e)
	case *parser.Call:
		if e.Func.Name == "label_replace" {
			return within(compared(e.Args[0]), func(inner parser.Expr) parser.Expr {
				c := *e
				c.Args = append(parser.Expressions{inner}, e.Args[1:]...)
				return &c
			})
		}
	}
	return []comparison{{left: e}}
}

func comparedBinary(e *parser.BinaryExpr) []comparison {
	switch {
	case e.Op == parser.LOR:
		return append(compared(e.LHS), compared(e.RHS)...)
	case e.Op == parser.LAND || e.Op == parser.LUNLESS:
		return compared(e.LHS)
	case e.Op.IsComparisonOperator() && !e.ReturnBool:
		if count, ok := e.LHS.(*parser.AggregateExpr); ok && count.Op == parser.COUNT {
			return against([]comparison{{left: counted(count)}}, e)
		}
		return against(compared(e.LHS), e)
	case isInfo(e.LHS): // adds labels, and the comparison is in what it adds them to
		return within(compared(e.RHS), func(inner parser.Expr) parser.Expr {
			c := *e
			c.RHS = grouped(inner)
			return &c
		})
	case e.RHS.Type() == parser.ValueTypeScalar:
		return within(compared(e.LHS), func(inner parser.Expr) parser.Expr {
			c := *e
			c.LHS = grouped(inner)
			return &c
		})
	case e.LHS.Type() == parser.ValueTypeScalar:
		return within(compared(e.RHS), func(inner parser.Expr) parser.Expr {
			c := *e
			c.RHS = grouped(inner)
			return &c
		})
	}
	return []comparison{{left: e}}
}

// grouped keeps an operation together inside of another.
func grouped(e parser.Expr) parser.Expr {
	if _, ok := e.(*parser.BinaryExpr); ok {
		return &parser.ParenExpr{Expr: e}
	}
	return e
}

// against adds what the left side of e is compared with.
func against(parts []comparison, e *parser.BinaryExpr) []comparison {
	for i := range parts {
		if value, ok := constant(e.RHS); ok {
			parts[i].limits = append(parts[i].limits, bound{e.Op, value})
		} else {
			parts[i].right = e.RHS
		}
	}
	return parts
}

// isInfo reports whether an expression is a metric that is 1 and has labels.
func isInfo(e parser.Expr) bool {
	s, ok := e.(*parser.VectorSelector)
	return ok && strings.HasSuffix(s.Name, "info")
}

func comparedAggregate(e *parser.AggregateExpr) []comparison {
	if e.Op == parser.COUNT { // one is what it takes to be counted
		return []comparison{{left: counted(e), limits: []bound{{parser.GTE, 1}}}}
	}
	return within(compared(e.Expr), func(inner parser.Expr) parser.Expr {
		c := *e
		c.Expr = inner
		return &c
	})
}

// counted counts with zeros: of `count(x == 1)`, which is nothing where there is
// none, it makes `sum(x == bool 1)`.
func counted(e *parser.AggregateExpr) parser.Expr {
	inner := copied(e.Expr)
	first := leftmost(inner)
	if first == nil {
		return e
	}
	first.ReturnBool = true
	sum := *e
	sum.Op, sum.Expr = parser.SUM, inner
	return &sum
}

// leftmost is the comparison that decides what is counted, or nil.
func leftmost(e parser.Expr) *parser.BinaryExpr {
	b, ok := e.(*parser.BinaryExpr)
	switch {
	case !ok:
		return nil
	case b.Op.IsComparisonOperator() && !b.ReturnBool:
		return b
	case b.Op == parser.LAND || b.Op == parser.LUNLESS:
		return leftmost(b.LHS)
	}
	return nil
}

// within puts what stood around an expression around its parts.
func within(parts []comparison, around func(parser.Expr) parser.Expr) []comparison {
	for i, c := range parts {
		parts[i].left = around(c.left)
		if c.right != nil {
			parts[i].right = around(c.right)
		}
	}
	return parts
}

// constant is the value of an expression that is a number.
func constant(e parser.Expr) (float64, bool) {
	switch e := e.(type) {
	case *parser.NumberLiteral:
		return e.Val, true
	case *parser.ParenExpr:
		return constant(e.Expr)
	}
	return 0, false
}

// known tells which labels series have.
type known struct {
	metrics  map[string][]string    // by name, of the exporter
	recorded map[string]parser.Expr // by name
}

// labelsOf are the labels of the series that an expression gives, as far as
// they tell one series from another.
func (k known) labelsOf(e parser.Expr) []string {
	switch e := e.(type) {
	case *parser.ParenExpr:
		return k.labelsOf(e.Expr)
	case *parser.AggregateExpr:
		if e.Op == parser.TOPK || e.Op == parser.BOTTOMK {
			return k.labelsOf(e.Expr)
		}
		if e.Op == parser.COUNT_VALUES {
			return append(slices.Clone(e.Grouping), e.Param.(*parser.StringLiteral).Val)
		}
		return e.Grouping
	case *parser.BinaryExpr:
		return k.labelsOfBinary(e)
	case *parser.Call:
		if e.Func.Name == "label_replace" {
			return append(slices.Clone(k.labelsOf(e.Args[0])), e.Args[1].(*parser.StringLiteral).Val)
		}
		for _, arg := range e.Args {
			if of := k.labelsOf(arg); of != nil {
				return of
			}
		}
	case *parser.MatrixSelector:
		return k.labelsOf(e.VectorSelector)
	case *parser.VectorSelector:
		return k.labelsOfMetric(e.Name)
	}
	return nil
}

func (k known) labelsOfBinary(e *parser.BinaryExpr) []string {
	if e.VectorMatching != nil && e.VectorMatching.Card == parser.CardOneToMany || e.LHS.Type() == parser.ValueTypeScalar {
		return k.labelsOf(e.RHS)
	}
	of := k.labelsOf(e.LHS)
	if e.VectorMatching != nil && e.VectorMatching.Card == parser.CardOneToOne && e.VectorMatching.On && !e.Op.IsSetOperator() && !e.Op.IsComparisonOperator() {
		return e.VectorMatching.MatchingLabels
	}
	if e.VectorMatching != nil {
		of = append(slices.Clone(of), e.VectorMatching.Include...)
	}
	return of
}

func (k known) labelsOfMetric(name string) []string {
	if expr, ok := k.recorded[name]; ok {
		return k.labelsOf(expr)
	}
	return append([]string{"cluster", "instance"}, k.metrics[name]...)
}

// selected makes an expression heed the variables, each of them where a series
// has its label.
func (k known) selected(e parser.Expr) string {
	e = copied(e)
	inside := false
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			of := k.labelsOfMetric(s.Name)
			inside = inside || slices.Contains(of, "cluster")
			for _, name := range []string{"cluster", "instance", "device", "port"} {
				if slices.Contains(of, name) {
					s.LabelMatchers = append(s.LabelMatchers, labels.MustNewMatcher(labels.MatchRegexp, name, "$"+name))
				}
			}
		}
		return nil
	})
	if !inside && slices.Contains(k.labelsOf(e), "instance") {
		return "(" + e.String() + ")" + inCluster
	}
	return e.String()
}

// copied is an expression that can be changed: rules are shared.
func copied(e parser.Expr) parser.Expr {
	c, err := parser.NewParser(parser.Options{}).ParseExpr(e.String())
	if err != nil {
		return e // what was parsed once is parsed again
	}
	return c
}
