package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
	httpconfig "github.com/prometheus/common/config"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/notify"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/web"
)

// alertingFlags say what is evaluated on the node and who is told.
type alertingFlags struct {
	ruleFlags
	enabled, toLog          *bool
	interval, resend        *time.Duration
	alertmanagers, webhooks *[]*url.URL
	httpConfig, stateFile   *string
	instance, minSeverity   *string
	externalLabels          *map[string]string
	externalURL             *url.URL
}

func addAlertingFlags(cmd *kingpin.CmdClause) alertingFlags {
	f := alertingFlags{
		ruleFlags:      addRuleFlags(cmd),
		enabled:        cmd.Flag("alerting.enabled", "Evaluate the alert rules on this node.").Default("true").Bool(),
		interval:       cmd.Flag("alerting.interval", "Time between evaluations; the windows of the bundled rules want 15s.").Default("15s").Duration(),
		resend:         cmd.Flag("alerting.resend", "Time after which an Alertmanager is told again of a firing alert.").Default("1m").Duration(),
		alertmanagers:  cmd.Flag("alerting.alertmanager", "Alertmanager that is told of every alert. Repeatable; all are told.").PlaceHolder("URL").URLList(),
		webhooks:       cmd.Flag("alerting.webhook", "URL that gets what Alertmanager's webhook would send, on changes. Repeatable.").PlaceHolder("URL").URLList(),
		toLog:          cmd.Flag("alerting.log", "Write changes of alerts to the log.").Default("true").Bool(),
		httpConfig:     cmd.Flag("alerting.http-config", "File with basic_auth, authorization (credentials_file for a bearer token) and tls_config for the receivers, as in Prometheus' http_config.").PlaceHolder("FILE").String(),
		externalLabels: cmd.Flag("alerting.external-label", "Label that is added to every alert that is sent. Repeatable.").PlaceHolder("NAME=VALUE").StringMap(),
		instance:       cmd.Flag("alerting.instance", "Value of the label instance. Default: the host name.").String(),
		minSeverity:    cmd.Flag("alerting.min-severity", "Least severity that is sent: info, warning, critical.").Default("warning").Enum("info", "warning", "critical"),
		stateFile:      cmd.Flag("alerting.state-file", "File that keeps alerts and counters over a restart; without it a restart resolves what fires.").PlaceHolder("FILE").String(),
	}
	f.externalURL = &url.URL{}
	cmd.Flag("web.external-url", "Address under which this page is reached from outside, for links in alerts.").PlaceHolder("URL").URLVar(&f.externalURL)
	return f
}

// daemon evaluates the rules and tells the receivers.
type daemon struct {
	flags      *alertingFlags
	logger     log.Logger
	runner     *collector.Runner
	engine     *engine.Engine
	inhibit    []engine.Inhibition
	dispatcher *notify.Dispatcher
	mailboxes  []*notify.Mailbox
	state      *stateFile
	reload     chan chan error
	settled    chan struct{}  // a receiver has taken notices
	simulated  bool           // what is read is no machine
	before     *node.Snapshot // of the round before
	site       *web.Site      // what shows the rounds; nil: nothing does
}

// newDaemon loads rules and state. It is nil if alerting is switched off. What
// is simulated is no machine.
func (f *alertingFlags) newDaemon(runner *collector.Runner, simulated bool, logger log.Logger) (*daemon, error) {
	if !*f.enabled {
		return nil, nil
	}
	if *f.interval <= 0 || *f.resend <= 0 {
		return nil, errors.New("--alerting.interval and --alerting.resend must be above zero")
	}
	if *f.runbooks == "" && f.externalURL.Host != "" {
		*f.runbooks = f.externalURL.JoinPath("runbooks").String()
	}
	groups, err := f.groups()
	if err != nil {
		return nil, err
	}
	d := &daemon{flags: f, logger: logger, runner: runner, simulated: simulated, reload: make(chan chan error), settled: make(chan struct{}, 1), state: &stateFile{path: *f.stateFile, logger: logger}}
	if d.inhibit, err = alerts.Inhibitions(); err != nil {
		return nil, err
	}
	external := f.external(simulated)
	d.engine = engine.New(engine.Config{
		Groups: engine.NodeScope(groups), Instance: f.instanceName(), External: external, ExternalURL: f.externalURL, Logger: logger,
	})
	receivers, err := d.receivers()
	if err != nil {
		return nil, err
	}
	d.dispatcher = notify.NewDispatcher(notify.Config{
		Receivers: receivers, External: external, MinSeverity: *f.minSeverity, Interval: *f.interval, Resend: *f.resend,
	})
	d.state.restore(d)
	return d, nil
}

