package replay

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Setup is what a replay runs with: the rules and what silences what.
type Setup struct {
	Groups      []*engine.Group
	Inhibitions []engine.Inhibition
	// Observe, if set, sees every reading.
	Observe func(step int, s *node.Snapshot)
	// Evaluated, if set, is called after each evaluation of a reading. It
	// returns false to end the replay there.
	Evaluated func(after time.Duration, e *engine.Engine, s *node.Snapshot) bool
	// Recorder, if set, is given what is read.
	Recorder host.Recorder
}

// Bundled is a replay by the bundled rules, those that a node evaluates.
func Bundled() (Setup, error) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		return Setup{}, err
	}
	inhibitions, err := alerts.Inhibitions()
	return Setup{Groups: engine.NodeScope(groups), Inhibitions: inhibitions}, err
}

// Instance is the value of the label instance during a replay.
const Instance = "node"

// start is the time at which every scenario begins.
var start = time.Unix(1_700_000_000, 0).UTC()

// Event is a change of an alert's state.
type Event struct {
	After      time.Duration // since the start
	Alert      engine.Alert
	SilencedBy string // the alert that silences it at this moment
}

// Result is what came of a case.
type Result struct {
	Case   *Case
	Events []Event
	// Steps holds the alerts at every evaluation.
	Steps [][]engine.Alert
	sent  map[string]bool // by label set: fired unsilenced at least once
}

// Run plays a case.
func Run(ctx context.Context, c *Case, s Setup) (*Result, error) {
	tree, err := newTree(c.Node, c.Changes)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", c.Name, err)
	}
	defer tree.Close()
	p := newPlayer(c, tree.dir, s)
	p.tree = tree
	if err := p.open(); err != nil {
		return nil, fmt.Errorf("case %s: %w", c.Name, err)
	}
	defer p.shut()
	if err := p.play(ctx); err != nil {
		return nil, fmt.Errorf("case %s: %w", c.Name, err)
	}
	return p.result, nil
}

type player struct {
	c      *Case
	s      Setup
	dir    string // of the fixture
	tree   *Tree  // nil for a recording
	now    time.Time
	host   *host.Host
	runner *collector.Runner
	engine *engine.Engine
	result *Result
	states map[string]string // by label set
}

func newPlayer(c *Case, dir string, s Setup) *player {
	return &player{c: c, s: s, dir: dir, result: &Result{Case: c, sent: map[string]bool{}}, states: map[string]string{}}
}

// open starts the program: collectors and engine as serve has them.
func (p *player) open() error {
	h, err := host.New(host.Config{Replay: p.dir, Recorder: p.s.Recorder})
	if err != nil {
		return err
	}
	p.host = h
	p.runner = collector.NewRunner(collector.Config{
		Host: h, Sources: collector.Sources(), Now: func() time.Time { return p.now },
		Timeout: patience,
	})
	p.engine = engine.New(engine.Config{Groups: p.s.Groups, Instance: Instance})
	return nil
}

// patience is how long a device may take to answer, in real time, since a read
// that blocks is real. Only a blocked device takes it, once; a machine that is
// busy with other things does not.
const patience = 5 * time.Second

func (p *player) shut() {
	p.runner.Close()
	p.host.Close()
}

func (p *player) play(ctx context.Context) error {
	interval := time.Duration(p.c.Interval)
	for step := 0; ; step++ {
		after := time.Duration(step) * interval
		if after > time.Duration(p.c.Duration) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		released, err := p.tree.Advance(after)
		if err != nil {
			return err
		}
		if released {
			p.settle(ctx)
		}
		p.now = start.Add(after)
		if err := p.restart(after, interval); err != nil {
			return err
		}
		if on, err := p.step(ctx, step, after); err != nil || !on {
			return err
		}
	}
}

// step reads and judges the node as it is now, and reports whether to go on.
func (p *player) step(ctx context.Context, step int, after time.Duration) (bool, error) {
	snapshot := p.runner.Collect(ctx, nil)
	if p.s.Observe != nil {
		p.s.Observe(step, snapshot)
	}
	p.engine.Append(snapshot)
	p.engine.Evaluate(ctx, p.now)
	if err := p.failures(); err != nil {
		return false, err
	}
	p.note(after)
	return p.s.Evaluated == nil || p.s.Evaluated(after, p.engine, snapshot), nil
}

// settle lets the reads return that are blocked no more.
func (p *player) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p.runner.Settle(ctx)
}

// restart stops and starts the program if the case says so at this step.
func (p *player) restart(after, interval time.Duration) error {
	for _, c := range p.c.Changes {
		if at := time.Duration(c.At); !c.Restart || at > after || at <= after-interval {
			continue
		}
		// As the state file of serve has it.
		alerts, savedAt := p.engine.Save(p.now), p.now
		devices, err := p.runner.Save()
		if err != nil {
			return err
		}
		p.shut()
		if err := p.open(); err != nil {
			return err
		}
		if err := p.runner.Restore(devices); err != nil {
			return err
		}
		p.engine.Restore(alerts, savedAt, p.now)
	}
	return nil
}

// failures reports rules that could not be evaluated: none may fail.
func (p *player) failures() error {
	_, status := p.engine.Rules()
	for r, s := range status {
		if s.Err != nil {
			return fmt.Errorf("rule %s: %w", r.Name(), s.Err)
		}
	}
	return nil
}

