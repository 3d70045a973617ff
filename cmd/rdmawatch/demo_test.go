package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// The demo opens with a past: a page, rates, one alert that has ended and one
// that fires. Everything says that it is simulated, and nothing is left behind.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var told strings.Builder
	s := serveBy(t, func(ctx context.Context, f *serveFlags, w io.Writer) error {
		return f.demo(ctx, &told, f.log.logger(w))
	}, "--alerting.interval=1h")
	if page := unmarked(t, s.get("/metrics")); !strings.Contains(page, "rdma_devices 8\n") || !strings.Contains(page, "rdmawatch_alerts{") {
		t.Error("the metrics are not those of eight NICs and their alerts")
	}
	var report diagnose.Report
	if err := json.Unmarshal([]byte(s.get("/api/v1/status")), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Simulated || report.Node != "demo-node" || len(report.Ports) != 8 {
		t.Errorf("simulated %t, node %s, %d ports", report.Simulated, report.Node, len(report.Ports))
	}
	if in := report.Ports[0].ReceivedBytesPerSecond; in == nil || *in < 5e9 {
		t.Error("no rate of received bytes")
	}
	if !slices.ContainsFunc(report.Findings, func(f diagnose.Finding) bool {
		return f.Alert == "RDMAPFCBackPressureReceived" && f.Device == "mlx5_2" && f.State == string(engine.Firing)
	}) {
		t.Errorf("findings %v", report.Findings)
	}
	page := s.get("/")
	_, events, _ := strings.Cut(page, `id="events"`)
	if !strings.Contains(page, `id="simulated"`) || !strings.Contains(events, "RDMARetransmissionRatioHigh") {
		t.Error("the page does not say that it is simulated, or what has ended")
	}
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.ended <- nil
	for line := range s.log {
		if strings.Contains(line, "RDMARetransmissionRatioHigh") || strings.Contains(line, "status=resolved") {
			t.Errorf("told of the past: %s", line)
		}
	}
	for _, want := range []string{"SIMULATED: ", "Status page   http://127.0.0.1:0/\n", "RDMAPCIeWidthDowngraded, mlx5_3\n"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("it tells:\n%s\nand lacks %q", &told, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestPageURL(t *testing.T) {
	for listen, want := range map[string]string{
		":10055":          "http://localhost:10055",
		"0.0.0.0:80":      "http://localhost:80",
		"[::]:10055":      "http://localhost:10055",
		"[::1]:10055":     "http://[::1]:10055",
		"192.0.2.7:10055": "http://192.0.2.7:10055",
		"node:10055":      "http://node:10055",
		"odd":             "http://odd",
	} {
		if got := pageURL(listen); got != want {
			t.Errorf("%s: got %s, want %s", listen, got, want)
		}
	}
}
