package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/diagnose"
	"github.com/rdmawatch/rdmawatch/foreign"
)

// read makes a report of texts that somebody attached to a ticket.
func (f *diagnoseFlags) read(ctx context.Context) (*diagnose.Report, error) {
	if *f.apart <= 0 {
		return nil, errors.New("--read-apart must be above zero")
	}
	paths := append(append([]string(nil), *f.texts...), *f.moreTexts...)
	setup, err := f.setup()
	if err != nil {
		return nil, err
	}
	inputs, err := foreign.Read(paths)
	if err != nil {
		return nil, err
	}
	evidence := foreign.Understand(inputs, foreign.Options{Apart: *f.apart, Now: time.Now()})
	groups := aboutNICs(setup.Groups)
	snapshots, err := evidence.Collect(ctx)
	if err != nil {
		return nil, err
	}
	report := &diagnose.Report{
		Version: diagnose.Version, Time: time.Now(), Ports: []diagnose.Port{}, Findings: []diagnose.Finding{},
		NotJudged: []diagnose.NotJudged{}, Unseen: []diagnose.Unseen{},
	}
	if len(snapshots) > 0 {
		watch, err := diagnose.NewWatch(diagnose.WatchConfig{
			Node: textsName(paths), Groups: groups, Inhibitions: setup.Inhibitions,
			Window: snapshots[len(snapshots)-1].Time.Sub(snapshots[0].Time),
		})
		if err != nil {
			return nil, err
		}
		for _, s := range snapshots {
			watch.Add(ctx, s)
		}
		if report, err = watch.Report(ctx, false); err != nil {
			return nil, err
		}
	}
	report.Node, report.Simulated = textsName(paths), true
	report.Read, report.Assumed = readOf(evidence.Items), evidence.Assumed
	return report, nil
}

// aboutNICs leaves out the rules about rdmawatch itself, which did not run where
// the texts are from.
func aboutNICs(groups []*engine.Group) []*engine.Group {
	kept := make([]*engine.Group, len(groups))
	for i, g := range groups {
		only := *g
		only.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r *engine.Rule) bool { return r.Labels.Get("area") == "exporter" })
		kept[i] = &only
	}
	return kept
}

// textsName is what stands for the name of the machine, which texts do not tell.
func textsName(paths []string) string {
	name := filepath.Base(filepath.Clean(paths[0]))
	if len(paths) > 1 {
		name += " and more"
	}
	return name
}

// readOf lists what became of the texts. Those of one file that are of one kind
// and about one thing are one entry: a log of counters has thousands.
func readOf(items []foreign.Item) []diagnose.Read {
	at := map[foreign.Item]int{}
	list := []diagnose.Read{}
	for _, item := range items {
		alike := item
		alike.Line, alike.Reading = 0, 0
		if i, ok := at[alike]; ok {
			list[i].Texts++
			continue
		}
		at[alike] = len(list)
		list = append(list, diagnose.Read{
			Source: item.Source, Line: item.Line, Kind: item.Kind, About: item.About, Texts: 1, Outcome: item.Outcome, Why: item.Why,
		})
	}
	return list
}
