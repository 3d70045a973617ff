package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Names of metrics that make up the line of a port.
const (
	receivedBytes    = "rdma_received_bytes_total"
	transmittedBytes = "rdma_transmitted_bytes_total"
)

// key is a port of a device.
type key struct{ device, port string }

// portList collects what a reading says of ports.
type portList struct {
	ports  map[key]*Port
	driver map[string]string
	pcie   map[string]*PCIe
}

// ports describes every port, in the order of their names.
func (b *builder) ports(findings []Finding) []Port {
	l := &portList{ports: map[key]*Port{}, driver: map[string]string{}, pcie: map[string]*PCIe{}}
	b.Now.All(l.identity)
	b.Now.All(l.state)
	b.throughput(l)
	b.shares(l)
	list := []Port{}
	for k, p := range l.ports {
		p.Driver, p.PCIe = l.driver[k.device], l.pcie[k.device]
		if p.PCIe != nil {
			p.PCIe.Text = p.PCIe.text()
		}
		p.Worst = worstOf(p, findings)
		p.SinceBoot = b.sinceBoot(k)
		list = append(list, *p)
	}
	slices.SortFunc(list, func(x, y Port) int {
		return cmp.Or(natural(x.Device, y.Device), natural(x.Port, y.Port))
	})
	return list
}

// identity notes which ports there are. A device without any that is read, as
// one that hangs, has a line of its own.
func (l *portList) identity(s node.Sample) {
	device := s.Series.Label("device")
	switch s.Series.Metric {
	case &catalog.PortInfo:
		p := l.port(device, s.Series.Label("port"))
		p.Netdev, p.LinkLayer = s.Series.Label("netdev"), s.Series.Label("link_layer")
	case &catalog.PortState:
		l.port(device, s.Series.Label("port"))
	case &catalog.DeviceInfo:
		l.driver[device] = s.Series.Label("driver")
	}
}

// state notes what they are like. It comes after identity.
func (l *portList) state(s node.Sample) {
	device := s.Series.Label("device")
	switch s.Series.Metric {
	case &catalog.PortState:
		l.port(device, s.Series.Label("port")).setState(stateName(s.Value))
	case &catalog.PortAdminUp:
		if s.Value == 0 {
			l.port(device, s.Series.Label("port")).setState("disabled")
		}
	case &catalog.PortRate:
		rate := s.Value
		l.port(device, s.Series.Label("port")).RateBytesPerSecond = &rate
	case &catalog.DeviceStalled:
		if s.Value == 1 {
			l.whole(device, "stalled")
		}
	case &catalog.DeviceSkipped:
		l.whole(device, "skipped")
	case &catalog.PCIeSpeed:
		l.link(device).TransfersPerSecond = s.Value
		l.link(device).Address = s.Series.Label("pci")
	case &catalog.PCIeWidth:
		l.link(device).Lanes = int(s.Value)
	case &catalog.PCIeExpectedSpeed:
		l.link(device).BestTransfersPerSecond = s.Value
	case &catalog.PCIeExpectedWidth:
		l.link(device).BestLanes = int(s.Value)
	case &catalog.PCIePathBandwidth:
		l.link(device).PathBytesPerSecond, l.link(device).SlowestHop = s.Value, s.Series.Label("hop")
	}
}

// setState sets the state, unless it is known already that somebody switched
// the port off: that explains that it is down.
func (p *Port) setState(state string) {
	if p.State != "disabled" {
		p.State = state
	}
}

func (l *portList) port(device, port string) *Port {
	k := key{device, port}
	if l.ports[k] == nil {
		l.ports[k] = &Port{Device: device, Port: port}
	}
	return l.ports[k]
}

// whole sets the state of all ports of a device.
func (l *portList) whole(device, state string) {
	found := false
	for k, p := range l.ports {
		if k.device == device {
			p.State, found = state, true
		}
	}
	if !found {
		l.port(device, "").State = state
	}
}

