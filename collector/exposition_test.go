package collector

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// get asks a handler for a page.
func get(t *testing.T, h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// scrape serves one scrape and returns the page.
func scrape(t *testing.T, e *Exposition, query string) string {
	t.Helper()
	w := get(t, e.Handler(4), "/metrics"+query)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d:\n%s", w.Code, w.Body)
	}
	return w.Body.String()
}

// parsed is a page as a Prometheus server reads it.
func parsed(t *testing.T, page string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatalf("%v in\n%s", err, page)
	}
	return families
}

var (
	gaugeMetric = &catalog.Metric{Name: "rdma_a", Type: catalog.Gauge, Scope: catalog.Device, Help: "A."}
	rawMetric   = &catalog.Metric{Name: "rdma_raw", Type: catalog.Untyped, Scope: catalog.Port, Labels: []string{"counter"}, Help: "Raw."}
	countMetric = &catalog.Metric{Name: "rdma_c_total", Type: catalog.Counter, Scope: catalog.Port, Help: "C."}
)

// snapshotOf has a value for each series.
func snapshotOf(all []*node.Series, value float64) *node.Snapshot {
	s := &node.Snapshot{Devices: []node.Device{{Name: "a0"}}}
	for i, series := range all {
		sample := node.Sample{Series: series, Value: value + float64(i)}
		if i%2 == 0 {
			s.Devices[0].Samples = append(s.Devices[0].Samples, sample)
		} else {
			s.Samples = append(s.Samples, sample)
		}
	}
	return s
}

func testSeries() []*node.Series {
	return []*node.Series{
		series(countMetric, "a0", "2"), series(gaugeMetric, "b0"), series(countMetric, "a0", "1"),
		series(gaugeMetric, "a0"), series(rawMetric, "a0", "1", "x"), series(countMetric, "a0", "10"),
	}
}

