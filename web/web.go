// Package web is what rdmawatch shows in a browser: the status page, the rules
// with their state, the runbooks, and the same as JSON. A round of the daemon
// publishes its values; a request reads those and nothing else, so that no
// number of readers costs the devices or the daemon anything.
package web

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Config is what the pages need to know besides the rounds.
type Config struct {
	Node      string
	Version   string
	Started   time.Time
	Simulated bool
	// Alerting is whether rules are evaluated here.
	Alerting bool
	// Interval is the time between rounds; 0 if rounds come with the scrapes.
	Interval time.Duration
	// Metrics is the path of the metrics.
	Metrics string
}

// Site serves the pages. Publish is called by one goroutine.
type Site struct {
	c       Config
	history *history
	pages   atomic.Pointer[pages]
	books   *runbooks
}

// New makes a site on which nothing is known yet.
func New(c Config) (*Site, error) {
	books, err := newRunbooks()
	if err != nil {
		return nil, fmt.Errorf("reading the runbooks: %w", err)
	}
	return &Site{c: c, history: newHistory(), books: books}, nil
}

// Publish puts what a round found in the place of what the one before it did.
func (s *Site) Publish(r Round) {
	now := r.Report.Time
	for i := range r.Report.Ports {
		p := &r.Report.Ports[i]
		if in, out := p.ReceivedBytesPerSecond, p.TransmittedBytesPerSecond; in != nil && out != nil {
			s.history.carried(portKey{p.Device, p.Port}, now, *in, *out)
		}
	}
	s.history.forget(now)
	s.history.alerts(r.Alerts, now)
	s.pages.Store(s.newPages(r, s.history.past(), s.history.recent()))
}

// Register adds the pages to mux. The status page is at / unless the metrics
// are.
func (s *Site) Register(mux *http.ServeMux) {
	if s.c.Metrics != "/" {
		mux.HandleFunc("GET /{$}", s.page(func(p *pages) *page { return p.status }))
	}
	mux.HandleFunc("GET /status", s.page(func(p *pages) *page { return p.status }))
	mux.HandleFunc("GET /alerts", s.page(func(p *pages) *page { return p.alerts }))
	mux.HandleFunc("GET /runbooks/{$}", s.runbookIndex)
	mux.HandleFunc("GET /runbooks/{alert}", s.runbook)
	mux.HandleFunc("GET /api/v1/status", s.page(func(p *pages) *page { return p.apiStatus }))
	mux.HandleFunc("GET /api/v1/findings", s.page(func(p *pages) *page { return p.apiFindings }))
	mux.HandleFunc("GET /api/v1/alerts", s.page(func(p *pages) *page { return p.apiAlerts }))
	mux.HandleFunc("GET /-/healthy", healthy)
	mux.HandleFunc("GET /-/ready", s.ready)
}

// page serves one of the pages of the last round.
func (s *Site) page(which func(*pages) *page) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		p := s.pages.Load()
		if p == nil {
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Refresh", "2") // browsers look again by themselves
			http.Error(w, notReady, http.StatusServiceUnavailable)
			return
		}
		which(p).ServeHTTP(w, req)
	}
}

const notReady = "The first reading of the devices is not done yet. Try again in a moment."

func healthy(w http.ResponseWriter, _ *http.Request) { answer(w, "rdmawatch is running.\n") }

// ready is whether the first round is done.
func (s *Site) ready(w http.ResponseWriter, _ *http.Request) {
	if s.pages.Load() == nil {
		http.Error(w, notReady, http.StatusServiceUnavailable)
		return
	}
	answer(w, "rdmawatch is ready.\n")
}

// answer writes a line to a client, who may have hung up.
func answer(w http.ResponseWriter, text string) { _, _ = io.WriteString(w, text) }
