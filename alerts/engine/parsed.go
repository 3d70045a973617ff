package engine

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// parsed is a parser that knows the expressions of rules. The query engine takes
// text and has it parsed at every evaluation, which is a fifth of the work; and
// it changes what it is given, so that it gets a copy each time.
type parsed struct {
	parser.Parser
	rules map[string]parser.Expr // by text; never changed
}

func newParsed(groups []*Group) *parsed {
	p := &parsed{Parser: newParser(), rules: map[string]parser.Expr{}}
	for _, g := range groups {
		for _, r := range g.Rules {
			if kept := copyExpr(r.Expr); kept != nil { // the rule itself may be changed
				p.rules[r.query] = kept
			}
		}
	}
	return p
}

// ParseExpr implements parser.Parser.
func (p *parsed) ParseExpr(text string) (parser.Expr, error) {
	if known, ok := p.rules[text]; ok {
		return copyExpr(known), nil
	}
	return p.Parser.ParseExpr(text)
}

// copyExpr copies an expression as the parser made it. It is nil for one that
// holds something it does not know.
func copyExpr(expr parser.Expr) parser.Expr {
	switch e := expr.(type) {
	case *parser.NumberLiteral:
		c := *e
		return &c
	case *parser.StringLiteral:
		c := *e
		return &c
	case *parser.ParenExpr:
		c := *e
		return made(&c, copyInto(&c.Expr))
	case *parser.UnaryExpr:
		c := *e
		return made(&c, copyInto(&c.Expr))
	case *parser.AggregateExpr:
		c := *e
		c.Grouping = slices.Clone(e.Grouping) // the engine sorts it
		return made(&c, copyInto(&c.Expr) && (c.Param == nil || copyInto(&c.Param)))
	case *parser.BinaryExpr:
		c := *e
		if e.VectorMatching != nil {
			matching := *e.VectorMatching
			matching.MatchingLabels = slices.Clone(matching.MatchingLabels)
			matching.Include = slices.Clone(matching.Include)
			c.VectorMatching = &matching
		}
		return made(&c, copyInto(&c.LHS) && copyInto(&c.RHS))
	case *parser.Call:
		c := *e
		c.Args = slices.Clone(e.Args)
		for i := range c.Args {
			if !copyInto(&c.Args[i]) {
				return nil
			}
		}
		return &c
	case *parser.VectorSelector:
		c := *e
		c.LabelMatchers = slices.Clone(e.LabelMatchers)
		return made(&c, e.OriginalOffsetExpr == nil)
	case *parser.MatrixSelector:
		c := *e
		return made(&c, e.RangeExpr == nil && copyInto(&c.VectorSelector))
	case *parser.SubqueryExpr:
		c := *e
		return made(&c, e.RangeExpr == nil && e.OriginalOffsetExpr == nil && e.StepExpr == nil && copyInto(&c.Expr))
	}
	return nil
}

// copyInto puts a copy in the place of an expression.
func copyInto(place *parser.Expr) bool {
	*place = copyExpr(*place)
	return *place != nil
}

// made is the copy if it is whole.
func made(c parser.Expr, whole bool) parser.Expr {
	if !whole {
		return nil
	}
	return c
}
