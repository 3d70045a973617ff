// Package notify tells receivers about alerts: Alertmanagers, a webhook, the
// log. Each receiver has a mailbox of its own, so that one that is down or slow
// delays nobody: not the others, not an evaluation, not a scrape.
package notify

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// Status is what a receiver is told of an alert.
type Status string

// The two things that can be told, in the words of Alertmanager.
const (
	Firing   Status = "firing"
	Resolved Status = "resolved"
)

// Notice is one thing to tell: an alert fires, or no longer does.
type Notice struct {
	Labels      labels.Labels // external labels included
	Annotations labels.Labels
	Status      Status
	StartsAt    time.Time
	EndsAt      time.Time // of a firing alert: it ends then unless told again
	Repeated    bool      // told before, and nothing has changed
}

// Fingerprint identifies the alert of a notice.
func (n *Notice) Fingerprint() string { return fingerprint(n.Labels) }

// fingerprint is written as Alertmanager writes fingerprints.
func fingerprint(ls labels.Labels) string {
	text := strconv.FormatUint(ls.Hash(), 16)
	return "0000000000000000"[:16-len(text)] + text
}

// Receiver takes notices. Offer must not block.
type Receiver interface {
	Offer(Notice)
}

// Config is what a Dispatcher needs to know.
type Config struct {
	Receivers []Receiver
	External  labels.Labels
	// MinSeverity is the least severity that is told: info, warning, critical.
	MinSeverity string
	// Interval is the time between evaluations, Resend the time after which a
	// firing alert is told again.
	Interval, Resend time.Duration
}

// Dispatcher decides what is told and when.
type Dispatcher struct {
	c Config

	mu   sync.Mutex
	told map[string]*told // by fingerprint
}

// told is what the receivers believe of an alert.
type told struct {
	notice Notice
	at     time.Time
}

// Severities lists the severities, least first.
var severities = [...]string{"info", "warning", "critical"}

// ValidSeverity reports whether s is one.
func ValidSeverity(s string) bool { return slices.Contains(severities[:], s) }

// NewDispatcher makes a dispatcher that has told nothing yet.
func NewDispatcher(c Config) *Dispatcher { return &Dispatcher{c: c, told: map[string]*told{}} }

// Dispatch compares the alerts with what has been told and tells what is new.
// silenced are the alerts that another one silences; they are not told, and
// withdrawn if they had been.
func (d *Dispatcher) Dispatch(alerts []engine.Alert, silenced map[int]*engine.Alert, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	firing := map[string]bool{}
	for i := range alerts {
		a := &alerts[i]
		if a.State != engine.Firing || silenced[i] != nil || !d.severe(a) {
			continue
		}
		n := d.notice(a, now)
		key := n.Fingerprint()
		firing[key] = true
		d.tell(key, n, now)
	}
	for key, t := range d.told {
		if !firing[key] {
			n := t.notice
			n.Status, n.EndsAt, n.Repeated = Resolved, now, false
			d.offer(n)
			delete(d.told, key)
		}
	}
}

// severe reports whether an alert is severe enough to be told. One of another
// severity than ours is: somebody's own rules have their own words.
func (d *Dispatcher) severe(a *engine.Alert) bool {
	level := slices.Index(severities[:], a.Labels.Get("severity"))
	return level < 0 || level >= slices.Index(severities[:], d.c.MinSeverity)
}

func (d *Dispatcher) notice(a *engine.Alert, now time.Time) Notice {
	b := labels.NewBuilder(a.Labels)
	d.c.External.Range(func(l labels.Label) {
		if a.Labels.Get(l.Name) == "" {
			b.Set(l.Name, l.Value)
		}
	})
	// As Prometheus does: two notices may get lost before the receiver takes
	// the alert for resolved.
	validity := 4 * max(d.c.Interval, d.c.Resend)
	return Notice{Labels: b.Labels(), Annotations: a.Annotations, Status: Firing, StartsAt: a.FiredAt, EndsAt: now.Add(validity)}
}

// tell tells that an alert fires if that is new, or due again.
func (d *Dispatcher) tell(key string, n Notice, now time.Time) {
	before := d.told[key]
	if before != nil && now.Sub(before.at) < d.c.Resend && !now.Before(before.at) {
		before.notice.Annotations = n.Annotations
		return
	}
	n.Repeated = before != nil
	d.told[key] = &told{n, now}
	d.offer(n)
}

func (d *Dispatcher) offer(n Notice) {
	for _, r := range d.c.Receivers {
		r.Offer(n)
	}
}

// Told returns what the receivers believe, to be kept over a restart.
func (d *Dispatcher) Told() []SavedNotice {
	d.mu.Lock()
	defer d.mu.Unlock()
	var saved []SavedNotice
	for _, t := range d.told {
		saved = append(saved, SavedNotice{t.notice.Labels.Map(), t.notice.Annotations.Map(), t.notice.StartsAt, t.at})
	}
	slices.SortFunc(saved, func(a, b SavedNotice) int { return a.StartsAt.Compare(b.StartsAt) })
	return saved
}

// Restore takes back what Told returned before a restart, so that nobody is
// told twice and what ended meanwhile is told as resolved.
func (d *Dispatcher) Restore(saved []SavedNotice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range saved {
		n := Notice{Labels: labels.FromMap(s.Labels), Annotations: labels.FromMap(s.Annotations), Status: Firing, StartsAt: s.StartsAt}
		d.told[n.Fingerprint()] = &told{n, s.ToldAt}
	}
}

// SavedNotice is a notice as it is written to the state file.
type SavedNotice struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"starts_at"`
	ToldAt      time.Time         `json:"told_at"`
}