func text(t *testing.T, list []*dto.MetricFamily) string {
	t.Helper()
	var b bytes.Buffer
	encoder := expfmt.NewEncoder(&b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range list {
		if err := encoder.Encode(family); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestFamilies(t *testing.T) {
	all := testSeries()
	var f families
	f.fill(snapshotOf(all, 10))
	// Samples of devices come first: 10, 12 and 14, then 11, 13 and 15.
	const want = `# HELP rdma_a A.
# TYPE rdma_a gauge
rdma_a{device="a0"} 13
rdma_a{device="b0"} 11
# HELP rdma_c_total C.
# TYPE rdma_c_total counter
rdma_c_total{device="a0",port="1"} 12
rdma_c_total{device="a0",port="10"} 15
rdma_c_total{device="a0",port="2"} 10
# HELP rdma_raw Raw.
# TYPE rdma_raw untyped
rdma_raw{device="a0",port="1",counter="x"} 14
`
	if got := text(t, f.list); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFamiliesAreKept(t *testing.T) {
	all := testSeries()
	var f families
	f.fill(snapshotOf(all, 10))
	list, metric := f.list, f.list[1].Metric[2]
	f.fill(snapshotOf(all, 20))
	if &f.list[0] != &list[0] || f.list[1].Metric[2] != metric {
		t.Error("families were made anew for the same series")
	}
	if got := metric.GetCounter().GetValue(); got != 20 {
		t.Errorf("value %v, want 20", got)
	}
	s := snapshotOf(all, 30)
	if allocs := testing.AllocsPerRun(100, func() { f.fill(s) }); allocs > 1 {
		t.Errorf("%v allocations for the same series", allocs)
	}
}

func TestFamiliesAreMadeAnewForOtherSeries(t *testing.T) {
	all := testSeries()
	for name, other := range map[string][]*node.Series{
		"one more":        append(slices.Clone(all), series(countMetric, "a0", "3"), series(countMetric, "a0", "4")),
		"one less":        all[:len(all)-2],
		"another order":   {all[4], all[3], all[2], all[1], all[0], all[5]},
		"another pointer": {series(countMetric, "a0", "2"), all[1], all[2], all[3], all[4], all[5]},
		"none":            nil,
	} {
		t.Run(name, func(t *testing.T) {
			var f, fresh families
			f.fill(snapshotOf(all, 10))
			f.fill(snapshotOf(other, 20))
			fresh.fill(snapshotOf(other, 20))
			if got, want := text(t, f.list), text(t, fresh.list); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			f.fill(snapshotOf(all, 30)) // and back
			fresh.fill(snapshotOf(all, 30))
			if got, want := text(t, f.list), text(t, fresh.list); got != want {
				t.Errorf("back: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Two sources may offer one series. The first counts, in later readings too.
func TestFamiliesDropDuplicates(t *testing.T) {
	first, second := series(countMetric, "a0", "1"), series(countMetric, "a0", "1")
	snapshot := func(a, b float64) *node.Snapshot {
		return &node.Snapshot{Samples: []node.Sample{{Series: first, Value: a}, {Series: second, Value: b}, {Series: first, Value: 99}}}
	}
	var f families
	for _, value := range []float64{3, 5} {
		f.fill(snapshot(value, 7))
		if n := len(f.list[0].Metric); n != 1 {
			t.Fatalf("%d metrics, want one", n)
		}
		if got := f.list[0].Metric[0].GetCounter().GetValue(); got != value {
			t.Errorf("value %v, want %v", got, value)
		}
	}
}

// What one scrape sets must not show up in another's page.
func TestConcurrentScrapesDoNotMix(t *testing.T) {
	e := NewExposition(newRig(t, nil).runner, nil)
	all := testSeries()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for round := range 200 {
				value := float64(1000*i + round)
				f := e.take()
				f.fill(snapshotOf(all, value))
				for _, family := range f.list {
					for _, m := range family.Metric {
						got := m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
						if got < value || got > value+5 {
							t.Errorf("value %v in a scrape of %v", got, value)
						}
					}
				}
				e.give(f)
			}
		})
	}
	wg.Wait()
	if len(e.free) > keptFamilies {
		t.Errorf("%d sets of families are kept", len(e.free))
	}
}

func scrapedRig(t *testing.T, adjust ...func(*Config)) (*rig, *Exposition) {
	m := newRig(t, join(threeNICs(), iface("eth0", "0000:01:00.0", fileSet{"mtu": "9000\n"})), adjust...)
	return m, NewExposition(m.runner, nil)
}

func TestPageFormats(t *testing.T) {
	_, e := scrapedRig(t)
	h := e.Handler(4)
	plain := get(t, h, "/metrics")
	if got := plain.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("content type %q", got)
	}
	if plain.Header().Get("Content-Encoding") != "" {
		t.Error("compressed without being asked")
	}
	want := parsed(t, plain.Body.String())
	if value := want["rdma_port_symbol_errors_total"].GetMetric()[1].GetCounter().GetValue(); value != 5 {
		t.Errorf("symbol errors of a0: %v, want 5", value)
	}

	zipped := get(t, h, "/metrics", "Accept-Encoding", "gzip")
	if got := zipped.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("content encoding %q", got)
	}
	if !strings.Contains(strings.Join(zipped.Header().Values("Vary"), ","), "Accept-Encoding") {
		t.Error("a cache is not told that the encoding varies")
	}
	r, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed(t, string(page)); len(got) != len(want) {
		t.Errorf("%d families when compressed, %d otherwise", len(got), len(want))
	}

	open := get(t, h, "/metrics", "Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
	if got := open.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text; version=1.0.0") {
		t.Errorf("content type %q", got)
	}
	body := open.Body.String()
	if !strings.HasSuffix(body, "# EOF\n") {
		t.Error("OpenMetrics does not end in # EOF")
	}
	for _, line := range []string{
		"# TYPE rdma_port_symbol_errors counter\n", `rdma_port_symbol_errors_total{device="a0",port="1",kind="pma"} 5` + "\n", "# TYPE rdma_devices gauge\n",
	} {
		if !strings.Contains(body, line) {
			t.Errorf("OpenMetrics lacks %q", line)
		}
	}
}

func TestCollectParameter(t *testing.T) {
	_, e := scrapedRig(t, only("port", "counters", "hw_counters"))
	h := e.Handler(4)
	w := get(t, h, "/metrics?collect[]=counters")
	page := parsed(t, w.Body.String())
	if w.Code != http.StatusOK || page["rdma_port_symbol_errors_total"] == nil || page["rdma_port_active"] != nil {
		t.Errorf("status %d, families %d; want counters only", w.Code, len(page))
	}
	w = get(t, h, "/metrics?collect[]=counters&collect[]=port")
	if page = parsed(t, w.Body.String()); page["rdma_port_symbol_errors_total"] == nil || page["rdma_port_active"] == nil {
		t.Error("two parts are not both there")
	}
	for _, bad := range []string{"nosuch", "ethtool", "", "Counters"} { // ethtool is switched off here
		w := get(t, h, "/metrics?collect[]=counters&collect[]="+bad)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), fmt.Sprintf("%q", bad)) {
			t.Errorf("collect[]=%s: status %d, %q", bad, w.Code, w.Body)
		}
	}
}

// holding is a client that does not read.
type holding struct {
	*httptest.ResponseRecorder
	begun, release chan struct{}
	once           sync.Once
}

func (h *holding) Write(p []byte) (int, error) {
	h.once.Do(func() { close(h.begun) })
	<-h.release
	return h.ResponseRecorder.Write(p)
}

func hold() *holding {
	return &holding{ResponseRecorder: httptest.NewRecorder(), begun: make(chan struct{}), release: make(chan struct{})}
}

func TestSlowReaderHoldsUpNobody(t *testing.T) {
	m, e := scrapedRig(t)
	h := e.Handler(3)
	slow := []*holding{hold(), hold()}
	var wg sync.WaitGroup
	for _, w := range slow {
		wg.Go(func() { h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil)) })
		<-w.begun
	}
	m.set(classFile("a0", symbols), "11\n")
	m.later(time.Minute)
	for range 3 { // values move on for others
		if !strings.Contains(get(t, h, "/metrics").Body.String(), symbolsOf("a0")+" 11\n") {
			t.Fatal("a page beside a slow reader is wrong")
		}
	}
	third := hold()
	wg.Go(func() { h.ServeHTTP(third, httptest.NewRequest(http.MethodGet, "/metrics", nil)) })
	<-third.begun
	refused := get(t, h, "/metrics")
	if refused.Code != http.StatusServiceUnavailable || !strings.Contains(refused.Body.String(), "3 scrapes") {
		t.Errorf("status %d, %q; want 503 for the fourth scrape", refused.Code, refused.Body)
	}
	for _, w := range append(slow, third) {
		close(w.release)
	}
	wg.Wait()
	for _, w := range slow {
		if page := w.Body.String(); !strings.Contains(page, symbolsOf("a0")+" 5\n") {
			t.Error("a slow reader's page has values of a later reading")
		}
	}
	if w := get(t, h, "/metrics"); w.Code != http.StatusOK {
		t.Errorf("status %d after the slow ones have ended", w.Code)
	}
}

// A scrape that comes while the program ends, and is the first of its set of
// families, is an empty page.
func TestScrapeAfterStop(t *testing.T) {
	m, e := scrapedRig(t)
	m.runner.Stop()
	if w := get(t, e.Handler(3), "/metrics"); w.Code != http.StatusOK || w.Body.Len() != 0 {
		t.Errorf("status %d, %q", w.Code, w.Body)
	}
}

func TestMoreFamiliesAreSortedIn(t *testing.T) {
	m, _ := scrapedRig(t)
	more := prometheus.NewRegistry()
	for _, name := range []string{"aaa", "rdma_middle", "zzz"} {
		more.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: "More."}, func() float64 { return 1 }))
	}
	e := NewExposition(m.runner, more)
	for range 2 { // the kept families must not take the others in
		families, done, err := gathering{e, context.Background(), nil}.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range families {
			names = append(names, f.GetName())
		}
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) || !slices.Contains(names, "rdma_middle") || !slices.Contains(names, "rdma_devices") {
			t.Errorf("names %q", names)
		}
		done()
	}
	if families, err := e.Gather(); err != nil || len(families) == 0 {
		t.Errorf("%d families, error %v", len(families), err)
	}
}

