package engine

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// expressions have every kind of node that rules are made of.
var expressions = []string{
	`rdma_x{device=~"mlx.*"} offset 5m > 1`,
	`sum by (port, device) (rate(rdma_x[5m])) / on (device) group_left (kind) count without (port) (rdma_y)`,
	`quantile by (device) (0.9, -rdma_x) or vector(time()) unless absent(rdma_y{device="a"})`,
	`max_over_time((rdma_x * 2)[10m:1m] offset 1m)`,
	`label_replace(topk(3, (rdma_x)), "a", "$1", "device", "(.*)") == bool 1`,
	`rdma_x @ end() - ignoring (port) rdma_y @ 17`,
	`count_values("kind", rdma_x)`,
}

// The copy says the same and shares nothing that an evaluation changes.
func TestCopyExpr(t *testing.T) {
	for _, text := range expressions {
		expr, err := newParser().ParseExpr(text)
		if err != nil {
			t.Fatal(err)
		}
		c := copyExpr(expr)
		if c == nil || c.String() != expr.String() || !reflect.DeepEqual(c, expr) {
			t.Errorf("%s was copied as %v", text, c)
			continue
		}
		theirs := map[parser.Node]bool{}
		visit(expr, func(n parser.Node) { theirs[n] = true })
		visit(c, func(n parser.Node) {
			if theirs[n] {
				t.Errorf("%s shares %s with its copy", text, n)
			}
			if a, ok := n.(*parser.AggregateExpr); ok {
				for i := range a.Grouping {
					a.Grouping[i] = "changed"
				}
			}
			if b, ok := n.(*parser.BinaryExpr); ok && b.VectorMatching != nil {
				for i := range b.VectorMatching.MatchingLabels {
					b.VectorMatching.MatchingLabels[i] = "changed"
				}
				b.VectorMatching.On = !b.VectorMatching.On
			}
		})
		if again, err := newParser().ParseExpr(text); err != nil || again.String() != expr.String() {
			t.Errorf("changing the copy of %s made %s of it", text, expr)
		}
	}
}

func visit(expr parser.Expr, f func(parser.Node)) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if n != nil {
			f(n)
		}
		return nil
	})
}

// Every evaluation begins with the rule as it was written.
func TestParsedTwice(t *testing.T) {
	for _, text := range expressions {
		s := newSim(t, `{alert: A, expr: '`+text+`'}`)
		r := s.e.groups[0].Rules[0]
		for i := range 40 {
			s.step(values{"rdma_x mlx5_1": float64(i), "rdma_x mlx5_0": 3, "rdma_y mlx5_0": 1})
			want, err := newSimParser(s).ask(t.Context(), text, s.now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.e.ask(t.Context(), r.query, s.now)
			if err != nil || !slices.Equal(lines(got), lines(want)) {
				t.Fatalf("step %d, %s: %s, %v; parsed anew %s", i, text, got, err, want)
			}
		}
		if newParsed(s.e.groups).rules[r.query] == nil {
			t.Errorf("%s is parsed each time", r.query)
		}
	}
}

// lines are the results in order: some expressions give them as they come.
func lines(v promql.Vector) []string { return slices.Sorted(strings.SplitSeq(v.String(), "\n")) }

// newSimParser is the engine of a simulation without what it knows of rules.
func newSimParser(s *sim) *Engine {
	return &Engine{store: s.e.store, query: newQueryEngine(newParser(), maxSamples)}
}
