package faults

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// unplug takes a device away; the function it returns brings it back.
func (r *rig) unplug(device string) (replug func()) {
	r.t.Helper()
	links := filepath.Join(r.dir, "sys/class/infiniband", device)
	to, err := os.Readlink(links)
	if err != nil {
		r.t.Fatal(err)
	}
	dir, aside := r.device(device), filepath.Join(r.t.TempDir(), device)
	for _, err := range []error{os.Rename(dir, aside), os.Remove(links)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	return func() {
		r.t.Helper()
		for _, err := range []error{os.Rename(aside, dir), os.Symlink(to, links)} {
			if err != nil {
				r.t.Fatal(err)
			}
		}
	}
}

// A physical function is reset again and again while it is read: its files go
// in the middle of a reading. Each page is whole for the other device, and
// nothing is left open of the one that went.
func TestUnpluggedWhileRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := serve(t, r.sysfs(), "--collector.min-interval=0s", "--no-alerting.enabled")
	first := p.scrape()
	before := p.held()
	stop := make(chan struct{})
	var scrapers sync.WaitGroup
	for range 2 {
		scrapers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, body, err := p.try("/metrics")
				if err != nil || status != 200 || !strings.Contains(body, "\n"+sequence1+" ") {
					t.Errorf("status %d, %v, without the other device: %t", status, err, !strings.Contains(body, sequence1))
					return
				}
			}
		})
	}
	for range 5 {
		replug := r.unplug("mlx5_0")
		eventually(t, "the device is gone from the page", func() bool { _, there := p.scrape()[sequence0]; return !there })
		replug()
		eventually(t, "the device is back", func() bool { return p.scrape()[sequence0] == first[sequence0] })
	}
	close(stop)
	scrapers.Wait()
	p.settles(before)
}

// EIO and ENODEV in the middle of a device's files, which a plain tree cannot
// answer: that counter is absent, the others are there, and the collector says
// that it failed.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"EIO", "ENODEV", "EBUSY", "ETIMEDOUT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.set(r.file("mlx5_0", "ports/1/hw_counters/out_of_sequence"), "errno:"+name+"\n")
			p := serve(t, "--replay="+r.dir, "--collector.min-interval=0s", "--no-alerting.enabled")
			status, body, err := p.try("/metrics")
			if err != nil || status != 200 {
				t.Fatalf("status %d, %v", status, err)
			}
			got := parse(t, strings.ReplaceAll(body, `,simulated="true"`, ""))
			got.absent(t, sequence0)
			got.want(t, map[string]float64{
				stalled0: 0, stalled1: 0,
				`rdma_collector_success{device="mlx5_1",collector="hw_counters"}`: 1,
			})
			for _, series := range []string{sequence1, `rdma_port_symbol_errors_total{device="mlx5_0",port="1",kind="pma"}`} {
				if _, ok := got[series]; !ok {
					t.Errorf("%s is missing", series)
				}
			}
			r.set(r.file("mlx5_0", "ports/1/hw_counters/out_of_sequence"), "17\n")
			eventually(t, "the counter is back", func() bool {
				_, body, _ := p.try("/metrics")
				return strings.Contains(body, strings.TrimSuffix(sequence0, "}")+`,simulated="true"} 17`+"\n")
			})
		})
	}
}
