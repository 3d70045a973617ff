package collector

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// device is one RDMA device that is read. Each reading is a goroutine of its
// own; there is never more than one per device.
type device struct {
	r          *Runner
	name       string
	instance   uint64 // of its sysfs entry: another one is another registration
	memory     *memory
	registered time.Time

	// Of the runner's goroutine.
	ongoing
	functions               []string // PCI functions it stands for
	lastRead                time.Time
	stalled, lastReadSeries *node.Series
	registeredSeries        *node.Series
	wasStalled              bool

	// Of the reading's goroutine.
	target     *target
	door       *host.Door
	tally      *tally // of discovery
	discovered time.Time
	readers    []*sourceReader
	restricted *node.Series
	samples    int // how many to expect
}

func newDevice(r *Runner, name string, instance uint64, now time.Time) *device {
	m := r.remembered(name, instance, now)
	return &device{
		r: r, name: name, instance: instance, door: r.c.Host.Door(), tally: newTally(name, "discovery"),
		memory: m, registered: m.Registered,
		stalled: series(&catalog.DeviceStalled, name), lastReadSeries: series(&catalog.DeviceLastRead, name),
		registeredSeries: series(&catalog.DeviceFirstSeen, name),
	}
}

// seconds is a time as Prometheus has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1e3 }

// wait returns the samples of the reading, or what is left to say of a device
// that does not answer in time.
func (d *device) wait(ctx context.Context, now time.Time) []node.Sample {
	samples, answered := d.answer(ctx, d.r.end)
	if answered {
		d.lastRead = now
	} else if d.r.stopping() {
		return nil
	}
	d.logStalled(!answered)
	stalled := node.Sample{Series: d.stalled}
	if !answered {
		stalled.Value = 1
	}
	samples = append(samples, stalled, node.Sample{Series: d.registeredSeries, Value: seconds(d.registered)})
	if !d.lastRead.IsZero() {
		samples = append(samples, node.Sample{Series: d.lastReadSeries, Value: seconds(d.lastRead)})
	}
	return samples
}

func (d *device) logStalled(stalled bool) {
	if stalled == d.wasStalled {
		return
	}
	d.wasStalled = stalled
	if stalled {
		level.Error(d.r.logger).Log("msg", "device does not answer; waiting for its read to return", "device", d.name)
	} else {
		level.Info(d.r.logger).Log("msg", "device answers again", "device", d.name)
	}
}

// leave gives the device up: at once, or when the reading under way returns.
func (d *device) leave() { d.afterwards(d.close) }

func (d *device) close() {
	for _, s := range d.readers {
		s.close()
		s.door.Close()
	}
	d.readers = nil
	d.door.Close()
}

// Identity, ports and interfaces are looked at again this often.
const rediscoverAfter = time.Minute

// read is one reading, in a goroutine of its own.
func (d *device) read(now time.Time, wanted map[string]bool) []node.Sample {
	d.rediscover(now)
	b := &batch{now: now, samples: make([]node.Sample, 0, d.samples)}
	defer func() { d.samples = len(b.samples) + len(b.samples)/8 }()
	d.tally.add(b, d.door)
	if d.restricted != nil {
		b.add(d.restricted, 1)
		return b.samples
	}
	for _, s := range d.readers {
		if wanted[s.source.Name] {
			d.readSource(s, b)
		}
	}
	if d.memory.refused && d.memory.restricted == unknown {
		d.discovered = time.Time{} // perhaps it is the fabric manager's
	}
	return b.samples
}

func (d *device) readSource(s *sourceReader, b *batch) {
	err := s.read(b)
	d.logError(s, err)
	d.logDenied(s, b.now)
}

// logError reports a source's error when it changes, not each time. What has
// changed may be the device: it is looked at again.
func (d *device) logError(s *sourceReader, err error) {
	text := ""
	if err != nil {
		text = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if text == s.errors {
		return
	}
	s.errors = text
	if text == "" {
		level.Info(d.r.logger).Log("msg", "collector works again", "collector", s.source.Name, "device", d.name)
		return
	}
	level.Warn(d.r.logger).Log("msg", "collector failed for a device", "collector", s.source.Name, "device", d.name, "err", text)
	d.discovered = time.Time{}
}

// logDenied reports once that a privilege is missing.
func (d *device) logDenied(s *sourceReader, now time.Time) {
	denied := s.denied(now)
	if denied && !s.wasDenied {
		level.Warn(d.r.logger).Log("msg", "collector may not read all of a device; see rdma_collector_skipped and the README for what it needs",
			"collector", s.source.Name, "device", d.name)
	}
	s.wasDenied = denied
}

// rediscover finds out what the device is, at first and every now and then,
// and opens the sources anew if that has changed.
func (d *device) rediscover(now time.Time) {
	if d.target != nil && now.Sub(d.discovered) < rediscoverAfter {
		return
	}
	d.discovered = now
	t := discover(d.door, d.name)
	t.rawNames = d.r.c.RawEthtool
	t.memory = d.memory
	if t.memory.restricted == unknown {
		t.memory.restricted = isRestricted(d.door, t)
	}
	restricted := t.memory.restricted == yes && !d.r.c.ReadRestricted
	if d.target != nil && reflect.DeepEqual(t, d.target) && restricted == (d.restricted != nil) {
		return
	}
	for _, s := range d.readers {
		s.close()
	}
	old := d.readers
	d.target, d.readers, d.restricted = t, nil, nil
	if restricted {
		d.restricted = series(&catalog.DeviceSkipped, d.name, "restricted")
		level.Info(d.r.logger).Log("msg", "device belongs to the fabric manager and is not read; see --collector.read-restricted", "device", d.name)
		return
	}
	for _, source := range d.r.sourcesFor(d.name) {
		d.openSource(source, old)
	}
}

func (d *device) openSource(source Source, old []*sourceReader) {
	s := newSourceReader(d.name, source, d.r.c.Host.Door())
	for _, o := range old {
		if o.source.Name == source.Name {
			s = o // its counts go on
		}
	}
	s.open(func() reader { return source.open(d.target, s.door) })
	d.readers = append(d.readers, s)
}
