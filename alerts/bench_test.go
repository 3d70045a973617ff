package alerts_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// bigNode is a node with many ports, made of what one reading of a fixture
// gave.
type bigNode struct {
	devices []node.Device
	others  []node.Sample
	now     time.Time
	step    int
}

// readNode reads a node fixture once.
func readNode(tb testing.TB, name string) *node.Snapshot {
	tb.Helper()
	h, err := host.New(host.Config{Replay: fixtures.Node(name)})
	if err != nil {
		tb.Fatal(err)
	}
	defer h.Close()
	runner := collector.NewRunner(collector.Config{Host: h, Sources: collector.Sources(), Timeout: time.Minute})
	defer runner.Close()
	return runner.Collect(tb.Context(), nil)
}

// newBigNode has ports copies of the first device of a snapshot.
func newBigNode(s *node.Snapshot, ports int) *bigNode {
	b := &bigNode{now: time.Unix(1_700_000_000, 0)}
	for i := range ports {
		d := node.Device{Name: fmt.Sprint("mlx5_", i)}
		for _, sample := range s.Devices[0].Samples {
			series := *sample.Series
			series.Values = append([]string(nil), series.Values...)
			for j, label := range series.Metric.LabelNames() {
				if label == "device" {
					series.Values[j] = d.Name
				} else { // each has PCI addresses of its own
					series.Values[j] = strings.ReplaceAll(series.Values[j], "0000:", fmt.Sprintf("%04x:", i))
				}
			}
			d.Samples = append(d.Samples, node.Sample{Series: &series, Value: sample.Value})
		}
		b.devices = append(b.devices, d)
	}
	for _, sample := range s.Samples {
		if sample.Series.Label("device") == "" {
			b.others = append(b.others, sample)
		}
	}
	return b
}

// next is the next reading, an interval later: a port at work on which nothing
// is wrong.
func (b *bigNode) next() *node.Snapshot {
	b.now, b.step = b.now.Add(15*time.Second), b.step+1
	s := &node.Snapshot{Time: b.now, Samples: b.others}
	for i := range b.devices {
		d := &b.devices[i]
		for j := range d.Samples {
			sample := &d.Samples[j]
			sample.Value += 15 * pace(sample.Series.Metric)
			if sample.Series.Metric == &catalog.DeviceLastRead {
				sample.Value = float64(b.now.Unix())
			}
		}
		s.Devices = append(s.Devices, *d)
	}
	return s
}

// pace is what a counter gains in a second on a healthy port at work. Counters
// of errors stay.
func pace(m *catalog.Metric) float64 {
	volume := strings.HasPrefix(m.Name, "rdma_received_") || strings.HasPrefix(m.Name, "rdma_transmitted_")
	for _, trouble := range []string{"error", "discard", "drop", "pause"} {
		volume = volume && !strings.Contains(m.Name, trouble)
	}
	switch {
	case m.Type != catalog.Counter || !volume:
		return 0
	case m.Unit == catalog.InBytes:
		return 5e9
	}
	return 1.25e6
}

// BenchmarkQuiet is one interval of a quiet node: a reading is taken in, and all
// rules are evaluated. Nine ports make about 2,000 series.
func BenchmarkQuiet(b *testing.B) {
	for _, ports := range []int{9, 32} {
		b.Run(fmt.Sprintf("ports=%d", ports), func(b *testing.B) { quiet(b, ports) })
	}
}

func quiet(b *testing.B, ports int) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		b.Fatal(err)
	}
	big := newBigNode(readNode(b, "cx6dx-mlx5-roce-5.15"), ports)
	before := heap()
	e := engine.New(engine.Config{Groups: engine.NodeScope(groups), Instance: "node"})
	for range 250 { // the windows of all rules are full
		e.Append(big.next())
		e.Evaluate(b.Context(), big.now)
	}
	b.ReportAllocs()
	begin, rounds := cpuTime(b), 0
	for b.Loop() {
		rounds++
		e.Append(big.next())
		e.Evaluate(b.Context(), big.now)
	}
	// Of all threads, the collector of garbage included, whoever else is busy on
	// this machine.
	b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/1e3/float64(rounds), "CPU-ms/op")
	b.ReportMetric(float64(e.Stats().Series), "series")
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB-kept")
	if e.Stats().Failures > 0 {
		b.Errorf("%d evaluations failed", e.Stats().Failures)
	}
	for _, a := range e.Alerts() {
		b.Errorf("%s is %s on a quiet node: %s", a.Name(), a.State, a.Labels)
	}
}

// cpuTime is the time this process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// heap is what is reachable.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkDiagnose is all that diagnose does beside sampling: the rules are
// parsed, eleven readings of sixteen NICs taken in and judged, the report is
// written.
func BenchmarkDiagnose(b *testing.B) {
	big := newBigNode(readNode(b, "cx6dx-mlx5-roce-5.15"), 16)
	inhibitions, err := alerts.Inhibitions()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	begin, rounds := cpuTime(b), 0
	for b.Loop() {
		rounds++
		groups, err := alerts.Groups(nil)
		if err != nil {
			b.Fatal(err)
		}
		w, err := diagnose.NewWatch(diagnose.WatchConfig{
			Node: "node", Groups: engine.NodeScope(groups), Inhibitions: inhibitions, Window: 150 * time.Second,
		})
		if err != nil {
			b.Fatal(err)
		}
		for range 11 {
			w.Add(b.Context(), big.next())
		}
		report, err := w.Report(b.Context(), false)
		if err != nil {
			b.Fatal(err)
		}
		if err := report.Write(io.Discard, diagnose.Style{Width: 80}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/1e3/float64(rounds), "CPU-ms/op")
}