// note records what has changed since the last step.
func (p *player) note(after time.Duration) {
	alerts := p.engine.Alerts()
	silenced := engine.Inhibit(p.s.Inhibitions, alerts)
	p.result.Steps = append(p.result.Steps, alerts)
	present := map[string]bool{}
	for i, a := range alerts {
		by := ""
		if silenced[i] != nil {
			by = silenced[i].Name()
		}
		key := a.Labels.String()
		present[key] = true
		if a.State == engine.Firing && by == "" {
			p.result.sent[key] = true
		}
		if state := string(a.State) + by; p.states[key] != state {
			p.states[key] = state
			p.result.Events = append(p.result.Events, Event{after, a, by})
		}
	}
	for key := range p.states {
		if !present[key] {
			delete(p.states, key)
		}
	}
}

// Judge compares what came of a case with what it expects, and returns what
// differs, a sentence each.
func (r *Result) Judge() []string {
	var wrong []string
	asked := map[string]bool{}
	for _, e := range r.Case.Fire {
		asked[e.Alert] = true
		wrong = append(wrong, r.judge(e, false)...)
	}
	for _, e := range r.Case.Silenced {
		asked[e.Alert] = true
		wrong = append(wrong, r.judge(e, true)...)
	}
	for _, e := range r.Events {
		name := e.Alert.Name()
		if e.Alert.State == engine.Firing && !asked[name] && !slices.Contains(r.Case.Allowed, name) {
			wrong = append(wrong, fmt.Sprintf("%s fired after %s and nobody expected it: %s = %g", name, e.After, e.Alert.Labels, e.Alert.Value))
		}
	}
	return append(wrong, r.strays()...)
}

// strays finds firing instances of expected alerts whose labels no expectation
// allows: the right alert on the wrong port.
func (r *Result) strays() []string {
	var wrong []string
	for _, e := range r.Events {
		if e.Alert.State != engine.Firing || slices.Contains(r.Case.Allowed, e.Alert.Name()) {
			continue
		}
		named, fits := false, false
		for _, expect := range slices.Concat(r.Case.Fire, r.Case.Silenced) {
			if expect.Alert == e.Alert.Name() {
				named = true
				fits = fits || has(e.Alert.Labels, expect.Labels)
			}
		}
		if named && !fits {
			wrong = append(wrong, fmt.Sprintf("%s fired after %s with labels that nobody expected: %s", e.Alert.Name(), e.After, e.Alert.Labels))
		}
	}
	return wrong
}

func has(ls labels.Labels, want map[string]string) bool {
	for name, value := range want {
		if ls.Get(name) != value {
			return false
		}
	}
	return true
}

// judge judges one expectation.
func (r *Result) judge(want Expect, silenced bool) []string {
	var firedAt, endedAt time.Duration = -1, -1
	sent := false
	for _, e := range r.Events {
		if e.Alert.Name() != want.Alert || !has(e.Alert.Labels, want.Labels) {
			continue
		}
		switch e.Alert.State {
		case engine.Firing:
			if firedAt < 0 {
				firedAt = e.After
			}
			endedAt = -1
		case engine.Resolved:
			endedAt = e.After
		}
		sent = sent || r.sent[e.Alert.Labels.String()]
	}
	what := want.Alert + labelText(want.Labels)
	var wrong []string
	switch {
	case firedAt < 0:
		return []string{what + " did not fire"}
	case want.By > 0 && firedAt > time.Duration(want.By):
		wrong = append(wrong, fmt.Sprintf("%s fired after %s, expected by %s", what, firedAt, want.By))
	case firedAt < time.Duration(want.NotBy):
		wrong = append(wrong, fmt.Sprintf("%s fired after %s, expected not before %s", what, firedAt, want.NotBy))
	}
	if want.Ended > 0 && (endedAt < 0 || endedAt > time.Duration(want.Ended)) {
		wrong = append(wrong, fmt.Sprintf("%s should have ended by %s", what, want.Ended))
	}
	if want.Until > 0 && endedAt >= 0 && endedAt <= time.Duration(want.Until) {
		wrong = append(wrong, fmt.Sprintf("%s ended after %s, expected to fire until %s", what, endedAt, want.Until))
	}
	if silenced && !r.silencedEver(want) {
		wrong = append(wrong, what+" was not silenced by another alert")
	}
	if !silenced && !sent {
		wrong = append(wrong, what+" fired but was silenced all the time")
	}
	return wrong
}

func (r *Result) silencedEver(want Expect) bool {
	for _, e := range r.Events {
		if e.Alert.Name() == want.Alert && has(e.Alert.Labels, want.Labels) && e.SilencedBy != "" {
			return true
		}
	}
	return false
}

func labelText(want map[string]string) string {
	if len(want) == 0 {
		return ""
	}
	return labels.FromMap(want).String()
}

// Print writes the course of events, a line each.
func (r *Result) Print(w io.Writer) {
	for _, e := range r.Events {
		by := ""
		if e.SilencedBy != "" {
			by = ", silenced by " + e.SilencedBy
		}
		summary := e.Alert.Annotations.Get("summary")
		fmt.Fprintf(w, "%8s  %-8s  %s%s\n", e.After, e.Alert.State, e.Alert.Name(), by)
		if e.Alert.State == engine.Firing && summary != "" {
			fmt.Fprintf(w, "%20s%s\n", "", strings.TrimSpace(summary))
		}
	}
}
