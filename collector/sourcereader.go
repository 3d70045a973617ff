package collector

import (
	"maps"
	"slices"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// sourceReader is a source at work on one device or on the node, and what it
// tells of itself.
type sourceReader struct {
	source Source
	door   *host.Door
	reader reader // nil if the source has nothing to read on this device
	tally  *tally

	kept   []node.Sample // of the last reading, if the source has an Every
	keptAt time.Time     // zero if there is none
	err    error         // of that reading
	found  bool          // it had anything to read

	errors      string // the last reading's, to log changes only
	lastSuccess time.Time
	refusals    uint64    // for want of a privilege, so far
	deniedUntil time.Time // then what was refused is tried again
	wasDenied   bool

	success, duration, lastSeries *node.Series
	unsupported, permission       *node.Series // why it is skipped
}

func newSourceReader(device string, source Source, door *host.Door) *sourceReader {
	return &sourceReader{
		source: source, door: door, tally: newTally(device, source.Name),
		success:     series(&catalog.CollectorSuccess, device, source.Name),
		duration:    series(&catalog.CollectorDuration, device, source.Name),
		lastSeries:  series(&catalog.CollectorLastSuccess, device, source.Name),
		unsupported: series(&catalog.CollectorSkipped, device, source.Name, "unsupported"),
		permission:  series(&catalog.CollectorSkipped, device, source.Name, "permission"),
	}
}

func (s *sourceReader) open(open func() reader) {
	s.reader, s.keptAt = open(), time.Time{}
}

func (s *sourceReader) close() {
	if s.reader != nil {
		s.reader.close()
		s.reader = nil
	}
}

// read reads the source once, and adds how that went.
func (s *sourceReader) read(b *batch) (err error) {
	found := false
	switch {
	case s.reader == nil:
	case s.current(b.now):
		b.samples = append(b.samples, s.kept...)
		found, err = s.found, s.err
	default:
		before := len(b.samples)
		found, err = s.readReader(b)
		if s.source.Every > 0 {
			s.kept, s.keptAt, s.found, s.err = slices.Clone(b.samples[before:]), b.now, found, err
		}
	}
	switch {
	case s.denied(b.now):
		b.add(s.permission, 1)
	case !found && err == nil:
		b.add(s.unsupported, 1)
	}
	s.tally.add(b, s.door)
	return err
}

// current reports whether the last reading still counts. One that failed is soon
// tried again.
func (s *sourceReader) current(now time.Time) bool {
	age := now.Sub(s.keptAt)
	return !s.keptAt.IsZero() && age >= 0 && age < s.source.Every && (s.err == nil || age < retryAfter)
}

// readReader reports also whether there was anything to read.
func (s *sourceReader) readReader(b *batch) (found bool, err error) {
	before, begin := len(b.samples), time.Now() // a duration is real even if the clock is virtual
	err = s.reader.read(b)
	elapsed := time.Since(begin)
	found = len(b.samples) > before
	if err == nil {
		s.lastSuccess = b.now
	}
	b.addBool(s.success, err == nil)
	b.add(s.duration, elapsed.Seconds())
	if !s.lastSuccess.IsZero() {
		b.add(s.lastSeries, seconds(s.lastSuccess))
	}
	return found, err
}

// denied reports whether something is not read for want of a privilege. What
// was refused sleeps, then it is tried and perhaps refused again.
func (s *sourceReader) denied(now time.Time) bool {
	if n := s.door.Errors["EACCES"] + s.door.Errors["EPERM"]; n > s.refusals {
		s.refusals, s.deniedUntil = n, now.Add(reprobeAfter)
	}
	return now.Before(s.deniedUntil)
}

// tally exports what a door has counted: reads, and errors by name.
type tally struct {
	device, collector string
	reads             *node.Series
	errors            map[string]*node.Series
}

func newTally(device, collector string) *tally {
	return &tally{device, collector, series(&catalog.CollectorReads, device, collector), map[string]*node.Series{}}
}

func (t *tally) add(b *batch, d *host.Door) {
	b.add(t.reads, float64(d.Reads))
	for _, name := range slices.Sorted(maps.Keys(d.Errors)) {
		if t.errors[name] == nil {
			t.errors[name] = series(&catalog.CollectorReadErrors, t.device, t.collector, name)
		}
		b.add(t.errors[name], float64(d.Errors[name]))
	}
}
