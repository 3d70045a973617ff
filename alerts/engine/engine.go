// Package engine evaluates alert rules on the node, as Prometheus does on a
// server: Prometheus' own query engine over a small store of the recent past,
// and a state machine with the same steps. Time is an argument everywhere, so
// that an hour can be replayed in a moment.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/template"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Config is what an Engine needs to know.
type Config struct {
	Groups []*Group // of node scope
	// Instance is the value of the label instance on every series, as a
	// Prometheus server would add it.
	Instance string
	// External labels are added to every alert that is sent.
	External labels.Labels
	// ExternalURL is where this program's pages are reached from outside.
	ExternalURL *url.URL
	Logger      log.Logger
}

// Engine holds the recent past and the state of all alerts. Append and
// Evaluate are called by one goroutine; Alerts and Rules by any.
type Engine struct {
	c      Config
	store  *store
	query  *promql.Engine
	series map[*node.Series]*ring // nil: no rule names it
	since  time.Time              // of the first reading

	// mu guards what follows against the readers. Evaluating does not hold it,
	// only booking a result does, so that nobody waits for a slow rule.
	mu      sync.Mutex
	groups  []*Group
	windows map[*Rule]time.Duration
	lasting map[*Rule]bool // the recording rules whose past is looked at
	active  map[*Rule]instances
	status  map[*Rule]RuleStatus
	stats   Stats
}

// RuleStatus is how the last evaluation of a rule went.
type RuleStatus struct {
	At       time.Time
	Duration time.Duration
	Err      error
}

// Stats count evaluations since the start.
type Stats struct {
	Rounds, Evaluations, Failures uint64
	LastRound                     time.Time
	LastDuration                  time.Duration
	Series                        int
}

// Limits of one evaluation: no rule of ours comes near them, a mistaken rule
// of somebody else's must not take the node's memory.
const (
	maxSamples  = 2_000_000
	maxDuration = 10 * time.Second
	// maxResults of one rule; a rule with more has an error, as with
	// Prometheus' limit of a group.
	maxResults = 10_000
)

// New makes an engine.
func New(c Config) *Engine {
	if c.ExternalURL == nil {
		c.ExternalURL = &url.URL{}
	}
	if c.Logger == nil {
		c.Logger = log.NewNopLogger()
	}
	e := &Engine{
		c:      c,
		active: map[*Rule]instances{}, status: map[*Rule]RuleStatus{},
	}
	e.load(c.Groups)
	return e
}

func newQueryEngine(p parser.Parser, maxSamples int) *promql.Engine {
	return promql.NewEngine(promql.EngineOpts{
		MaxSamples: maxSamples, Timeout: maxDuration, LookbackDelta: lookback, Parser: p,
		EnableNegativeOffset: true, EnableAtModifier: true,
	})
}

// load puts groups into use with an empty store.
func (e *Engine) load(groups []*Group) {
	e.groups, e.windows, e.lasting = groups, windows(groups), lasting(groups)
	e.store = newStore(wants(groups))
	e.query = newQueryEngine(newParsed(groups), maxSamples)
	e.series = map[*node.Series]*ring{}
}

// Reload replaces the rules. The past of series that both name is kept, and so
// are alerts of rules that have the same name: those whose rule now looks at
// more than the store holds wait until it does.
func (e *Engine) Reload(groups []*Group, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old, before := e.active, e.store
	e.active, e.status = map[*Rule]instances{}, map[*Rule]RuleStatus{}
	e.load(groups)
	owners := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules {
			owners[r.key], owners[alertsOf(r)] = true, true
		}
	}
	e.store.take(before, owners)
	for was, alerts := range old {
		r := e.rule(was.Alert)
		if r == nil {
			continue
		}
		e.active[r] = alerts
		if !e.reaches(before, r) {
			until := now.Add(e.windows[r])
			for _, a := range alerts {
				a.HeldUntil = until
			}
		}
	}
}

// reaches reports whether a store holds all of the past that a rule looks at.
func (e *Engine) reaches(s *store, r *Rule) bool {
	for _, m := range r.metrics {
		far, _ := e.store.keep.span(m)
		if had, _ := s.keep.span(m); had < far {
			return false
		}
	}
	return true
}

