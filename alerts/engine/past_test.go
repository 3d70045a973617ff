package engine

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// What is known of a counter: 7, 11, 2 (begun anew), 5 at intervals of 15 s.
func TestPast(t *testing.T) {
	s := newSim(t, "{alert: A, expr: 'rate(rdma_x[2m]) > 9'}")
	begin := s.now
	for _, v := range []float64{7, 11, 2, 5} {
		s.step(values{"rdma_x mlx5_0": v, "rdma_y mlx5_0": 1})
	}
	for _, c := range []struct {
		name  string
		since time.Time
		want  string
	}{
		{"all of it", begin.Add(-time.Hour), "7@0 5@45 +9"}, // 4, then 2 from zero, then 3
		{"from a point on", begin.Add(30 * time.Second), "2@30 5@45 +3"},
		{"from between two points", begin.Add(31 * time.Second), "5@45 5@45 +0"},
		{"after the last one", begin.Add(time.Hour), "5@45 5@45 +0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			past := s.e.Past("rdma_x", c.since)
			if len(past) != 1 {
				t.Fatalf("%d series", len(past))
			}
			p := past[0]
			got := fmt.Sprintf("%g@%g %g@%g +%g", p.First.Value, p.First.Time.Sub(begin).Seconds(), p.Last.Value, p.Last.Time.Sub(begin).Seconds(), p.Increase)
			if got != c.want {
				t.Errorf("past %q, want %q", got, c.want)
			}
		})
	}
	if past := s.e.Past("rdma_y", begin); past != nil {
		t.Errorf("a metric that no rule names is kept: %v", past)
	}
	if !s.e.Since().Equal(begin) {
		t.Errorf("since %s, want %s", s.e.Since(), begin)
	}
	if past := s.e.Past("rdma_x", begin, labels.MustNewMatcher(labels.MatchEqual, "device", "mlx5_1")); past != nil {
		t.Errorf("another device: %v", past)
	}
	s.step(values{})
	if past := s.e.Past("rdma_x", begin); past != nil {
		t.Errorf("a series that is gone is shown: %v", past)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		name, expr, want string
		partial          bool
	}{
		{"a gauge", "rdma_x == 1", "rdma_x == 1", false},
		{"a rate is the same over any time", "rate(rdma_x[2m]) > 1", "rate(rdma_x[10s1ms]) > 1", false},
		{"a range that fits", "increase(rdma_x[5s]) > 1", "increase(rdma_x[5s]) > 1", false},
		{"what counts events", "increase(rdma_x[5m]) > 1", "increase(rdma_x[10s1ms]) > 1", true},
		// In less time fewer are counted: it would find what is not there.
		{"what counts few events", "increase(rdma_x[5m]) < 7", "(increase(rdma_x[10s1ms]) < 7) unless on () vector(1)", true},
		{"a low rate", "rate(rdma_x[5m]) < 7", "rate(rdma_x[10s1ms]) < 7", false},
		{"a highest value", "max_over_time(rdma_x[5m]) > 1", "max_over_time(rdma_x[10s1ms]) > 1", true},
		{"a rate inside an aggregation", "sum by (device) (rate(rdma_x[5m])) > 1", "sum by (device) (rate(rdma_x[10s1ms])) > 1", false},
		{"an earlier time", "rdma_x - rdma_x offset 4m > 1", "rdma_x - rdma_x offset 10s > 1", true},
		// 10.001 s are shared out as 600 s and 600 s are.
		{"an earlier range", "increase(rdma_x[10m] offset 10m) > 1", "increase(rdma_x[5s] offset 5s) > 1", true},
		{"a subquery", "max_over_time(rdma_x[7m:15s]) > 1", "max_over_time(rdma_x[10s1ms:15s]) > 1", true},
		{"an age that nothing can have", "time() - rdma_x > 1200", "time() - rdma_x > -1", true},
		{"an age that it can have", "time() - rdma_x > 7", "time() - rdma_x > 7", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := groups(t, "{alert: A, for: 5m, keep_firing_for: 5m, expr: '"+c.expr+"'}")
			short, became, err := Shorten(whole, 10*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			r := short[0].Rules[0]
			if r.Query() != c.want || became[r].Partial != c.partial {
				t.Errorf("%s, partial %t; want %s, %t", r.Query(), became[r].Partial, c.want, c.partial)
			}
			if r.For != 0 || r.KeepFiringFor != 0 {
				t.Errorf("for %s, keep_firing_for %s", r.For, r.KeepFiringFor)
			}
			if was := whole[0].Rules[0]; became[r].Whole != was || was.Query() != groups(t, "{alert: A, expr: '"+c.expr+"'}")[0].Rules[0].Query() {
				t.Errorf("the rule itself became %s", was.Query())
			}
		})
	}
}

// One sample has no rate.
func TestShortenToNothing(t *testing.T) {
	short, became, err := Shorten(groups(t, "{alert: A, expr: 'rate(rdma_x[2m]) > 1'}, {alert: B, expr: rdma_x > 1}"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := became[short[0].Rules[0]].Partial, became[short[0].Rules[1]].Partial; !a || b {
		t.Errorf("partial: %t, %t; want the rate alone", a, b)
	}
}

// A rule is as partial as what it reads, whatever the order.
func TestShortenInherits(t *testing.T) {
	short, became, err := Shorten(groups(t, "{alert: A, expr: r > 1}, {record: r, expr: q}, {record: q, expr: 'increase(rdma_x[5m])'}, {alert: B, expr: rdma_x > 1}"), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, r := range short[0].Rules {
		got = append(got, became[r].Partial)
	}
	if want := "[true true true false]"; fmt.Sprint(got) != want {
		t.Errorf("partial %v, want %s", got, want)
	}
}

func TestSelectors(t *testing.T) {
	g := groups(t, `
		{record: r, expr: 'sum by (device, kind) (rate(rdma_x{side="a"}[2m])) / rdma_y'},
		{alert: A, expr: 'r{kind="b"} > 1 and rdma_z unless rdma_w'}`)
	var got []string
	for _, s := range Selectors(g[0].Rules[1], g) {
		got = append(got, fmt.Sprint(s.Metric, s.Matchers))
	}
	if want := `[rdma_x[kind="b" side="a"] rdma_y[kind="b"] rdma_z[]]`; fmt.Sprint(got) != want {
		t.Errorf("selectors %v, want %s", got, want)
	}
}

// Rules that read each other end.
func TestSelectorsOfACircle(t *testing.T) {
	g := groups(t, "{record: r, expr: q + rdma_x}, {record: q, expr: r}, {alert: A, expr: r > 1}")
	if got := Selectors(g[0].Rules[2], g); len(got) != 1 || got[0].Metric != "rdma_x" {
		t.Errorf("selectors %v", got)
	}
}

// Record evaluates what others look back at, and what that is made of.
func TestRecord(t *testing.T) {
	s := newSim(t, "{record: a, expr: rdma_x}, {record: b, expr: a * 2}, {record: c, expr: rdma_x}, {alert: A, expr: 'max_over_time(b[1m]) > c'}")
	s.read(values{"rdma_x mlx5_0": 7})
	s.e.Record(context.Background(), s.now)
	s.now = s.now.Add(step)
	if got, want := len(s.e.store.byName["a"])+len(s.e.store.byName["b"]), 2; got != want {
		t.Errorf("%d series of a and b, want %d", got, want)
	}
	if got := len(s.e.store.byName["c"]); got != 0 {
		t.Errorf("c was recorded, and nobody looks back at it")
	}
	if states := s.states(); states != "" {
		t.Errorf("alerts %s", states)
	}
}
