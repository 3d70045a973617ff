package alerts_test

import (
	"hash/fnv"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// notHealthy are the fixtures that stand for no node, or for a node on which
// something is wrong by design.
var notHealthy = map[string]string{
	"bad-everything":  "files that no driver writes",
	"other-spellings": "files of several drivers on one node",
}

// setRight are the changes that make a fixture healthy on which something is
// wrong by design.
var setRight = map[string]string{
	// Two PCIe links that trained down, see its SOURCE.md.
	"cx7-ib-mlx5-6.8": `
    - {pci: "0000:9b:00.0/current_link_speed", set: "32.0 GT/s PCIe"}
    - {pci: "0000:ba:00.0/current_link_width", set: "16"}`,
	// Likewise, one link.
	"qede-qedr-5.10": `
    - {pci: "0000:3b:00.0/current_link_width", set: "8"}`,
	// Two ports of 40 Gb/s are more than eight lanes of PCIe 3.0 carry.
	"cx3-mlx4-3.10": `
    - {port: mlx4_0/2/rate, set: "10 Gb/sec (1X QDR)"}`,
}

// readHealthy reads a fixture through the collectors, as the first step of a
// replay.
func readHealthy(t *testing.T, name string) *node.Snapshot {
	t.Helper()
	scenario, err := replay.Parse([]byte("cases:\n- name: day\n  node: " + name + "\n  duration: 1s\n  changes:" + setRight[name]))
	if err != nil {
		t.Fatal(err)
	}
	c := &scenario.Cases[0]
	c.Node = fixtures.Node(name)
	var first *node.Snapshot
	if _, err := replay.Run(t.Context(), c, replay.Setup{Observe: func(_ int, s *node.Snapshot) { first = s }}); err != nil {
		t.Fatal(err)
	}
	return first
}

// A day on every healthy node, with jobs that come and go, what a network at
// work shows of congestion, and the stray errors that good hardware has: nobody
// is told anything.
//
// The interval is 30 seconds, as many a Prometheus has it, and the longest that
// gives the windows of 1 minute their two points; 15 seconds would take twice as
// long, and the scenarios have them.
func TestHealthyDay(t *testing.T) {
	// The heap is small and much is thrown away: half of the time would go into
	// collecting it.
	usual := debug.SetGCPercent(800)
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := os.ReadDir("../fixtures/nodes")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range nodes {
		if !entry.IsDir() || notHealthy[entry.Name()] != "" {
			continue
		}
		t.Run(entry.Name(), func(t *testing.T) {
			t.Parallel()
			d := newDay(readHealthy(t, entry.Name()))
			e := engine.New(engine.Config{Groups: engine.NodeScope(groups), Instance: "node"})
			told := map[string]bool{}
			for d.after <= 24*time.Hour {
				s := d.next(30 * time.Second)
				e.Append(s)
				e.Evaluate(t.Context(), s.Time)
				for _, a := range e.Alerts() {
					if a.State != engine.Firing || told[a.Labels.String()] {
						continue
					}
					told[a.Labels.String()] = true
					if severity := a.Labels.Get("severity"); severity != "info" {
						t.Errorf("after %s %s: %s = %g", d.after, severity, a.Labels, a.Value)
					} else {
						t.Logf("after %s: %s = %g", d.after, a.Labels, a.Value)
					}
				}
			}
			if stats := e.Stats(); stats.Failures > 0 || stats.Series == 0 {
				t.Errorf("%d evaluations failed, on %d series", stats.Failures, stats.Series)
			}
		})
	}
}

// habit is how a counter moves on a healthy node. Each number adds to the others.
type habit struct {
	metric string // its name begins so
	labels string // name=value of one of its labels; "" for any
	with   string // another metric that the device must have; "" for none

	busy      float64       // a second, while a job runs
	always    float64       // a second
	perPacket float64       // for each packet that the port sends
	perBit    float64       // for each bit of the line rate, idle or not
	start     float64       // within the first minute of a job
	end       float64       // within the 40 seconds after its end
	stray     time.Duration // one event in this time
}

// habits are looked up from the top. A counter that is not here stays as it is.
// The numbers of a job's start and end are those of scenario S7; the others are
// what the comments of the rules call normal.
var habits = []habit{
	// Traffic, see flow.
	{metric: "rdma_received_packets_total", perPacket: 1},
	{metric: "rdma_transmitted_packets_total", perPacket: 1},
	{metric: "rdma_received_unicast_packets_total", perPacket: 1},
	{metric: "rdma_transmitted_unicast_packets_total", perPacket: 1},
	{metric: "rdma_received_bytes_total", perPacket: mtu},
	{metric: "rdma_transmitted_bytes_total", perPacket: mtu},
	{metric: "rdma_priority_received_bytes_total", labels: "priority=3", perPacket: mtu},
	{metric: "rdma_priority_transmitted_bytes_total", labels: "priority=3", perPacket: mtu},

	// Congestion control and pause at work: 1 % of the time received, less sent.
	{metric: "rdma_ecn_marked_packets_total", perPacket: 0.005},
	{metric: "rdma_cnp_received_packets_total", busy: 200},
	{metric: "rdma_cnp_sent_packets_total", busy: 200},
	{metric: "rdma_cnp_handled_packets_total", busy: 200},
	{metric: "rdma_pfc_received_frames_total", labels: "priority=3", busy: 30},
	{metric: "rdma_pfc_received_all_priorities_frames_total", busy: 30},
	{metric: "rdma_pfc_received_pause_seconds_total", labels: "priority=3", busy: 0.01},
	{metric: "rdma_pfc_sent_frames_total", labels: "priority=3", busy: 10},
	{metric: "rdma_pfc_sent_all_priorities_frames_total", busy: 10},
	{metric: "rdma_pfc_sent_pause_seconds_total", labels: "priority=3", busy: 0.002},
	{metric: "rdma_pcie_stalled_seconds_total", busy: 0.02},
	{metric: "rdma_port_transmit_wait_ticks_total", busy: 1e5},
	{metric: "rdma_adaptive_retransmissions_total", busy: 1},
	{metric: "rdma_adaptive_retransmission_timeouts_total", busy: 0.01},
	{metric: "rdma_slow_restart", start: 500},

	// Discards: a class without PFC, a burst as a job starts, foreign multicast.
	{metric: "rdma_port_receive_discard_packets_total", busy: 1, start: 40},
	{metric: "rdma_port_transmit_discard_packets_total", start: 5},
	{metric: "rdma_priority_receive_discard_packets_total", stray: 3 * time.Hour},
	{metric: "rdma_port_nic_internal_drop_packets_total", labels: "kind=steering_missed", always: 20},
	{metric: "rdma_port_vl15_dropped_packets_total", stray: 30 * time.Second},

	// Queue pairs that open and close, and what one connection in a while lives
	// through.
	{metric: "rdma_rnr_naks_received_total", start: 200},
	{metric: "rdma_rnr_naks_sent_total", end: 1200},
	{metric: "rdma_receive_buffer_exhausted_packets_total", end: 1200},
	{metric: "rdma_completion_errors_total", with: "rdma_completion_flush_errors_total", end: 400_000},
	{metric: "rdma_completion_flush_errors_total", end: 400_000},
	{metric: "rdma_duplicate_packets_total", end: 300, stray: 10 * time.Minute},
	{metric: "rdma_loss_events_total", labels: "kind=ack_timeout", end: 9000, stray: 10 * time.Minute},
	{metric: "rdma_loss_events_total", stray: 10 * time.Minute},
	{metric: "rdma_sequence_naks_sent_total", stray: 10 * time.Minute},
	{metric: "rdma_out_of_sequence_packets_total", busy: 0.1},
	{metric: "rdma_retransmitted_packets_total", perPacket: 1e-5},
	{metric: "rdma_device_commands_total", labels: "outcome=submitted", always: 3},
	{metric: "rdma_device_commands_total", labels: "outcome=completed", always: 3},

	// The wire. 1e-15, to which cables are tested, is 1.4 errors an hour at 400
	// Gb/s; FEC repairs one bit in 10^8, nearly all on one lane.
	{metric: "rdma_port_symbol_errors_total", stray: 43 * time.Minute},
	{metric: "rdma_port_fec_corrected_bits_total", perBit: 1e-8},
	{metric: "rdma_port_lane_raw_errors_total", labels: "lane=0", perBit: 0.99e-8},
	{metric: "rdma_port_lane_raw_errors_total", perBit: 0.01e-8},
	{metric: "rdma_port_fec_uncorrectable_blocks_total", stray: 3 * time.Hour},
	{metric: "rdma_port_crc_error_packets_total", stray: 5 * time.Hour},
	{metric: "rdma_port_receive_error_packets_total", stray: 2 * time.Hour},
	{metric: "rdma_port_receive_remote_physical_error_packets_total", stray: 4 * time.Hour},
	{metric: "rdma_port_link_recoveries_total", stray: 13 * time.Hour},
	{metric: "rdma_icrc_error_packets_total", stray: 11 * time.Hour},

	// PCIe.
	{metric: "rdma_pcie_aer_errors_total", labels: "error=RxErr", stray: 20 * time.Minute},
	{metric: "rdma_pcie_aer_errors_total", labels: "error=Receiver Error", stray: 20 * time.Minute},
	{metric: "rdma_pcie_aer_errors_total", labels: "error=BadTLP", stray: 7 * time.Hour},
	{metric: "rdma_pcie_aer_errors_total", labels: "error=Timeout", stray: 9 * time.Hour},
	{metric: "rdma_pcie_signal_integrity_errors_total", stray: 5 * time.Hour},
	{metric: "rdma_pcie_buffer_overflow_packets_total", stray: 4 * time.Hour},
}

// mtu is what a packet of a job carries, in bytes.
const mtu = 4096

func (h *habit) fits(s *node.Series) bool {
	name, value, _ := strings.Cut(h.labels, "=")
	return strings.HasPrefix(s.Metric.Name, h.metric) && (h.labels == "" || s.Label(name) == value)
}

// day is a node at work.
type day struct {
	first  *node.Snapshot
	series []*moving
	after  time.Duration
	busyAt time.Duration // the end of the last interval in which a job ran
}

// moving is a sample that changes.
type moving struct {
	*node.Sample
	habit
	initial float64
	rate    float64 // of its port, in bytes a second; 0 if that is not up
	gained  float64
	phase   time.Duration // of its stray events
}

func newDay(s *node.Snapshot) *day {
	d := &day{first: s}
	rates, offers := map[string]float64{}, map[string]bool{}
	s.All(func(sample node.Sample) {
		offers[sample.Series.Label("device")+" "+sample.Series.Metric.Name] = true
		if sample.Series.Metric == &catalog.PortRate {
			device, port := sample.Series.Label("device"), sample.Series.Label("port")
			rates[device+" "+port] = sample.Value
			rates[device+" "] += sample.Value
		}
	})
	for i := range s.Devices {
		for j := range s.Devices[i].Samples {
			d.follow(&s.Devices[i].Samples[j], rates, offers)
		}
	}
	return d
}

// follow keeps a sample that changes. rates are those of ports, offers tells
// which metrics a device has.
func (d *day) follow(sample *node.Sample, rates map[string]float64, offers map[string]bool) {
	s := sample.Series
	for _, h := range habits {
		if s.Metric.Type == catalog.Counter && h.fits(s) && (h.with == "" || offers[s.Label("device")+" "+h.with]) {
			key := fnv.New32()
			_, _ = key.Write([]byte(s.Key()))
			m := &moving{Sample: sample, habit: h, initial: sample.Value, rate: rates[s.Label("device")+" "+s.Label("port")]}
			if h.stray > 0 {
				m.phase = time.Duration(key.Sum32()) * time.Second % h.stray
			}
			d.series = append(d.series, m)
			return
		}
	}
	switch s.Metric {
	case &catalog.DeviceLastRead, &catalog.OperationsUnchanged:
		d.series = append(d.series, &moving{Sample: sample})
	}
}

// Jobs begin every two hours and run for 100 minutes.
const (
	jobEvery = 2 * time.Hour
	jobRuns  = 100 * time.Minute
)

// next is the next reading.
func (d *day) next(interval time.Duration) *node.Snapshot {
	d.after += interval
	now := d.first.Time.Add(d.after)
	if d.after%jobEvery <= jobRuns {
		d.busyAt = d.after
	}
	for _, m := range d.series {
		switch m.Series.Metric {
		case &catalog.DeviceLastRead:
			m.Value = float64(now.Unix())
		case &catalog.OperationsUnchanged:
			m.Value = (d.after - d.busyAt).Seconds()
		default:
			m.move(d.after, interval)
		}
	}
	return &node.Snapshot{Time: now, Devices: d.first.Devices, Samples: d.first.Samples}
}

// move brings a counter to a time.
func (m *moving) move(after, interval time.Duration) {
	seconds, intoJob := interval.Seconds(), after%jobEvery
	if m.rate > 0 {
		m.gained += seconds * (m.always + m.perBit*8*m.rate)
		if intoJob <= jobRuns {
			// 60 % of the line rate.
			m.gained += seconds * (m.busy + m.perPacket*0.6*m.rate/mtu)
		}
		m.gained += m.start * share(intoJob, interval, 0, time.Minute)
		m.gained += m.end * share(intoJob, interval, jobRuns, 40*time.Second)
		if m.stray > 0 && (after+m.phase)/m.stray > (after+m.phase-interval)/m.stray {
			m.gained++
		}
	}
	whole := m.gained
	if m.Series.Metric.Unit != catalog.InSeconds {
		whole = math.Floor(whole)
	}
	m.Value = m.initial + whole
}

// share is how much of a burst lies in the interval that ends at a time.
func share(end, interval, from, length time.Duration) float64 {
	begin := max(end-interval, from)
	return max(0, min(end, from+length)-begin).Seconds() / length.Seconds()
}
