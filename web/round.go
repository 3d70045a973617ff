package web

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// Round is what is known after a reading and, with alerting, an evaluation. Its
// parts are not changed any more once it is published.
type Round struct {
	Report   *diagnose.Report
	Snapshot *node.Snapshot
	// What follows is empty without alerting.
	Groups    []*engine.Group
	Status    map[*engine.Rule]engine.RuleStatus
	Alerts    []engine.Alert
	Receivers []Receiver
}

// Receiver is somebody who is told of alerts, and how that went.
type Receiver struct {
	Name                           string
	Sent, Failed, Dropped, Waiting uint64
}

// reading is what the page takes from a snapshot: how the reading itself went.
type reading struct {
	Stalled    []stalled
	Unmapped   []unmapped
	Collectors []collectorRow
	Duration   *float64 // seconds, of the whole reading
	Devices    int      // that were read
}

// stalled is a device that does not answer.
type stalled struct {
	Device   string
	LastRead time.Time // zero: never
}

// unmapped is a counter that the catalogue does not know.
type unmapped struct {
	Device, Port, Counter, Kind string
	Value                       float64
}

// collectorRow is one collector over all devices.
type collectorRow struct {
	Name     string
	Devices  int
	Longest  float64 // seconds, of the slowest device
	Slowest  string
	Failing  []string // devices
	Errors   float64  // since the start
	Withheld []string // "mlx5_0: permission"
}

// readingOf sorts out a snapshot.
func readingOf(s *node.Snapshot) reading {
	r := reading{Devices: len(s.Devices)}
	lastRead, hangs := map[string]time.Time{}, map[string]bool{}
	rows := map[string]*collectorRow{}
	row := func(sample node.Sample) *collectorRow {
		name := sample.Series.Label("collector")
		if rows[name] == nil {
			rows[name] = &collectorRow{Name: name}
		}
		return rows[name]
	}
	s.All(func(sample node.Sample) {
		device := sample.Series.Label("device")
		switch sample.Series.Metric {
		case &catalog.DeviceStalled:
			hangs[device] = sample.Value == 1
		case &catalog.DeviceLastRead:
			lastRead[device] = time.UnixMilli(int64(sample.Value * 1e3))
		case &catalog.UnmappedHW, &catalog.UnmappedPort, &catalog.UnmappedEthtool:
			r.Unmapped = append(r.Unmapped, unmapped{device, sample.Series.Label("port"), sample.Series.Label("counter"), kindOf(sample.Series.Metric), sample.Value})
		case &catalog.CollectionDuration:
			v := sample.Value
			r.Duration = &v
		case &catalog.CollectorDuration:
			c := row(sample)
			if c.Devices++; sample.Value >= c.Longest {
				c.Longest, c.Slowest = sample.Value, device
			}
		case &catalog.CollectorSuccess:
			if sample.Value == 0 {
				c := row(sample)
				c.Failing = append(c.Failing, device)
			}
		case &catalog.CollectorReadErrors:
			row(sample).Errors += sample.Value
		case &catalog.CollectorSkipped:
			if reason := sample.Series.Label("reason"); sample.Value == 1 && reason != "unsupported" {
				c := row(sample)
				c.Withheld = append(c.Withheld, device+": "+reason)
			}
		}
	})
	for device, is := range hangs {
		if is {
			r.Stalled = append(r.Stalled, stalled{device, lastRead[device]})
		}
	}
	slices.SortFunc(r.Stalled, func(a, b stalled) int { return cmp.Compare(a.Device, b.Device) })
	for _, c := range rows {
		r.Collectors = append(r.Collectors, *c)
	}
	slices.SortFunc(r.Collectors, func(a, b collectorRow) int { return cmp.Compare(a.Name, b.Name) })
	return r
}

// Broken reports whether a collector fails for a device.
func (r reading) Broken() bool {
	return slices.ContainsFunc(r.Collectors, func(c collectorRow) bool { return len(c.Failing) > 0 })
}

// kindOf says where an unmapped counter was found.
func kindOf(m *catalog.Metric) string {
	switch m {
	case &catalog.UnmappedHW:
		return "hw_counters"
	case &catalog.UnmappedPort:
		return "counters"
	}
	return "ethtool -S"
}
