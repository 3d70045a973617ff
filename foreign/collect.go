package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// longAgo is for how long the devices are taken to have been there: counters
// of a device that has just come are not judged, and who attaches a text to a
// ticket has seen the fault for a while.
const longAgo = 25 * time.Hour

// Collect reads the machine that the texts describe, once for each reading, and
// fills what lies between where that is long.
func (e *Evidence) Collect(ctx context.Context) ([]*node.Snapshot, error) {
	if len(e.steps) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "rdmawatch-read-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for what was read: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()

	t := &tree{root: root}
	var snapshots []*node.Snapshot
	var memory json.RawMessage
	for i, step := range e.steps {
		if err := t.write(step, e.boots[i]); err != nil {
			return nil, fmt.Errorf("writing what was read: %w", err)
		}
		if i == 0 {
			if _, memory, err = read(ctx, dir, e.Times[0].Add(-longAgo), nil); err != nil {
				return nil, err
			}
		}
		var s *node.Snapshot
		if s, memory, err = read(ctx, dir, e.Times[i], memory); err != nil {
			return nil, err
		}
		if i > 0 {
			snapshots = append(snapshots, fill(snapshots[len(snapshots)-1], s)...)
		}
		snapshots = append(snapshots, s)
	}
	return snapshots, nil
}

// read reads the fixture once, as a program that was just started and remembers
// what another one saw before.
func read(ctx context.Context, dir string, now time.Time, memory json.RawMessage) (*node.Snapshot, json.RawMessage, error) {
	h, err := host.New(host.Config{Replay: dir})
	if err != nil {
		return nil, nil, err
	}
	defer h.Close()
	r := collector.NewRunner(collector.Config{
		Host: h, Sources: collector.Sources(), Timeout: 30 * time.Second, Now: func() time.Time { return now },
	})
	defer r.Close()
	if memory != nil {
		if err := r.Restore(memory); err != nil {
			return nil, nil, err
		}
	}
	s := r.Collect(ctx, nil)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	memory, err = r.Save()
	return s, memory, err
}
