package web

import (
	"fmt"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

var key = portKey{"mlx5_0", "1"}

func TestHistoryOfPorts(t *testing.T) {
	h := newHistory()
	for i := range 3 { // three rounds in one step
		h.carried(key, began.Add(time.Duration(i)*5*time.Second), float64(3*i), 6)
	}
	if steps := h.past()[key]; len(steps) != 1 || steps[0].received != 3 || steps[0].transmitted != 6 {
		t.Fatalf("the mean of 0, 3 and 6: %v", steps)
	}
	for i := range 200 {
		now := began.Add(time.Duration(i) * step)
		h.carried(key, now, 1, 1)
		h.forget(now)
	}
	steps := h.past()[key]
	if len(steps) != 121 || steps[0].at != began.Add(79*step) { // both ends of 30 minutes
		t.Errorf("%d steps from %s", len(steps), steps[0].at)
	}
	h.carried(key, began, 2, 2)
	if steps := h.past()[key]; len(steps) != 1 || steps[0].received != 2 {
		t.Errorf("after the clock was set back: %v", steps)
	}
	h.forget(began.Add(time.Hour))
	if len(h.past()) != 0 {
		t.Error("a port that is gone stays")
	}
}

func TestHistoryOfAlerts(t *testing.T) {
	h := newHistory()
	firing := alert("A", "warning", "mlx5_0", engine.Firing, began)
	h.alerts([]engine.Alert{firing, alert("B", "warning", "mlx5_0", engine.Pending, began)}, began)
	h.alerts([]engine.Alert{firing}, began.Add(time.Minute))
	if events := h.recent(); len(events) != 1 || events[0].Alert != "A" || !events[0].Resolved.IsZero() || events[0].Summary != "A on mlx5_0" {
		t.Fatalf("firing: %+v", events)
	}
	resolved := firing
	resolved.State, resolved.ResolvedAt = engine.Resolved, began.Add(7*time.Minute)
	for range 3 { // it is reported for a while
		h.alerts([]engine.Alert{resolved}, began.Add(8*time.Minute))
	}
	if events := h.recent(); len(events) != 1 || !events[0].Resolved.Equal(began.Add(7*time.Minute)) {
		t.Fatalf("resolved: %+v", events)
	}
	again := firing
	again.FiredAt = began.Add(time.Hour)
	h.alerts([]engine.Alert{again}, began.Add(time.Hour))
	if events := h.recent(); len(events) != 2 || !events[0].Resolved.IsZero() {
		t.Fatalf("firing again: %+v", events)
	}
	h.alerts(nil, began.Add(2*time.Hour)) // its rule was taken away
	if events := h.recent(); !events[0].Resolved.Equal(began.Add(2 * time.Hour)) {
		t.Errorf("gone: %+v", events)
	}
}

func TestHistoryForgetsOldAlerts(t *testing.T) {
	h := newHistory()
	long := alert("Long", "critical", "mlx5_0", engine.Firing, began)
	for i := range 150 {
		now := began.Add(time.Duration(i) * time.Minute)
		a := alert(fmt.Sprintf("A%d", i), "warning", "mlx5_0", engine.Firing, now)
		h.alerts([]engine.Alert{long, a}, now)
		a.State, a.ResolvedAt = engine.Resolved, now.Add(time.Second)
		h.alerts([]engine.Alert{long, a}, now.Add(time.Second))
	}
	events := h.recent()
	if len(events) != maxEvents || events[0].Alert != "A149" || events[98].Alert != "A51" || events[99].Alert != "Long" {
		t.Errorf("%d events, the first %s, the last %s and %s", len(events), events[0].Alert, events[98].Alert, events[99].Alert)
	}
	long.State, long.ResolvedAt = engine.Resolved, began.Add(5*time.Hour)
	h.alerts([]engine.Alert{long}, long.ResolvedAt)
	if events := h.recent(); events[0].Alert != "Long" {
		t.Errorf("the end of the long one is booked at %s", events[0].Alert)
	}
}
