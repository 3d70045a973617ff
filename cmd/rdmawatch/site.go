package main

import (
	"context"
	"time"

	"github.com/prometheus/common/version"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
	"github.com/rdmawatch/rdmawatch/web"
)

// site makes the pages and sees to it that they get to know what is read: by
// the rounds of the daemon or, without one, by scrapes.
func (f *serveFlags) site(runner *collector.Runner, d *daemon) (*web.Site, error) {
	c := web.Config{
		Node: f.alerting.instanceName(), Version: version.Version, Started: time.Now(),
		Simulated: f.simulated(), Alerting: d != nil, Metrics: *f.path,
	}
	if d != nil {
		c.Interval = *f.alerting.interval
	}
	site, err := web.New(c)
	if err != nil {
		return nil, err
	}
	if d != nil {
		d.site = site
		return site, nil
	}
	var before *node.Snapshot
	runner.Observe(func(now *node.Snapshot) {
		if before != nil && now.Time.Sub(before.Time) < *f.alerting.interval && !now.Time.Before(before.Time) {
			return // no more often than the daemon would
		}
		site.Publish(web.Round{Snapshot: now, Report: diagnose.New(diagnose.Input{
			Node: c.Node, Simulated: c.Simulated, Before: before, Now: now,
		})})
		before = now
	})
	// The first reading is made at once, so that there is a page before anybody
	// scrapes. It takes as long as the slowest device.
	go runner.Collect(context.Background(), nil)
	return site, nil
}

// evidenceWindow is how far back the rates in a report look: as far as most
// rules do.
const evidenceWindow = 5 * time.Minute

// publish makes what the round gave known to those who ask for pages.
func (d *daemon) publish(snapshot *node.Snapshot, alerts []engine.Alert) {
	before := d.before
	d.before = snapshot
	if d.site == nil {
		return
	}
	r := web.Round{Snapshot: snapshot, Alerts: alerts, Report: diagnose.New(diagnose.Input{
		Node: d.flags.instanceName(), Simulated: d.simulated,
		Engine: d.engine, Inhibitions: d.inhibit, Before: before, Now: snapshot, Window: evidenceWindow,
	})}
	r.Groups, r.Status = d.engine.Rules()
	for _, box := range d.mailboxes {
		c := box.Counts()
		r.Receivers = append(r.Receivers, web.Receiver{
			Name: box.Name(), Sent: c.Sent, Failed: c.Failed, Dropped: c.Dropped, Waiting: uint64(c.Waiting),
		})
	}
	d.site.Publish(r)
}
