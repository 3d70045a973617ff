package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

const restartRules = `
    {record: share, expr: 'rate(rdma_packets_total[1m])'},
    {alert: Down, expr: rdma_down == 1, for: 30s, annotations: {summary: '{{ $labels.device }} is down: {{ $value }}', fix: Plug it in.}},
    {alert: Busy, expr: share > 1, keep_firing_for: 1m},
    {alert: Lost, expr: 'increase(rdma_lost_total[2m]) > 3'}`

// restart saves, and restores into a new engine after some time.
func (s *sim) restart(away time.Duration, rules string) {
	s.t.Helper()
	content, err := json.Marshal(s.e.Save(s.now))
	if err != nil {
		s.t.Fatal(err)
	}
	savedAt := s.now
	s.now = s.now.Add(away)
	var saved []SavedAlert
	if err := json.Unmarshal(content, &saved); err != nil {
		s.t.Fatal(err)
	}
	s.e = s.engine(rules)
	s.e.Restore(saved, savedAt, s.now)
}

// A restart neither resolves what fires nor begins what is pending anew.
func TestRestart(t *testing.T) {
	for _, away := range []time.Duration{time.Second, 5 * time.Minute, -time.Minute, -time.Hour} {
		t.Run(away.String(), func(t *testing.T) {
			s := newSim(t, restartRules)
			packets := 0.0
			reading := func() values {
				packets += 300
				return values{"rdma_down a": 1, "rdma_packets_total a": packets, "rdma_lost_total a": math.Floor(packets / 300)}
			}
			for range 10 {
				s.step(reading())
			}
			const all = "Down/a=firing Busy/a=firing Lost/a=firing"
			s.want("before", all)
			was := s.e.Alerts()[0]
			s.restart(away, restartRules)
			s.want("restored", all)
			for i := range 20 {
				s.step(reading())
				s.want(fmt.Sprint("step ", i), all)
			}
			a := s.e.Alerts()[0]
			wantSince := was.FiredAt.Add(min(0, away)) // as the clock of now tells it
			if !a.FiredAt.Equal(wantSince) {
				t.Errorf("firing since %s, want %s", a.FiredAt, wantSince)
			}
			if a.Annotations.Get("summary") != "a is down: 1" || a.Annotations.Get("fix") != "Plug it in." {
				t.Errorf("annotations %s", a.Annotations)
			}
		})
	}
}

