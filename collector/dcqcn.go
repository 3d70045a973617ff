package collector

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// dcqcnReader reads the settings of congestion control. Each costs a firmware
// command.
type dcqcnReader struct {
	t      *target
	door   *host.Door
	ports  []*dcqcnPort
	series map[string]*node.Series // by key
}

// dcqcnPort is an interface that may have settings.
type dcqcnPort struct {
	p     *port
	known settings
	sleep time.Time
}

func openDCQCN(t *target, d *host.Door) reader {
	r := &dcqcnReader{t: t, door: d, series: map[string]*node.Series{}}
	for _, p := range t.ports {
		if p.netdev != "" && p.physical && d.Exists("class/net/"+p.netdev+"/ecn") {
			r.ports = append(r.ports, &dcqcnPort{p: p, known: newSettings(t, p)})
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
		err := asleep(&p.sleep, b.now, func() error {
			ecn, err := r.door.ECN(p.p.netdev)
			if err == nil {
				r.add(b, p, ecn)
			}
			return err
		})
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func (r *dcqcnReader) close() {}

func (r *dcqcnReader) add(b *batch, p *dcqcnPort, ecn host.ECN) {
	for _, side := range []struct {
		setting string
		metric  *catalog.Metric
		enabled map[int]bool
	}{
		{"dcqcn_np", &catalog.DCQCNNotificationPoint, ecn.NotificationPoint},
		{"dcqcn_rp", &catalog.DCQCNReactionPoint, ecn.ReactionPoint},
	} {
		var on []string
		for _, priority := range slices.Sorted(maps.Keys(side.enabled)) {
			name := strconv.Itoa(priority)
			b.addBool(r.kept(side.metric, r.t.name, p.p.number, name), side.enabled[priority])
			if side.enabled[priority] {
				on = append(on, name)
			}
		}
		if len(side.enabled) == 8 { // one that cannot be read would look as if it were off
			p.known.add(b, side.setting, listed(on, ","))
		}
	}
	for _, row := range catalog.DCQCN() {
		if value, ok := ecn.Parameters[row.Name]; ok {
			s := r.kept(row.Metric, append([]string{r.t.name, p.p.number}, row.LabelValues(nil)...)...)
			b.add(s, row.Unit.ToBase(float64(value)))
		}
	}
}

// kept is series with the same pointer for the same series.
func (r *dcqcnReader) kept(m *catalog.Metric, values ...string) *node.Series {
	s := series(m, values...)
	if r.series[s.Key()] == nil {
		r.series[s.Key()] = s
	}
	return r.series[s.Key()]
}
