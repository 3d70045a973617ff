package collector

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// linkReader reads the standard statistics of ethtool netlink for every
// physical interface of the device: pause frames, FEC, link-down count and the
// kernel's reason for a link that is down.
type linkReader struct {
	door  *host.Door
	ports []*linkPort
}

func openLink(t *target, d *host.Door) reader {
	r := &linkReader{door: d}
	matcher := catalog.NewMatcher(catalog.EthtoolNetlink())
	for _, p := range t.ports {
		if p.netdev != "" && p.physical && p.kind != "bond" {
			r.ports = append(r.ports, &linkPort{
				t: t, p: p, matcher: matcher, series: map[string]*linkCount{}, states: map[string]*node.Series{},
			})
		}
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *linkReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		for i, ask := range []func(*host.Door, *batch) error{p.pause, p.fec, p.linkState} {
			if err := p.asked(i, ask, r.door, b); err != nil {
				failed = append(failed, fmt.Errorf("link of %s: %w", p.p.netdev, err))
			}
		}
	}
	return errors.Join(failed...)
}

func (r *linkReader) close() {}

// linkPort reads one interface.
type linkPort struct {
	t       *target
	p       *port
	matcher *catalog.Matcher
	series  map[string]*linkCount   // by name in catalog.EthtoolNetlink
	states  map[string]*node.Series // by what they say
	sleep   [3]time.Time            // of pause, fec and linkState
}

// linkCount is a row of the catalogue and the series it feeds.
type linkCount struct {
	unit catalog.Unit
	out  *node.Series
}

// asked asks one of the three questions unless the driver did not know the
// answer a while ago.
func (p *linkPort) asked(i int, ask func(*host.Door, *batch) error, d *host.Door, b *batch) error {
	if b.now.Before(p.sleep[i]) {
		return nil
	}
	err := ask(d, b)
	if host.NotOffered(err) || host.Denied(err) || errors.Is(err, host.ErrNoNetlink) {
		p.sleep[i] = b.now.Add(reprobeAfter)
		return nil
	}
	return err
}

// count adds a value under a name of catalog.EthtoolNetlink.
func (p *linkPort) count(b *batch, name string, value uint64) {
	c := p.series[name]
	if c == nil {
		for _, match := range p.matcher.Find(name, func(string) bool { return false }) {
			c = &linkCount{match.Row.Unit, series(match.Row.Metric, append([]string{p.t.name, p.p.number}, match.Values...)...)}
		}
		p.series[name] = c
	}
	b.add(c.out, c.unit.ToBase(float64(value)))
}

func (p *linkPort) optional(b *batch, name string, value *uint64) {
	if value != nil {
		p.count(b, name, *value)
	}
}

// state says that m has the value 1 for what, which may change from one
// reading to the next.
func (p *linkPort) state(b *batch, m *catalog.Metric, what string) {
	key := m.Name + " " + what
	if p.states[key] == nil {
		p.states[key] = series(m, p.t.name, p.p.number, what)
	}
	b.add(p.states[key], 1)
}

func (p *linkPort) pause(d *host.Door, b *batch) error {
	pause, err := d.Pause(p.p.netdev)
	if err != nil {
		return err
	}
	p.count(b, "pause/rx", flag(pause.RX))
	p.count(b, "pause/tx", flag(pause.TX))
	p.optional(b, "pause/rx_frames", pause.RXFrames)
	p.optional(b, "pause/tx_frames", pause.TXFrames)
	p.optional(b, "pause/tx_pause_storm_events", pause.StormEvents)
	return nil
}

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func (p *linkPort) fec(d *host.Door, b *batch) error {
	fec, err := d.FEC(p.p.netdev)
	if err != nil {
		return err
	}
	for _, mode := range fec.Active {
		p.state(b, &catalog.FECActive, mode)
	}
	p.lanes(b, "fec/corrected", fec.CorrectedBlocks)
	p.lanes(b, "fec/uncorr", fec.UncorrectableBlocks)
	p.lanes(b, "fec/corr_bits", fec.CorrectedBits)
	return nil
}

// lanes adds a total and what its lanes had, if the driver tells.
func (p *linkPort) lanes(b *batch, name string, values []uint64) {
	for i, value := range values {
		if i == 0 {
			p.count(b, name, value)
		} else {
			p.count(b, name+"/lane"+strconv.Itoa(i-1), value)
		}
	}
}

func (p *linkPort) linkState(d *host.Door, b *batch) error {
	link, err := d.LinkState(p.p.netdev)
	if err != nil {
		return err
	}
	p.optional(b, "linkstate/ext_down_cnt", link.DownCount)
	if !link.Up && link.DownReason != "" {
		p.state(b, &catalog.LinkDownReason, link.DownReason)
	}
	return nil
}
