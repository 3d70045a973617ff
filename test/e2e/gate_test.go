package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// gate stands before a program under an address that stays, so that a test can
// take the program away, put another in its place, or spoil what passes.
type gate struct {
	address string

	mu   sync.Mutex
	to   string        // the program; "": nobody answers
	cut  time.Duration // ends an answer in its middle after so long; 0: lets it pass
	skew time.Duration // added to the times of alerts, as by a node whose clock is wrong
	seen int           // answers cut
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	g := &gate{to: to}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: g.target()}) },
		ModifyResponse: g.spoil,
		ErrorHandler:   func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.target() == "" {
			panic(http.ErrAbortHandler) // the connection is closed without an answer
		}
		if err := g.shift(r); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.address = strings.TrimPrefix(server.URL, "http://")
	return g
}

func (g *gate) target() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to
}

// lead makes the gate lead to a program, or to nobody.
func (g *gate) lead(to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = to
}

// cutAfter ends answers after half of their text and so long a time.
func (g *gate) cutAfter(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = d
}

func (g *gate) cuts() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen
}

func (g *gate) spoil(r *http.Response) error {
	g.mu.Lock()
	cut := g.cut
	if cut > 0 {
		g.seen++
	}
	g.mu.Unlock()
	if cut == 0 {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	// The length stays that of the whole, and the rest never comes.
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), broken{time.After(cut)}))
	return nil
}

// broken fails at a time.
type broken struct{ at <-chan time.Time }

func (b broken) Read([]byte) (int, error) {
	<-b.at
	return 0, io.ErrUnexpectedEOF
}

// shift changes the times in the alerts that somebody sends.
func (g *gate) shift(r *http.Request) error {
	if g.skew == 0 || r.Method != http.MethodPost {
		return nil
	}
	var alerts []map[string]any
	if err := json.NewDecoder(r.Body).Decode(&alerts); err != nil {
		return err
	}
	for _, a := range alerts {
		for _, key := range []string{"startsAt", "endsAt"} {
			if text, ok := a[key].(string); ok {
				at, err := time.Parse(time.RFC3339, text)
				if err != nil {
					return err
				}
				a[key] = at.Add(g.skew).Format(time.RFC3339Nano)
			}
		}
	}
	content, err := json.Marshal(alerts)
	if err != nil {
		return err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	return nil
}