// What ended while the program was away is resolved once the past is known
// again, and not before.
func TestRestartAfterTheEnd(t *testing.T) {
	s := newSim(t, restartRules)
	quiet := values{"rdma_down a": 0, "rdma_packets_total a": 6000, "rdma_lost_total a": 20}
	for i := range 10 {
		s.step(values{"rdma_down a": 1, "rdma_packets_total a": float64(300 * i), "rdma_lost_total a": float64(i)})
	}
	s.restart(time.Minute, restartRules)
	begin := s.now
	last := ""
	var changes []string
	for range 20 {
		at := s.now.Sub(begin)
		s.step(quiet)
		if got := s.states(); got != last {
			changes = append(changes, at.String()+": "+got)
			last = got
		}
	}
	// Down is seen within a minute. The share needs a minute of packets and
	// counts another as present, then Busy is kept for a minute. Losses are
	// counted over two.
	want := []string{
		"0s: Down/a=firing Busy/a=firing Lost/a=firing",
		"1m0s: Down/a=resolved Busy/a=firing Lost/a=firing",
		"2m0s: Down/a=resolved Busy/a=firing Lost/a=resolved",
		"3m0s: Down/a=resolved Busy/a=resolved Lost/a=resolved",
	}
	if got := strings.Join(changes, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// A pending alert goes on waiting where it was; it does not fire unless the
// condition is seen to hold.
func TestRestartPending(t *testing.T) {
	s := newSim(t, restartRules)
	s.step(values{"rdma_down a": 1, "rdma_down b": 1})
	s.restart(0, restartRules)
	s.step(values{"rdma_down a": 1})
	s.want("15s", "Down/a=pending Down/b=pending")
	s.step(values{"rdma_down a": 1})
	s.want("30s", "Down/a=firing Down/b=pending")
	for range 4 {
		s.step(values{"rdma_down a": 1})
	}
	s.want("after a minute", "Down/a=firing")
}

// The time away does not count: nobody saw the condition hold then.
func TestRestartPendingLater(t *testing.T) {
	s := newSim(t, restartRules)
	s.step(values{"rdma_down a": 1})
	s.restart(12*time.Minute, restartRules)
	s.step(values{"rdma_down a": 1})
	s.want("15s, and 12 minutes away", "Down/a=pending")
	s.step(values{"rdma_down a": 1})
	s.want("30s, and 12 minutes away", "Down/a=firing")
}

// A resolved alert is told for the rest of its 15 minutes.
func TestRestartResolved(t *testing.T) {
	s := newSim(t, restartRules)
	for range 3 {
		s.step(values{"rdma_down a": 1})
	}
	s.step(values{"rdma_down a": 0})
	s.restart(14*time.Minute, restartRules)
	s.step(values{"rdma_down a": 0})
	s.want("after 14 minutes and a step", "Down/a=resolved")
	for range 4 {
		s.step(values{"rdma_down a": 0})
	}
	s.want("after 15 minutes and a step", "")
}

// An alert that is kept firing ends when it would have without the restart, or
// when the past is known again if that is later.
func TestRestartKeptFiring(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_down == 1, keep_firing_for: 3m}`)
	s.step(values{"rdma_down a": 1})
	s.step(values{"rdma_down a": 0})
	s.restart(0, `{alert: Down, expr: rdma_down == 1, keep_firing_for: 3m}`)
	for range 11 {
		s.step(values{"rdma_down a": 0})
		s.want("kept", "Down/a=firing")
	}
	s.step(values{"rdma_down a": 0})
	s.want("3 minutes after its end", "Down/a=resolved")
}

// What cannot be believed is left out; the rest is taken.
func TestRestoreDistrustsTheFile(t *testing.T) {
	s := newSim(t, restartRules)
	good := SavedAlert{Labels: map[string]string{"alertname": "Down", "device": "a"}, State: Firing, Value: "+Inf", ActiveAt: s.now.Add(-time.Minute), FiredAt: s.now}
	change := func(f func(*SavedAlert)) SavedAlert {
		bad := good
		bad.Labels = map[string]string{"alertname": "Down", "device": "bad"}
		f(&bad)
		return bad
	}
	s.e.Restore([]SavedAlert{
		change(func(a *SavedAlert) { a.Labels["alertname"] = "Unknown" }),
		change(func(a *SavedAlert) { a.Labels["alertname"] = "" }),
		change(func(a *SavedAlert) { a.Labels = nil }),
		change(func(a *SavedAlert) { a.State = "burning" }),
		change(func(a *SavedAlert) { a.State = "" }),
		change(func(a *SavedAlert) { a.Value = "much" }),
		change(func(a *SavedAlert) { a.ActiveAt = time.Time{} }),
		change(func(a *SavedAlert) { a.Labels["alertname"] = "share" }), // a recording rule
		good,
	}, s.now, s.now)
	if a := s.alert(); a.State != Firing || !math.IsInf(a.Value, 1) || a.Labels.Get("device") != "a" {
		t.Errorf("restored %+v", a)
	}
	s.e.Restore([]SavedAlert{change(func(a *SavedAlert) { a.ActiveAt, a.FiredAt = s.now.Add(time.Hour), s.now.Add(time.Hour) })}, s.now, s.now)
	for _, a := range s.e.Alerts() {
		if a.ActiveAt.After(s.now) || a.FiredAt.After(s.now) {
			t.Errorf("times are in the future: %+v", a)
		}
	}
}

// Times are saved as the clock of now tells them: the monotonic reading knows
// how long ago they were, the wall clock may have been set since.
func TestSavedTimes(t *testing.T) {
	now := time.Now()
	ago := now.Add(-time.Minute)
	if got := told(ago, now); !got.Equal(ago) {
		t.Errorf("%s became %s", ago, got)
	}
	if got := told(time.Time{}, now); !got.IsZero() {
		t.Errorf("no time became %s", got)
	}
}

// The file stays small: what the rule says word for word is not in it.
func TestSavedAnnotations(t *testing.T) {
	s := newSim(t, restartRules)
	s.step(values{"rdma_down a": 1})
	saved := s.e.Save(s.now)
	if len(saved) != 1 || len(saved[0].Annotations) != 1 || saved[0].Annotations["summary"] != "a is down: 1" {
		t.Errorf("saved %+v", saved)
	}
	if got := labels.FromMap(saved[0].Labels).String(); got != `{alertname="Down", device="a", instance="node-7"}` {
		t.Errorf("labels %s", got)
	}
}
