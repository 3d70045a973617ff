package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// isScenario reports whether --replay names a file that is no capture, and not a
// node fixture.
func isScenario(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && !capture.IsArchive(path)
}

// lookBack judges what a capture has, from its first reading to its last.
func (f *diagnoseFlags) lookBack(ctx context.Context, stderr io.Writer) (*diagnose.Report, error) {
	setup, err := f.setup()
	if err != nil {
		return nil, err
	}
	var seen []*node.Snapshot
	*f.minInterval = 0
	if err := f.readings(ctx, f.logger(stderr), func(s *node.Snapshot) { seen = append(seen, s) }); err != nil {
		return nil, err
	}
	if len(seen) == 0 {
		return nil, errors.New("interrupted before the first reading")
	}
	watch, err := diagnose.NewWatch(diagnose.WatchConfig{
		Node: replay.Instance, Simulated: true, Groups: setup.Groups, Inhibitions: setup.Inhibitions,
		Window: seen[len(seen)-1].Time.Sub(seen[0].Time),
	})
	if err != nil {
		return nil, err
	}
	for _, s := range seen {
		watch.Add(ctx, s)
	}
	return watch.Report(context.WithoutCancel(ctx), ctx.Err() != nil)
}

// play plays a case of a scenario to its end on a virtual clock, and reports
// what a daemon that had watched would say then.
func (f *diagnoseFlags) play(ctx context.Context, file string) (*diagnose.Report, error) {
	setup, err := f.setup()
	if err != nil {
		return nil, err
	}
	scenario, err := replay.Load(file)
	if err != nil {
		return nil, err
	}
	c, err := findCase(scenario, *f.only)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	in := diagnose.Input{Simulated: true, Node: replay.Instance, Inhibitions: setup.Inhibitions, Window: evidenceWindow}
	setup.Evaluated = func(_ time.Duration, e *engine.Engine, s *node.Snapshot) bool {
		in.Engine, in.Before, in.Now = e, in.Now, s
		return true
	}
	if _, err := replay.Run(ctx, c, setup); err != nil {
		return nil, err
	}
	return diagnose.New(in), nil
}

func findCase(s *replay.Scenario, name string) (*replay.Case, error) {
	var names []string
	for i := range s.Cases {
		if s.Cases[i].Name == name || name == "" {
			return &s.Cases[i], nil
		}
		names = append(names, s.Cases[i].Name)
	}
	return nil, fmt.Errorf("no case %q; there are: %q", name, names)
}
