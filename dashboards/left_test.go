package dashboards

import (
	"fmt"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// What is drawn of a condition, and its limits.
func TestCompared(t *testing.T) {
	for _, c := range []struct{ name, condition, want string }{
		{"a number", `a > 5`, `a | > 5`},
		{"what must hold as well is left out", `a > 5 and on (x) b > 1 unless c`, `a | > 5`},
		{"either", `a > 5 or b > 7`, `a | > 5; b | > 7`},
		{"between", `a > 1 < 4`, `a | > 1 < 4`},
		{"inside of an aggregation", `max by (x) (rate(a[5m]) > 0.5 and on (x) b)`, `max by (x) (rate(a[5m])) | > 0.5`},
		{"another series", `a < on (x) b`, `a | beyond b`},
		{"another series, eightfold", `8 * max by (x) (a < on (x) b)`, `8 * max by (x) (a) | beyond 8 * max by (x) (b)`},
		{"a ratio keeps its guard", `a / (b > 1000) > 0.1`, `a / (b > 1000) | > 0.1`},
		{"labels of an info", `a:info * on (x) group_left () (b > 0.6)`, `a:info * on (x) group_left () b | > 0.6`},
		{"an operation inside of another", `8 * (a + b > 3)`, `8 * (a + b) | > 3`},
		{"counted with zeros", `count by (x) (a == 0) > 2`, `sum by (x) (a == bool 0) | > 2`},
		{"one is enough to be counted", `count by (x) (a == 1)`, `sum by (x) (a == bool 1) | >= 1`},
		{"counts of counts", `count by (x) (count by (x, y) (a)) > 1`, `count by (x) (count by (x, y) (a)) | > 1`},
		{"a label is added", `label_replace(a > 3, "kind", "sent", "", "")`, `label_replace(a, "kind", "sent", "", "") | > 3`},
	} {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(c.condition)
		if err != nil {
			t.Fatal(err)
		}
		before, got := e.String(), ""
		for i, part := range compared(e) {
			if i > 0 {
				got += "; "
			}
			got += part.left.String() + " |"
			for _, l := range part.limits {
				got += fmt.Sprintf(" %s %g", l.op, l.value)
			}
			if part.right != nil {
				got += " beyond " + part.right.String()
			}
		}
		if got != c.want {
			t.Errorf("%s: %s\ngives %s\nwant  %s", c.name, c.condition, got, c.want)
		}
		if e.String() != before {
			t.Errorf("%s: the rule itself is changed to %s", c.name, e)
		}
	}
}
