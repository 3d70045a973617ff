package engine

import (
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// SavedAlert is an alert as it is written to the state file.
type SavedAlert struct {
	Labels map[string]string `json:"labels"`
	// Annotations are those that are not in the rule word for word.
	Annotations     map[string]string `json:"annotations,omitempty"`
	State           State             `json:"state"`
	Value           string            `json:"value"` // text, since JSON has no infinity
	ActiveAt        time.Time         `json:"active_at"`
	FiredAt         time.Time         `json:"fired_at,omitzero"`
	ResolvedAt      time.Time         `json:"resolved_at,omitzero"`
	KeepFiringSince time.Time         `json:"keep_firing_since,omitzero"`
}

// Save returns what must outlive a restart. Times are told from now, by the
// clock of now: that may have been set since they were taken.
func (e *Engine) Save(now time.Time) []SavedAlert {
	var saved []SavedAlert
	for _, a := range e.Alerts() {
		own := map[string]string{}
		r := e.rule(a.Name())
		a.Annotations.Range(func(l labels.Label) {
			if r == nil || r.Annotations.Get(l.Name) != l.Value {
				own[l.Name] = l.Value
			}
		})
		saved = append(saved, SavedAlert{
			Labels: a.Labels.Map(), Annotations: own, State: a.State,
			Value:    strconv.FormatFloat(a.Value, 'g', -1, 64),
			ActiveAt: told(a.ActiveAt, now), FiredAt: told(a.FiredAt, now),
			ResolvedAt: told(a.ResolvedAt, now), KeepFiringSince: told(a.KeepFiringSince, now),
		})
	}
	return saved
}

// told is t as the clock of now would have shown it. If that has not been set
// since, this is t itself.
func told(t, now time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	shown := now.Add(t.Sub(now))
	if shown.Round(0).Sub(t.Round(0)).Abs() < time.Second {
		return t
	}
	return shown
}

// MaxOutage is how long the program may have been away for its alerts to go on
// where they were, as Prometheus' outage tolerance.
const MaxOutage = time.Hour

// Restore takes alerts back that were saved before a restart. The store is
// empty then, so an alert whose condition seems not to hold is left alone until
// the store reaches back as far as its rule looks. If the clock was set back
// in between, the time between counts as none.
func (e *Engine) Restore(saved []SavedAlert, savedAt, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	setBack := max(0, savedAt.Sub(now))
	at := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		// Told from now, times are immune against a clock that is set later.
		if t = now.Add(t.Add(-setBack).Sub(now)); t.After(now) {
			return now
		}
		return t
	}
	for _, s := range saved {
		r := e.rule(s.Labels[labels.AlertName])
		value, err := strconv.ParseFloat(s.Value, 64)
		if r == nil || err != nil || s.ActiveAt.IsZero() || s.State != Pending && s.State != Firing && s.State != Resolved {
			continue
		}
		annotations := r.Annotations.Map()
		for name, text := range s.Annotations {
			annotations[name] = text
		}
		a := &Alert{
			Labels: labels.FromMap(s.Labels), Annotations: labels.FromMap(annotations), State: s.State, Value: value,
			ActiveAt: at(s.ActiveAt), FiredAt: at(s.FiredAt), ResolvedAt: at(s.ResolvedAt), KeepFiringSince: at(s.KeepFiringSince),
			HeldUntil: now.Add(e.windows[r]),
		}
		if a.State == Pending { // nobody saw the condition hold while we were away
			a.ActiveAt = at(a.ActiveAt.Add(max(0, now.Sub(savedAt))))
		}
		if e.active[r] == nil {
			e.active[r] = instances{}
		}
		e.active[r][a.Labels.Hash()] = a
	}
}

// rule finds the rule of an alert.
func (e *Engine) rule(alert string) *Rule {
	for _, g := range e.groups {
		for _, r := range g.Rules {
			if r.Alert == alert && alert != "" {
				return r
			}
		}
	}
	return nil
}
