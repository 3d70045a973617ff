package e2e

import (
	"slices"
	"testing"
	"time"
)

// down has the port of mlx5_1 lose its cable, and waits until everybody knows.
func (s *stack) down() {
	s.t.Helper()
	s.machine.unplug("1")
	s.both("RDMAPortDown", "mlx5_1")
	eventually(s.t, "people are told that the port is down", func() bool { return s.people.times("RDMAPortDown", "mlx5_1", "firing") > 0 })
}

// toldOnce checks that people heard once of the port, that nobody said it was
// up, and that they heard of nothing else.
func (s *stack) toldOnce() {
	s.t.Helper()
	if n := s.people.begins("RDMAPortDown", "mlx5_1"); n != 1 {
		s.t.Errorf("people were told %d times that the port is down, want once", n)
	}
	if n := s.people.times("RDMAPortDown", "mlx5_1", "resolved"); n != 0 {
		s.t.Errorf("people were told %d times that the port is up again, and it is down", n)
	}
	s.onlyPortDown()
}

func (s *stack) onlyPortDown() {
	s.t.Helper()
	names := s.people.names()
	delete(names, "RDMAPortDown")
	if len(names) > 0 {
		s.t.Errorf("people were told of %v as well", names)
	}
}

// Prometheus loses its power and is started again, with the past that it had
// written. The alert goes on; the restart is no news and no end.
func TestPrometheusRestarted(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.node.stop() // only Prometheus tells
	s.node = start(t, rdmawatch(), "serve", "--replay="+s.machine.dir, "--web.listen-address=127.0.0.1:0",
		"--collector.min-interval=0s", "--alerting.interval=1s", "--alerting.instance="+name)
	s.nodeGate.lead(s.node.address)
	s.scraped(s.prom, 3)
	s.down()
	began := inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1")[0].StartsAt

	s.prom.kill()
	s.prom = s.startPrometheus("a")
	s.both("RDMAPortDown", "mlx5_1")
	// It tells Alertmanager again, as of the same alert.
	eventually(t, "the new server has told Alertmanager", func() bool {
		text, _ := value(t, s.prom, `count(ALERTS{alertname="RDMAPortDown",alertstate="firing"})`)
		return text == 1
	})
	s.scraped(s.prom, 8)
	if now := inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1"); len(now) != 1 || !now[0].StartsAt.Equal(began) {
		t.Errorf("the alert began at %v and now is %+v", began, now)
	}
	s.toldOnce()
}

