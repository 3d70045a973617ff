package engine

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// What a look at the store tells, of x at 3, y at 0 and z that moved 10 minutes
// ago, and what it cannot tell.
func TestQuiet(t *testing.T) {
	s := newStore(wanted{names: map[string]time.Duration{"x": time.Hour, "y": time.Hour, "z": time.Hour}})
	now := int64(1_000_000_000)
	for minute := int64(-30); minute <= 0; minute++ {
		at := time.UnixMilli(now + minute*60_000)
		s.begin()
		for name, v := range map[string]float64{"x": 3, "y": 0, "z": float64(min(minute, -10))} {
			for _, device := range []string{"a", "b"} {
				s.add(s.series(labels.FromStrings("__name__", name, "device", device)), at, v, "")
			}
		}
		s.end(at, "", slices.Values([]string{"x", "y", "z"}))
	}
	for expr, want := range map[string]bool{
		// Counters that stand still.
		`rate(x[5m]) > 0.5`:                         true,
		`sum by (device) (increase(x[15m])) > 10`:   true,
		`increase(x[1h]) > 0`:                       true,
		`increase(x[1h]) >= 0`:                      false,
		`increase(x[1h]) >= 1`:                      true,
		`increase(x[1h]) == 0`:                      false,
		`increase(x[1h]) < 1`:                       false,
		`increase(x[1h]) > -1`:                      false,
		`increase(x[1h]) > bool 0`:                  false,
		`increase(x[1h]) != 1`:                      false,
		`increase(z[9m]) > 0`:                       true,
		`increase(z[11m]) > 0`:                      false,
		`increase(z[5m] offset 4m) > 0`:             true,
		`increase(z[5m] offset 6m) > 0`:             false,
		`increase(x[5m] offset -1m) > 0`:            false,
		`increase(x[5m] @ 100) > 0`:                 false,
		`increase(x[5m] @ end()) > 0`:               false,
		`max_over_time(x[5m]) > 0`:                  false,
		`rate(x[5m:1m]) > 0`:                        false,
		`increase({device="a"}[5m]) > 0`:            false,
		`increase({__name__="x",device="a"}[5m])>0`: true,
		// Present values.
		`y > 0`: true, `y == 1`: true, `x > 0`: false, `y offset 1m > 0`: false, `y @ 100 > 0`: false,
		`y * 8 > 0`: true, `8 * y > 0`: true, `y + 8 > 0`: false, `y + rate(x[1m]) > 0`: true, `y - x > 0`: false,
		`y / x > 0`: true, `x / y > 0`: false, `-y > 0`: false, `0 < y`: false, `y ^ 2 > 0`: false,
		`label_replace(y, "a", "b", "", "") > 0`: true, `clamp_max(y, 1) > 0`: true, `clamp_max(y, -1) == -1`: false,
		`clamp_min(y, 1) > 0`: false, `count(y) > 0`: false, `quantile(0.5, y) > 0`: false, `absent(y) > 0`: false,
		`vector(1) > 0`: false, `(y == bool 0) > 0`: false, `max(y < 1) > 0`: true,
		// One side of several.
		`y > 0 or rate(x[5m]) > 0`: true, `y > 0 or x > 0`: false, `x > 0 and y > 0`: true, `y > 0 and x > 0`: true,
		`x > 0 unless y > 0`: false, `y > 0 unless x > 0`: true, `x and y`: false,
		`count by (device) (y > 0)`: true, `-(y > 0)`: true, `(y > 0) + on (device) x`: true, `x * (y > 0)`: true,
		`(y or rate(x[1m])) > 0`: true, `(x and y) > 0`: false, `(y and x) > 0`: true, `absent(y > 0)`: false,
		// No such series: zero, if it is anything.
		`nothing > 0`: true, `rate(nothing[5m]) > 0 or y > 0`: true,
	} {
		r := groups(t, "{alert: A, expr: '"+expr+"'}")[0].Rules[0]
		if got := r.quiet != nil && r.quiet(s, now); got != want {
			t.Errorf("%s: quiet %v, want %v", expr, got, want)
		}
	}
}

