package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/node"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// isScenario reports whether --replay names a file and not a node fixture.
func isScenario(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
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
