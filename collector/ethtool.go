package collector

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
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

	feeds []ethtoolFeed
	cells []*cell
	steps []step
}

// ethtoolFeed is one statistic and what it feeds.
type ethtoolFeed struct {
	index   int
	outs    []output
	wrapped *wrapped
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
	has := func(name string) bool { _, ok := index[name]; return ok }
	cells := map[string]*cell{}
	p.feeds, p.cells = nil, nil
	for i, name := range names {
		if index[name] != i {
			continue
		}
		if feed := p.planOne(i, name, has, cells); len(feed.outs) > 0 {
			p.feeds = append(p.feeds, feed)
		}
	}
}

func (p *ethtoolPort) planOne(i int, name string, has func(string) bool, cells map[string]*cell) ethtoolFeed {
	feed := ethtoolFeed{index: i}
	for _, match := range p.matcher.Find(name, has) {
		row := match.Row
		if row.Metric.Physical && !p.p.physical {
			continue // another function's or the uplink's
		}
		feed.outs = append(feed.outs, output{p.cell(row.Metric, match.Values, cells), row.Unit})
		if row.Width == catalog.Wrap32 {
			feed.wrapped = p.t.memory.wrapped("ethtool/" + p.p.netdev + "/" + name)
		}
	}
	if raw := p.t.rawNames; raw != nil && !p.matcher.Knows(name) && raw.MatchString(name) {
		name = strings.ToValidUTF8(name, "\uFFFD")
		feed.outs = append(feed.outs, output{p.cell(&catalog.UnmappedEthtool, []string{name}, cells), catalog.Events})
	}
	return feed
}

func (p *ethtoolPort) cell(m *catalog.Metric, own []string, cells map[string]*cell) *cell {
	s := &node.Series{Metric: m, Values: append([]string{p.t.name, p.p.number}, own...)}
	c := cells[s.Key()]
	if c == nil {
		c = &cell{series: s}
		cells[s.Key()] = c
		p.cells = append(p.cells, c)
	}
	return c
}

// book adds the values up. A value of all ones is how drivers say that they
// have none.
func (p *ethtoolPort) book(values []uint64, b *batch) {
	for _, c := range p.cells {
		c.sum, c.parts, c.missing = 0, 0, false
	}
	p.steps = p.steps[:0]
	for _, f := range p.feeds {
		if f.wrapped != nil && f.index < len(values) {
			p.steps = append(p.steps, f.wrapped.classify(values[f.index]))
		}
	}
	reset := deviceReset(p.steps)
	for _, f := range p.feeds {
		if f.index >= len(values) || values[f.index] == 1<<64-1 {
			continue
		}
		value := values[f.index]
		if f.wrapped != nil {
			value = f.wrapped.total(value, reset)
		}
		for _, out := range f.outs {
			out.cell.sum += out.unit.ToBase(float64(value))
			out.cell.parts++
		}
	}
	for _, c := range p.cells {
		if c.parts > 0 {
			b.add(c.series, c.sum)
		}
	}
}
