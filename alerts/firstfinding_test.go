package alerts_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// glimpseSpan is how many readings somebody looks at who has just come.
const glimpseSpan = 4

// needsHistory are incidents of which a glimpse cannot show the first finding,
// and why.
var needsHistory = map[string]string{
	"S2-cable-dies-in-steps":        "an uncorrectable block every 30 seconds, where the rule wants two windows with one each",
	"I43-cables-at-the-wrong-speed": "all ports run slower than before, which only who watched before can know",
	"I16-paused-and-still-drops":    "the fixture's other port is down, and its made-up counters say that it was in use",
}

// firstInAGlimpse are incidents of which a glimpse shows another alert first:
// that nothing arrived for five minutes cannot be seen in one, and
// RDMAPathBlackHoled is not judged.
var firstInAGlimpse = map[string]string{
	"I06-switch-drops-everything":  "RDMAAckTimeouts",
	"I48-vendor-codes-differ":      "RDMARetryExceeded",
	"I55-ping-works-rdma-does-not": "RDMAAckTimeouts",
}

// firstFinding checks what a person reads first when the first expected alert
// of a case fires.
type firstFinding struct {
	c      *replay.Case
	s      replay.Setup
	want   replay.Expect
	last   []*node.Snapshot // up to then
	report *diagnose.Report
}

// watchFirst has a replay tell its course; nil if the case is about what must
// stay quiet.
func watchFirst(c *replay.Case, s *replay.Setup) *firstFinding {
	if len(c.Fire) == 0 {
		return nil
	}
	f := &firstFinding{c: c, s: *s, want: c.Fire[0]}
	s.Evaluated = func(_ time.Duration, e *engine.Engine, now *node.Snapshot) bool {
		if f.report != nil {
			return true
		}
		f.last = append(f.last[max(0, len(f.last)-glimpseSpan+1):], now)
		if slices.ContainsFunc(e.Alerts(), f.fires) {
			f.report = diagnose.New(diagnose.Input{Engine: e, Inhibitions: f.s.Inhibitions, Now: now, Window: 5 * time.Minute})
		}
		return true
	}
	return f
}

func (f *firstFinding) fires(a engine.Alert) bool {
	return a.State == engine.Firing && a.Name() == f.want.Alert && has(a.Labels, f.want.Labels)
}

// check judges the report of that moment, and what a glimpse would have shown.
func (f *firstFinding) check(t *testing.T, scenario string) {
	t.Helper()
	if f != nil && f.report != nil { // else nothing was expected, or it did not come
		f.judge(t, f.report)
		f.glimpse(t, scenario)
	}
}

// judge compares the first finding with the wanted one. What may fire as well
// is about something else on the same node.
func (f *firstFinding) judge(t *testing.T, r *diagnose.Report) {
	t.Helper()
	findings := slices.DeleteFunc(slices.Clone(r.Findings), func(g diagnose.Finding) bool {
		return g.Alert != f.want.Alert && slices.Contains(f.c.Allowed, g.Alert)
	})
	if len(findings) == 0 {
		t.Errorf("no finding, want %s %v", f.want.Alert, f.want.Labels)
		return
	}
	first := findings[0]
	if first.Alert != f.want.Alert || !has(labels.FromMap(first.Labels), f.want.Labels) {
		t.Errorf("the first finding is %s %v, want %s %v", first.Alert, first.Labels, f.want.Alert, f.want.Labels)
		return
	}
	bare := len(first.Evidence) == 0 && first.Alert != "RDMAFirmwareMismatch" // which names the versions itself
	if len(first.Where) == 0 || len(first.Next) == 0 || first.Verdict == "" || first.Runbook == "" || bare {
		t.Errorf("%s: where %q, next %q, verdict %q, runbook %q, evidence %v", first.Alert, first.Where, first.Next, first.Verdict, first.Runbook, first.Evidence)
	}
}

// glimpse judges what is found in the last readings alone.
func (f *firstFinding) glimpse(t *testing.T, name string) {
	t.Helper()
	if incident := strings.HasPrefix(name, "I") || strings.HasPrefix(name, "S"); !incident || needsHistory[name] != "" {
		return
	}
	window := time.Duration(glimpseSpan-1) * time.Duration(f.c.Interval)
	w, err := diagnose.NewWatch(diagnose.WatchConfig{Node: "node", Groups: f.s.Groups, Inhibitions: f.s.Inhibitions, Window: window})
	if err != nil {
		t.Fatal(err)
	}
	for _, snapshot := range f.last {
		w.Add(t.Context(), snapshot)
	}
	report, err := w.Report(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	seen := *f
	if f.want.Alert == "RDMAPathBlackHoled" {
		seen.want.Alert = cmp.Or(firstInAGlimpse[name], f.want.Alert)
	}
	t.Run("glimpse", func(t *testing.T) { seen.judge(t, report) })
}

func has(ls labels.Labels, want map[string]string) bool {
	for name, value := range want {
		if ls.Get(name) != value {
			return false
		}
	}
	return true
}
