package foreign

import (
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

const (
	// fillStep is how far apart readings may be and still be seen by rules that
	// look back two minutes, the shortest that there are.
	fillStep = 30 * time.Second
	// fillSpan is as far back as rules look.
	fillSpan = 75 * time.Minute
)

// evenly is said where fill had something to do.
const evenly = "between two readings the counters are taken to have grown evenly"

// fill puts readings between two that are far apart. Of counters the average is
// all that is known, so they grow evenly; everything else stays as it was at the
// earlier reading.
func fill(before, after *node.Snapshot) []*node.Snapshot {
	gap := after.Time.Sub(before.Time)
	if gap <= 2*fillStep {
		return nil
	}
	ends := counters(after)
	var between []*node.Snapshot
	for at := before.Time.Add(max(fillStep, gap-fillSpan)); at.Before(after.Time.Add(-fillStep / 2)); at = at.Add(fillStep) {
		share := float64(at.Sub(before.Time)) / float64(gap)
		s := &node.Snapshot{Time: at, Samples: grown(before.Samples, ends, share)}
		for _, d := range before.Devices {
			s.Devices = append(s.Devices, node.Device{Name: d.Name, Samples: grown(d.Samples, ends, share)})
		}
		between = append(between, s)
	}
	return between
}

// counters are the values of all counters by series.
func counters(s *node.Snapshot) map[string]float64 {
	values := map[string]float64{}
	s.All(func(sample node.Sample) {
		if sample.Series.Metric.Type == catalog.Counter {
			values[sample.Series.Key()] = sample.Value
		}
	})
	return values
}

// grown moves counters a share of the way to their ends. One that has none, or
// was reset, is not known between.
func grown(samples []node.Sample, ends map[string]float64, share float64) []node.Sample {
	moved := make([]node.Sample, 0, len(samples))
	for _, s := range samples {
		if s.Series.Metric.Type == catalog.Counter {
			end, ok := ends[s.Series.Key()]
			if !ok || end < s.Value {
				continue
			}
			s.Value += (end - s.Value) * share
		}
		moved = append(moved, s)
	}
	return moved
}