// Alertmanager is away when the port goes down. When it is back it learns of it,
// of both who tell, and tells people once.
func TestAlertmanagerDown(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.scraped(s.prom, 3)
	s.am.stop()
	s.amGate.lead("")
	s.machine.unplug("1")
	s.both("RDMAPortDown", "mlx5_1")
	s.scraped(s.prom, 8) // long enough for both to have tried in vain

	s.startAlertmanager()
	eventually(t, "people are told", func() bool { return s.people.times("RDMAPortDown", "mlx5_1", "firing") > 0 })
	if got := inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1"); len(got) != 1 {
		t.Errorf("Alertmanager has %d alerts, want one: %+v", len(got), got)
	}
	// Away again and back again, with what it had written: no news.
	s.am.stop()
	s.amGate.lead("")
	s.startAlertmanager()
	eventually(t, "the alert is back", func() bool { return len(inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1")) == 1 })
	s.scraped(s.prom, 8)
	s.toldOnce()
}

// Two servers see the same and tell the same: it is one alert and one message.
func TestTwoReplicas(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	b := s.startPrometheus("b")
	s.scraped(s.prom, 3)
	s.scraped(b, 3)
	s.down()
	eventually(t, "the second server fires, too", func() bool { return fires(t, b, "RDMAPortDown", "mlx5_1") })
	s.scraped(b, 8)
	if got := inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1"); len(got) != 1 || got[0].Labels["replica"] != "" {
		t.Errorf("Alertmanager has %d alerts, want one without replica: %+v", len(got), got)
	}
	s.toldOnce()
	// One of them goes: the other carries on.
	s.prom.stop()
	s.scraped(b, 8)
	s.toldOnce()
}

// The node gets another name while its port is down. The fault is told under the
// new name; the old name is not reported as a node or a device that was lost.
func TestNodeRenamed(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.scraped(s.prom, 3)
	s.down()
	s.target("a", "node-8")
	eventually(t, "Prometheus fires for the new name", func() bool {
		return slices.ContainsFunc(firing(t, s.prom), func(a alert) bool {
			return a.is("RDMAPortDown", "mlx5_1") && a.Labels["instance"] == "node-8"
		})
	})
	s.scraped(s.prom, 5)
	for _, a := range firing(t, s.prom) {
		if !a.is("RDMAPortDown", "mlx5_1") {
			t.Errorf("after the renaming there is also %v", a.Labels)
		}
	}
	// Nothing is said about the old name but that its port went down.
	if n, _ := value(t, s.prom, `count(up{job="rdmawatch"})`); n != 1 {
		t.Errorf("Prometheus has %v targets", n)
	}
	s.onlyPortDown()
}

// A card is replaced by one of the same name: another firmware, all counters at
// zero. The node has it at once, and nobody is told anything.
func TestNICReplaced(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.scraped(s.prom, 3)
	const firmware = `count by (firmware) (rdma_device_info{device="mlx5_1"})`
	if n, _ := value(t, s.prom, `count(rdma_device_info{device="mlx5_1",firmware="99.9.9999"})`); n != 0 {
		t.Fatal("the new firmware is there before the card")
	}
	sent, _ := value(t, s.prom, `rdma_transmitted_packets_total{device="mlx5_1"}`)
	if sent == 0 {
		t.Fatal("the old card has sent nothing")
	}
	device := pci + "1/infiniband/mlx5_1/"
	s.machine.write(device+"fw_ver", "99.9.9999\n")
	for _, counter := range []string{"port_xmit_packets", "port_xmit_data", "port_rcv_packets", "port_rcv_data"} {
		s.machine.write(device+"ports/1/counters/"+counter, "7\n")
	}
	eventually(t, "the new card is seen", func() bool {
		n, _ := value(t, s.prom, `count(rdma_device_info{device="mlx5_1",firmware="99.9.9999"})`)
		now, _ := value(t, s.prom, `rdma_transmitted_packets_total{device="mlx5_1"}`)
		return n == 1 && now == 7
	})
	eventually(t, "the old card is gone", func() bool {
		_, any := value(t, s.prom, firmware+` unless on (firmware) rdma_device_info{firmware="99.9.9999"}`)
		return !any
	})
	s.scraped(s.prom, 20)
	for _, p := range []*process{s.prom, s.node} {
		for _, a := range firing(t, p) {
			if a.Labels["severity"] != "info" {
				t.Errorf("%s takes the new card for a fault: %v", p.name, a.Labels)
			}
		}
	}
	if names := s.people.names(); len(names) > 0 {
		t.Errorf("people were told of %v", names)
	}
}

// The node's clock is off by two minutes, in either direction, half of what a
// notice of its holds. What is scraped has no time of its own, and what the node
// tells itself is the same alert.
func TestClockSkew(t *testing.T) {
	for _, c := range []struct {
		name string
		skew time.Duration
	}{{"behind", -2 * time.Minute}, {"ahead", 2 * time.Minute}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			s.nodeToAM.mu.Lock()
			s.nodeToAM.skew = c.skew
			s.nodeToAM.mu.Unlock()
			s.scraped(s.prom, 3)
			s.down()
			s.scraped(s.prom, 20) // Prometheus tells again
			if got := inAlertmanager(t, s.am, "RDMAPortDown", "mlx5_1"); len(got) != 1 {
				t.Errorf("Alertmanager has %d alerts, want one: %+v", len(got), got)
			}
			s.toldOnce()
		})
	}
}

// Scrapes are cut off after 100 ms with half of the page. Nothing of the half is
// taken, no alert comes or goes, and the node serves the next one as always.
func TestScrapeCutOff(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.scraped(s.prom, 3)
	s.down()
	s.nodeGate.cutAfter(100 * time.Millisecond)
	eventually(t, "five scrapes are cut off", func() bool { return s.nodeGate.cuts() >= 5 })
	eventually(t, "Prometheus says that the node is not up", func() bool {
		up, known := value(t, s.prom, `up{job="rdmawatch"}`)
		return known && up == 0
	})
	if _, any := value(t, s.prom, `{__name__=~"rdma_.*"}`); any {
		t.Error("half of a page is taken for the whole")
	}
	if !fires(t, s.prom, "RDMAPortDown", "mlx5_1") {
		t.Error("the alert has gone, as the node could not be read for five seconds")
	}
	s.nodeGate.cutAfter(0)
	s.scraped(s.prom, 8)
	s.both("RDMAPortDown", "mlx5_1")
	s.toldOnce()
}
