package engine

import (
	"context"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
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
	keep   int64 // ms
	points []point
	head   int    // the oldest point
	owner  string // the rule that records it; "" for what the node gave
	gen    uint64
	live   bool // its last point is not a staleness mark
	gone   bool // no longer in the store
}

type point struct {
	t int64 // ms
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
	name := ls.Get(labels.MetricName)
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
func (r *ring) append(t int64, v float64) {
	n := len(r.points)
	if n > 0 {
		switch last := &r.points[(r.head+n-1)%n]; {
		case t == last.t:
			last.v = v
			return
		case t < last.t:
			r.points, r.head, n = r.points[:0], 0, 0
		}
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
func (r *ring) current(now int64) bool {
	n := len(r.points)
	if n == 0 {
		return false
	}
	last := r.points[(r.head+n-1)%n].t
	return last >= now-r.keep && last <= now
}

// len is the number of series.
func (s *store) len() int {
	n := 0
	for _, rings := range s.byName {
		n += len(rings)
	}
	return n
}

// Querier implements storage.Queryable.
func (s *store) Querier(mint, maxt int64) (storage.Querier, error) {
	return &querier{s, mint, maxt}, nil
}

type querier struct {
	s          *store
	mint, maxt int64
}

// LabelValues implements storage.Querier; instant queries do not ask for it.
func (*querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.Querier; instant queries do not ask for it.
func (*querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.Querier.
func (*querier) Close() error { return nil }

// Select implements storage.Querier.
func (q *querier) Select(_ context.Context, sorted bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	mint, maxt := q.mint, q.maxt
	if hints != nil {
		mint, maxt = hints.Start, hints.End
	}
	set := &foundSet{}
	for _, r := range q.candidates(matchers) {
		if !matches(r.labels, matchers) {
			continue
		}
		if points := r.between(mint, maxt); len(points) > 0 {
			set.found = append(set.found, found{r.labels, points})
		}
	}
	if sorted {
		slices.SortFunc(set.found, func(a, b found) int { return labels.Compare(a.labels, b.labels) })
	}
	return set
}

func (q *querier) candidates(matchers []*labels.Matcher) []*ring {
	for _, m := range matchers {
		if m.Name == labels.MetricName && m.Type == labels.MatchEqual {
			return q.s.byName[m.Value]
		}
	}
	var all []*ring
	for _, rings := range q.s.byName {
		all = append(all, rings...)
	}
	return all
}

func matches(ls labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// between copies the points of a time span, oldest first.
func (r *ring) between(mint, maxt int64) []point {
	n := len(r.points)
	low := n
	for low > 0 && r.points[(r.head+low-1)%n].t >= mint {
		low--
	}
	high := n
	for high > low && r.points[(r.head+high-1)%n].t > maxt {
		high--
	}
	points := make([]point, 0, high-low)
	for i := low; i < high; i++ {
		points = append(points, r.points[(r.head+i)%n])
	}
	return points
}

// found is what a selector found of one series, oldest point first. It
// implements storage.Series and, for the library's iterator, storage.Samples.
type found struct {
	labels labels.Labels
	points []point
}

// Labels implements storage.Series.
func (f *found) Labels() labels.Labels { return f.labels }

// Iterator implements storage.Series.
func (f *found) Iterator(it chunkenc.Iterator) chunkenc.Iterator {
	if kept, ok := it.(interface{ Reset(storage.Samples) }); ok {
		kept.Reset(f)
		return it
	}
	return storage.NewListSeriesIterator(f)
}

// Get implements storage.Samples.
func (f *found) Get(i int) chunks.Sample { return &f.points[i] }

// Len implements storage.Samples.
func (f *found) Len() int { return len(f.points) }

// The methods of chunks.Sample; there are no histograms here.
func (p *point) T() int64                      { return p.t }
func (p *point) ST() int64                     { return 0 }
func (p *point) F() float64                    { return p.v }
func (p *point) H() *histogram.Histogram       { return nil }
func (p *point) FH() *histogram.FloatHistogram { return nil }
func (p *point) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (p *point) Copy() chunks.Sample           { c := *p; return &c }

type foundSet struct {
	found []found
	next  int
}

func (s *foundSet) Next() bool                        { s.next++; return s.next <= len(s.found) }
func (s *foundSet) At() storage.Series                { return &s.found[s.next-1] }
func (s *foundSet) Err() error                        { return nil }
func (s *foundSet) Warnings() annotations.Annotations { return nil }

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
			for _, p := range r.between(math.MinInt64, math.MaxInt64) {
				taken.append(p.t, p.v)
			}
			taken.owner, taken.live = r.owner, r.live
		}
	}
}