// Append adds a reading of the node to the past.
func (e *Engine) Append(s *node.Snapshot) {
	if e.since.IsZero() || s.Time.Before(e.since) { // the clock may be set back
		e.since = s.Time
	}
	e.store.begin()
	s.All(func(sample node.Sample) {
		r, known := e.series[sample.Series]
		if !known || r != nil && r.gone {
			r = e.ring(sample.Series)
			e.series[sample.Series] = r
		}
		if r != nil && r.gen != e.store.gen { // the first of two duplicates counts
			e.store.add(r, s.Time, sample.Value, "")
		}
	})
	e.store.end(s.Time, "", maps.Keys(e.store.byName))
	if len(e.series) > 2*e.store.len()+10_000 {
		clear(e.series) // devices came and went; the map is filled again
	}
}

func (e *Engine) ring(s *node.Series) *ring {
	if _, wants := e.store.keep.span(s.Metric.Name); !wants {
		return nil
	}
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set(model.MetricNameLabel, s.Metric.Name)
	b.Set(model.InstanceLabel, e.c.Instance)
	for i, name := range s.Metric.LabelNames() {
		b.Set(name, s.Values[i])
	}
	return e.store.series(b.Labels())
}

// Evaluate evaluates all rules at a time, group by group.
func (e *Engine) Evaluate(ctx context.Context, now time.Time) {
	begin := time.Now()
	turn := e.stats.Rounds
	for _, g := range e.groups {
		for _, r := range g.Rules {
			if ctx.Err() != nil {
				return // stopping, which is no failure of a rule
			}
			e.evaluate(ctx, r, now, turn%fullEvery == 0)
			turn++ // not all in the same round
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Rounds++
	e.stats.LastRound, e.stats.LastDuration, e.stats.Series = now, time.Since(begin), e.store.len()
}

// evaluate evaluates one rule, in full or unless it can be told that it has no
// result. An error leaves its alerts as they are.
func (e *Engine) evaluate(ctx context.Context, r *Rule, now time.Time, full bool) {
	begin := time.Now()
	var vector promql.Vector
	var err error
	if full || e.status[r].Err != nil || !e.nothing(r, now) {
		vector, err = e.ask(ctx, r.query, now)
	}
	if err == nil {
		err = e.book(ctx, r, vector, now)
	}
	if ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.status[r].Err
	e.status[r] = RuleStatus{At: now, Duration: time.Since(begin), Err: err}
	e.stats.Evaluations++
	if err == nil {
		return
	}
	e.stats.Failures++
	if was == nil || was.Error() != err.Error() {
		level.Warn(e.c.Logger).Log("msg", "rule failed", "rule", r.Name(), "file", r.Group.File, "err", err)
	}
}

// nothing reports whether a look at the store tells that a rule has no result.
func (e *Engine) nothing(r *Rule, now time.Time) bool {
	missing := func(metric string) bool { return len(e.store.byName[metric]) == 0 }
	return slices.ContainsFunc(r.needs, missing) || r.quiet != nil && r.quiet(e.store, now.UnixMilli())
}

// book records the result of a rule or moves its alerts on.
func (e *Engine) book(ctx context.Context, r *Rule, vector promql.Vector, now time.Time) error {
	if err := r.limit(len(vector)); err != nil {
		return err
	}
	if r.Record != "" {
		return e.record(r, vector, now)
	}
	return e.alert(ctx, r, vector, now)
}

func (e *Engine) ask(ctx context.Context, query string, now time.Time) (promql.Vector, error) {
	q, err := e.query.NewInstantQuery(ctx, e.store, nil, query, now)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	switch v := result.Value.(type) {
	case promql.Vector:
		return slices.Clone(v), nil
	case promql.Scalar:
		return promql.Vector{{T: v.T, F: v.V, Metric: labels.EmptyLabels()}}, nil
	}
	return nil, fmt.Errorf("result is a %s, not a vector", result.Value.Type())
}

func (e *Engine) record(r *Rule, vector promql.Vector, now time.Time) error {
	recorded := make([]labels.Labels, len(vector))
	seen := make(map[uint64]bool, len(vector))
	for i, sample := range vector {
		b := labels.NewBuilder(sample.Metric)
		b.Set(model.MetricNameLabel, r.Record)
		r.Labels.Range(func(l labels.Label) { b.Set(l.Name, l.Value) })
		recorded[i] = b.Labels()
		hash := recorded[i].Hash()
		if seen[hash] {
			return fmt.Errorf("%w: %s", errSameLabels, recorded[i])
		}
		seen[hash] = true
	}
	e.store.begin()
	for i, sample := range vector {
		e.store.add(e.store.series(recorded[i]), now, sample.F, r.key)
	}
	e.store.end(now, r.key, slices.Values([]string{r.Record}))
	return nil
}

var errSameLabels = errors.New("two results have the same labels after the rule's own are set")

// limit refuses more results than the group or the node allows.
func (r *Rule) limit(results int) error {
	limit := maxResults
	if r.Group.Limit > 0 {
		limit = min(limit, r.Group.Limit)
	}
	if results > limit {
		return fmt.Errorf("%d results exceed the limit of %d", results, limit)
	}
	return nil
}

func (e *Engine) alert(ctx context.Context, r *Rule, vector promql.Vector, now time.Time) error {
	found := instances{}
	for _, sample := range vector {
		a := e.instance(ctx, r, sample, now)
		hash := a.Labels.Hash()
		if found[hash] != nil {
			return fmt.Errorf("%w: %s", errSameLabels, a.Labels)
		}
		found[hash] = a
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active[r] == nil {
		e.active[r] = instances{}
	}
	e.active[r].update(r, found, now)
	e.expose(r, now)
	return nil
}

// alertsMetric is the name under which rules can ask for the alerts of rules.
const alertsMetric = "ALERTS"

func alertsOf(r *Rule) (owner string) { return alertsMetric + " " + r.key }

// expose records the alerts of a rule if any rule asks for alerts.
func (e *Engine) expose(r *Rule, now time.Time) {
	if _, asked := e.store.keep.span(alertsMetric); !asked {
		return
	}
	owner := alertsOf(r)
	e.store.begin()
	for _, a := range e.active[r] {
		if a.State == Resolved {
			continue
		}
		b := labels.NewBuilder(a.Labels)
		b.Set(model.MetricNameLabel, alertsMetric)
		b.Set("alertstate", string(a.State))
		e.store.add(e.store.series(b.Labels()), now, 1, owner)
	}
	e.store.end(now, owner, slices.Values([]string{alertsMetric}))
}

// instance makes an alert of a result, with its labels and annotations filled
// in by Prometheus' templates.
func (e *Engine) instance(ctx context.Context, r *Rule, sample promql.Sample, now time.Time) *Alert {
	data := template.AlertTemplateData(sample.Metric.Map(), e.c.External.Map(), e.c.ExternalURL.String(), sample)
	expand := func(text string) string {
		if !strings.Contains(text, "{{") {
			return text
		}
		const defs = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
		expanded, err := template.NewTemplateExpander(ctx, defs+text, "__alert_"+r.Alert, data,
			model.TimeFromUnixNano(now.UnixNano()), e.ask, e.c.ExternalURL, nil).Expand()
		if err != nil {
			return fmt.Sprintf("<error expanding template: %s>", err)
		}
		return expanded
	}
	b := labels.NewBuilder(sample.Metric)
	b.Del(model.MetricNameLabel)
	r.Labels.Range(func(l labels.Label) { b.Set(l.Name, expand(l.Value)) })
	b.Set(labels.AlertName, r.Alert)
	annotations := labels.NewBuilder(labels.EmptyLabels())
	r.Annotations.Range(func(l labels.Label) { annotations.Set(l.Name, expand(l.Value)) })
	return &Alert{Labels: b.Labels(), Annotations: annotations.Labels(), State: Pending, Value: sample.F, ActiveAt: now}
}

// Alerts returns copies of all alerts, resolved ones included for a while,
// those that began first first.
func (e *Engine) Alerts() []Alert {
	e.mu.Lock()
	defer e.mu.Unlock()
	var alerts []Alert
	for _, in := range e.active {
		for _, a := range in {
			alerts = append(alerts, *a)
		}
	}
	slices.SortFunc(alerts, func(a, b Alert) int {
		return cmp.Or(a.ActiveAt.Compare(b.ActiveAt), labels.Compare(a.Labels, b.Labels))
	})
	return alerts
}

// Rules returns the loaded groups and how their rules' last evaluations went.
func (e *Engine) Rules() ([]*Group, map[*Rule]RuleStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	status := make(map[*Rule]RuleStatus, len(e.status))
	for r, s := range e.status {
		status[r] = s
	}
	return e.groups, status
}

// Stats returns what was counted since the start.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}