func (l *portList) link(device string) *PCIe {
	if l.pcie[device] == nil {
		l.pcie[device] = &PCIe{}
	}
	return l.pcie[device]
}

// stateName is the kernel's word for a state (include/rdma/ib_verbs.h).
func stateName(v float64) string {
	names := []string{"no change", "down", "initializing", "armed", "active", "active, deferred"}
	if i := int(v); i >= 0 && i < len(names) {
		return names[i]
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// text is the link in the words of lspci, with what it could be if that is more.
func (p *PCIe) text() string {
	lacks := func(now, best string, lacking bool) string {
		if lacking {
			return now + " of " + best
		}
		return now
	}
	speed := func(v float64) string { return fmt.Sprintf("%g", v/1e9) }
	lanes := func(n int) string { return fmt.Sprintf("x%d", n) }
	return lacks(speed(p.TransfersPerSecond), speed(p.BestTransfersPerSecond), p.TransfersPerSecond < p.BestTransfersPerSecond) +
		" GT/s " + lacks(lanes(p.Lanes), lanes(p.BestLanes), p.Lanes < p.BestLanes)
}

// throughput measures the bytes between two readings. A counter that fell
// began anew, and says nothing this time.
func (b *builder) throughput(l *portList) {
	if b.Before == nil {
		return
	}
	seconds := b.Now.Time.Sub(b.Before.Time).Seconds()
	before := map[string]float64{}
	volume := func(s node.Sample) bool {
		name := s.Series.Metric.Name
		return name == receivedBytes || name == transmittedBytes
	}
	b.Before.All(func(s node.Sample) {
		if volume(s) {
			before[s.Series.Key()] = s.Value
		}
	})
	b.Now.All(func(s node.Sample) {
		was, known := before[s.Series.Key()]
		if !volume(s) || !known || s.Value < was || seconds <= 0 {
			return
		}
		p := l.ports[key{s.Series.Label("device"), s.Series.Label("port")}]
		rate := (s.Value - was) / seconds
		switch {
		case p == nil: // a counter of the whole device
		case s.Series.Metric.Name == receivedBytes:
			p.ReceivedBytesPerSecond = &rate
		default:
			p.TransmittedBytesPerSecond = &rate
		}
	})
}

// shares takes over what rules have recorded of the ports. The last word of a
// name is the window of the rule, whatever it was shortened to.
func (b *builder) shares(l *portList) {
	for _, share := range []struct {
		recorded string
		of       func(*Port) **float64
	}{
		{"port:rdma_loss:ratio_rate2m", func(p *Port) **float64 { return &p.LossRatio }},
		{"port:rdma_retransmission:ratio_rate2m", func(p *Port) **float64 { return &p.LossRatio }},
		{"port:rdma_pause_received:ratio_rate5m", func(p *Port) **float64 { return &p.PauseShare }},
		{"port:rdma_pause_sent:ratio_rate5m", func(p *Port) **float64 { return &p.PauseShare }},
		{"port:rdma_ecn_marked:ratio_rate5m", func(p *Port) **float64 { return &p.ECNShare }},
	} {
		for _, past := range b.past(share.recorded, b.Now.Time) {
			p := l.ports[key{past.Labels.Get("device"), past.Labels.Get("port")}]
			if p == nil || math.IsNaN(past.Last.Value) {
				continue
			}
			if v := share.of(p); *v == nil || past.Last.Value > **v {
				value := past.Last.Value
				*v = &value
			}
		}
	}
}

// worstOf finds the first finding of a port or of its device.
func worstOf(p *Port, findings []Finding) *Worst {
	var worst *Worst
	for i := range findings {
		f := &findings[i]
		if f.Device != p.Device || f.Port != "" && f.Port != p.Port {
			continue
		}
		if worst == nil || f.State == firing && Rank(f.Severity) > Rank(worst.Severity) {
			worst = &Worst{Severity: f.Severity, Alert: f.Alert}
		}
	}
	return worst
}
