package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// get asks a site. headers are names and values.
func get(s *Site, path string, headers ...string) *httptest.ResponseRecorder {
	mux := http.NewServeMux()
	s.Register(mux)
	req := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, req)
	return w
}

func published(t *testing.T, c Config, r Round) *Site {
	t.Helper()
	s := newSite(t, c)
	s.Publish(r)
	return s
}

func has(t *testing.T, page *httptest.ResponseRecorder, wanted ...string) {
	t.Helper()
	if page.Code != http.StatusOK {
		t.Fatalf("status %d: %s", page.Code, page.Body)
	}
	for _, w := range wanted {
		if !strings.Contains(page.Body.String(), w) {
			t.Errorf("the page lacks %q", w)
		}
	}
}

func hasNot(t *testing.T, page *httptest.ResponseRecorder, unwanted ...string) {
	t.Helper()
	for _, u := range unwanted {
		if strings.Contains(page.Body.String(), u) {
			t.Errorf("the page has %q", u)
		}
	}
}

func TestReady(t *testing.T) {
	s := newSite(t, config())
	for path, want := range map[string]int{
		"/-/healthy": 200, "/-/ready": 503, "/": 503, "/alerts": 503, "/api/v1/status": 503, "/runbooks/": 200, "/nosuch": 404,
	} {
		if got := get(s, path).Code; got != want {
			t.Errorf("%s before the first round: status %d, want %d", path, got, want)
		}
	}
	s.Publish(healthy8(began, t))
	for _, path := range []string{"/-/healthy", "/-/ready", "/", "/status", "/alerts", "/api/v1/status", "/api/v1/findings", "/api/v1/alerts"} {
		if got := get(s, path).Code; got != 200 {
			t.Errorf("%s after it: status %d", path, got)
		}
	}
}

func TestStatusHealthy(t *testing.T) {
	page := get(published(t, config(), healthy8(began, t)), "/")
	has(t, page, "<title>Nothing found · gpu-17</title>", "8 ports, judged by 8", "running for 2\u00a0d\u00a02\u00a0h", "rdmawatch 0.9.0",
		"rx_tomorrow", "4,711", "400\u00a0Gb/s", "32 GT/s x16", "0.11\u00a0%", "None has fired since this program started", `href="metrics"`)
	hasNot(t, page, `id="findings"`, `id="pending"`, `id="simulated"`, `id="stalled"`, `id="sinceboot"`)
}

func TestStatusTroubled(t *testing.T) {
	c := config()
	c.Simulated = true
	page := get(published(t, c, troubled(began, t)), "/")
	has(t, page,
		"<title>1 critical, 2 warning, 1 info · gpu-17</title>", "mlx5_6 port 1 has had no link for 30 seconds.",
		`id="simulated"`, `href="#finding-RDMAPortDown-mlx5_6-1"`, `id="finding-RDMAPortDown-mlx5_6-1" open`,
		"stands at its limit, 255", "31.2\u00a0% of the time", "2\u00a0h\u00a034\u00a0min",
		"grep . /sys/class/infiniband/mlx5_6/ports/*/*state", `href="runbooks/RDMAPortDown"`,
		"Found soon, if it lasts", "Explained by another finding", "explained by RDMAPortDown", "RDMAOutOfSequence, pending",
		"<b>mlx5_9</b> last read 02:16:00, 4\u00a0min ago", "fails</span> for mlx5_4", "not allowed to read all of mlx5_4: permission",
		"needs a longer past: RDMALinkFlapping", "http://alertmanager:9093",
	)
	// The second one that fires began three minutes ago and fired one later.
	has(t, page, `<time datetime="2026-03-04T02:18:00Z">02:18:00</time>`)
}

func TestStatusWithoutAlerting(t *testing.T) {
	c := config()
	c.Alerting, c.Interval = false, 0
	r := healthy8(began, t)
	r.Groups, r.Status, r.Receivers = nil, nil, nil
	s := published(t, c, r)
	page := get(s, "/")
	has(t, page, "Alerting is switched off", "mlx5_7", `data-stale="0"`)
	hasNot(t, page, `id="events"`, `id="receivers"`, "Nothing found")
	has(t, get(s, "/alerts"), "Alerting is switched off")
}

func TestStatusWithoutDevices(t *testing.T) {
	r := healthy8(began, t)
	r.Report.Ports, r.Snapshot.Devices = nil, nil
	has(t, get(published(t, config(), r), "/"), "No RDMA device", "No port of an RDMA device is known.")
}

// The metrics may be at the root; the page is below then.
func TestMetricsAtRoot(t *testing.T) {
	c := config()
	c.Metrics = "/"
	s := published(t, c, healthy8(began, t))
	if got := get(s, "/").Code; got != http.StatusNotFound {
		t.Errorf("/ is taken: status %d", got)
	}
	has(t, get(s, "/status"), `href="./">Metrics`, `href="status" aria-current`)
	has(t, get(s, "/runbooks/"), `href="../">Metrics`, `href="../status"`)
}

