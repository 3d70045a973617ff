// Package e2e has rdmawatch, Prometheus and Alertmanager work together as an
// operator runs them. What happens to the node happens in real time; rules are
// the bundled ones.
package e2e

import (
	"maps"
	"testing"
)

// A card breaks on PCIe, and its port with it; the other port of the node loses
// its cable. Then the cable is put in again.
func TestFaultIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.scraped(s.prom, 3)
	s.machine.unplug("0")
	s.machine.unplug("1")
	s.machine.fatal("0")

	s.both("RDMAPCIeFatalErrors", "mlx5_0")
	s.both("RDMAPortDown", "mlx5_0")
	s.both("RDMAPortDown", "mlx5_1")
	s.agree()
	s.grouped()
	s.inhibited()

	s.machine.plug("1")
	s.shorten()
	eventually(t, "people are told that the port is up", func() bool { return s.people.times("RDMAPortDown", "mlx5_1", "resolved") > 0 })
	for _, p := range []*process{s.prom, s.node} {
		eventually(t, "RDMAPortDown ends in "+p.name, func() bool { return !fires(t, p, "RDMAPortDown", "mlx5_1") })
	}
	if n := s.people.begins("RDMAPortDown", "mlx5_1"); n != 1 {
		t.Errorf("people were told %d times that the port is down", n)
	}
	if n := s.people.times("RDMAPortDown", "mlx5_0", "firing"); n != 0 {
		t.Errorf("people were told %d times of what the broken card explains", n)
	}
}

// agree compares what fires in Prometheus with what fires on the node, and with
// what Alertmanager has of it: the same labels are one alert.
func (s *stack) agree() {
	s.t.Helper()
	for _, want := range [][2]string{{"RDMAPCIeFatalErrors", "mlx5_0"}, {"RDMAPortDown", "mlx5_0"}, {"RDMAPortDown", "mlx5_1"}} {
		central := find(firing(s.t, s.prom), want[0], want[1]).Labels
		local := find(firing(s.t, s.node), want[0], want[1]).Labels
		delete(local, "simulated") // which Prometheus adds when it tells
		delete(central, "simulated")
		if !maps.Equal(central, local) {
			s.t.Errorf("Prometheus says %v, the node %v", central, local)
		}
		eventually(s.t, want[0]+" is in Alertmanager", func() bool { return len(inAlertmanager(s.t, s.am, want[0], want[1])) > 0 })
		if got := inAlertmanager(s.t, s.am, want[0], want[1]); len(got) != 1 {
			s.t.Errorf("Alertmanager has %d alerts %v, the two that were told do not match: %v", len(got), want, got)
		}
	}
}

// grouped waits for one message of the node that has both faults.
func (s *stack) grouped() {
	s.t.Helper()
	eventually(s.t, "one message tells both faults", func() bool {
		s.people.mu.Lock()
		defer s.people.mu.Unlock()
		for _, m := range s.people.told {
			var card, cable bool
			for _, a := range m.Alerts {
				card = card || a.is("RDMAPCIeFatalErrors", "mlx5_0")
				cable = cable || a.is("RDMAPortDown", "mlx5_1")
			}
			if card && cable && m.GroupLabels["instance"] == name {
				return true
			}
		}
		return false
	})
}

// inhibited checks that the broken card silences its own port, and no other.
func (s *stack) inhibited() {
	s.t.Helper()
	cause := inAlertmanager(s.t, s.am, "RDMAPCIeFatalErrors", "mlx5_0")[0]
	consequence := inAlertmanager(s.t, s.am, "RDMAPortDown", "mlx5_0")[0]
	other := inAlertmanager(s.t, s.am, "RDMAPortDown", "mlx5_1")[0]
	if consequence.Status.State != "suppressed" || len(consequence.Status.InhibitedBy) != 1 || consequence.Status.InhibitedBy[0] != cause.Fingerprint {
		s.t.Errorf("the port of the broken card is %+v, want suppressed by %s", consequence.Status, cause.Fingerprint)
	}
	if other.Status.State != "active" {
		s.t.Errorf("the other port is %+v, want active", other.Status)
	}
}
