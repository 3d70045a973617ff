package engine

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// Past is what the store holds of a series that is alive.
type Past struct {
	Labels      labels.Labels
	First, Last Point // of the time that was asked for
	// Increase is what a counter gained between the two, resets considered.
	Increase float64
}

// Point is a value at a time.
type Point struct {
	Time  time.Time
	Value float64
}

// Past returns what is known since a time of a metric's series that all
// matchers fit. Rules name the metric, else nothing is known. It is called by
// the goroutine that evaluates.
func (e *Engine) Past(metric string, since time.Time, matchers ...*labels.Matcher) []Past {
	var all []Past
	for _, r := range e.store.byName[metric] {
		if r.live && len(r.points) > 0 && matches(r.labels, matchers) {
			all = append(all, r.past(since.UnixMilli()))
		}
	}
	return all
}

// past sums up the ring from a time on; of one that has no point since then,
// the last one.
func (r *ring) past(since ms) Past {
	last := len(r.points) - 1
	i := min(r.after(since-1), last)
	p := Past{Labels: r.labels, First: r.point(i), Last: r.point(last)}
	for ; i < last; i++ {
		before, now := r.at(i).v, r.at(i+1).v
		switch {
		case now >= before:
			p.Increase += now - before
		case now < before: // counted anew from zero
			p.Increase += now
		}
	}
	return p
}

func (r *ring) point(i int) Point {
	p := r.at(i)
	return Point{time.UnixMilli(p.t).UTC(), p.v}
}

// Since is when the first reading was: a rule that looks back farther does not
// see all it asks for. It is zero before that.
func (e *Engine) Since() time.Time { return e.since }

// Window is how far back a rule looks, recorded metrics included.
func (e *Engine) Window(r *Rule) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.windows[r]
}