// Whatever the series do, a bundled rule that is not evaluated would have had no
// result.
func TestQuietIsEmpty(t *testing.T) {
	files, err := filepath.Glob("../rules/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no rules", err)
	}
	var all []*Group
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parse(t, string(content))...)
	}
	skipped, results := 0, 0
	for seed := range uint64(2) {
		w := newWalk(all, rand.New(rand.NewPCG(seed, 7)))
		for range 15 {
			for range 12 {
				w.step()
			}
			for _, g := range w.e.groups {
				for _, r := range g.Rules {
					vector, err := w.e.ask(context.Background(), r.query, w.now)
					if err != nil {
						continue
					}
					results += len(vector)
					if w.e.nothing(r, w.now) {
						skipped++
						if len(vector) > 0 {
							t.Fatalf("seed %d, %s: %s was not evaluated, and is %s", seed, w.now, r.Name(), vector)
						}
					}
				}
			}
		}
	}
	if skipped < 1000 || results < 1000 {
		t.Errorf("%d skipped and %d results: the series do too little to tell", skipped, results)
	}
}

// walk is an engine whose series move at random.
type walk struct {
	e      *Engine
	random *rand.Rand
	now    time.Time
	series []labels.Labels
	pace   []float64 // of each series in a step
	values []float64
}

func newWalk(groups []*Group, random *rand.Rand) *walk {
	w := &walk{e: New(Config{Groups: NodeScope(groups)}), random: random, now: time.Unix(1_000_000_007, 0)}
	recorded := recordedBy(groups)
	var names []string
	for _, g := range w.e.groups {
		for _, r := range g.Rules {
			for _, m := range r.metrics {
				if recorded[m] == nil && !slices.Contains(names, m) {
					names = append(names, m)
				}
			}
		}
	}
	kinds := []string{"ack_timeout", "transport", "phy", "pma", "physical"}
	for _, name := range names {
		for _, device := range []string{"a", "b"} {
			w.series = append(w.series, labels.FromStrings("__name__", name, "instance", "node", "device", device, "port", "1",
				"pci", "0000:0"+device+":00.0", "slot", device, "kind", kinds[random.IntN(len(kinds))], "link_layer", "InfiniBand", "role", "compute"))
			w.pace = append(w.pace, 0)
			w.values = append(w.values, float64(random.IntN(3)))
		}
	}
	return w
}

// step is one round: most series stay as they are, some begin to move, jump,
// fall to zero or are not there.
func (w *walk) step() {
	w.now = w.now.Add(step)
	var names []string
	w.e.store.begin()
	for i, ls := range w.series {
		names = append(names, ls.Get("__name__"))
		switch w.random.IntN(1000) {
		case 0, 1:
			w.pace[i] = float64(w.random.IntN(1_000_000))
		case 2, 3, 4:
			w.pace[i] = 0
		case 5:
			w.values[i] += float64(w.random.IntN(100))
		case 6:
			w.values[i], w.pace[i] = 0, 0
		case 7:
			continue
		}
		w.values[i] += w.pace[i]
		w.e.store.add(w.e.store.series(ls), w.now, w.values[i], "")
	}
	w.e.store.end(w.now, "", slices.Values(names))
	w.e.Evaluate(context.Background(), w.now)
}

// What is wrong with a rule shows though nothing has happened yet.
func TestQuietRuleFails(t *testing.T) {
	s := newSim(t, `{alert: Wrong, expr: 'rdma_x * on () rdma_y > 0'}`)
	for range fullEvery {
		s.step(values{"rdma_x a": 0, "rdma_y a": 1, "rdma_y b": 1})
	}
	if s.failure("Wrong") == nil || s.e.Stats().Failures != fullEvery {
		t.Errorf("error %v, %d failures", s.failure("Wrong"), s.e.Stats().Failures)
	}
}