const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)>`

// Whatever the machine or a rule says stays text.
func TestEscapes(t *testing.T) {
	r := troubled(began, t)
	r.Report.Node = evil
	for i := range r.Report.Ports {
		p := &r.Report.Ports[i]
		p.Device, p.Netdev, p.Driver, p.State, p.PCIe.Text, p.PCIe.SlowestHop = evil, evil, evil, evil, evil, evil
		p.SinceBoot = []diagnose.Evidence{{Metric: evil, Labels: map[string]string{evil: evil}, Unit: evil}}
	}
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		f.Alert, f.Severity, f.Device, f.Verdict, f.Explanation, f.Fix, f.Where = evil, evil, evil, evil, evil, evil, []string{evil}
		f.Labels, f.Runbook = map[string]string{evil: evil}, "javascript:alert(3)"
		f.Causes = []diagnose.Cause{{Text: evil, Sides: []string{evil}}}
		f.Next = []diagnose.Step{{Do: evil, Healthy: evil, Sick: evil}}
		f.Evidence = []diagnose.Evidence{{Metric: evil, Labels: map[string]string{evil: evil}, Unit: evil, RatePerSecond: ptr(1)}}
	}
	r.Report.NotJudged = []diagnose.NotJudged{{Why: evil, Alerts: []string{evil}}}
	r.Report.Unseen = []diagnose.Unseen{{Device: evil, Collector: evil, Why: evil}}
	r.Receivers = []Receiver{{Name: evil}}
	for _, m := range []*catalog.Metric{&catalog.UnmappedHW, &catalog.CollectorSuccess, &catalog.DeviceStalled, &catalog.CollectorSkipped} {
		r.Snapshot.Samples = append(r.Snapshot.Samples, sampleSeries(m, 1, evil, evil, evil), sampleSeries(m, 0, evil, evil, evil))
	}
	r.Alerts[0].Labels = labels.FromStrings(labels.AlertName, r.Groups[0].Rules[len(r.Groups[0].Rules)-1].Alert, "device", evil)
	r.Alerts[0].Annotations = labels.FromStrings("summary", evil)
	s := published(t, config(), r)
	for _, path := range []string{"/", "/alerts"} {
		page := get(s, path)
		has(t, page, "&lt;script&gt;alert(1)")
		hasNot(t, page, "<script>alert", "<img", `href="javascript:`)
		if n := strings.Count(page.Body.String(), "<script"); n != 1 {
			t.Errorf("%s has %d scripts", path, n)
		}
	}
	page := get(s, "/runbooks/"+`%3Cscript%3Ealert(1)%3C%2Fscript%3E`, "Accept", "text/html")
	if page.Code != http.StatusNotFound || strings.Contains(page.Body.String(), "<script") {
		t.Errorf("runbook: status %d: %s", page.Code, page.Body)
	}
}

// The browser is told to run what the page has and nothing else.
func TestPolicy(t *testing.T) {
	page := get(published(t, config(), healthy8(began, t)), "/")
	header := page.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(header, "default-src 'none';") || strings.Contains(header, "unsafe") {
		t.Errorf("policy: %s", header)
	}
	for _, tag := range []string{"style", "script"} {
		_, rest, _ := strings.Cut(page.Body.String(), "<"+tag+">")
		text, _, found := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(text))
		want := tag + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !found || len(text) < 500 || !strings.Contains(header, want) {
			t.Errorf("the policy %q lacks %s", header, want)
		}
	}
	hasNot(t, page, " style=", " onclick=", "http://www.w3.org/1999", "https://")
}

func TestKept(t *testing.T) {
	s := published(t, config(), troubled(began, t))
	plain := get(s, "/")
	tag := plain.Header().Get("ETag")
	if again := get(s, "/", "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag {
		t.Errorf("the same again: status %d, %d bytes", again.Code, again.Body.Len())
	}
	if again := get(s, "/", "If-None-Match", `"x", W/`+tag); again.Code != http.StatusNotModified {
		t.Errorf("a list of weak tags: status %d", again.Code)
	}
	zipped := get(s, "/", "Accept-Encoding", "br, gzip;q=0.8")
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Body.Bytes()) {
		t.Errorf("zipped: %v, %d bytes, want %d", err, len(text), plain.Body.Len())
	}
	if zipped.Header().Get("ETag") == tag {
		t.Error("one tag for two forms")
	}
	if refused := get(s, "/", "Accept-Encoding", "gzip;q=0"); refused.Header().Get("Content-Encoding") != "" {
		t.Error("zipped for somebody who does not want it")
	}
	s.Publish(troubled(began.Add(15*time.Second), t))
	if next := get(s, "/", "If-None-Match", tag); next.Code != http.StatusOK || next.Header().Get("ETag") == tag {
		t.Errorf("after another round: status %d", next.Code)
	}
}

