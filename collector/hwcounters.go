package collector

import (
	"maps"
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
	dir := func(where, port string, shared bool) *counterDir {
		return &counterDir{
			path: path.Join(where, "hw_counters"), device: t.name, port: port,
			matcher: matcher, unmapped: &catalog.UnmappedHW, skip: notCounters,
			first: page.FirstRead, shared: shared, memory: t.memory,
		}
	}
	whole := dir(t.path, "", t.part())
	if page.SumsPorts {
		whole.skip = portNames(t, d)
		maps.Copy(whole.skip, notCounters)
	}
	r.dirs = append(r.dirs, whole)
	for _, p := range t.ports {
		if !p.onDevice {
			continue
		}
		c := dir(path.Join(t.path, "ports", p.number), p.number, p.shared())
		if page.Freezes {
			c.watch = newFrozen(t.name, p.number)
		}
		if p.physical {
			// In switchdev mode mlx5 keeps these sets for the representors. The
			// uplink shows the names too, with zeros or old values: what its
			// function counts is at device level.
			c.unfilled = "vport_"
		}
		r.dirs = append(r.dirs, c)
	}
	return r
}

// portNames are the files that the ports have. Which they are is settled when
// the device is registered.
func portNames(t *target, d *host.Door) map[string]bool {
	all := map[string]bool{}
	for _, p := range t.ports {
		if !p.onDevice {
			continue
		}
		names, err := d.List(path.Join(t.path, "ports", p.number, "hw_counters"))
		if err != nil {
			continue
		}
		for _, name := range names {
			all[name] = true
		}
	}
	return all
}