// A mark is on every metric of the page, of whatever origin, at every scrape.
func TestMark(t *testing.T) {
	m, plain := scrapedRig(t)
	more := prometheus.NewRegistry()
	more.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bare", Help: "More."}, func() float64 { return 1 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "labelled", Help: "More.", ConstLabels: prometheus.Labels{"a": "b"}}, func() float64 { return 1 }),
	)
	e := NewExposition(m.runner, more)
	e.Mark("simulated", "true")
	for range 3 { // the families are kept, the mark must not pile up
		page := scrape(t, e, "")
		for line := range strings.Lines(page) {
			if got := strings.Count(line, `simulated="true"`); got != 1 && !strings.HasPrefix(line, "#") {
				t.Fatalf("marked %d times: %s", got, line)
			}
		}
		for _, want := range []string{`bare{simulated="true"} 1`, `labelled{a="b",simulated="true"} 1`} {
			if !strings.Contains(page, want+"\n") {
				t.Errorf("the page lacks %s", want)
			}
		}
		parsed(t, page)
	}
	if page := scrape(t, plain, ""); strings.Contains(page, "simulated") {
		t.Error("a page that is not marked is")
	}
}

// What fails elsewhere costs no RDMA metric.
func TestMoreFamiliesThatFail(t *testing.T) {
	m, _ := scrapedRig(t)
	e := NewExposition(m.runner, prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		name, kind := "aaa", dto.MetricType_GAUGE
		one := 1.0
		return []*dto.MetricFamily{{Name: &name, Type: &kind, Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &one}}}}}, errors.New("broken collector")
	}))
	for range 3 {
		w := get(t, e.Handler(4), "/metrics")
		page := parsed(t, w.Body.String())
		if w.Code != http.StatusOK || page["rdma_devices"] == nil || page["aaa"] == nil {
			t.Errorf("status %d:\n%s", w.Code, w.Body)
		}
	}
	if lines := m.log.take("broken collector"); len(lines) != 1 {
		t.Errorf("log %q, want one line", lines)
	}
}

// The whole page is text that a server takes, with every source on.
func TestPageIsParsed(t *testing.T) {
	_, e := scrapedRig(t)
	for name, family := range parsed(t, scrape(t, e, "")) {
		if !strings.HasPrefix(name, "rdma_") || family.GetHelp() == "" {
			t.Errorf("family %s, help %q", name, family.GetHelp())
		}
	}
}
