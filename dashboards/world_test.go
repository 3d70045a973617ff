package dashboards

import (
	"context"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// world is what a Prometheus would have stored that scrapes a few nodes and
// evaluates the rules: enough of one for the query engine.
type world struct {
	t      *testing.T
	byName map[string][]*kept
	byKey  map[string]*kept
	engine *promql.Engine
	active map[string]time.Time // when the condition of an alert began to hold
}

// kept is a series.
type kept struct {
	labels  labels.Labels
	samples []chunks.Sample
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, byName: map[string][]*kept{}, byKey: map[string]*kept{}, active: map[string]time.Time{},
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples: 50_000_000, Timeout: time.Minute,
			EnableAtModifier: true, EnableNegativeOffset: true,
			Parser: parser.NewParser(parser.Options{}),
		}),
	}
}

// sample implements chunks.Sample.
type sample struct {
	t int64
	v float64
}

func (s sample) T() int64                    { return s.t }
func (s sample) F() float64                  { return s.v }
func (sample) ST() int64                     { return 0 }
func (sample) H() *histogram.Histogram       { return nil }
func (sample) FH() *histogram.FloatHistogram { return nil }
func (sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample         { return s }

// add adds a sample.
func (w *world) add(ls labels.Labels, at time.Time, value float64) {
	key := string(ls.Bytes(nil))
	s, known := w.byKey[key]
	if !known {
		s = &kept{labels: ls}
		w.byKey[key] = s
		name := ls.Get(model.MetricNameLabel)
		w.byName[name] = append(w.byName[name], s)
	}
	s.samples = append(s.samples, sample{at.UnixMilli(), value})
}

// play has a node scraped while something happens to it.
func (w *world) play(c *replay.Case, target map[string]string, shift time.Duration) {
	w.t.Helper()
	fixed := func(name string) labels.Labels {
		b := labels.NewBuilder(labels.FromMap(target))
		b.Set(model.MetricNameLabel, name).Set("job", "rdmawatch")
		return b.Labels()
	}
	setup := replay.Setup{Observe: func(step int, s *node.Snapshot) {
		at := s.Time.Add(shift)
		s.All(func(v node.Sample) {
			b := labels.NewBuilder(fixed(v.Series.Metric.Name))
			for i, name := range v.Series.Metric.LabelNames() {
				b.Set(name, v.Series.Values[i])
			}
			w.add(b.Labels(), at, v.Value)
		})
		for name, value := range map[string]float64{"up": 1, "scrape_duration_seconds": 0.013, "scrape_samples_scraped": 1747} {
			w.add(fixed(name), at, value)
		}
		for _, own := range ofOneNode {
			b := labels.NewBuilder(fixed(own.name))
			for name, value := range own.labels {
				b.Set(name, value)
			}
			w.add(b.Labels(), at, own.value+own.gain*float64(step))
		}
	}}
	if _, err := replay.Run(w.t.Context(), c, setup); err != nil {
		w.t.Fatal(err)
	}
}

// ofOneNode is what cmd/rdmawatch itself exports, with values made up.
var ofOneNode = []struct {
	name        string
	labels      map[string]string
	value, gain float64
}{
	{"rdmawatch_build_info", map[string]string{"version": "1.2.3", "goversion": "go1.26"}, 1, 0},
	{"rdmawatch_alerts", map[string]string{"state": "firing"}, 1, 0},
	{"rdmawatch_alerts", map[string]string{"state": "pending"}, 2, 0},
	{"rdmawatch_rule_series", nil, 1397, 0},
	{"rdmawatch_rule_evaluations_total", nil, 0, 107},
	{"rdmawatch_rule_evaluation_failures_total", nil, 0, 0},
	{"rdmawatch_rule_evaluation_duration_seconds", nil, 0.005, 0},
	{"rdmawatch_rule_evaluation_last_timestamp_seconds", nil, 1_700_000_000, 15},
	{"rdmawatch_notifications_sent_total", map[string]string{"receiver": "alertmanager:9093"}, 0, 2},
	{"rdmawatch_notifications_failed_total", map[string]string{"receiver": "alertmanager:9093"}, 0, 0},
	{"rdmawatch_notifications_dropped_total", map[string]string{"receiver": "alertmanager:9093"}, 0, 0},
	{"rdmawatch_notifications_waiting", map[string]string{"receiver": "alertmanager:9093"}, 0, 0},
	{"rdma_alert_firing", map[string]string{"alertname": "RDMAPortDown", "severity": "critical", "device": "mlx5_5", "port": "1"}, 1, 0},
	{"rdma_alert_firing", map[string]string{"alertname": "RDMAPCIeWidthDowngraded", "severity": "warning", "device": "mlx5_3"}, 1, 0},
	{"rdma_alert_firing", map[string]string{"alertname": "RDMALaneImbalance", "severity": "info", "device": "mlx5_5", "port": "1"}, 1, 0},
}

// evaluate evaluates rules, those of alerts too.
func (w *world) evaluate(groups []*engine.Group, from, to time.Time, every time.Duration) {
	w.t.Helper()
	for at := from; !at.After(to); at = at.Add(every) {
		for _, g := range groups {
			for _, r := range g.Rules {
				for _, v := range w.vector(r.Query(), at) {
					w.record(r, v, at)
				}
			}
		}
	}
}

// record stores what a rule found.
func (w *world) record(r *engine.Rule, v promql.Sample, at time.Time) {
	b := labels.NewBuilder(v.Metric)
	r.Labels.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
	if r.Record != "" {
		w.add(b.Set(model.MetricNameLabel, r.Record).Labels(), at, v.F)
		return
	}
	b.Set(model.MetricNameLabel, "ALERTS_FOR_STATE").Set("alertname", r.Alert)
	key := string(b.Labels().Bytes(nil))
	if _, active := w.active[key]; !active {
		w.active[key] = at
	}
	w.add(b.Labels(), at, float64(w.active[key].Unix()))
	if at.Sub(w.active[key]) >= r.For {
		w.add(b.Set(model.MetricNameLabel, "ALERTS").Set("alertstate", "firing").Labels(), at, 1)
	}
}

// vector is the result of a query at a time.
func (w *world) vector(text string, at time.Time) promql.Vector {
	w.t.Helper()
	q, err := w.engine.NewInstantQuery(w.t.Context(), w, nil, text, at)
	if err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	defer q.Close()
	v, err := q.Exec(w.t.Context()).Vector()
	if err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	return slices.Clone(v)
}

// matrix is the result of a query over time.
func (w *world) matrix(text string, from, to time.Time, every time.Duration) promql.Matrix {
	w.t.Helper()
	q, err := w.engine.NewRangeQuery(w.t.Context(), w, nil, text, from, to, every)
	if err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
	defer q.Close()
	m, err := q.Exec(w.t.Context()).Matrix()
	if err != nil {
		w.t.Errorf("%v in %s", err, text)
	}
	return slices.Clone(m)
}

// Querier implements storage.Queryable.
func (w *world) Querier(mint, maxt int64) (storage.Querier, error) { return reader{w, mint, maxt}, nil }

// reader implements storage.Querier.
type reader struct {
	w          *world
	mint, maxt int64
}

func (reader) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (reader) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (reader) Close() error { return nil }

func (r reader) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	var found []storage.Series
	for _, s := range r.candidates(matchers) {
		if slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
			continue
		}
		low := sort.Search(len(s.samples), func(i int) bool { return s.samples[i].T() >= r.mint })
		high := sort.Search(len(s.samples), func(i int) bool { return s.samples[i].T() > r.maxt })
		if low < high {
			found = append(found, storage.NewListSeries(s.labels, s.samples[low:high]))
		}
	}
	return &listed{found: found, at: -1}
}

func (r reader) candidates(matchers []*labels.Matcher) []*kept {
	for _, m := range matchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return r.w.byName[m.Value]
		}
	}
	r.w.t.Fatal("a query without the name of a metric")
	return nil
}

// listed implements storage.SeriesSet.
type listed struct {
	found []storage.Series
	at    int
}

func (l *listed) Next() bool                      { l.at++; return l.at < len(l.found) }
func (l *listed) At() storage.Series              { return l.found[l.at] }
func (*listed) Err() error                        { return nil }
func (*listed) Warnings() annotations.Annotations { return nil }
