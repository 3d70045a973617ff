package diagnose

import (
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Input is what a Report is made of.
type Input struct {
	Node        string
	Simulated   bool
	Interrupted bool
	// Engine has read and evaluated Now. Without one there are ports only.
	Engine      *engine.Engine
	Inhibitions []engine.Inhibition
	// Before and Now are two readings, the first of which may be nil; between
	// them throughput is measured.
	Before, Now *node.Snapshot
	// Window is how far back the rates of evidence look.
	Window time.Duration
	// Short is what became of the rules if they were shortened to the window;
	// nil if they are whole.
	Short map[*engine.Rule]*engine.Shortened
}

// New makes a report. It is called by the goroutine that evaluates the engine.
func New(in Input) *Report {
	b := builder{Input: in, metrics: map[string]*catalog.Metric{}, since: in.Now.Time.Add(-in.Window)}
	for _, m := range catalog.Metrics() {
		b.metrics[m.Name] = m
	}
	if in.Engine != nil {
		b.groups, b.status = in.Engine.Rules()
		b.alerts = slices.DeleteFunc(in.Engine.Alerts(), func(a engine.Alert) bool { return a.State == engine.Resolved })
	}
	b.stuck = b.findStuck()
	r := &Report{
		Version: Version, Node: in.Node, Time: in.Now.Time, WindowSeconds: in.Window.Seconds(),
		Simulated: in.Simulated, Interrupted: in.Interrupted, Short: in.Short != nil,
	}
	r.Findings = b.findings()
	r.Ports = b.ports(r.Findings)
	r.NotJudged = b.notJudged()
	r.Unseen = b.unseen()
	return r
}

type builder struct {
	Input
	metrics map[string]*catalog.Metric
	groups  []*engine.Group
	status  map[*engine.Rule]engine.RuleStatus
	alerts  []engine.Alert // pending and firing ones
	since   time.Time
	stuck   []stuck
}

// past is what is known of a metric's series since a time.
func (b *builder) past(metric string, since time.Time, matchers ...*labels.Matcher) []engine.Past {
	if b.Engine == nil {
		return nil
	}
	return b.Engine.Past(metric, since, matchers...)
}

func (b *builder) findings() []Finding {
	silenced := silencedBy(b.Inhibitions, b.alerts)
	rules := map[string]*engine.Rule{}
	for _, g := range b.groups {
		for _, r := range g.Rules {
			rules[r.Alert] = r
		}
	}
	findings := []Finding{}
	for i := range b.alerts {
		if r := rules[b.alerts[i].Name()]; r != nil {
			findings = append(findings, b.finding(r, &b.alerts[i], silenced[i]))
		}
	}
	sortFindings(findings)
	return findings
}

// silencedBy tells for each alert by which it is silenced, or would be if all
// that is pending fired: a consequence that is still pending has its cause
// already.
func silencedBy(inhibitions []engine.Inhibition, alerts []engine.Alert) []string {
	names := make([]string, len(alerts))
	for i, by := range engine.Inhibit(inhibitions, alerts) {
		names[i] = by.Name()
	}
	later := slices.Clone(alerts)
	for i := range later {
		later[i].State = engine.Firing
	}
	for i, by := range engine.Inhibit(inhibitions, later) {
		if alerts[i].State == engine.Pending {
			names[i] = by.Name()
		}
	}
	return names
}

func (b *builder) finding(r *engine.Rule, a *engine.Alert, silencedBy string) Finding {
	f := Finding{
		Alert: a.Name(), Severity: r.Severity(), State: string(a.State), SilencedBy: silencedBy,
		Area: a.Labels.Get("area"), Device: a.Labels.Get("device"), Port: a.Labels.Get("port"),
		Labels: a.Labels.Map(), Where: []string{},
		Verdict: oneLine(a.Annotations.Get("summary")), Explanation: oneLine(a.Annotations.Get("description")),
		Since: a.ActiveAt, Evidence: b.evidence(r, a),
		Causes: ParseCauses(a.Annotations.Get("cause")), Next: ParseSteps(a.Annotations.Get("verify")),
		Fix: oneLine(a.Annotations.Get("fix")), Runbook: a.Annotations.Get("runbook_url"),
		AsksSeconds: b.asks(r).Seconds(),
	}
	if quiet := a.KeepFiringSince; !quiet.IsZero() {
		f.QuietSince = &quiet
	}
	if len(f.Causes) > 0 {
		f.Where = f.Causes[0].Sides
	}
	return f
}

// asks is how long a rule wants to see a condition, or how far back it counts.
func (b *builder) asks(r *engine.Rule) time.Duration {
	if s := b.Short[r]; s != nil {
		r = s.Whole
	}
	return max(r.For, r.Span())
}
