// Package notify tells receivers about alerts: Alertmanagers, a webhook, the
// log. Each receiver has a mailbox of its own, so that one that is down or slow
// delays nobody: not the others, not an evaluation, not a scrape.
package notify

import (
	"cmp"
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

// Notice is one thing to tell: an alert fires, or no longer does. Its form in
// JSON is that of the state file.
type Notice struct {
	Labels      labels.Labels `json:"labels"` // external labels included
	Annotations labels.Labels `json:"annotations"`
	Status      Status        `json:"status"`
	StartsAt    time.Time     `json:"starts_at"`
	EndsAt      time.Time     `json:"ends_at,omitzero"` // of a firing alert: it ends then unless told again
	Repeated    bool          `json:"repeated"`         // told before, and nothing has changed
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
	told map[string]*Told // by fingerprint
}

// Told is what the receivers believe of an alert, and since when. Its form in
// JSON is that of the state file.
type Told struct {
	Notice Notice    `json:"notice"`
	At     time.Time `json:"at"`
}

// severities lists the severities, least first.
var severities = [...]string{"info", "warning", "critical"}

// NewDispatcher makes a dispatcher that has told nothing yet.
func NewDispatcher(c Config) *Dispatcher { return &Dispatcher{c: c, told: map[string]*Told{}} }

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
			n := t.Notice
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
	if before != nil && now.Sub(before.At) < d.c.Resend && !now.Before(before.At) {
		before.Notice.Annotations = n.Annotations
		return
	}
	n.Repeated = before != nil
	d.told[key] = &Told{n, now}
	d.offer(n)
}

func (d *Dispatcher) offer(n Notice) {
	for _, r := range d.c.Receivers {
		r.Offer(n)
	}
}

// Told returns what the receivers believe, to be kept over a restart.
func (d *Dispatcher) Told() []Told {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Told, 0, len(d.told))
	for _, t := range d.told {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b Told) int {
		return cmp.Or(a.Notice.StartsAt.Compare(b.Notice.StartsAt), labels.Compare(a.Notice.Labels, b.Notice.Labels))
	})
	return all
}

// Restore takes back what Told returned before a restart, so that nobody is
// told twice and what ended meanwhile is told as resolved.
func (d *Dispatcher) Restore(all []Told) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range all {
		d.told[t.Notice.Fingerprint()] = &t
	}
}
