package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/demo"
)

func addDemo(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("demo", "Serve a simulated node of 8 NICs whose faults come and go, to look at without a NIC.")
	f := newServeFlags(cmd)
	for _, name := range []string{"path.sysfs", "path.procfs", "path.rootfs", "replay", "collector.read-restricted", "alerting.state-file"} {
		cmd.GetFlag(name).Hidden().PreAction(func(*kingpin.ParseContext) error {
			return fmt.Errorf("--%s is nothing for demo, which reads no machine and begins anew each time", name)
		})
	}
	commands[cmd.FullCommand()] = func(stdout, stderr io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return f.demo(ctx, stdout, f.log.logger(stderr))
	}
}

// demo serves the node of the demo as it would serve this machine: what is read
// and which time it is are its own, and nothing else.
func (f *serveFlags) demo(ctx context.Context, stdout io.Writer, logger log.Logger) error {
	fmt.Fprintln(stdout, "SIMULATED: eight NICs that do not exist; nothing of this machine is read, and every metric says simulated=\"true\".")
	d, err := newDemoNode(time.Now(), logger)
	if err != nil {
		return err
	}
	defer d.tree.Close()
	if *f.alerting.instance == "" {
		*f.alerting.instance = "demo-node"
	}
	*f.replay, f.clock = d.tree.Dir(), d.clock
	f.past = func(ctx context.Context, daemon *daemon) {
		d.past(ctx, daemon)
		if ctx.Err() == nil {
			d.guide(stdout, pageURL((*f.web.WebListenAddresses)[0]), *f.path)
		}
	}
	return f.serve(ctx, logger)
}

// demoNode is the node of the demo. Its clock is the real one, but for the past
// that is played before anybody looks.
type demoNode struct {
	story  *replay.Case
	tree   *replay.Tree
	began  time.Time // the story
	at     time.Time // in the past; zero: now
	logger log.Logger
	failed bool
}

func newDemoNode(now time.Time, logger log.Logger) (*demoNode, error) {
	s, err := demo.Story()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rdmawatch-demo-")
	if err != nil {
		return nil, err
	}
	if err := demo.Write(dir); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	d := &demoNode{story: &s.Cases[0], began: now.Add(-demo.Past), logger: logger}
	d.tree, err = replay.OpenTree(dir, d.story.Changes)
	return d, err
}

// clock is the clock of the collectors. They look at it before each reading and
// never during one: the moment for the node to move on.
func (d *demoNode) clock() time.Time {
	now := d.at
	if now.IsZero() {
		now = time.Now()
	}
	_, err := d.tree.Advance(now.Sub(d.began))
	if err != nil && !d.failed {
		level.Error(d.logger).Log("msg", "the demo stands still", "err", err)
	}
	d.failed = err != nil
	return now
}

// past has the daemon live through the story up to now, in a moment and without
// telling anybody: rates, pictures and the history of alerts are there when the
// page opens.
func (d *demoNode) past(ctx context.Context, daemon *daemon) {
	if daemon == nil {
		return
	}
	const step = 15 * time.Second // as the rules want it
	for at := d.began; ctx.Err() == nil && at.Before(time.Now()); at = at.Add(step) {
		d.at = at
		snapshot := daemon.runner.Collect(ctx, nil)
		daemon.publish(snapshot, daemon.judge(ctx, snapshot, at))
	}
	d.at = time.Time{}
}

// guide says where to look, and what will be seen there when.
func (d *demoNode) guide(w io.Writer, page, metrics string) {
	fmt.Fprintf(w, `
  Status page   %[1]s/
  Rules         %[1]s/alerts
  Metrics       %[1]s%[2]s
  Diagnosis     rdmawatch diagnose --from %[1]s

Two faults are there already. These alerts fire next (UTC, as on the page):
`, page, metrics)
	for _, e := range d.story.Fire {
		if from := time.Duration(e.NotBy); from > demo.Past {
			fmt.Fprintf(w, "  from %s  %s, %s\n", d.began.Add(from).UTC().Format(time.TimeOnly), e.Alert, e.Labels["device"])
		}
	}
	fmt.Fprintf(w, `Then all is put right, and after %s it begins anew. Ctrl-C ends the demo.

`, time.Duration(d.story.Every))
}

// pageURL is how a browser on this machine reaches what listens at an address.
func pageURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "http://" + listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
