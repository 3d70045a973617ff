package demo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// tell is the story, on a node written anew.
func tell(t *testing.T) *replay.Case {
	t.Helper()
	s, err := Story()
	if err != nil {
		t.Fatal(err)
	}
	c := s.Cases[0]
	c.Node = t.TempDir()
	if err := Write(c.Node); err != nil {
		t.Fatal(err)
	}
	return &c
}

func setup(t *testing.T) replay.Setup {
	t.Helper()
	s, err := replay.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The story goes as it says, and in the second hour again.
func TestStory(t *testing.T) {
	c, s := tell(t), setup(t)
	const hour, again = time.Hour, 100 * time.Minute
	c.Duration = replay.Duration(again)
	counters := monotone{t: t, last: map[string]float64{}}
	const opening = int(Past / (15 * time.Second)) // the step at which the demo begins
	s.Observe = func(step int, now *node.Snapshot) {
		counters.see(step, now)
		if step == opening {
			checkOpening(t, now)
		}
	}
	played, err := replay.Run(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	first := *played
	first.Events = slices.DeleteFunc(slices.Clone(played.Events), func(e replay.Event) bool { return e.After > hour })
	for _, wrong := range first.Judge() {
		t.Error(wrong)
	}
	for _, name := range []string{
		"RDMARetransmissionRatioHigh", "RDMAPFCBackPressureReceived", "RDMAPCIeWidthDowngraded",
		"RDMAReceiveBuffersExhausted", "RDMAPortDown", "RDMADeviceUnresponsive",
	} {
		if !slices.ContainsFunc(played.Events, func(e replay.Event) bool {
			return e.After > hour && e.Alert.Name() == name && e.Alert.State == engine.Firing
		}) {
			t.Errorf("%s does not fire in the second hour", name)
		}
	}
	states := map[string]engine.State{}
	for _, a := range played.Steps[opening] {
		states[a.Name()] = a.State
	}
	for name, want := range map[string]engine.State{
		"RDMARetransmissionRatioHigh": engine.Resolved, "RDMAPFCBackPressureReceived": engine.Firing, "RDMAPCIeWidthDowngraded": engine.Pending,
	} {
		if states[name] != want {
			t.Errorf("when the demo begins %s is %q, want %q", name, states[name], want)
		}
	}
	if t.Failed() || testing.Verbose() {
		var events strings.Builder
		played.Print(&events)
		t.Log("\n" + events.String())
	}
}

// monotone sees that no counter ever goes back, not even by the rounding of
// what is taken away from it: it would look like a reset.
type monotone struct {
	t    *testing.T
	last map[string]float64
}

func (m *monotone) see(step int, s *node.Snapshot) {
	s.All(func(sample node.Sample) {
		if sample.Series.Metric.Type != catalog.Counter {
			return
		}
		key := sample.Series.Key()
		if before, seen := m.last[key]; seen && sample.Value < before {
			m.t.Errorf("step %d: %q goes back from %g to %g", step, key, before, sample.Value)
		}
		m.last[key] = sample.Value
	})
}

// checkOpening sees to what is there when the demo begins: eight healthy ports
// with traffic, all read without an error, and every counter known.
func checkOpening(t *testing.T, s *node.Snapshot) {
	t.Helper()
	sum, count := map[string]float64{}, map[string]int{}
	s.All(func(sample node.Sample) {
		name := sample.Series.Metric.Name
		sum[name] += sample.Value
		count[name]++
	})
	for name, want := range map[string]float64{
		"rdma_devices":                       8,
		"rdma_port_active":                   8,
		"rdma_port_admin_up":                 8,
		"rdma_port_rate_bytes_per_second":    8 * 400e9 / 8,
		"rdma_pcie_link_max_width_lanes":     8 * 16,
		"rdma_pcie_link_width_lanes":         7*16 + 8, // one is degraded already
		"rdma_hw_counter":                    0,
		"rdma_port_counter":                  0,
		"rdma_collector_skipped":             8 + 8 + 1, // dcqcn, which needs the vendor's driver, keys of InfiniBand, and a log
		"rdma_device_stalled":                0,
		"rdma_out_of_sequence_packets_total": 0,
	} {
		if sum[name] != want {
			t.Errorf("%s: %g in all, want %g", name, sum[name], want)
		}
	}
	if got := count["rdma_collector_success"]; sum["rdma_collector_success"] != float64(got) || got < 8 {
		t.Errorf("%g of %d readings of a source succeeded", sum["rdma_collector_success"], got)
	}
	// 30 minutes of 8 GB/s and 28 of 26 GB/s on each, less what mlx5_3 lost in
	// 4:15 minutes.
	want := 8*(8000000012*1800.0+26000000036*1680) - 6000000004*255
	if got := sum["rdma_received_bytes_total"]; got < want-100 || got > want+100 {
		t.Errorf("received %g bytes, want %g", got, want)
	}
}
