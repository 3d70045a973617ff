package collector

import (
	"errors"
	"path"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// counterReader reads several counter directories of one device.
type counterReader struct {
	door *host.Door
	dirs []*counterDir
}

func (r *counterReader) read(b *batch) error {
	var failed []error
	for _, dir := range r.dirs {
		if err := dir.read(r.door, b); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (r *counterReader) close() {
	for _, dir := range r.dirs {
		dir.close()
	}
}

// openPortCounters reads the InfiniBand port counters (PMA): ports/N/counters,
// and counters_ext, which kernels before 4.5 have beside it. The 64-bit values
// are there then, while those in counters stick at 32 bits.
func openPortCounters(t *target, d *host.Door) reader {
	r := &counterReader{door: d}
	for _, p := range t.ports {
		if p.onDevice {
			r.dirs = append(r.dirs, portCounterDirs(t, p, d)...)
		}
	}
	return r
}

func portCounterDirs(t *target, p *port, d *host.Door) []*counterDir {
	dir := func(name string, rows []catalog.Row) *counterDir {
		return &counterDir{
			path: path.Join(t.path, "ports", p.number, name), device: t.name, port: p.number,
			matcher: catalog.NewMatcher(rows), unmapped: &catalog.UnmappedPort,
			shared: p.shared() || !t.countsPortErrors(p), memory: t.memory,
		}
	}
	basic, ext := dir("counters", catalog.PortCounters()), dir("counters_ext", catalog.PortCountersExt())
	if t.driver == "mlx5" {
		// All error counters of mlx5 come from one register, which the firmware
		// refuses as a whole on functions it restricts, with a line in the
		// kernel log for each try.
		basic.canary = "symbol_error"
	}
	names, err := d.List(ext.path)
	if err != nil {
		return []*counterDir{basic}
	}
	basic.without = map[*catalog.Metric]bool{}
	for _, name := range names {
		for _, match := range ext.matcher.Find(name, func(string) bool { return false }) {
			basic.without[match.Row.Metric] = true
		}
	}
	return []*counterDir{basic, ext}
}

// countsPortErrors reports whether the error counters of a port are more than
// placeholders.
func (t *target) countsPortErrors(p *port) bool {
	if t.page == nil {
		return true
	}
	switch t.page.PortErrors {
	case catalog.Never:
		return false
	case catalog.OnInfiniBand:
		return p.infiniband() && t.function != "vf"
	}
	return true
}
