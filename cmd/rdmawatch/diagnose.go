package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"

	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// The exit status of diagnose, as monitoring plug-ins have it.
const (
	exitWarning  = 1
	exitCritical = 2
	exitUnknown  = 3
)

type diagnoseFlags struct {
	collectorFlags
	ruleFlags
	duration, interval *time.Duration
	durationSet        bool
	devices            *[]string
	minSeverity        *string
	format             *string
	color, verbose     *bool
	from, only         *string
	texts, moreTexts   *[]string
	apart              *time.Duration
}

func addDiagnose(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("diagnose", "Look at this node for a while and say what is wrong, where, and what to check next. Exit status: 0 nothing, 1 warning, 2 critical, 3 could not read.")
	f := newDiagnoseFlags(cmd)
	commands[cmd.FullCommand()] = func(stdout, stderr io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		signal.Ignore(syscall.SIGPIPE) // a reader that hangs up is told by the write
		defer stop()
		context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program
		return f.run(ctx, stdout, stderr)
	}
}

func newDiagnoseFlags(cmd *kingpin.CmdClause) *diagnoseFlags {
	f := &diagnoseFlags{}
	f.duration = cmd.Flag("duration", "How long to look; 0 for one sample, of which no rate can be judged.").Default("10s").IsSetByUser(&f.durationSet).Duration()
	f.interval = cmd.Flag("interval", "Time between samples.").Default("1s").Duration()
	f.devices = cmd.Flag("device", "Only what concerns this device. Repeatable.").PlaceHolder("NAME").Strings()
	f.minSeverity = cmd.Flag("min-severity", "Least severity of findings: info, warning, critical.").Default("info").Enum("info", "warning", "critical")
	f.format = cmd.Flag("format", "Form of the report: text, json.").Default("text").Enum("text", "json")
	f.color = cmd.Flag("color", "Colours on a terminal; NO_COLOR switches them off as well.").Default("true").Bool()
	f.from = cmd.Flag("from", "Ask the rdmawatch that runs there, with its full history, instead of looking.").PlaceHolder("URL").String()
	f.only = cmd.Flag("case", "Play this case of a scenario that --replay names; the first one if not given.").String()
	f.texts = cmd.Flag("read", "Judge texts that somebody attached instead of this machine: output of ethtool, rdma, ibstat, lspci and others, listings of sysfs, an unpacked sosreport. Two of a kind, in order, give rates.").PlaceHolder("FILE|DIR").Strings()
	f.moreTexts = cmd.Arg("texts", "More texts for --read, in the order in which they were taken.").Strings()
	f.apart = cmd.Flag("read-apart", "Time between two readings that neither names nor times of the files tell.").Default("1m").Duration()
	f.verbose = cmd.Flag("verbose", "Log to standard error what is found and what fails.").Bool()
	f.collectorFlags = addCollectorFlags(cmd)
	f.ruleFlags = addRuleFlags(cmd)
	cmd.GetFlag("collector.min-interval").Hidden() // each sample is a reading
	return f
}

func (f *diagnoseFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	report, err := f.report(ctx, stderr)
	if err != nil {
		return &exit{exitUnknown, err}
	}
	for _, name := range *f.devices {
		if known := report.Devices(); !slices.Contains(known, name) {
			return &exit{exitUnknown, fmt.Errorf("no device %q; there are: %q", name, known)}
		}
	}
	report.Keep(*f.devices)
	report.KeepSeverity(*f.minSeverity)
	// A reader that has seen enough, as head, is no failure.
	if err := f.print(stdout, report); err != nil && !errors.Is(err, syscall.EPIPE) {
		return &exit{exitUnknown, fmt.Errorf("writing the report: %w", err)}
	}
	switch worst := report.Worst(); {
	case worst == diagnose.Critical:
		return &exit{status: exitCritical}
	case worst == diagnose.Warning:
		return &exit{status: exitWarning}
	case len(report.Ports) == 0:
		return &exit{status: exitUnknown}
	}
	return nil
}

