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

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/web"
)

// telemetryPath leaves the paths that begin with /- to other pages.
var telemetryPath = regexp.MustCompile(`^/([A-Za-z0-9._~][A-Za-z0-9._~/-]*)?$`)

// handler serves every page. d is nil without alerting.
func (f *serveFlags) handler(runner *collector.Runner, d *daemon, site *web.Site) (http.Handler, error) {
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
	metrics := collector.NewExposition(runner, more)
	if f.simulated() {
		metrics.Mark(simulatedLabel, "true")
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+*f.path, metrics.Handler(*f.maxRequests))
	site.Register(mux)
	if d != nil && *f.lifecycle {
		mux.HandleFunc("POST /-/reload", d.serveReload)
	} else {
		mux.HandleFunc("POST /-/reload", http.NotFound)
	}
	return mux, nil
}

func (d *daemon) serveReload(w http.ResponseWriter, req *http.Request) {
	if err := d.askReload(req.Context()); err != nil {
		http.Error(w, fmt.Sprintf("rules not reloaded, the old ones stay: %v", err), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, "rules reloaded\n")
}
