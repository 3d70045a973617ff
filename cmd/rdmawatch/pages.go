package main

import (
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	versioncollector "github.com/prometheus/client_golang/prometheus/collectors/version"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/collector"
)

// telemetryPath leaves the paths that begin with /- to other pages.
var telemetryPath = regexp.MustCompile(`^/([A-Za-z0-9._~][A-Za-z0-9._~/-]*)?$`)

// handler serves every page. d is nil without alerting.
func (f *serveFlags) handler(runner *collector.Runner, d *daemon) (http.Handler, error) {
	if !telemetryPath.MatchString(*f.path) || path.Clean(*f.path) != *f.path {
		return nil, fmt.Errorf("--web.telemetry-path is %q, it must be a plain path such as /metrics", *f.path)
	}
	more := prometheus.NewRegistry()
	more.MustRegister(versioncollector.NewCollector("rdmawatch"))
	if *f.runtimeMetrics {
		more.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	}
	if d != nil {
		more.MustRegister(newAlertMetrics(d))
	}
	metrics := collector.NewExposition(runner, more).Handler(*f.maxRequests)
	landing, err := web.NewLandingPage(web.LandingConfig{
		Name: "rdmawatch", Description: "Prometheus exporter for RDMA NICs", Version: version.Info(),
		Links:     []web.LandingLinks{{Address: *f.path, Text: "Metrics"}},
		Profiling: "false", // there are none
	})
	if err != nil {
		return nil, fmt.Errorf("preparing the start page: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+*f.path, metrics)
	mux.HandleFunc("GET /-/healthy", running)
	mux.HandleFunc("GET /-/ready", running)
	mux.HandleFunc("GET /runbooks/{alert}", runbook)
	if d != nil && *f.lifecycle {
		mux.HandleFunc("POST /-/reload", d.serveReload)
	} else {
		mux.HandleFunc("POST /-/reload", http.NotFound)
	}
	if *f.path != "/" {
		mux.Handle("GET /", landing)
	}
	return mux, nil
}

func running(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "rdmawatch is running.\n") }

// runbook serves what to do about an alert, as text.
func runbook(w http.ResponseWriter, req *http.Request) {
	content, err := alerts.File("runbooks/" + req.PathValue("alert") + ".md")
	if err != nil {
		http.Error(w, "no runbook for an alert of this name", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write(content)
}

func (d *daemon) serveReload(w http.ResponseWriter, req *http.Request) {
	if err := d.askReload(req.Context()); err != nil {
		http.Error(w, fmt.Sprintf("rules not reloaded, the old ones stay: %v", err), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, "rules reloaded\n")
}
