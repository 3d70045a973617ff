package faults

import (
	"net/http"
	"testing"
	"time"
)

const (
	stalled0, stalled1 = `rdma_device_stalled{device="mlx5_0"}`, `rdma_device_stalled{device="mlx5_1"}`
	sequence0          = `rdma_out_of_sequence_packets_total{device="mlx5_0",port="1"}`
	sequence1          = `rdma_out_of_sequence_packets_total{device="mlx5_1",port="1"}`
)

// Files block for as long as they like: the page comes in time, with the other
// devices, for a thousand scrapes, and costs no more with each. When the read
// returns, all is as before, without anybody's help.
func TestBlockedFiles(t *testing.T) {
	for name, c := range map[string]struct {
		blocked func(*rig) []string
		both    bool
	}{
		"one file":    {func(r *rig) []string { return []string{r.file("mlx5_0", "ports/1/hw_counters/out_of_sequence")} }, false},
		"one device":  {func(r *rig) []string { return r.counters("mlx5_0") }, false},
		"all devices": {func(r *rig) []string { return append(r.counters("mlx5_0"), r.counters("mlx5_1")...) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			args := []string{r.sysfs(), "--collector.timeout=3s", "--collector.min-interval=0s", "--no-alerting.enabled"}
			p := serveShipped(t, args...)
			first := p.scrape()
			first.want(t, map[string]float64{stalled0: 0, stalled1: 0})
			healthy := p.held()
			p.terminate()
			release := r.block(c.blocked(r)...)
			p = serveShipped(t, args...) // anew: files that are open already would still answer
			begin := time.Now()
			got := p.scrape()
			if took := time.Since(begin); took > scrapeTimeout {
				t.Errorf("the page took %s", took)
			}
			hung := func(got page) {
				t.Helper()
				got.want(t, map[string]float64{stalled0: 1})
				got.absent(t, sequence0)
				if c.both {
					got.want(t, map[string]float64{stalled1: 1})
					got.absent(t, sequence1)
				} else {
					got.want(t, map[string]float64{stalled1: 0, sequence1: first[sequence1]})
				}
			}
			hung(got)
			before := p.held()
			begin = time.Now()
			for range 1000 {
				status, _, err := p.try("/metrics")
				if err != nil || status != http.StatusOK {
					t.Fatalf("status %d, %v", status, err)
				}
			}
			t.Logf("1,000 scrapes took %s", time.Since(begin).Round(time.Millisecond))
			hung(p.scrape())
			p.settles(before)
			release()
			eventually(t, "the devices answer again", func() bool {
				now := p.scrape()
				return now[stalled0] == 0 && now[stalled1] == 0 && now[sequence0] == first[sequence0] && now[sequence1] == first[sequence1]
			})
			p.settles(healthy)
		})
	}
}

// The bundled rule says so, and it stays on the page that the daemon evaluates.
func TestBlockedDeviceAlert(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.block(r.counters("mlx5_0")...)
	p := serve(t, r.sysfs(), "--collector.timeout=1s", "--alerting.interval=1s")
	const firing = `rdma_alert_firing{alertname="RDMADeviceUnresponsive",device="mlx5_0",port="",severity="critical"}`
	begin := time.Now()
	deadline := begin.Add(2 * time.Minute) // it is pending for one
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for p.scrape()[firing] != 1 {
		if (<-ticker.C).After(deadline) {
			t.Fatal("RDMADeviceUnresponsive does not fire")
		}
	}
	t.Logf("fires after %s", time.Since(begin).Round(time.Second))
	p.scrape().absent(t, `rdma_alert_firing{alertname="RDMADeviceUnresponsive",device="mlx5_1",port="",severity="critical"}`)
	p.terminate()
}
