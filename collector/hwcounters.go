package collector

import (
	"path"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// notCounters are the files of hw_counters that hold settings: lifespan is how
// long the kernel caches the set, in milliseconds.
var notCounters = map[string]bool{"lifespan": true}

// openHWCounters reads the driver's own counters, hw_counters, which a driver
// keeps per port, per device, or both.
func openHWCounters(t *target, d *host.Door) reader {
	page := t.page
	if page == nil {
		page = &catalog.Page{}
	}
	matcher := catalog.NewMatcher(page.HW)
	r := &counterReader{door: d}
	dir := func(where, port string, physical bool) {
		r.dirs = append(r.dirs, &counterDir{
			path: path.Join(where, "hw_counters"), device: t.name, port: port,
			matcher: matcher, unmapped: &catalog.UnmappedHW, skip: notCounters,
			first: page.FirstRead, shared: !physical, memory: t.memory,
		})
	}
	dir(t.path, "", t.function != "vf")
	for _, p := range t.ports {
		if p.onDevice {
			// What a software device counts is its own, its link included.
			dir(path.Join(t.path, "ports", p.number), p.number, p.physical || t.function == "virtual")
		}
	}
	return r
}
