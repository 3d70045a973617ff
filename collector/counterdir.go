package collector

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
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
	unfilled string          // names with this prefix, if any, hold no counts
	first    string          // file to read before all others
	// canary is a file whose refusal means that its whole register, which
	// holds every physical counter, is refused: the others are then not tried.
	canary string
	// shared leaves physical counters out: they belong to another function.
	shared bool
	// without leaves out what a better file gives.
	without map[*catalog.Metric]bool
	memory  *memory
	watch   *frozen // nil unless the driver may stop asking the device

	dir    *host.Dir
	relist time.Time // not looked for or listed again before then
	files  []*counterFile
	cells  cells
	buf    [64]byte
}

// counterFile is one file.
type counterFile struct {
	counter
	file     *host.File
	physical bool
	limit    uint64
	limited  *node.Series // says whether the counter stands at its limit
	sleep    time.Time    // not read before then
	answered bool         // has given a number before
}

func (c *counterDir) read(d *host.Door, b *batch) error {
	if err := c.list(d, b.now); err != nil {
		return err
	}
	c.cells.clear()
	var failed []error
	for _, f := range c.files {
		if err := c.readFile(d, f, b.now); err != nil {
			failed = append(failed, err)
		}
	}
	var all fall
	for _, f := range c.files {
		f.judge(&all)
	}
	for _, f := range c.files {
		f.book(all.reset())
		if f.ok && f.limited != nil {
			// A larger value shows that this device's field is wider.
			b.addBool(f.limited, f.value == f.limit)
		}
	}
	before := len(b.samples)
	c.cells.emit(b)
	if c.watch != nil {
		c.watch.watch(b, b.samples[before:])
	}
	return errors.Join(failed...)
}

// readFile reads one counter. What the device does not offer is not an error;
// the file sleeps. Neither is a missing privilege one, for the same reason.
func (c *counterDir) readFile(d *host.Door, f *counterFile, now time.Time) error {
	f.miss()
	if now.Before(f.sleep) {
		return nil
	}
	value, err := c.value(d, f.file)
	switch {
	case err == nil:
		f.got(value)
		f.answered = true
		return nil
	case host.Gone(err), errors.Is(err, fs.ErrNotExist):
		c.relist = now // perhaps another directory is there by now
	}
	if !host.NotOffered(err) && !host.Denied(err) {
		return err
	}
	if f.answered {
		// It is offered; what goes wrong passes, with a reset or a busy device.
		f.sleep, f.answered = now.Add(retryAfter), false
		return nil
	}
	f.sleep = now.Add(reprobeAfter)
	// Any other failure is that file's own.
	if f.file.Name() == c.canary && errors.Is(err, syscall.EINVAL) {
		c.sleepPhysical(f.sleep)
		c.memory.refused = true
	}
	return nil
}

func (c *counterDir) value(d *host.Door, f *host.File) (uint64, error) {
	text, err := f.Read(d, c.buf[:])
	if err != nil {
		return 0, err
	}
	value, err := host.ParseCounter(text)
	if len(text) == len(c.buf) { // cut: the number may lack digits
		err = host.ErrNotNumber
	}
	if err != nil {
		d.Errors[host.ErrorName(err)]++
	}
	return value, err
}

func (c *counterDir) sleepPhysical(until time.Time) {
	for _, f := range c.files {
		if f.physical {
			f.sleep = until
		}
	}
}

// list looks what is in the directory, at first and now and then again.
func (c *counterDir) list(d *host.Door, now time.Time) error {
	if now.Before(c.relist) {
		return nil
	}
	names, err := c.names(d)
	switch {
	case err == nil:
		c.plan(names)
	case host.NotOffered(err), host.Denied(err): // looked for again later
	default:
		return err
	}
	c.relist = now.Add(relistAfter)
	return nil
}

// names lists the directory. One that was removed is empty or cannot be listed
// any more; another one may be there under the same path.
func (c *counterDir) names(d *host.Door) ([]string, error) {
	if c.dir != nil {
		if names, err := c.dir.List(d); err == nil && len(names) > 0 {
			return names, nil
		}
		c.close()
	}
	dir, err := d.OpenDir(c.path)
	if err != nil {
		return nil, err
	}
	c.dir = dir
	return dir.List(d)
}

// plan decides which files are read and which series they feed. Files that
// stay keep what is known of them.
func (c *counterDir) plan(names []string) {
	known := make(map[string]*counterFile, len(c.files))
	for _, f := range c.files {
		known[f.file.Name()] = f
	}
	present := make(map[string]bool, len(names))
	for _, name := range names {
		present[name] = true
	}
	c.files, c.cells = nil, cells{}
	for _, name := range c.order(names) {
		if c.skip[name] || c.unfilled != "" && strings.HasPrefix(name, c.unfilled) {
			continue
		}
		f := c.planFile(name, func(other string) bool { return present[other] })
		if f == nil {
			continue
		}
		if old := known[name]; old != nil {
			f.file, f.sleep, f.last, f.answered = old.file, old.sleep, old.last, old.answered
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
func (c *counterDir) planFile(name string, has func(string) bool) *counterFile {
	f := &counterFile{file: c.dir.File(name)}
	if !c.matcher.Knows(name) {
		c.feed(f, c.unmapped, []string{name}, catalog.Events)
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
		c.feed(f, row.Metric, match.Values, row.Unit)
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

func (c *counterDir) feed(f *counterFile, m *catalog.Metric, own []string, unit catalog.Unit) {
	s := series(m, append([]string{c.device, c.port}, own...)...)
	f.outs = append(f.outs, output{c.cells.of(s), unit})
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
	c.files, c.cells = nil, cells{}
}
