package collector

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/go-kit/log/level"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Exposition turns readings into Prometheus metrics. Metric families are kept
// from one scrape to the next and only their values are set anew, as long as
// the same series come.
type Exposition struct {
	runner *Runner
	// more adds families of other origin: build information, Go runtime.
	more prometheus.Gatherer
	// marks are on every metric of the page.
	marks []*dto.LabelPair

	mu      sync.Mutex
	free    []*families // one is in use for each scrape under way
	moreErr string
}

// NewExposition makes the exposition of what runner reads, and of more.
func NewExposition(runner *Runner, more prometheus.Gatherer) *Exposition {
	return &Exposition{runner: runner, more: more}
}

// Mark puts a label on every metric of the page. It is called before anything is
// gathered.
func (e *Exposition) Mark(name, value string) {
	e.marks = append(e.marks, &dto.LabelPair{Name: &name, Value: &value})
}

// Handler serves the metrics. The query parameter collect[] limits a scrape to
// some sources, as in node_exporter. At most limit scrapes run at a time.
func (e *Exposition) Handler(limit int) http.Handler {
	known := map[string]bool{}
	for _, s := range e.runner.c.Sources {
		known[s.Name] = true
	}
	slots := make(chan struct{}, limit)
	return zipping(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		only := req.URL.Query()["collect[]"]
		for _, name := range only {
			if !known[name] {
				http.Error(w, fmt.Sprintf("no collector %q here: it is unknown or switched off", name), http.StatusBadRequest)
				return
			}
		}
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			http.Error(w, fmt.Sprintf("%d scrapes are running already, try again later", limit), http.StatusServiceUnavailable)
			return
		}
		g := gathering{e, req.Context(), only}
		if format := expfmt.NegotiateAccept(req.Header, expfmt.DefaultOpenMetricsAcceptedFormats()...); isText(format) {
			g.writeText(w, format)
			return
		}
		promhttp.HandlerForTransactional(g, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(w, req)
	}))
}

// isText reports whether a page in this format is kept. The binary formats are
// encoded anew for each scrape.
func isText(f expfmt.Format) bool {
	t := f.FormatType()
	return t == expfmt.TypeTextPlain || t == expfmt.TypeOpenMetrics
}

// writeText answers a scrape with the kept page, and what has other origin
// after it.
func (g gathering) writeText(w http.ResponseWriter, format expfmt.Format) {
	snapshot := g.e.runner.Collect(g.ctx, g.only)
	f := g.e.take()
	defer g.e.give(f)
	f.fill(snapshot)
	text, err := f.text(format)
	if err == nil {
		text, err = g.e.appendMore(text, format)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	f.buf = text
	w.Header().Set("Content-Type", string(format))
	_, _ = w.Write(text)
}

// appendMore appends the families of other origin, and the end of the page.
func (e *Exposition) appendMore(text []byte, format expfmt.Format) ([]byte, error) {
	more := bytes.NewBuffer(text)
	encoder := expfmt.NewEncoder(more, format)
	for _, family := range e.gatherMore() {
		if err := encoder.Encode(family); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", family.GetName(), err)
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok { // OpenMetrics ends in a line of its own
		if err := closer.Close(); err != nil {
			return nil, fmt.Errorf("ending the page: %w", err)
		}
	}
	return more.Bytes(), nil
}

// gatherMore gathers the families of other origin.
func (e *Exposition) gatherMore() []*dto.MetricFamily {
	if e.more == nil {
		return nil
	}
	more, err := e.more.Gather()
	e.logMore(err)
	e.mark(more)
	return more
}

// gathering is one scrape.
type gathering struct {
	e    *Exposition
	ctx  context.Context
	only []string
}

// Gather implements prometheus.TransactionalGatherer: the families are the
// scrape's own until done is called.
func (g gathering) Gather() (mfs []*dto.MetricFamily, done func(), err error) {
	snapshot := g.e.runner.Collect(g.ctx, g.only)
	f := g.e.take()
	f.fill(snapshot)
	mfs = f.list
	if more := g.e.gatherMore(); len(more) > 0 {
		mfs = append(slices.Clone(mfs), more...)
		slices.SortFunc(mfs, byName)
	}
	return mfs, func() { g.e.give(f) }, nil
}

// mark puts the marks on metrics of other origin, whose labels are not ours.
func (e *Exposition) mark(mfs []*dto.MetricFamily) {
	if len(e.marks) == 0 {
		return
	}
	for _, family := range mfs {
		for _, m := range family.Metric {
			m.Label = append(slices.Clip(m.Label), e.marks...)
		}
	}
}

// logMore reports an error of the other families when it changes. It costs no
// RDMA metric.
func (e *Exposition) logMore(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if text != "" && text != e.moreErr {
		level.Warn(e.runner.logger).Log("msg", "some metrics of rdmawatch itself are missing", "err", text)
	}
	e.moreErr = text
}

// Gather implements prometheus.Gatherer with families that are the caller's.
func (e *Exposition) Gather() ([]*dto.MetricFamily, error) {
	f := families{marks: e.marks}
	f.fill(e.runner.Collect(context.Background(), nil))
	return f.list, nil
}

func (e *Exposition) take() *families {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.free); n > 0 {
		f := e.free[n-1]
		e.free = e.free[:n-1]
		return f
	}
	return &families{marks: e.marks}
}

// keptFamilies is how many sets are kept: as many scrapers as a node has.
const keptFamilies = 2

func (e *Exposition) give(f *families) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.free) < keptFamilies {
		e.free = append(e.free, f)
	}
}

