package engine

import (
	"context"
	"github.com/prometheus/common/model"
	"slices"
	"sort"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// Querier implements storage.Queryable.
func (s *store) Querier(mint, maxt ms) (storage.Querier, error) {
	return &querier{s, mint, maxt}, nil
}

// querier reads the store for one evaluation, in which nothing is appended.
type querier struct {
	s          *store
	mint, maxt ms
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
	mint, maxt, ends := q.mint, q.maxt, false
	if hints != nil {
		mint, maxt, ends = hints.Start, hints.End, endsSuffice(hints)
	}
	candidates := q.candidates(matchers)
	set := &foundSet{found: make([]found, 0, len(candidates))}
	for _, r := range candidates {
		if !matches(r.labels, matchers) {
			continue
		}
		low, high := r.after(mint-1), r.after(maxt)
		if low < high {
			set.found = append(set.found, found{r, low, high, ends && r.flat <= r.at(low).t})
		}
	}
	if sorted {
		slices.SortFunc(set.found, func(a, b found) int { return labels.Compare(a.r.labels, b.r.labels) })
	}
	return set
}

// endsSuffice reports whether of a series that has not changed the first and
// the last point give the same result as all of them. On a quiet node that is
// nearly every counter of errors.
func endsSuffice(hints *storage.SelectHints) bool {
	switch hints.Func {
	case "rate", "increase", "delta", "changes", "resets":
		return hints.End-hints.Start <= hints.Range // else a subquery asks, for more than one window
	}
	return false
}

func (q *querier) candidates(matchers []*labels.Matcher) []*ring {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
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

// after is the place of the first point after a time.
func (r *ring) after(t ms) int {
	return sort.Search(len(r.points), func(i int) bool { return r.at(i).t > t })
}

// found is what a selector found of one series: the points from low on, below
// high. It implements storage.Series.
type found struct {
	r         *ring
	low, high int
	ends      bool // the first and the last point only
}

// Labels implements storage.Series.
func (f *found) Labels() labels.Labels { return f.r.labels }

// Iterator implements storage.Series.
func (f *found) Iterator(it chunkenc.Iterator) chunkenc.Iterator {
	p, kept := it.(*pointIterator)
	if !kept {
		p = &pointIterator{}
	}
	*p = pointIterator{found: f, i: -1}
	return p
}

type foundSet struct {
	found []found
	next  int
}

func (s *foundSet) Next() bool                        { s.next++; return s.next <= len(s.found) }
func (s *foundSet) At() storage.Series                { return &s.found[s.next-1] }
func (s *foundSet) Err() error                        { return nil }
func (s *foundSet) Warnings() annotations.Annotations { return nil }

// pointIterator implements chunkenc.Iterator; there are no histograms here.
type pointIterator struct {
	*found
	i int // -1 before the first point
}

// Next goes on to the next point.
func (p *pointIterator) Next() chunkenc.ValueType {
	switch {
	case p.i < 0:
		p.i = p.low
	case p.ends && p.i == p.low:
		p.i = max(p.low+1, p.high-1)
	case p.i < p.high:
		p.i++
	}
	return p.present()
}

// Seek goes on to the first point at or after a time, unless it is there.
func (p *pointIterator) Seek(t ms) chunkenc.ValueType {
	if p.i < 0 {
		p.Next()
	}
	for p.i < p.high && p.r.at(p.i).t < t {
		p.Next()
	}
	return p.present()
}

func (p *pointIterator) present() chunkenc.ValueType {
	if p.i < p.high {
		return chunkenc.ValFloat
	}
	return chunkenc.ValNone
}

// At returns the present point.
func (p *pointIterator) At() (ms, float64) {
	at := p.r.at(p.i)
	return at.t, at.v
}

// AtT returns the time of the present point.
func (p *pointIterator) AtT() ms { return p.r.at(p.i).t }

// AtST returns when a counter was created, which is not known.
func (p *pointIterator) AtST() ms { return 0 }

// Err returns no error.
func (p *pointIterator) Err() error { return nil }

// AtHistogram is never called.
func (p *pointIterator) AtHistogram(*histogram.Histogram) (ms, *histogram.Histogram) {
	return 0, nil
}

// AtFloatHistogram is never called.
func (p *pointIterator) AtFloatHistogram(*histogram.FloatHistogram) (ms, *histogram.FloatHistogram) {
	return 0, nil
}
