package web

import (
	"slices"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// The page shows what ports carried in the last half hour, in steps of the
// interval of evaluation. Rounds that come quicker share a step.
const (
	kept = 30 * time.Minute
	step = 15 * time.Second
)

// traffic is what a port carried in a step, in bytes per second.
type traffic struct {
	at                    time.Time // the beginning of the step
	received, transmitted float64   // the mean of the rounds
	rounds                int
}

// portKey names a port.
type portKey struct{ device, port string }

// history is what the page remembers of earlier rounds. One goroutine writes
// it; readers get copies.
type history struct {
	ports  map[portKey][]traffic
	events []Event
	firing map[uint64]int // the place in events of what fires, by hash of labels
}

func newHistory() *history {
	return &history{ports: map[portKey][]traffic{}, firing: map[uint64]int{}}
}

// carried books what a port carries. A clock that was set back starts the port
// anew.
func (h *history) carried(key portKey, now time.Time, received, transmitted float64) {
	steps, at := h.ports[key], now.Truncate(step)
	if n := len(steps); n > 0 && at.Before(steps[n-1].at) {
		steps = nil
	}
	if n := len(steps); n > 0 && at.Equal(steps[n-1].at) {
		last := &steps[n-1]
		last.rounds++
		last.received += (received - last.received) / float64(last.rounds)
		last.transmitted += (transmitted - last.transmitted) / float64(last.rounds)
		return
	}
	h.ports[key] = append(steps, traffic{at, received, transmitted, 1})
}

// forget drops what is older than the page shows, and with it the ports that
// are gone.
func (h *history) forget(now time.Time) {
	oldest := now.Truncate(step).Add(-kept)
	for key, steps := range h.ports {
		steps = slices.DeleteFunc(steps, func(t traffic) bool { return t.at.Before(oldest) })
		if h.ports[key] = steps; len(steps) == 0 {
			delete(h.ports, key)
		}
	}
}

// past copies the steps of every port.
func (h *history) past() map[portKey][]traffic {
	past := make(map[portKey][]traffic, len(h.ports))
	for key, steps := range h.ports {
		past[key] = slices.Clone(steps)
	}
	return past
}

// Event is an alert that fired, and its end if it has ended.
type Event struct {
	Alert, Severity, Device, Port string
	Summary                       string
	Fired, Resolved               time.Time // Resolved is zero while it fires
}

// maxEvents is how many fired alerts are remembered, newest first.
const maxEvents = 100

// alerts books what has begun to fire and what has ended. What fires is never
// dropped, however long it does.
func (h *history) alerts(alerts []engine.Alert, now time.Time) {
	seen := map[uint64]bool{}
	for i := range alerts {
		a := &alerts[i]
		if a.State == engine.Pending {
			continue
		}
		hash := a.Labels.Hash()
		seen[hash] = true
		at, known := h.firing[hash]
		switch {
		case a.State == engine.Firing && !known:
			h.firing[hash] = len(h.events)
			h.events = append(h.events, event(a))
		case a.State == engine.Firing:
			h.events[at].Summary = a.Annotations.Get("summary")
		case known:
			h.events[at].Resolved = a.ResolvedAt
			delete(h.firing, hash)
		}
	}
	for hash, at := range h.firing {
		if !seen[hash] { // its rule is gone
			h.events[at].Resolved = now
			delete(h.firing, hash)
		}
	}
	h.drop(len(h.events) - maxEvents)
}

func event(a *engine.Alert) Event {
	return Event{
		Alert: a.Name(), Severity: a.Labels.Get("severity"),
		Device: a.Labels.Get("device"), Port: a.Labels.Get("port"),
		Summary: a.Annotations.Get("summary"), Fired: a.FiredAt,
	}
}

// drop forgets the oldest events that have ended.
func (h *history) drop(n int) {
	if n <= 0 {
		return
	}
	moved := make([]int, len(h.events))
	left := h.events[:0]
	for i, e := range h.events {
		if n > 0 && !e.Resolved.IsZero() {
			n--
			continue
		}
		moved[i] = len(left)
		left = append(left, e)
	}
	h.events = left
	for hash, at := range h.firing {
		h.firing[hash] = moved[at]
	}
}

// recent copies the events, the newest first.
func (h *history) recent() []Event {
	events := slices.Clone(h.events)
	slices.SortStableFunc(events, func(a, b Event) int { return b.last().Compare(a.last()) })
	return events
}

// last is when something was last heard of an alert.
func (e Event) last() time.Time {
	if e.Resolved.IsZero() {
		return e.Fired
	}
	return e.Resolved
}
