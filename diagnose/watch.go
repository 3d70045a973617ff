package diagnose

import (
	"context"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// WatchConfig says what a Watch judges by.
type WatchConfig struct {
	Node        string
	Simulated   bool
	Groups      []*engine.Group // whole, of node scope
	Inhibitions []engine.Inhibition
	// Window is how long readings are going to be added.
	Window time.Duration
}

// Watch looks at a node for a short while and judges that. It is used by one
// goroutine.
type Watch struct {
	c           WatchConfig
	engine      *engine.Engine
	first, last *node.Snapshot
}

// NewWatch makes a Watch.
func NewWatch(c WatchConfig) (*Watch, error) {
	groups, _, err := engine.Shorten(c.Groups, c.Window)
	if err != nil {
		return nil, err
	}
	return &Watch{c: c, engine: engine.New(engine.Config{Groups: groups, Instance: c.Node})}, nil
}

// Add takes in a reading. What rules record of it is kept, so that other rules
// find the past they ask for.
func (w *Watch) Add(ctx context.Context, s *node.Snapshot) {
	s = recalled(s)
	if w.first == nil {
		w.first = s
	}
	w.last = s
	w.engine.Append(s)
	w.engine.Record(ctx, s.Time)
}

// Report judges what was seen; nil if nothing was. It may have been less than
// was asked for: the rules are shortened to that.
func (w *Watch) Report(ctx context.Context, interrupted bool) (*Report, error) {
	if w.last == nil {
		return nil, nil
	}
	window := w.last.Time.Sub(w.first.Time)
	groups, short, err := engine.Shorten(w.c.Groups, window)
	if err != nil {
		return nil, err
	}
	w.engine.Reload(groups, w.last.Time)
	w.engine.Evaluate(ctx, w.last.Time)
	in := Input{
		Node: w.c.Node, Simulated: w.c.Simulated, Interrupted: interrupted,
		Engine: w.engine, Inhibitions: w.c.Inhibitions, Now: w.last, Window: window, Short: short,
	}
	if window > 0 {
		in.Before = w.first
	}
	return New(in), nil
}

// recalled adds to a first look at a node what it would know if it had watched
// before: a port that has sent or received something was active once. Without
// that a port that is down looks like one that never was in use.
func recalled(s *node.Snapshot) *node.Snapshot {
	used := map[key]bool{}
	s.All(func(sample node.Sample) {
		name := sample.Series.Metric.Name
		if (name == receivedBytes || name == transmittedBytes) && sample.Value > 0 {
			used[key{sample.Series.Label("device"), sample.Series.Label("port")}] = true
		}
	})
	changed := &node.Snapshot{Time: s.Time, Samples: s.Samples}
	for _, d := range s.Devices {
		samples := append([]node.Sample(nil), d.Samples...)
		for i := range samples {
			series := samples[i].Series
			if series.Metric == &catalog.PortEverActive && used[key{d.Name, series.Label("port")}] {
				samples[i].Value = 1
			}
		}
		changed.Devices = append(changed.Devices, node.Device{Name: d.Name, Samples: samples})
	}
	return changed
}
