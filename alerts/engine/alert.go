package engine

import (
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// State is where an alert stands.
type State string

// An alert is pending until its condition has held for as long as the rule
// says, firing then, and resolved after that for a while, so that every
// receiver gets to know.
const (
	Pending  State = "pending"
	Firing   State = "firing"
	Resolved State = "resolved"
)

// resolvedRetention is how long a resolved alert is still reported, as in
// Prometheus.
const resolvedRetention = 15 * time.Minute

// Alert is one instance of a rule whose condition holds or held.
type Alert struct {
	Labels      labels.Labels
	Annotations labels.Labels
	State       State
	Value       float64
	ActiveAt    time.Time // the condition holds since
	FiredAt     time.Time
	ResolvedAt  time.Time
	// KeepFiringSince is when the condition ended of an alert that is kept
	// firing for a while.
	KeepFiringSince time.Time
	// HeldUntil is set on alerts restored at start, and on those whose rule
	// was loaded anew: until the store reaches back as far as the rule looks, a
	// condition that does not hold proves nothing.
	HeldUntil time.Time
}

// Name is the alert's name.
func (a *Alert) Name() string { return a.Labels.Get(labels.AlertName) }

// instances are the alerts of one rule, by label set.
type instances map[uint64]*Alert

// update moves the alerts of a rule on: found are those whose condition holds
// at time now. The steps and their order are those of Prometheus.
func (in instances) update(r *Rule, found instances, now time.Time) {
	for hash, f := range found {
		if a := in[hash]; a != nil && a.State != Resolved {
			a.Value, a.Annotations = f.Value, f.Annotations
		} else {
			in[hash] = f
		}
	}
	for hash, a := range in {
		holds := found[hash] != nil
		if holds {
			a.KeepFiringSince = time.Time{}
		} else if !in.ended(hash, a, r, now) {
			continue
		}
		switch held := now.Sub(a.ActiveAt); {
		case a.State == Pending && held >= r.For && holds:
			a.State, a.FiredAt = Firing, now
		case a.State == Firing && held >= 0 && held < r.For: // the rule was loaded anew with a longer one
			a.State, a.FiredAt, a.KeepFiringSince = Pending, time.Time{}, time.Time{}
		}
	}
}

// ended deals with an alert whose condition does not hold. It reports whether
// the alert is active all the same.
func (in instances) ended(hash uint64, a *Alert, r *Rule, now time.Time) bool {
	if now.Before(a.HeldUntil) && a.State != Resolved {
		return true
	}
	if a.State == Firing && r.KeepFiringFor > 0 {
		if a.KeepFiringSince.IsZero() {
			a.KeepFiringSince = now
		}
		if now.Sub(a.KeepFiringSince) < r.KeepFiringFor {
			return true
		}
	}
	switch {
	case a.State == Pending, a.State == Resolved && now.Sub(a.ResolvedAt) > resolvedRetention:
		delete(in, hash)
	case a.State == Firing:
		a.State, a.ResolvedAt = Resolved, now
	}
	return false
}
