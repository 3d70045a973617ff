package collector_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// What a device does not offer is found out by the first collection, and an
// error there makes the second one look at the device again. The third is like
// all that follow: it comes too early for another look.
const (
	settled     = 2 // collections
	scrapeAfter = 15 * time.Second
)

// TestGoldenReads compares what a collection costs with fixtures/reads.txt.
func TestGoldenReads(t *testing.T) {
	var table strings.Builder
	var columns []string
	for _, s := range collector.Sources() {
		columns = append(columns, s.Name)
	}
	fmt.Fprintf(&table, "# Reads of one collection, once it is known what the devices offer: files,\n# ioctls and netlink requests, all devices of the fixture together.\n%-28s", "fixture")
	for _, c := range append(columns, "devices", "total") {
		fmt.Fprintf(&table, " %11s", c)
	}
	for _, fixture := range fixtures.Nodes() {
		e := expose(t, fixture)
		var before map[string]int
		for range settled {
			before, _ = e.reads(t)
			e.now = e.now.Add(scrapeAfter)
		}
		after, devices := e.reads(t)
		total := 0
		fmt.Fprintf(&table, "\n%-28s", fixture)
		for _, c := range columns {
			fmt.Fprintf(&table, " %11d", after[c]-before[c])
			total += after[c] - before[c]
			delete(after, c)
		}
		fmt.Fprintf(&table, " %11d %11d", devices, total)
		for c := range after {
			if after[c] != before[c] {
				t.Errorf("%s: collector %s is no source, and reads", fixture, c)
			}
		}
	}
	compareGolden(t, filepath.Join(filepath.Dir(fixtures.Node("")), "reads.txt"), []byte(table.String()+"\n"))
}

// reads collects once and returns rdma_collector_reads_total by collector.
func (e *exposed) reads(t *testing.T) (byCollector map[string]int, devices int) {
	t.Helper()
	byCollector = map[string]int{}
	for _, f := range e.gather(t) {
		for _, m := range f.Metric {
			switch f.GetName() {
			case "rdma_collector_reads_total":
				byCollector[label(m, "collector")] += int(m.Counter.GetValue())
			case "rdma_devices":
				devices = int(m.Gauge.GetValue())
			}
		}
	}
	return byCollector, devices
}

// Each file costs a firmware command on some card. No descriptor is kept here,
// so that every read opens its file and is seen.
func TestNoFileIsReadTwice(t *testing.T) {
	for _, fixture := range fixtures.Nodes() {
		for _, dir := range glob(t, fixture, "sys/class/infiniband/*") {
			device := filepath.Base(dir)
			t.Run(fixture+"/"+device, func(t *testing.T) {
				for file, times := range openedFiles(t, fixture, device) {
					if times > 1 {
						t.Errorf("%s is read %d times", file, times)
					}
				}
			})
		}
	}
}

// openedFiles tells how often each file, by its real path, is opened in one
// collection.
func openedFiles(t *testing.T, fixture, device string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	opened := map[string]int{}
	root := filepath.Join(fixtures.Node(fixture), "sys")
	h, err := host.New(host.Config{Replay: fixtures.Node(fixture), MaxOpen: 1, Trace: func(what string) {
		mu.Lock()
		defer mu.Unlock()
		if real, err := filepath.EvalSymlinks(filepath.Join(root, what)); err == nil {
			what = real
		}
		opened[what]++
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	only, err := collector.Anchor(device)
	if err != nil {
		t.Fatal(err)
	}
	now := goldenTime
	runner := collector.NewRunner(collector.Config{
		Host: h, Sources: collector.Sources(), Devices: collector.Filter{Include: only}, Timeout: time.Minute,
		Now: func() time.Time { return now },
	})
	defer runner.Close()
	for range settled {
		runner.Collect(context.Background(), nil)
		now = now.Add(scrapeAfter)
	}
	clear(opened)
	runner.Collect(context.Background(), nil)
	if slices.Max(append(slices.Collect(maps.Values(opened)), 0)) == 0 {
		t.Error("nothing was read")
	}
	return opened
}
