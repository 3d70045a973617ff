package capture_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Scenarios are played and captured reading by reading meanwhile; then the
// captures are played. Every reading must have the same samples.
func TestSeriesHasEveryReading(t *testing.T) {
	for _, c := range []struct {
		scenario, name string
		minutes        int // what is worth seeing is over by then
		why            string
	}{
		{"S2-cable-dies-in-steps", "cable-dies-in-steps", 25, "counters of every kind move, a link flaps"},
		{"RDMAPFCStorm", "firing-detected", 12, "statistics of ethtool"},
		{"RDMADeviceUnresponsive", "quiet-reset", 7, "a read that hangs, and returns"},
		{"RDMADeviceCountDropped", "quiet-driver-reload", 14, "a device goes away and comes back"},
		{"RDMAFECMarginLow", "firing-four-lanes", 12, "answers of netlink"},
	} {
		t.Run(c.scenario+"/"+c.name, func(t *testing.T) {
			played := load(t, c.scenario, c.name)
			played.Interval = replay.Duration(30 * time.Second)
			played.Duration = replay.Duration(time.Duration(c.minutes) * time.Minute)
			var live, again []string
			archive, _ := packCase(t, played, capture.Config{Raw: true}, replay.Setup{Observe: keep(&live)})
			play(t, unpack(t, archive), replay.Setup{Observe: keep(&again)})
			if len(again) != len(live) {
				t.Fatalf("%d readings, want %d", len(again), len(live))
			}
			for i := range live {
				compare(t, live[i], again[i])
				if t.Failed() {
					t.Fatalf("in reading %d of %d", i+1, len(live))
				}
			}
		})
	}
}

// Alerts go through the same states at the same times live and from a capture,
// also from one that was anonymised.
func TestSeriesHasSameAlerts(t *testing.T) {
	c := load(t, "S2-cable-dies-in-steps", "cable-dies-in-steps")
	c.Duration = replay.Duration(17 * time.Minute) // one fires, and silences another
	archive, live := packCase(t, c, capture.Config{}, setup(t))
	want, got := course(live), course(play(t, unpack(t, archive), setup(t)))
	if got != want {
		t.Errorf("replayed:\n%s\nlive:\n%s", got, want)
	}
	if !strings.Contains(want, "firing") {
		t.Error("nothing fired")
	}
}

// load returns a case of a scenario.
func load(t *testing.T, file, name string) *replay.Case {
	t.Helper()
	scenario, err := replay.Load(filepath.Join("../fixtures/scenarios", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range scenario.Cases {
		if scenario.Cases[i].Name == name {
			return &scenario.Cases[i]
		}
	}
	t.Fatalf("%s has no case %s", file, name)
	return nil
}

// keep makes an observer that appends each reading, a sample to the line.
// Durations differ, and how often a device was tried while it hung.
func keep(readings *[]string) func(int, *node.Snapshot) {
	return func(_ int, s *node.Snapshot) {
		var b strings.Builder
		write := func(samples []node.Sample) {
			for _, sample := range samples {
				if name := sample.Series.Metric.Name; !strings.HasSuffix(name, "_duration_seconds") && name != "rdma_collector_reads_total" {
					fmt.Fprintln(&b, name, sample.Series.Values, sample.Value)
				}
			}
		}
		write(s.Samples)
		for _, d := range s.Devices {
			write(d.Samples)
		}
		*readings = append(*readings, b.String())
	}
}

func play(t *testing.T, c *capture.Capture, s replay.Setup) *replay.Result {
	t.Helper()
	result, err := replay.Play(context.Background(), replay.Recording{Dir: c.Dir(), Times: c.Times(), Advance: c.Advance}, s)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// packCase captures a case while it is played.
func packCase(t *testing.T, c *replay.Case, config capture.Config, s replay.Setup) ([]byte, *replay.Result) {
	t.Helper()
	rec := capture.NewRecording()
	var archive bytes.Buffer
	w := capture.NewWriter(&archive, rec, config)
	s.Recorder = rec
	observe := s.Observe
	s.Observe = func(step int, s *node.Snapshot) {
		if observe != nil {
			observe(step, s)
		}
		if err := w.Add(s.Time); err != nil {
			t.Error(err)
		}
	}
	result, err := replay.Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(summary)
	return archive.Bytes(), result
}

func setup(t *testing.T) replay.Setup {
	t.Helper()
	s, err := replay.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// course lists what the alerts did.
func course(r *replay.Result) string {
	var b strings.Builder
	for _, e := range r.Events {
		fmt.Fprintf(&b, "%s %s %s %g %s\n", e.After.Round(time.Millisecond), e.Alert.State, e.Alert.Labels, e.Alert.Value, e.SilencedBy)
	}
	return b.String()
}