// simulatedLabel is on every metric and every alert that is about no machine, so
// that nobody takes one for real.
const simulatedLabel = "simulated"

// external are the labels that are added to alerts.
func (f *alertingFlags) external(simulated bool) labels.Labels {
	b := labels.NewBuilder(labels.FromMap(*f.externalLabels))
	if simulated {
		b.Set(simulatedLabel, "true")
	}
	return b.Labels()
}

func (f *alertingFlags) instanceName() string {
	if *f.instance != "" {
		return *f.instance
	}
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}

func (d *daemon) receivers() ([]notify.Receiver, error) {
	client := &http.Client{}
	if file := *d.flags.httpConfig; file != "" {
		c, _, err := httpconfig.LoadHTTPConfigFile(file)
		if err != nil {
			return nil, fmt.Errorf("--alerting.http-config %s: %w", file, err)
		}
		if client, err = httpconfig.NewClientFromConfig(*c, "rdmawatch"); err != nil {
			return nil, fmt.Errorf("--alerting.http-config %s: %w", file, err)
		}
	}
	generator := d.flags.externalURL.String()
	for _, u := range *d.flags.alertmanagers {
		d.mailboxes = append(d.mailboxes, notify.Alertmanager(u, generator, client, d.logger))
	}
	for _, u := range *d.flags.webhooks {
		d.mailboxes = append(d.mailboxes, notify.Webhook(u, generator, client, d.logger))
	}
	var receivers []notify.Receiver
	names := map[string]bool{}
	for _, m := range d.mailboxes {
		if names[m.Name()] {
			return nil, fmt.Errorf("two receivers are %s", m.Name())
		}
		names[m.Name()] = true
		receivers = append(receivers, m)
	}
	if *d.flags.toLog {
		receivers = append(receivers, notify.Log{Logger: d.logger})
	}
	return receivers, nil
}

// run evaluates every interval until ctx ends, then saves the state.
func (d *daemon) run(ctx context.Context) {
	var sending sync.WaitGroup
	for _, m := range d.mailboxes {
		sending.Go(func() { m.Run(ctx, d.noteSettled) })
	}
	ticker := time.NewTicker(*d.flags.interval)
	defer ticker.Stop()
	d.round(ctx)
	for {
		select {
		case <-ticker.C:
			d.round(ctx)
		case <-d.settled:
			d.state.save(d, time.Now(), false)
		case answer := <-d.reload:
			answer <- d.reloadRules()
		case <-ctx.Done():
			sending.Wait()
			d.state.save(d, time.Now(), true)
			return
		}
	}
}

// noteSettled has the state saved, so that nobody is told again what a receiver
// has taken.
func (d *daemon) noteSettled() {
	select {
	case d.settled <- struct{}{}:
	default:
	}
}

// round is one evaluation, of which the receivers are told.
func (d *daemon) round(ctx context.Context) {
	snapshot := d.runner.Collect(ctx, nil)
	if ctx.Err() != nil {
		return // what was not read any more has not gone away
	}
	now := time.Now()
	current := d.judge(ctx, snapshot, now)
	d.dispatcher.Dispatch(current, engine.Inhibit(d.inhibit, current), now)
	d.state.save(d, now, false)
	d.publish(snapshot, current)
}

// judge evaluates the rules after a reading.
func (d *daemon) judge(ctx context.Context, snapshot *node.Snapshot, now time.Time) []engine.Alert {
	d.engine.Append(snapshot)
	d.engine.Evaluate(ctx, now)
	return d.engine.Alerts()
}

// reloadRules reads the rules anew. A file that is wrong leaves the old rules
// in place.
func (d *daemon) reloadRules() error {
	groups, err := d.flags.groups()
	if err != nil {
		level.Error(d.logger).Log("msg", "rules not reloaded, the old ones stay", "err", err)
		return err
	}
	d.engine.Reload(engine.NodeScope(groups), time.Now())
	level.Info(d.logger).Log("msg", "rules reloaded", "rules", countRules(groups))
	return nil
}

func countRules(groups []*engine.Group) int {
	n := 0
	for _, g := range groups {
		n += len(g.Rules)
	}
	return n
}

// askReload asks the daemon's goroutine to reload, and waits for the outcome.
func (d *daemon) askReload(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case d.reload <- answer:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
