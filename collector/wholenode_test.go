package collector

import (
	"errors"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// probe is a source that the test answers for.
type probe struct {
	reads int
	value float64
	err   error
	hangs chan struct{} // until it is closed
}

func (p *probe) read(b *batch) error {
	p.reads++
	if p.hangs != nil {
		<-p.hangs
	}
	if p.err == nil {
		b.add(series(&catalog.Devices), p.value)
	}
	return p.err
}

func (p *probe) close() {}

// nodeProbe has a rig read p as a source of the whole node.
func nodeProbe(p *probe, every time.Duration) func(*Config) {
	return func(c *Config) {
		c.Sources = []Source{{Name: "probe", Every: every, openNode: func(*host.Door) reader { return p }}}
		c.Devices = Filter{} // a source of the node is read whatever devices there are
	}
}

const probed = `{device="",collector="probe"}`

// A slow source is read once in a while and repeated in between; when that was
// is shown. An error is not kept as long.
func TestEvery(t *testing.T) {
	p := &probe{value: 7}
	m := newRig(t, nil, nodeProbe(p, 10*time.Minute))
	start := seconds(m.now)
	for _, step := range []struct {
		name        string
		after       time.Duration
		value       float64
		err         error
		reads       int
		success, at float64
	}{
		{"first", 0, 7, nil, 1, 1, start},
		{"kept", 599 * time.Second, 11, nil, 1, 1, start},
		{"due", time.Second, 11, nil, 2, 1, start + 600},
		{"fails", 10 * time.Minute, 13, errors.New("no"), 3, 0, start + 600},
		{"failure kept", 59 * time.Second, 13, nil, 3, 0, start + 600},
		{"tried again", time.Second, 13, nil, 4, 1, start + 1260},
		{"clock set back", -time.Hour, 17, nil, 5, 1, start + 1260 - 3600},
	} {
		m.now = m.now.Add(step.after)
		p.value, p.err = step.value, step.err
		got := m.collect()
		if p.reads != step.reads {
			t.Errorf("%s: read %d times, want %d", step.name, p.reads, step.reads)
		}
		if v := got["rdma_collector_success"+probed]; v != step.success {
			t.Errorf("%s: success %v, want %v", step.name, v, step.success)
		}
		if v := got["rdma_collector_last_success_timestamp_seconds"+probed]; v != step.at {
			t.Errorf("%s: last success %v, want %v", step.name, v, step.at)
		}
	}
}

// A source of the node that hangs fails, is not asked twice, and comes back.
func TestNodeSourceHangs(t *testing.T) {
	p := &probe{value: 7, hangs: make(chan struct{})}
	m := newRig(t, nil, nodeProbe(p, 0), func(c *Config) { c.Timeout = time.Millisecond })
	for range 3 {
		got := m.collect()
		if v, ok := got["rdma_collector_success"+probed]; !ok || v != 0 {
			t.Errorf("success %v, %v while it hangs; want 0", v, ok)
		}
	}
	close(p.hangs)
	m.runner.Settle(t.Context())
	m.runner.c.Timeout = time.Minute
	if got := m.collect(); got["rdma_collector_success"+probed] != 1 || p.reads != 2 {
		t.Errorf("success %v after %d reads, want 1 after 2", got["rdma_collector_success"+probed], p.reads)
	}
}

// What changes is logged, not each failure.
func TestNodeSourceLogs(t *testing.T) {
	p := &probe{value: 7}
	m := newRig(t, nil, nodeProbe(p, 0))
	for i, step := range []struct {
		err  error
		want string
	}{
		{nil, ""}, {errors.New("no\nnetlink"), "no; netlink"}, {errors.New("no\nnetlink"), ""}, {nil, "works again"}, {nil, ""},
	} {
		p.err = step.err
		m.collect()
		lines := m.log.take("collector=probe")
		if len(lines) > 1 || (len(lines) == 1) != (step.want != "") {
			t.Errorf("step %d logs %q, want a line: %v", i, lines, step.want != "")
		}
	}
}
