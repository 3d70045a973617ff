package engine

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

func newTestStore(keep time.Duration) *store {
	return newStore(wanted{names: map[string]time.Duration{"rdma_x": keep, "rdma_y": keep}})
}

// put appends one value of rdma_x{device} in a round of its own.
func put(s *store, device string, second int64, v float64) {
	s.begin()
	s.add(s.series(labels.FromStrings("__name__", "rdma_x", "device", device)), time.Unix(second, 0), v, "")
	s.end(time.Unix(second, 0), "", maps.Keys(s.byName))
}

// between lists the points of a time span.
func between(r *ring, mint, maxt int64) []point {
	var points []point
	f := found{r: r, low: r.after(mint - 1), high: r.after(maxt)}
	for it := f.Iterator(nil); it.Next() != chunkenc.ValNone; {
		t, v := it.At()
		points = append(points, point{t, v})
	}
	return points
}

// holds lists the points of a device: "15:1 30:stale".
func holds(s *store, device string) string {
	var points []string
	for _, r := range s.byName["rdma_x"] {
		if r.labels.Get("device") != device {
			continue
		}
		for _, p := range between(r, math.MinInt64+1, math.MaxInt64) {
			v := fmt.Sprint(p.v)
			if value.IsStaleNaN(p.v) {
				v = "stale"
			}
			points = append(points, fmt.Sprintf("%d:%s", p.t/1000, v))
		}
	}
	return strings.Join(points, " ")
}

