package collector

import (
	"errors"
	"fmt"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// ethtoolReader reads the statistics of `ethtool -S` for every network
// interface that belongs to the device, and maps them by the page of the
// interface's driver.
type ethtoolReader struct {
	door  *host.Door
	ports []*ethtoolPort
}

func openEthtool(t *target, d *host.Door) reader {
	r := &ethtoolReader{door: d}
	for _, p := range t.ports {
		if p.netdev == "" || p.kind == "bond" || p.kind == "plane" {
			continue // a bond's statistics are its members'
		}
		page := catalog.ForDriver(boundDriver(d, "class/net/"+p.netdev+"/device"))
		if page == nil {
			page = &catalog.Page{}
		}
		if len(page.Ethtool) == 0 && t.rawNames == nil {
			continue // nothing of it would be exported
		}
		r.ports = append(r.ports, &ethtoolPort{
			t: t, p: p, stats: d.EthtoolStats(p.netdev), matcher: catalog.NewMatcher(page.Ethtool),
		})
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *ethtoolReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		if err := p.read(r.door, b); err != nil {
			failed = append(failed, fmt.Errorf("ethtool statistics of %s: %w", p.p.netdev, err))
		}
	}
	return errors.Join(failed...)
}

func (r *ethtoolReader) close() {}

// ethtoolPort reads one interface.
type ethtoolPort struct {
	t       *target
	p       *port
	stats   *host.EthtoolStats
	matcher *catalog.Matcher
	sleep   time.Time

	exported []*ethtoolStat
	cells    cells
}

// ethtoolStat is one statistic that is exported.
type ethtoolStat struct {
	counter
	name  string
	index int // among all statistics
}

func (p *ethtoolPort) read(d *host.Door, b *batch) error {
	if b.now.Before(p.sleep) {
		return nil
	}
	values, changed, err := p.stats.Read(d)
	switch {
	case err == nil:
	case host.NotOffered(err) || host.Denied(err):
		p.sleep = b.now.Add(reprobeAfter)
		return nil
	default:
		return err
	}
	if changed {
		p.plan(p.stats.Names())
	}
	p.book(values, b)
	return nil
}

// plan decides which statistics are exported. The names can repeat: the first
// one counts, as drivers append per-queue names after those of the port.
func (p *ethtoolPort) plan(names []string) {
	index := make(map[string]int, len(names))
	for i, name := range names {
		if _, seen := index[name]; !seen {
			index[name] = i
		}
	}
	last := map[string]uint64{}
	for _, s := range p.exported {
		last[s.name] = s.last
	}
	p.exported, p.cells = nil, cells{}
	for i, name := range names {
		if index[name] != i {
			continue
		}
		s := &ethtoolStat{name: name, index: i}
		s.last = last[name]
		p.feed(s, func(other string) bool { _, ok := index[other]; return ok })
		if len(s.outs) > 0 {
			p.exported = append(p.exported, s)
		}
	}
}

// feed finds the series that a statistic feeds, if any.
func (p *ethtoolPort) feed(s *ethtoolStat, has func(string) bool) {
	out := func(m *catalog.Metric, own []string, unit catalog.Unit) {
		cell := p.cells.of(series(m, append([]string{p.t.name, p.p.number}, own...)...))
		s.outs = append(s.outs, output{cell, unit})
	}
	for _, match := range p.matcher.Find(s.name, has) {
		row := match.Row
		if row.Metric.Physical && !p.p.physical {
			continue // another function's or the uplink's
		}
		out(row.Metric, match.Values, row.Unit)
		if row.Width == catalog.Wrap32 {
			// By port, since interfaces are renamed.
			s.wrapped = p.t.memory.wrapped("ethtool/" + p.p.number + "/" + s.name)
		}
	}
	if raw := p.t.rawNames; raw != nil && !p.matcher.Knows(s.name) && raw.MatchString(s.name) {
		out(&catalog.UnmappedEthtool, []string{s.name}, catalog.Events)
	}
}

// notReported is a value of all ones: how drivers say that they have none.
const notReported = 1<<64 - 1

func (p *ethtoolPort) book(values []uint64, b *batch) {
	p.cells.clear()
	var all fall
	for _, s := range p.exported {
		s.miss()
		if s.index < len(values) && values[s.index] != notReported {
			s.got(values[s.index])
		}
		s.judge(&all)
	}
	for _, s := range p.exported {
		s.book(all.reset())
	}
	p.cells.emit(b)
}
