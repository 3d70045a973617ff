package main

import (
	"context"
	"time"

	"github.com/go-kit/log"
	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// opened is what the collectors read: the machine, a fixture or a capture.
type opened struct {
	host  *host.Host
	clock func() time.Time // nil: the real one
	// packed is the capture, nil if it is none.
	packed *capture.Capture
}

func (o *opened) close() {
	o.host.Close()
	if o.packed != nil {
		o.packed.Close()
	}
}

// open opens what the flags name. A capture of several readings plays at its own
// pace, unless there is another clock.
func (f *collectorFlags) open(logger log.Logger) (err error) {
	c := host.Config{Sysfs: f.sysfsPath(logger), Procfs: f.procfsPath(), Kmsg: "/dev/kmsg", Replay: *f.replay, Recorder: f.recorder}
	o := opened{clock: f.clock}
	if capture.IsArchive(c.Replay) {
		if o.packed, err = capture.Open(c.Replay); err != nil {
			return err
		}
		c.Replay = o.packed.Dir()
	}
	if o.host, err = host.New(c); err != nil {
		if o.packed != nil {
			o.packed.Close()
		}
		return err
	}
	if o.packed != nil && o.clock == nil && len(o.packed.Times()) > 1 {
		o.clock = o.packed.Follow(time.Now, func(err error) {
			if err != nil {
				level.Error(logger).Log("msg", "the capture cannot be played on", "err", err)
			}
			o.host.Wake()
		})
	}
	f.opened = o
	return nil
}

// readings reads a capture on a virtual clock: each of its readings is handed to
// each.
func (f *collectorFlags) readings(ctx context.Context, logger log.Logger, each func(*node.Snapshot)) error {
	var now time.Time
	f.clock = func() time.Time { return now }
	runner, closeRunner, err := f.runner(logger)
	if err != nil {
		return err
	}
	defer closeRunner()
	context.AfterFunc(ctx, runner.Stop)
	packed := f.opened.packed
	for step, at := range packed.Times() {
		if err := packed.Advance(step); err != nil {
			return err
		}
		if f.opened.host.Wake() {
			settle(ctx, runner, *f.timeout)
		}
		if now = at; now.IsZero() { // a fixture that was packed by hand
			now = time.Now()
		}
		s := runner.Collect(ctx, nil)
		if ctx.Err() != nil {
			return nil // what was not read any more has not gone away
		}
		each(s)
	}
	return nil
}

func settle(ctx context.Context, runner *collector.Runner, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	runner.Settle(ctx)
}