func TestStorePoints(t *testing.T) {
	for _, c := range []struct {
		name string
		fill func(s *store)
		want string
	}{
		{"holds what is younger than a minute, and one more", func(s *store) {
			for i := range int64(9) {
				put(s, "a", 15*i, float64(i))
			}
		}, "60:4 75:5 90:6 105:7 120:8"},
		{"grows when the interval becomes shorter", func(s *store) {
			for i := range int64(6) {
				put(s, "a", 30*i, float64(i))
			}
			for i := range int64(3) {
				put(s, "a", 160+10*i, float64(10+i))
			}
		}, "120:4 150:5 160:10 170:11 180:12"},
		{"a longer interval leaves what is too old to be asked for", func(s *store) {
			for i := range int64(5) {
				put(s, "a", 15*i, float64(i))
			}
			put(s, "a", 180, 7)
		}, "15:1 30:2 45:3 60:4 180:7"},
		{"a clock set back starts anew", func(s *store) {
			put(s, "a", 600, 1)
			put(s, "a", 615, 2)
			put(s, "a", 15, 3)
			put(s, "a", 30, 4)
		}, "15:3 30:4"},
		{"one time twice counts once, with the later value", func(s *store) {
			put(s, "a", 15, 1)
			put(s, "a", 30, 2)
			put(s, "a", 30, 3)
			put(s, "a", 45, 4)
		}, "15:1 30:3 45:4"},
		{"a vanished series is marked stale, once", func(s *store) {
			put(s, "a", 15, 1)
			put(s, "b", 30, 1)
			put(s, "b", 45, 1)
		}, "15:1 30:stale"},
		{"it may come back", func(s *store) {
			put(s, "a", 15, 1)
			put(s, "b", 30, 1)
			put(s, "a", 45, 2)
		}, "15:1 30:stale 45:2"},
		{"a vanished series is forgotten when nobody could ask for it any more", func(s *store) {
			put(s, "a", 15, 1)
			for i := range int64(6) {
				put(s, "b", 30+15*i, 1)
			}
		}, ""},
		{"one that vanished before the clock was set back is forgotten", func(s *store) {
			put(s, "a", 6000, 1)
			put(s, "b", 6015, 1)
			put(s, "b", 30, 1)
		}, ""},
		{"a device called otherwise is another series", func(s *store) {
			put(s, "A", 15, 1)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestStore(time.Minute)
			c.fill(s)
			if got := holds(s, "a"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// What is forgotten leaves nothing behind: not in any index, not as a series
// that a reading still points at.
func TestStoreForgets(t *testing.T) {
	s := newTestStore(time.Minute)
	put(s, "a", 0, 1)
	a := s.byName["rdma_x"][0]
	put(s, "b", 15, 1)
	put(s, "b", 90, 1)
	if !a.gone || s.len() != 1 || len(s.byHash) != 1 {
		t.Errorf("gone %t, %d series, %d hashes; want true, 1, 1", a.gone, s.len(), len(s.byHash))
	}
	put(s, "b", 105, 1)
	s.begin()
	for second := int64(120); second < 300; second += 15 {
		s.begin()
		s.end(time.Unix(second, 0), "", maps.Keys(s.byName))
	}
	if s.len() != 0 || len(s.byName) != 0 || len(s.byHash) != 0 {
		t.Errorf("an empty node leaves %d series, %d names, %d hashes", s.len(), len(s.byName), len(s.byHash))
	}
}

// Rounds of one owner do not end the series of another, even of one metric.
func TestStoreOwners(t *testing.T) {
	s := newTestStore(time.Minute)
	put(s, "node", 15, 1)
	for _, owner := range []string{"first", "second"} {
		s.begin()
		s.add(s.series(labels.FromStrings("__name__", "rdma_x", "device", owner)), time.Unix(15, 0), 1, owner)
		s.end(time.Unix(15, 0), owner, slices.Values([]string{"rdma_x"}))
	}
	for _, device := range []string{"node", "first", "second"} {
		if got := holds(s, device); got != "15:1" {
			t.Errorf("%s holds %q", device, got)
		}
	}
}

// take keeps the past of what both name, with the length that is asked now.
func TestStoreTake(t *testing.T) {
	old := newTestStore(time.Minute)
	for i := range int64(4) {
		put(old, "a", 15*i, float64(i))
	}
	put(old, "b", 60, 1) // a is stale
	old.begin()
	for _, rule := range []string{"kept", "dropped"} {
		old.add(old.series(labels.FromStrings("__name__", "rdma_x", "device", rule)), time.Unix(60, 0), 5, rule)
	}
	old.begin()
	old.add(old.series(labels.FromStrings("__name__", "rdma_y")), time.Unix(60, 0), 5, "")

	s := newStore(wanted{names: map[string]time.Duration{"rdma_x": time.Hour}})
	s.take(old, map[string]bool{"kept": true})
	for device, want := range map[string]string{
		"a": "0:0 15:1 30:2 45:3 60:stale", "b": "60:1", "kept": "60:5", "dropped": "",
	} {
		if got := holds(s, device); got != want {
			t.Errorf("%s holds %q, want %q", device, got, want)
		}
	}
	if len(s.byName["rdma_y"]) != 0 {
		t.Error("a metric that no rule names any more was taken")
	}
	put(s, "b", 75, 2)
	put(s, "b", 90, 2)
	if got := holds(s, "a"); got != "0:0 15:1 30:2 45:3 60:stale" {
		t.Errorf("a series that was stale is marked again: %s", got)
	}
}

// A ring is compared with a list over random intervals.
func TestRingAgainstList(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for range 200 {
		r := &ring{keep: 100}
		var list []point
		now := int64(0)
		for range 300 {
			now += 1 + random.Int64N(40)
			p := point{now, random.Float64()}
			r.append(p.t, p.v)
			list = append(list, p)
			from := now - random.Int64N(101)
			to := from + random.Int64N(101)
			want := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return p.t < from || p.t > to })
			if got := between(r, from, to); !slices.Equal(got, want) {
				t.Fatalf("at %d, from %d to %d: got %v, want %v", now, from, to, got, want)
			}
		}
		if len(r.points) > 120 {
			t.Errorf("the ring has grown to %d points, 100 at most are asked for", len(r.points))
		}
	}
}

// Series may share a hash; then their labels tell them apart.
func TestStoreHashCollision(t *testing.T) {
	s := newTestStore(time.Minute)
	a, b := labels.FromStrings("__name__", "rdma_x", "device", "a"), labels.FromStrings("__name__", "rdma_x", "device", "b")
	other := s.series(b)
	s.byHash[a.Hash()] = append(s.byHash[a.Hash()], other)
	if s.series(a) == other {
		t.Fatal("two label sets are one series")
	}
	s.forget(other)
	if len(s.byHash[a.Hash()]) == 0 {
		t.Error("forgetting one lost the other")
	}
}

// A series that has not changed gives its ends only, and functions see no
// difference: they are compared with what all points give.
func TestEndsSuffice(t *testing.T) {
	for _, course := range []string{"1x9", "0x9", "1x5 2x4", "1 2x8", "5x3 0x6", "1x3 -x2 1x4", "3x2 -x7", "-x3 7x6", "1x8 2"} {
		for _, window := range []string{"30s", "40s", "1m", "2m"} {
			for _, function := range []string{"rate", "increase", "delta", "changes", "resets", "irate", "max_over_time", "count_over_time", "avg_over_time"} {
				query := function + "(rdma_down[" + window + "])"
				s := newSim(t, "{record: r, expr: '"+query+"'}")
				for _, v := range courseOf(t, course) {
					s.step(v)
				}
				got := s.ask(query)
				for _, rings := range s.e.store.byName {
					for _, r := range rings {
						r.flat = math.MaxInt64 // as if it had just changed
					}
				}
				if want := s.ask(query); got != want {
					t.Errorf("course %s, %s: %s, want %s", course, query, got, want)
				}
			}
		}
	}
}

// Inside a subquery every window needs its points.
func TestEndsDoNotSufficeInSubqueries(t *testing.T) {
	s := newSim(t, "{record: r, expr: 'count_over_time(rate(rdma_down[1m])[5m:15s])'}")
	for range 25 {
		s.step(values{"rdma_down mlx5_0": 1})
	}
	if got := s.ask("count_over_time(rate(rdma_down[1m])[5m:15s])"); !strings.Contains(got, "=> 20 ") {
		t.Errorf("%s, want 20 windows with a rate", got)
	}
}
