package collector

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// dcqcnReader reads the settings of congestion control. They change when
// somebody changes them and each costs a firmware command, so they are read
// once in a while and repeated in between.
type dcqcnReader struct {
	t      *target
	door   *host.Door
	ports  []*dcqcnPort
	series map[string]*node.Series // by key
}

// dcqcnPort is what the last reading of one interface gave.
type dcqcnPort struct {
	p       *port
	next    time.Time
	samples []node.Sample
}

// settingsAge is how old the settings may be.
const settingsAge = time.Minute

func openDCQCN(t *target, d *host.Door) reader {
	r := &dcqcnReader{t: t, door: d, series: map[string]*node.Series{}}
	for _, p := range t.ports {
		if p.netdev != "" && p.physical && d.Exists("class/net/"+p.netdev+"/ecn") {
			r.ports = append(r.ports, &dcqcnPort{p: p})
		}
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *dcqcnReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		if !b.now.Before(p.next) {
			ecn, err := r.door.ECN(p.p.netdev)
			switch {
			case err == nil:
				p.next, p.samples = b.now.Add(settingsAge), r.samples(p.p, ecn)
			case errors.Is(err, fs.ErrNotExist), host.NotOffered(err), host.Denied(err):
				p.next, p.samples = b.now.Add(reprobeAfter), nil
			default:
				p.samples = nil
				failed = append(failed, err)
			}
		}
		b.samples = append(b.samples, p.samples...)
	}
	return errors.Join(failed...)
}

func (r *dcqcnReader) close() {}

func (r *dcqcnReader) samples(p *port, ecn host.ECN) []node.Sample {
	b := &batch{}
	for _, side := range []struct {
		metric  *catalog.Metric
		enabled map[int]bool
	}{{&catalog.DCQCNNotificationPoint, ecn.NotificationPoint}, {&catalog.DCQCNReactionPoint, ecn.ReactionPoint}} {
		for _, priority := range slices.Sorted(maps.Keys(side.enabled)) {
			b.addBool(r.kept(side.metric, r.t.name, p.number, strconv.Itoa(priority)), side.enabled[priority])
		}
	}
	for _, row := range catalog.DCQCN() {
		if value, ok := ecn.Parameters[row.Name]; ok {
			s := r.kept(row.Metric, append([]string{r.t.name, p.number}, row.LabelValues(nil)...)...)
			b.add(s, row.Unit.ToBase(float64(value)))
		}
	}
	return b.samples
}

// kept is series with the same pointer for the same series.
func (r *dcqcnReader) kept(m *catalog.Metric, values ...string) *node.Series {
	s := series(m, values...)
	if r.series[s.Key()] == nil {
		r.series[s.Key()] = s
	}
	return r.series[s.Key()]
}
