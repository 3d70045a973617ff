package diagnose

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// mostOfOne is how many series of one metric a finding shows.
const mostOfOne = 4

// evidence lists the series that a rule looks at where the alert is.
func (b *builder) evidence(r *engine.Rule, a *engine.Alert) []Evidence {
	all := []Evidence{}
	seen := map[uint64]bool{}
	for _, s := range engine.Selectors(r, b.groups) {
		m := b.metrics[s.Metric]
		if m != nil && (m.Unit == catalog.InInfo || m.Unit == catalog.InTimestamp && !slices.Contains(m.Labels, "event")) {
			continue // they say who and when, not what
		}
		var shown []Evidence
		for _, p := range b.near(s, a) {
			if hash := p.Labels.Hash(); !seen[hash] {
				seen[hash] = true
				shown = append(shown, b.shown(m, s.Metric, p))
			}
		}
		all = append(all, telling(shown)...)
	}
	return all
}

// near finds the series of a selector that belong to an alert: those of its
// device and port, and among them, where there are any, those that have all
// other labels in common as well.
func (b *builder) near(s engine.Selector, a *engine.Alert) []engine.Past {
	there := b.past(s.Metric, b.since)
	there = slices.DeleteFunc(there, func(p engine.Past) bool {
		return math.IsNaN(p.Last.Value) || math.IsInf(p.Last.Value, 0) || !fits(p.Labels, s.Matchers) || !agrees(p.Labels, a.Labels, "device", "port", "pci")
	})
	var close []engine.Past
	for _, p := range there {
		if agrees(p.Labels, a.Labels, slices.Collect(maps.Keys(p.Labels.Map()))...) {
			close = append(close, p)
		}
	}
	if len(close) > 0 {
		return close
	}
	return there
}

// fits reports whether a series is meant by matchers. They may have been
// written for what was recorded of the series, so a label that the series does
// not have is not asked for.
func fits(series labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if value := series.Get(m.Name); !m.Matches(value) && value != "" {
			return false
		}
	}
	return true
}

// agrees reports whether two label sets have equal values of some labels,
// where both have them.
func agrees(x, y labels.Labels, names ...string) bool {
	for _, name := range names {
		if a, b := x.Get(name), y.Get(name); a != "" && b != "" && a != b {
			return false
		}
	}
	return true
}

// shown makes evidence of a series.
func (b *builder) shown(m *catalog.Metric, name string, p engine.Past) Evidence {
	e := Evidence{Metric: name, Labels: map[string]string{}, Value: p.Last.Value}
	p.Labels.Range(func(l labels.Label) {
		if l.Name != model.MetricNameLabel && l.Name != model.InstanceLabel {
			e.Labels[l.Name] = l.Value
		}
	})
	if m == nil {
		return e
	}
	e.Unit, e.Counter = string(m.Unit), m.Type == catalog.Counter
	if seconds := p.Last.Time.Sub(p.First.Time).Seconds(); e.Counter && seconds > 0 {
		rate := p.Increase / seconds
		e.Increase, e.RatePerSecond = &p.Increase, &rate
	}
	e.Limit = b.limit(m, e.Labels)
	return e
}

// telling leaves the series of a metric that say something: those that moved,
// else those that have counted, else one of those that have not.
func telling(all []Evidence) []Evidence {
	moved := func(e Evidence) bool { return !e.Counter || e.Increase != nil && *e.Increase > 0 }
	counted := func(e Evidence) bool { return e.Value != 0 }
	for _, tells := range []func(Evidence) bool{moved, counted} {
		if kept := slices.DeleteFunc(slices.Clone(all), func(e Evidence) bool { return !tells(e) }); len(kept) > 0 {
			slices.SortStableFunc(kept, func(x, y Evidence) int {
				return cmp.Or(cmp.Compare(deref(y.Increase), deref(x.Increase)), cmp.Compare(y.Value, x.Value))
			})
			return kept[:min(len(kept), mostOfOne)]
		}
	}
	return all[:min(len(all), 1)]
}

func deref(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
