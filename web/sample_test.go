package web

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

var began = time.Date(2026, 3, 4, 2, 20, 0, 0, time.UTC)

func config() Config {
	return Config{
		Node: "gpu-17", Version: "0.9.0", Started: began.Add(-50 * time.Hour), Alerting: true,
		Interval: 15 * time.Second, Metrics: "/metrics",
	}
}

func newSite(t *testing.T, c Config) *Site {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ptr(v float64) *float64 { return &v }

// parsed are the bundled rules, read once.
var parsed = sync.OnceValues(func() ([]*engine.Group, error) { return alerts.Groups(nil) })

// port is a healthy port that carries traffic.
func port(i int, now time.Time) diagnose.Port {
	wave := 20e9 + 18e9*math.Sin(float64(now.Unix()-began.Unix())/180+float64(i)/4)
	return diagnose.Port{
		Device: fmt.Sprintf("mlx5_%d", i), Port: "1", Netdev: fmt.Sprintf("rdma%d", i), Driver: "mlx5_core", LinkLayer: "Ethernet",
		State: "active", RateBytesPerSecond: ptr(50e9),
		PCIe:                   &diagnose.PCIe{Address: "0000:41:00.0", TransfersPerSecond: 32e9, Lanes: 16, Text: "32 GT/s x16", PathBytesPerSecond: 63e9},
		ReceivedBytesPerSecond: ptr(wave), TransmittedBytesPerSecond: ptr(wave * 0.93),
		LossRatio: ptr(0), PauseShare: ptr(0), ECNShare: ptr(0.0011),
	}
}

func sampleSeries(m *catalog.Metric, v float64, values ...string) node.Sample {
	return node.Sample{Series: &node.Series{Metric: m, Values: values}, Value: v}
}

// healthy is a round in which nothing is wrong.
func healthy8(now time.Time, t *testing.T) Round {
	t.Helper()
	groups, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	r := Round{
		Report:   &diagnose.Report{Version: 1, Node: "gpu-17", Time: now, WindowSeconds: 300},
		Snapshot: &node.Snapshot{Time: now},
		Groups:   engine.NodeScope(groups), Status: map[*engine.Rule]engine.RuleStatus{},
		Receivers: []Receiver{{Name: "http://alertmanager:9093", Sent: 12}},
	}
	for _, g := range r.Groups {
		for _, rule := range g.Rules {
			r.Status[rule] = engine.RuleStatus{At: now, Duration: 153 * time.Microsecond}
		}
	}
	for i := range 8 {
		r.Report.Ports = append(r.Report.Ports, port(i, now))
		device := fmt.Sprintf("mlx5_%d", i)
		r.Snapshot.Devices = append(r.Snapshot.Devices, node.Device{Name: device, Samples: []node.Sample{
			sampleSeries(&catalog.CollectorDuration, 0.0013, device, "hw_counters"),
			sampleSeries(&catalog.CollectorSuccess, 1, device, "hw_counters"),
			sampleSeries(&catalog.CollectorDuration, 0.0007+float64(i)/1e4, device, "ethtool"),
			sampleSeries(&catalog.CollectorSuccess, 1, device, "ethtool"),
			sampleSeries(&catalog.DeviceStalled, 0, device),
		}})
	}
	r.Snapshot.Samples = []node.Sample{
		sampleSeries(&catalog.CollectionDuration, 0.0121),
		sampleSeries(&catalog.UnmappedHW, 4711, "mlx5_0", "1", "rx_tomorrow"),
	}
	return r
}

func alert(name, severity, device string, state engine.State, active time.Time) engine.Alert {
	return engine.Alert{
		Labels:      labels.FromStrings(labels.AlertName, name, "severity", severity, "device", device, "port", "1", "instance", "gpu-17"),
		Annotations: labels.FromStrings("summary", name+" on "+device), State: state, Value: 0.31, ActiveAt: active, FiredAt: active.Add(time.Minute),
	}
}

// troubled is a round with findings of every kind.
func troubled(now time.Time, t *testing.T) Round {
	r := healthy8(now, t)
	down, pause := &r.Report.Ports[6], &r.Report.Ports[3]
	down.State, down.RateBytesPerSecond = "down", nil
	down.ReceivedBytesPerSecond, down.TransmittedBytesPerSecond = ptr(0), ptr(0)
	down.LossRatio, down.ECNShare = nil, nil
	down.Worst = &diagnose.Worst{Severity: "critical", Alert: "RDMAPortDown"}
	pause.PauseShare, pause.Worst = ptr(0.312), &diagnose.Worst{Severity: "warning", Alert: "RDMAPFCBackPressureReceived"}
	pause.TransmittedBytesPerSecond = ptr(9e9)
	pause.SinceBoot = []diagnose.Evidence{{Metric: "rdma_retries_exceeded_total", Labels: map[string]string{"kind": "transport"}, Counter: true, Value: 19}}
	r.Report.Ports[2].Worst = &diagnose.Worst{Severity: "warning", Alert: "RDMAOutOfSequence"}
	narrow := &r.Report.Ports[5]
	narrow.PCIe.Text, narrow.PCIe.Lanes = "32 GT/s x8 of x16", 8
	narrow.Worst = &diagnose.Worst{Severity: "warning", Alert: "RDMAPCIeWidthDowngraded"}
	r.Report.Findings = []diagnose.Finding{
		{
			Alert: "RDMAPortDown", Severity: "critical", State: "firing", Area: "link", Device: "mlx5_6", Port: "1",
			Labels: map[string]string{"device": "mlx5_6", "port": "1"}, Where: []string{"card", "switch"}, Since: now.Add(-7 * time.Minute),
			Verdict:     "mlx5_6 port 1 has had no link for 30 seconds.",
			Explanation: "The port was up and is down now, and nobody switched it off. Connections over it are dead or will be within seconds.",
			Evidence: []diagnose.Evidence{
				{Metric: "rdma_port_state", Labels: map[string]string{"device": "mlx5_6", "port": "1"}, Value: 1},
				{Metric: "rdma_link_downed_total", Labels: map[string]string{"device": "mlx5_6", "port": "1"}, Counter: true, Value: 255, RatePerSecond: ptr(0), Limit: ptr(255)},
			},
			Causes: []diagnose.Cause{{Text: "Cable or module pulled, broken or dead", Sides: []string{"card"}}, {Text: "Switch port shut down, or the switch rebooting", Sides: []string{"switch"}}},
			Next:   []diagnose.Step{{Do: "grep . /sys/class/infiniband/mlx5_6/ports/*/*state", Healthy: "4: ACTIVE, 5: LinkUp", Sick: "1: DOWN"}, {Do: "dmesg -T | grep -e \"module event\" -e \"Link down\" | tail"}},
			Fix:    "Ask whether the switch port is down too. Reseat the cable at the host, then swap it.", Runbook: "https://example.org/RDMAPortDown.md",
		},
		{
			Alert: "RDMAPFCBackPressureReceived", Severity: "warning", State: "firing", Area: "congestion", Device: "mlx5_3", Port: "1",
			Labels: map[string]string{"device": "mlx5_3", "port": "1", "priority": "3"}, Where: []string{"peer"}, Since: now.Add(-3*time.Minute - 7*time.Second),
			Verdict: "mlx5_3 port 1 is held by pause 31 % of the time.", Explanation: "The other end of the wire asks this port to stop.",
			Evidence: []diagnose.Evidence{{Metric: "rdma_pfc_received_pause_seconds_total", Labels: map[string]string{"device": "mlx5_3", "port": "1", "priority": "3"}, Unit: "seconds", Counter: true, Value: 9241.7, RatePerSecond: ptr(0.312)}},
			Causes:   []diagnose.Cause{{Text: "A receiver elsewhere is slow", Sides: []string{"peer"}}},
			Next:     []diagnose.Step{{Do: "ethtool -S rdma3 | grep rx_prio3_pause"}},
		},
		{Alert: "RDMAPCIeWidthDowngraded", Severity: "warning", State: "firing", Area: "pcie", Device: "mlx5_5", Where: []string{"this host"}, Since: now.Add(-26 * time.Hour), Verdict: "mlx5_5 runs on 8 of 16 PCIe lanes."},
		{Alert: "RDMASlowRestart", Severity: "info", State: "firing", Device: "mlx5_1", Port: "1", Since: now.Add(-time.Hour), Verdict: "mlx5_1 port 1 restarts slowly."},
		{Alert: "RDMAOutOfSequence", Severity: "warning", State: "pending", Device: "mlx5_2", Port: "1", Since: now.Add(-time.Minute), Verdict: "Packets arrive out of order at mlx5_2 port 1."},
		{Alert: "RDMALinkBounced", Severity: "warning", State: "firing", SilencedBy: "RDMAPortDown", Device: "mlx5_6", Port: "1", Since: now.Add(-7 * time.Minute), Verdict: "The link of mlx5_6 port 1 went down and came back."},
	}
	r.Report.NotJudged = []diagnose.NotJudged{{Why: "needs a longer past", Alerts: []string{"RDMALinkFlapping"}}}
	r.Report.Unseen = []diagnose.Unseen{{Device: "mlx5_7", Collector: "pcie", Why: "not permitted; needs CAP_SYS_ADMIN"}}
	r.Snapshot.Samples = append(r.Snapshot.Samples,
		sampleSeries(&catalog.DeviceStalled, 1, "mlx5_9"),
		sampleSeries(&catalog.DeviceLastRead, float64(now.Add(-4*time.Minute).Unix()), "mlx5_9"),
		sampleSeries(&catalog.DeviceSkipped, 1, "mlx5_10", "restricted"),
		sampleSeries(&catalog.CollectorSuccess, 0, "mlx5_4", "ethtool"),
		sampleSeries(&catalog.CollectorReadErrors, 7, "mlx5_4", "ethtool", "EIO"),
		sampleSeries(&catalog.CollectorSkipped, 1, "mlx5_4", "hw_counters", "permission"),
	)
	r.Alerts = []engine.Alert{
		alert("RDMAPortDown", "critical", "mlx5_6", engine.Firing, now.Add(-7*time.Minute)),
		alert("RDMAPFCBackPressureReceived", "warning", "mlx5_3", engine.Firing, now.Add(-3*time.Minute)),
		alert("RDMAOutOfSequence", "warning", "mlx5_2", engine.Pending, now.Add(-time.Minute)),
	}
	for rule := range r.Status {
		if rule.Alert == "RDMAICRCErrors" {
			r.Status[rule] = engine.RuleStatus{At: now, Err: errors.New("query timed out")}
		}
	}
	return r
}
