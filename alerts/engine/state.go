package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// SavedAlert is an alert as it is written to the state file.
type SavedAlert struct {
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	State           State             `json:"state"`
	Value           string            `json:"value"` // text, since JSON has no infinity
	ActiveAt        time.Time         `json:"active_at"`
	FiredAt         time.Time         `json:"fired_at,omitzero"`
	ResolvedAt      time.Time         `json:"resolved_at,omitzero"`
	KeepFiringSince time.Time         `json:"keep_firing_since,omitzero"`
}

// Save returns what must outlive a restart.
func (e *Engine) Save() []SavedAlert {
	var saved []SavedAlert
	for _, a := range e.Alerts() {
		saved = append(saved, SavedAlert{
			Labels: a.Labels.Map(), Annotations: a.Annotations.Map(), State: a.State,
			Value: fmt.Sprint(a.Value), ActiveAt: a.ActiveAt, FiredAt: a.FiredAt,
			ResolvedAt: a.ResolvedAt, KeepFiringSince: a.KeepFiringSince,
		})
	}
	return saved
}

// MaxOutage is how long the program may have been away for its alerts to go on
// where they were, as Prometheus' outage tolerance.
const MaxOutage = time.Hour

// Restore takes alerts back that were saved before a restart. The store is
// empty then, so an alert whose condition seems not to hold is left alone until
// the store reaches back as far as its rule looks.
func (e *Engine) Restore(saved []SavedAlert, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range saved {
		r := e.rule(s.Labels[labels.AlertName])
		if r == nil || s.ActiveAt.After(now) {
			continue
		}
		a := &Alert{
			Labels: labels.FromMap(s.Labels), Annotations: labels.FromMap(s.Annotations), State: s.State,
			ActiveAt: s.ActiveAt, FiredAt: s.FiredAt, ResolvedAt: s.ResolvedAt, KeepFiringSince: s.KeepFiringSince,
			HeldUntil: now.Add(r.span),
		}
		fmt.Sscan(s.Value, &a.Value)
		if e.active[r] == nil {
			e.active[r] = instances{}
		}
		e.active[r][a.Labels.Hash()] = a
	}
}

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

// EncodeState and DecodeState are the form of saved alerts in a file.
func EncodeState(saved []SavedAlert) ([]byte, error) { return json.MarshalIndent(saved, "", " ") }

// DecodeState reads what EncodeState wrote.
func DecodeState(content []byte) ([]SavedAlert, error) {
	var saved []SavedAlert
	if err := json.Unmarshal(content, &saved); err != nil {
		return nil, fmt.Errorf("reading saved alerts: %w", err)
	}
	return saved, nil
}
