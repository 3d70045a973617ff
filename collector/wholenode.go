package collector

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

// nodeSource is a source that reads what belongs to no device: the kernel's log,
// the settings of the host. Each has a goroutine of its own, as devices have.
type nodeSource struct {
	ongoing
	r      *Runner
	source *sourceReader
	said   string // what was logged of it last
}

// newNodeSources opens the sources of the whole node.
func newNodeSources(r *Runner) []*nodeSource {
	var all []*nodeSource
	for _, source := range r.c.Sources {
		if source.openNode == nil {
			continue
		}
		s := newSourceReader("", source, r.c.Host.Door())
		s.open(func() reader { return source.openNode(s.door) })
		all = append(all, &nodeSource{r: r, source: s})
	}
	return all
}

// begin starts a reading. devices are those of the node.
func (n *nodeSource) begin(now time.Time, devices []string) {
	name := n.source.source.Name
	devices = slices.DeleteFunc(slices.Clone(devices), func(device string) bool {
		return !n.r.c.Devices.Allows(device) || !n.r.c.Filters[name].Allows(device)
	})
	n.start(func() []node.Sample {
		b := &batch{now: now, devices: devices}
		n.log(n.source.read(b), now)
		return b.samples
	})
}

// wait returns the samples of the reading. Of a source that does not answer it
// says that it failed.
func (n *nodeSource) wait(ctx context.Context) []node.Sample {
	samples, answered := n.answer(ctx, n.r.end)
	if !answered && !n.r.stopping() {
		samples = []node.Sample{{Series: n.source.success, Value: 0}}
	}
	return samples
}

// log reports the source's error, or that a privilege is missing, when that
// changes.
func (n *nodeSource) log(err error, now time.Time) {
	said := ""
	switch {
	case err != nil:
		said = strings.ReplaceAll(err.Error(), "\n", "; ")
	case n.source.denied(now):
		said = "denied"
	}
	if said == n.said {
		return
	}
	n.said = said
	name := n.source.source.Name
	switch said {
	case "":
		level.Info(n.r.logger).Log("msg", "collector works again", "collector", name)
	case "denied":
		level.Warn(n.r.logger).Log("msg", "collector may not read all of the node; see rdma_collector_skipped and the README for what it needs", "collector", name)
	default:
		level.Warn(n.r.logger).Log("msg", "collector failed for the node", "collector", name, "err", said)
	}
}

func (n *nodeSource) leave() {
	n.afterwards(func() {
		n.source.close()
		n.source.door.Close()
	})
}