// report makes the report from where the flags say.
func (f *diagnoseFlags) report(ctx context.Context, stderr io.Writer) (*diagnose.Report, error) {
	switch {
	case *f.duration < 0 || *f.interval <= 0:
		return nil, errors.New("--duration must not be below zero, --interval must be above")
	case len(*f.texts) == 0 && len(*f.moreTexts) > 0:
		return nil, fmt.Errorf("unexpected %q; texts are given after --read", (*f.moreTexts)[0])
	case len(*f.texts) > 0 && (*f.from != "" || *f.replay != ""):
		return nil, errors.New("--read excludes --from and --replay")
	case len(*f.texts) > 0:
		return f.read(ctx)
	case *f.from != "" && *f.replay != "":
		return nil, errors.New("--from and --replay exclude each other")
	case *f.from != "":
		return ask(ctx, *f.from)
	case isScenario(*f.replay):
		return f.play(ctx, *f.replay)
	case *f.only != "":
		return nil, errors.New("--case is for a scenario file, given by --replay")
	case capture.IsArchive(*f.replay):
		return f.lookBack(ctx, stderr)
	}
	return f.look(ctx, stderr)
}

// look samples this machine, or a fixture.
func (f *diagnoseFlags) look(ctx context.Context, stderr io.Writer) (*diagnose.Report, error) {
	setup, err := f.setup()
	if err != nil {
		return nil, err
	}
	*f.minInterval = 0
	runner, closeRunner, err := f.runner(f.logger(stderr))
	if err != nil {
		return nil, err
	}
	defer closeRunner()
	context.AfterFunc(ctx, runner.Stop) // no NIC holds up the end
	duration := *f.duration
	if *f.replay != "" && !f.durationSet {
		duration = 0 // nothing moves in a fixture
	}
	watch, err := diagnose.NewWatch(diagnose.WatchConfig{
		Node: hostName(), Simulated: f.simulated(), Groups: setup.Groups, Inhibitions: setup.Inhibitions, Window: duration,
	})
	if err != nil {
		return nil, err
	}
	interrupted := sample(ctx, runner, watch, duration, *f.interval, progress{stderr, isTerminal(stderr)})
	report, err := watch.Report(context.WithoutCancel(ctx), interrupted)
	if report == nil && err == nil {
		err = errors.New("interrupted before the first sample")
	}
	return report, err
}

func (f *diagnoseFlags) logger(stderr io.Writer) log.Logger {
	if *f.verbose {
		return log.NewLogfmtLogger(log.NewSyncWriter(stderr))
	}
	return log.NewNopLogger()
}

// sample reads every interval until the duration has passed or ctx ends, and
// reports whether it was that. The time runs from the first reading on; without
// any device there is no need to wait.
func sample(ctx context.Context, runner *collector.Runner, watch *diagnose.Watch, duration, interval time.Duration, p progress) (interrupted bool) {
	defer p.clear()
	var next, end time.Time
	readings := 0 // two at least give rates, also if a device held up the first
	for {
		s := runner.Collect(ctx, nil)
		if ctx.Err() != nil {
			return true // what was not read any more has not gone away
		}
		watch.Add(ctx, s)
		if len(s.Devices) == 0 {
			return false // there is nothing to look at
		}
		if next.IsZero() {
			next, end = s.Time, s.Time.Add(duration)
		}
		readings++
		if now := time.Now(); !now.Before(end) && (duration == 0 || readings > 1) {
			return false
		} else if next = next.Add(interval); next.Before(now) {
			next = now // a device was slow
		}
		if next.After(end) && end.After(time.Now()) {
			next = end
		}
		p.show(time.Until(end))
		select {
		case <-time.After(time.Until(next)):
		case <-ctx.Done():
			return true
		}
	}
}

func (f *diagnoseFlags) print(w io.Writer, r *diagnose.Report) error {
	if *f.format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return r.Write(w, style(w, *f.color))
}

// hostName is the name of this machine.
func hostName() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
