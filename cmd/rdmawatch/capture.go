package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"

	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// captureFlags say what is captured, and where it goes.
type captureFlags struct {
	collectorFlags
	log                logFlags
	output             *string
	outputSet          bool
	interval, duration *time.Duration
	maxSize            *int64
	raw, force         *bool
}

func addCapture(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("capture", "Write what the collectors read as one anonymised archive, to attach to a ticket or to replay.")
	f := &captureFlags{}
	f.output = cmd.Flag("output", "The archive; - for standard output. Default: rdmawatch-capture-<UTC time>.tar.gz here.").Short('o').PlaceHolder("FILE").IsSetByUser(&f.outputSet).String()
	f.interval = cmd.Flag("interval", "Time between readings.").Default("1s").Duration()
	f.duration = cmd.Flag("duration", "How long to take readings; 0 takes one.").Default("0s").Duration()
	f.raw = cmd.Flag("raw", "Keep GUIDs, addresses, serial numbers and host names instead of replacing them.").Bool()
	f.force = cmd.Flag("force", "Overwrite the file.").Bool()
	size := cmd.Flag("max-size", "Largest size of the archive; a series ends before it.").Default("64MB").Bytes()
	f.maxSize = (*int64)(size)
	f.collectorFlags = addCollectorFlags(cmd)
	f.log = addLogFlags(cmd)
	cmd.GetFlag("log.level").Default("warn") // which devices are found is no news here
	commands[cmd.FullCommand()] = func(stdout, stderr io.Writer) error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		return f.capture(ctx, stdout, stderr)
	}
}

func (f *captureFlags) capture(ctx context.Context, stdout, stderr io.Writer) error {
	if *f.interval < 10*time.Millisecond || *f.duration < 0 {
		return fmt.Errorf("--interval must be at least 10ms and --duration not below zero")
	}
	rec := capture.NewRecording()
	f.recorder = rec
	*f.minInterval = 0 // each reading is one of its own
	runner, closeRunner, err := f.runner(f.log.logger(stderr))
	if err != nil {
		return err
	}
	defer closeRunner()
	context.AfterFunc(ctx, runner.Stop)
	out, err := f.create(stdout)
	if err != nil {
		return err
	}
	defer out.discard()
	summary, err := f.take(ctx, runner, capture.NewWriter(out, rec, f.config()), stderr)
	if err != nil {
		return err
	}
	if err := out.keep(); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%s: %s\n", out.name, summary)
	if summary.Devices == 0 {
		fmt.Fprintln(stderr, "no RDMA device was found; see --path.sysfs and --collector.device-include")
	}
	return nil
}

func (f *captureFlags) config() capture.Config {
	c := capture.Config{Raw: *f.raw, MaxSize: *f.maxSize, About: []string{"by: rdmawatch " + cmp.Or(version.Version, "of no version")}}
	if *f.replay == "" {
		if name, err := os.Hostname(); err == nil {
			c.Hosts = []string{name}
		}
		c.About = append(c.About, "kernel: "+host.Kernel())
	} else {
		c.About = append(c.About, "simulated: read from a fixture or another capture")
	}
	return c
}

// take takes the readings. What it has when it is interrupted, or when the
// archive is full, is a capture too.
func (f *captureFlags) take(ctx context.Context, runner *collector.Runner, w *capture.Writer, stderr io.Writer) (capture.Summary, error) {
	ticker := time.NewTicker(*f.interval)
	defer ticker.Stop()
	begin := time.Now()
	for n := 1; ; n++ {
		s := runner.Collect(ctx, nil)
		if ctx.Err() != nil {
			break // it was broken off
		}
		err := w.Add(s.Time)
		if errors.Is(err, capture.ErrFull) {
			fmt.Fprintf(stderr, "%v (see --max-size); what is in it was kept\n", err)
			break
		}
		if err != nil {
			return capture.Summary{}, fmt.Errorf("writing the archive: %w", err)
		}
		// The last reading may be a little late; a series has at least two.
		if *f.duration == 0 || n > 1 && time.Since(begin)+*f.interval/2 > *f.duration {
			break
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	s, err := w.Close()
	if err != nil {
		return s, fmt.Errorf("writing the archive: %w", err)
	}
	return s, nil
}

// archive is where a capture goes: standard output, or a file that is complete
// or not there.
type archive struct {
	io.Writer
	name string
	file *os.File // nil for standard output
	over bool     // an old file may be replaced
}

func (f *captureFlags) create(stdout io.Writer) (*archive, error) {
	name := *f.output
	if name == "-" || name == "" && f.outputSet { // kingpin makes nothing of -o -
		return &archive{Writer: stdout, name: "standard output"}, nil
	}
	if name == "" {
		name = "rdmawatch-capture-" + time.Now().UTC().Format("20060102-150405") + ".tar.gz"
	}
	if err := refuseExisting(name, *f.force); err != nil {
		return nil, err
	}
	// Such a file is its owner's alone (0600).
	file, err := os.CreateTemp(filepath.Dir(name), ".rdmawatch-capture-")
	if err != nil {
		return nil, fmt.Errorf("creating the archive: %w", err)
	}
	return &archive{Writer: file, name: name, file: file, over: *f.force}, nil
}

// keep gives the file its name.
func (a *archive) keep() error {
	if a.file == nil {
		return nil
	}
	err := errors.Join(a.file.Sync(), a.file.Close())
	if err == nil {
		err = refuseExisting(a.name, a.over) // it was not there at the beginning
	}
	if err == nil {
		err = os.Rename(a.file.Name(), a.name)
	}
	if err != nil {
		return fmt.Errorf("writing the archive: %w", err)
	}
	return nil
}

// refuseExisting refuses a name that is taken. What is no plain file, a device
// or a link, is never replaced.
func refuseExisting(name string, force bool) error {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil // writing it tells if something else is wrong
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s exists and is no plain file; -o - writes to standard output", name)
	case !force:
		return fmt.Errorf("%s exists; --force overwrites it", name)
	}
	return nil
}

// discard removes what keep did not give a name.
func (a *archive) discard() {
	if a.file != nil {
		_ = a.file.Close()
		_ = os.Remove(a.file.Name())
	}
}
