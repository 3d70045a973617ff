package engine

import (
	"github.com/prometheus/common/model"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
)

// store keeps the last samples of the series that the loaded rules name, and
// nothing else, for as long as the rules look back. It is the storage that
// Prometheus' query engine reads. It is not safe for concurrent use: one
// goroutine appends and evaluates.
type store struct {
	keep   wanted
	byName map[string][]*ring
	byHash map[uint64][]*ring
	gen    uint64 // of the current round of appending
}

// ring is the recent past of one series.
type ring struct {
	labels labels.Labels
	keep   ms
	points []point
	head   int    // the oldest point
	flat   ms     // since this time the value has not changed
	owner  string // the rule that records it; "" for what the node gave
	gen    uint64
	live   bool // its last point is not a staleness mark
	gone   bool // no longer in the store
}

// ms is a time in milliseconds since 1970, as the query engine has it.
type ms = int64

type point struct {
	t ms
	v float64
}

func newStore(keep wanted) *store {
	return &store{keep: keep, byName: map[string][]*ring{}, byHash: map[uint64][]*ring{}}
}

// series finds the ring of a label set, or makes it.
func (s *store) series(ls labels.Labels) *ring {
	hash := ls.Hash()
	for _, r := range s.byHash[hash] {
		if labels.Equal(r.labels, ls) {
			return r
		}
	}
	name := ls.Get(model.MetricNameLabel)
	keep, _ := s.keep.span(name)
	r := &ring{labels: ls, keep: keep.Milliseconds()}
	s.byHash[hash] = append(s.byHash[hash], r)
	s.byName[name] = append(s.byName[name], r)
	return r
}

// begin opens a round of appending by one owner; end closes it: series of this
// owner that had a value before and none in this round are marked stale, as
// Prometheus does with what vanishes from a target or from a rule's result.
func (s *store) begin() { s.gen++ }

// end takes the names of the metrics that the owner writes.
func (s *store) end(t time.Time, owner string, names iter.Seq[string]) {
	now := t.UnixMilli()
	for name := range names {
		rings := s.byName[name]
		kept := rings[:0]
		for _, r := range rings {
			if r.owner == owner && r.gen != s.gen && r.live {
				r.append(now, math.Float64frombits(value.StaleNaN))
				r.live = false
			}
			if r.owner != owner || r.current(now) {
				kept = append(kept, r)
			} else {
				s.forget(r)
			}
		}
		clear(rings[len(kept):])
		if s.byName[name] = kept; len(kept) == 0 {
			delete(s.byName, name)
		}
	}
}

func (s *store) forget(gone *ring) {
	gone.gone = true
	hash := gone.labels.Hash()
	s.byHash[hash] = slices.DeleteFunc(s.byHash[hash], func(r *ring) bool { return r == gone })
	if len(s.byHash[hash]) == 0 {
		delete(s.byHash, hash)
	}
}

// add appends a value in the current round.
func (s *store) add(r *ring, t time.Time, v float64, owner string) {
	r.append(t.UnixMilli(), v)
	r.gen, r.live, r.owner = s.gen, true, owner
}

// append adds a point. A time before the last one, as when the clock was set
// back, starts the series anew; the same time again changes the last point.
func (r *ring) append(t ms, v float64) {
	n := len(r.points)
	if n > 0 && t < r.at(n-1).t {
		r.points, r.head, n = r.points[:0], 0, 0
	}
	if n == 0 || r.at(n-1).v != v {
		r.flat = t
	}
	if n > 0 && t == r.at(n-1).t {
		r.at(n - 1).v = v
		return
	}
	if n > 0 && r.points[r.head].t < t-r.keep {
		r.points[r.head] = point{t, v}
		r.head = (r.head + 1) % n
		return
	}
	if r.head != 0 { // growing again after the interval became shorter
		r.points = append(slices.Clone(r.points[r.head:]), r.points[:r.head]...)
		r.head = 0
	}
	r.points = append(r.points, point{t, v})
}

// current reports whether the ring still has a point that a rule could ask
// for. A last point in the future is from before the clock was set back, and
// the series has had none since.
func (r *ring) current(now ms) bool {
	n := len(r.points)
	if n == 0 {
		return false
	}
	last := r.at(n - 1).t
	return last >= now-r.keep && last <= now
}

// at is the point at a place, the oldest at 0.
func (r *ring) at(i int) *point {
	if i += r.head; i >= len(r.points) {
		i -= len(r.points)
	}
	return &r.points[i]
}

// len is the number of series.
func (s *store) len() int {
	n := 0
	for _, rings := range s.byName {
		n += len(rings)
	}
	return n
}

// take fills the store with the past that another one has of the series that
// this one wants as well. owners are the rules that record now.
func (s *store) take(from *store, owners map[string]bool) {
	for name, rings := range from.byName {
		if _, wants := s.keep.span(name); !wants {
			continue
		}
		for _, r := range rings {
			if r.owner != "" && !owners[r.owner] {
				continue // the rule is gone, and with it what it recorded
			}
			taken := s.series(r.labels)
			for i := range r.points {
				taken.append(r.at(i).t, r.at(i).v)
			}
			taken.owner, taken.live = r.owner, r.live
		}
	}
}