// Two hundred at once cost one rendering.
func TestCrowd(t *testing.T) {
	var made atomic.Int64
	p := &page{kind: textKind, make: func() ([]byte, error) {
		made.Add(1)
		return []byte("text"), nil
	}}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			w := httptest.NewRecorder()
			p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Body.String() != "text" {
				t.Errorf("got %q", w.Body)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}

func TestRules(t *testing.T) {
	page := get(published(t, config(), troubled(began, t)), "/alerts")
	has(t, page, "1 failing", "2 firing", "1 pending", `id="rule-RDMAPortDown"`, "query timed out", "evaluated 02:20:00 in 153\u00a0µs",
		"RDMAPortDown on mlx5_6", "device=mlx5_6 port=1", `href="runbooks/RDMAPortDown"`, "port:rdma_loss:ratio_rate2m")
	at := -1
	for _, name := range []string{"RDMAICRCErrors", "RDMAPortDown", "RDMAOutOfSequence", "RDMABondMemberLost"} { // failing, firing, pending, inactive
		next := strings.Index(page.Body.String(), `id="rule-`+name+`"`)
		if next < at {
			t.Errorf("%s comes too early", name)
		}
		at = next
	}
}

func TestRunbooks(t *testing.T) {
	s := newSite(t, config())
	browser := []string{"Accept", "text/html,application/xhtml+xml;q=0.9"}
	index := get(s, "/runbooks/", browser...)
	for _, file := range alerts.Runbooks() {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "runbooks/"), ".md")
		has(t, index, `<a href="`+name+`">`)
		content, err := alerts.File(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/runbooks/" + name, "/runbooks/" + name + ".md"} {
			if plain := get(s, path); plain.Body.String() != string(content) || plain.Header().Get("Content-Type") != textKind {
				t.Errorf("%s is not served as it is to who does not ask for HTML", path)
			}
		}
		if plain := get(s, "/runbooks/"+name+"?text", browser...); plain.Body.String() != string(content) {
			t.Errorf("%s?text is not the text", name)
		}
		page := get(s, "/runbooks/"+name, browser...)
		has(t, page, "<h1>"+name+"</h1>", "<h2>Meaning</h2>")
		hasNot(t, page, "```", "<h1># ")
	}
	if got := get(s, "/runbooks/Nosuch", browser...).Code; got != http.StatusNotFound {
		t.Errorf("no such runbook: status %d", got)
	}
}

func TestBlocks(t *testing.T) {
	got := blocks("# Name\n\nOne\ntwo `x`.\n\n```sh\ncat a\n\ncat b\n```\n\n### On the peer\n\n- a\n- b\n\n1. c\n   d\n")
	want := []block{
		{"title", "Name"}, {"prose", "One\ntwo `x`."}, {"code", "cat a\n\ncat b"}, {"part", "On the peer"}, {"list", "- a\n- b"}, {"list", "1. c\n   d"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestAPI(t *testing.T) {
	s := published(t, config(), troubled(began, t))
	var report diagnose.Report
	decode(t, get(s, "/api/v1/status"), &report)
	if report.Version != 1 || len(report.Ports) != 8 || report.Findings[0].Alert != "RDMAPortDown" {
		t.Errorf("status: %+v", report)
	}
	var found struct {
		Status string
		Data   struct{ Findings []diagnose.Finding }
	}
	decode(t, get(s, "/api/v1/findings"), &found)
	if found.Status != "success" || len(found.Data.Findings) != 6 {
		t.Errorf("findings: %+v", found)
	}
	r := troubled(began, t)
	r.Alerts = append(r.Alerts, alert("RDMALinkBounced", "warning", "mlx5_0", engine.Resolved, began))
	var alerts struct {
		Status string
		Data   struct{ Alerts []apiAlert }
	}
	decode(t, get(published(t, config(), r), "/api/v1/alerts"), &alerts)
	if alerts.Status != "success" || len(alerts.Data.Alerts) != 3 {
		t.Fatalf("alerts: %+v", alerts)
	}
	first := alerts.Data.Alerts[0]
	if first.Labels["alertname"] != "RDMAPortDown" || first.State != "firing" || first.Value != "3.1e-01" || !first.ActiveAt.Equal(began.Add(-7*time.Minute)) {
		t.Errorf("first alert: %+v", first)
	}
	quiet := published(t, config(), healthy8(began, t))
	for path, want := range map[string]string{"/api/v1/alerts": `"alerts": []`, "/api/v1/findings": `"findings": []`} {
		has(t, get(quiet, path), want)
	}
}

func decode(t *testing.T, page *httptest.ResponseRecorder, into any) {
	t.Helper()
	if kind := page.Header().Get("Content-Type"); page.Code != 200 || kind != jsonKind {
		t.Fatalf("status %d, %s", page.Code, kind)
	}
	if err := json.Unmarshal(page.Body.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkRound(b *testing.B) {
	t := &testing.T{}
	s, err := New(config())
	if err != nil {
		b.Fatal(err)
	}
	r := troubled(began, t)
	b.Run("publish", func(b *testing.B) {
		for b.Loop() {
			s.Publish(r)
		}
	})
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			s.Publish(r)
			get(s, "/", "Accept-Encoding", "gzip")
		}
	})
	b.Run("kept", func(b *testing.B) {
		for b.Loop() {
			get(s, "/", "Accept-Encoding", "gzip")
		}
	})
}