// families is a set of metric families with the places of their values.
type families struct {
	marks  []*dto.LabelPair
	order  []*node.Series // of the samples they were built for
	values []*float64     // where each sample goes; nil: nowhere, it is a duplicate
	list   []*dto.MetricFamily
	pages  map[expfmt.Format]*page // of list
	buf    []byte                  // of the last page
}

// maxFormats is how many pages a set of families keeps: who asks for ever other
// formats makes none pile up.
const maxFormats = 4

// text is the page of the families. It is good until the next one.
func (f *families) text(format expfmt.Format) ([]byte, error) {
	if f.pages[format] == nil {
		p, err := newPage(f.list, format)
		if err != nil {
			return nil, err
		}
		if len(f.pages) == maxFormats {
			clear(f.pages)
		}
		f.pages[format] = p
	}
	return f.pages[format].appendTo(f.buf[:0]), nil
}

func (f *families) fill(s *node.Snapshot) {
	i := 0
	same := true
	s.All(func(sample node.Sample) {
		if same = same && i < len(f.order) && f.order[i] == sample.Series; same && f.values[i] != nil {
			*f.values[i] = sample.Value
		}
		i++
	})
	if !same || i != len(f.order) || f.pages == nil { // a new set, for no samples at all
		f.build(s)
	}
}

// build makes the families anew. Of two samples of one series the first one
// counts: sources are ordered by preference.
func (f *families) build(s *node.Snapshot) {
	f.order, f.values, f.list, f.pages = nil, nil, nil, map[expfmt.Format]*page{}
	byMetric := map[*catalog.Metric]*dto.MetricFamily{}
	seen := map[string]bool{}
	s.All(func(sample node.Sample) {
		f.order = append(f.order, sample.Series)
		key := sample.Series.Key()
		if seen[key] {
			f.values = append(f.values, nil)
			return
		}
		seen[key] = true
		m := sample.Series.Metric
		family := byMetric[m]
		if family == nil {
			family = newFamily(m)
			byMetric[m] = family
			f.list = append(f.list, family)
		}
		metric, value := newMetric(sample)
		metric.Label = append(metric.Label, f.marks...)
		family.Metric = append(family.Metric, metric)
		f.values = append(f.values, value)
	})
	slices.SortFunc(f.list, byName)
	for _, family := range f.list {
		slices.SortFunc(family.Metric, byLabels)
	}
}

func newFamily(m *catalog.Metric) *dto.MetricFamily {
	kind := [...]dto.MetricType{
		catalog.Counter: dto.MetricType_COUNTER, catalog.Gauge: dto.MetricType_GAUGE, catalog.Untyped: dto.MetricType_UNTYPED,
	}[m.Type]
	return &dto.MetricFamily{Name: &m.Name, Help: &m.Help, Type: &kind}
}

// newMetric makes the Prometheus form of a sample and tells where its value is.
func newMetric(s node.Sample) (*dto.Metric, *float64) {
	metric := &dto.Metric{}
	names := s.Series.Metric.LabelNames()
	for i, value := range s.Series.Values {
		metric.Label = append(metric.Label, &dto.LabelPair{Name: &names[i], Value: &value})
	}
	value := s.Value
	switch s.Series.Metric.Type {
	case catalog.Counter:
		metric.Counter = &dto.Counter{Value: &value}
	case catalog.Gauge:
		metric.Gauge = &dto.Gauge{Value: &value}
	default:
		metric.Untyped = &dto.Untyped{Value: &value}
	}
	return metric, &value
}

func byName(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) }

func byLabels(a, b *dto.Metric) int {
	return slices.CompareFunc(a.Label, b.Label, func(x, y *dto.LabelPair) int { return cmp.Compare(x.GetValue(), y.GetValue()) })
}
