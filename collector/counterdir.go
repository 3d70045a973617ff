package collector

import (
	"errors"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// counterDir reads a sysfs directory that holds one counter per file.
type counterDir struct {
	path     string
	device   string
	port     string // "" for counters of the whole device
	matcher  *catalog.Matcher
	unmapped *catalog.Metric // what a file without a row is exported as
	skip     map[string]bool // files that are no counters
	first    string          // file to read before all others
	// canary is a file whose refusal means that its whole register, which
	// holds every physical counter, is refused: the others are then not tried.
	canary string
	// shared leaves physical counters out: they belong to another function.
	shared bool
	// without leaves out what a better file gives.
	without map[*catalog.Metric]bool
	memory  *memory

	dir    *host.Dir
	listed time.Time
	files  []*counterFile
	cells  []*cell
	steps  []step
	buf    [64]byte
}

// counterFile is one file and what it feeds.
type counterFile struct {
	file     *host.File
	physical bool
	outs     []output
	limit    uint64
	limited  *node.Series // says whether the counter stands at its limit
	wrapped  *wrapped     // nil unless the field is 32 bits wide and wraps
	last     uint64       // the previous value, to notice a reset
	value    uint64
	ok       bool
	sleep    time.Time // not read before then
}

type output struct {
	cell *cell
	unit catalog.Unit
}

// cell is a series that one or several files feed.
type cell struct {
	series  *node.Series
	sum     float64
	parts   int
	missing bool // a part failed this time: no value rather than a wrong one
}

func (c *counterDir) read(d *host.Door, b *batch) error {
	if err := c.list(d, b.now); err != nil {
		if host.NotOffered(err) {
			return nil
		}
		return err
	}
	for _, cell := range c.cells {
		cell.sum, cell.parts, cell.missing = 0, 0, false
	}
	var failed []error
	for _, f := range c.files {
		f.ok = false
		if b.now.Before(f.sleep) {
			continue
		}
		if err := c.readFile(d, f, b.now); err != nil {
			failed = append(failed, err)
		}
	}
	reset := c.wasReset()
	for _, f := range c.files {
		c.book(f, reset, b)
	}
	for _, cell := range c.cells {
		if cell.parts > 0 && !cell.missing {
			b.add(cell.series, cell.sum)
		}
	}
	return errors.Join(failed...)
}

// readFile reads one counter. What the device does not offer is not an error;
// the file sleeps. Neither is a missing privilege one, for the same reason.
func (c *counterDir) readFile(d *host.Door, f *counterFile, now time.Time) error {
	text, err := f.file.Read(d, c.buf[:])
	if err == nil {
		if f.value, err = host.ParseCounter(text); err == nil {
			f.ok = true
			return nil
		}
		d.Errors[host.ErrorName(err)]++
	}
	if host.NotOffered(err) || host.Denied(err) {
		f.sleep = now.Add(reprobeAfter)
		if f.file.Name() == c.canary {
			c.sleepPhysical(f.sleep)
		}
		return nil
	}
	for _, out := range f.outs {
		out.cell.missing = true
	}
	return err
}

func (c *counterDir) sleepPhysical(until time.Time) {
	for _, f := range c.files {
		if f.physical {
			f.sleep = until
		}
	}
}

// wasReset reports whether the counters started anew since the last reading.
func (c *counterDir) wasReset() bool {
	c.steps = c.steps[:0]
	for _, f := range c.files {
		switch {
		case !f.ok:
		case f.wrapped != nil:
			c.steps = append(c.steps, f.wrapped.classify(f.value))
		case f.value < f.last && !f.gauge():
			c.steps = append(c.steps, backward)
		}
	}
	return deviceReset(c.steps)
}

func (f *counterFile) gauge() bool {
	return len(f.outs) > 0 && f.outs[0].cell.series.Metric.Type != catalog.Counter
}

// book adds a value that was read to the series it feeds.
func (c *counterDir) book(f *counterFile, reset bool, b *batch) {
	if !f.ok {
		return
	}
	value := f.value
	f.last = value
	if f.wrapped != nil {
		value = f.wrapped.total(value, reset)
	}
	for _, out := range f.outs {
		out.cell.sum += out.unit.ToBase(float64(value))
		out.cell.parts++
	}
	if f.limited != nil {
		// A larger value shows that this device's field is wider.
		b.addBool(f.limited, f.value == f.limit)
	}
}

// list opens the directory and looks what is in it, now and then again. Files
// that stay keep what is known of them.
func (c *counterDir) list(d *host.Door, now time.Time) error {
	if c.dir != nil && now.Sub(c.listed) < relistAfter {
		return nil
	}
	if c.dir == nil && !c.listed.IsZero() && now.Sub(c.listed) < relistAfter {
		return nil // was not there a short while ago
	}
	c.listed = now
	if c.dir == nil {
		dir, err := d.OpenDir(c.path)
		if err != nil {
			return err
		}
		c.dir = dir
	}
	names, err := c.dir.List(d)
	if err != nil {
		c.close()
		return err
	}
	c.plan(names)
	return nil
}

// plan decides which files are read and which series they feed.
func (c *counterDir) plan(names []string) {
	known := make(map[string]*counterFile, len(c.files))
	for _, f := range c.files {
		known[f.file.Name()] = f
	}
	present := make(map[string]bool, len(names))
	for _, name := range names {
		present[name] = true
	}
	cells := map[string]*cell{}
	c.files, c.cells = nil, nil
	for _, name := range c.order(names) {
		if c.skip[name] {
			continue
		}
		f := c.planFile(name, func(other string) bool { return present[other] }, cells)
		if f == nil {
			continue
		}
		if old := known[name]; old != nil {
			f.file, f.sleep, f.last = old.file, old.sleep, old.last
			delete(known, name)
		}
		c.files = append(c.files, f)
	}
	for _, gone := range known {
		gone.file.Close()
	}
}

// order puts the canary and the file that must be read first to the front.
func (c *counterDir) order(names []string) []string {
	ordered := make([]string, 0, len(names))
	for _, pass := range []func(string) bool{
		func(n string) bool { return n == c.first || n == c.canary },
		func(n string) bool { return n != c.first && n != c.canary },
	} {
		for _, n := range names {
			if pass(n) {
				ordered = append(ordered, n)
			}
		}
	}
	return ordered
}

// planFile returns nil for a file that is not to be read.
func (c *counterDir) planFile(name string, has func(string) bool, cells map[string]*cell) *counterFile {
	f := &counterFile{file: c.dir.File(name)}
	if !c.matcher.Knows(name) {
		c.feed(f, c.unmapped, []string{name}, catalog.Events, cells)
		if bits32(name) {
			f.wrapped = c.memory.wrapped(f.file.Path())
		}
		return f
	}
	for _, match := range c.matcher.Find(name, has) {
		row := match.Row
		if c.without[row.Metric] {
			continue
		}
		if row.Metric.Physical {
			f.physical = true
			if c.shared {
				continue
			}
		}
		c.feed(f, row.Metric, match.Values, row.Unit, cells)
		if row.Width == catalog.Wrap32 {
			f.wrapped = c.memory.wrapped(f.file.Path())
		}
		if limit := row.Width.Limit(); limit != 0 && f.limited == nil && !c.shared {
			f.limit = limit
			f.limited = series(&catalog.CounterSaturated, c.device, c.port, name)
		}
	}
	if len(f.outs) == 0 {
		return nil
	}
	return f
}

func (c *counterDir) feed(f *counterFile, m *catalog.Metric, own []string, unit catalog.Unit, cells map[string]*cell) {
	s := series(m, append([]string{c.device, c.port}, own...)...)
	target := cells[s.Key()]
	if target == nil {
		target = &cell{series: s}
		cells[s.Key()] = target
		c.cells = append(c.cells, target)
	}
	f.outs = append(f.outs, output{target, unit})
}

// bits32 reports whether a name says that its counter has 32 bits, as hfi1
// does: "SwLinkUp,32".
func bits32(name string) bool {
	const suffix = ",32"
	return len(name) > len(suffix) && name[len(name)-len(suffix):] == suffix
}

func (c *counterDir) close() {
	for _, f := range c.files {
		f.file.Close()
	}
	if c.dir != nil {
		c.dir.Close()
		c.dir = nil
	}
	c.files, c.cells = nil, nil
}
