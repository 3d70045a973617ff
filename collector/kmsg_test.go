package collector

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// twoFunctions is a card with two ports below a root port, and a VF of it.
func twoFunctions(extra ...fileSet) fileSet {
	all := fileSet{"sys/bus/pci/drivers/mlx5_core/bind": ""}
	for device, address := range map[string]string{"mlx5_0": "0000:41:00.0", "mlx5_1": "0000:41:00.1", "mlx5_2": "0000:40:00.2"} {
		function := "sys/devices/pci0000:00/0000:00:01.0/" + address
		all["sys/class/infiniband/"+device] = "-> ../../devices/pci0000:00/0000:00:01.0/" + address + "/infiniband/" + device
		all[function+"/infiniband/"+device+"/device"] = "-> ../.."
		all[function+"/driver"] = "-> ../../../../bus/pci/drivers/mlx5_core"
		if device == "mlx5_2" {
			all[function+"/physfn"] = "-> ../0000:41:00.0"
		}
	}
	all["sys/devices/pci0000:00/0000:00:01.0/0000:41:00.0/net/eth0/mtu"] = "9000\n"
	return join(append([]fileSet{all}, extra...)...)
}

func TestKmsg(t *testing.T) {
	const (
		counted  = "rdma_kernel_events_total"
		harmless = "rdma_kernel_harmless_events_total"
		last     = "rdma_kernel_event_last_timestamp_seconds"
	)
	zero := func(event string) string { return `{device="mlx5_0",pci="0000:41:00.0",event="` + event + `"}` }
	one := func(event string) string { return `{device="mlx5_1",pci="0000:41:00.1",event="` + event + `"}` }
	log := "2001-09-09T01:00:00,500000+00:00 mlx5_core 0000:41:00.0: Detected insufficient power on the PCIe slot (27W).\n" +
		"2001-09-09T01:00:01,000000+00:00 mlx5_core 0000:99:00.0: Detected insufficient power on the PCIe slot (27W).\n" +
		"[    2.962781] mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged\n"
	m := newRig(t, twoFunctions(fileSet{"dmesg": log}), only("kmsg"))
	v := m.collect()
	v.want(t, values{
		// Before rdmawatch: when it was, no count.
		counted + zero("pcie_power_insufficient"): 0, last + zero("pcie_power_insufficient"): 999997200.5,
		counted + zero("netdev_watchdog"): 0, counted + one("firmware_fatal"): 0,
		harmless + one("module_unplugged"):    0,
		"rdma_kernel_log_lost_messages_total": 0,
	})
	v.absent(t, last+zero("netdev_watchdog"), last+one("module_unplugged"), harmless+zero(""))
	if other := v.like(counted + `{device="mlx5_0",pci="0000:41:00.0",event="tx_timeout`); len(other) != 1 {
		t.Errorf("%q", other)
	}

	m.later(15 * time.Second)
	m.set("dmesg", log+
		"2001-09-09T01:46:50,250000+00:00 NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out\n"+
		"mlx5_core 0000:41:00.1: Fatal error 1 detected\n"+
		"mlx5_core 0000:41:00.1: Fatal error 2 detected\n"+
		"infiniband mlx5_1: health recovery succeeded\n"+
		"pcieport 0000:00:01.0: AER: device recovery failed\n")
	v = m.collect()
	v.want(t, values{
		counted + zero("netdev_watchdog"): 1, last + zero("netdev_watchdog"): 1000000010.25,
		counted + one("firmware_fatal"): 2, last + one("firmware_fatal"): 1000000015,
		harmless + one("recovered"): 1,
		// What is said of the port above is said of the first function.
		counted + zero("recovery_failed"): 1, counted + one("recovery_failed"): 0,
		counted + zero("pcie_power_insufficient"): 0,
	})

	// The device goes; what is said of it afterwards is still known.
	m.later(2 * time.Minute)
	m.remove("sys/class/infiniband/mlx5_0")
	m.set("dmesg", "mlx5_core 0000:41:00.0: Unable to change power state from D3cold to D0, device inaccessible\n")
	m.collect().want(t, values{counted + zero("pcie_dead"): 1, last + zero("pcie_dead"): 1000000135, counted + zero("netdev_watchdog"): 1})
}

// A VF says nothing of the port above; a software device speaks for the
// function of its interface, a bond for its members.
func TestKmsgSubjects(t *testing.T) {
	m := newRig(t, join(
		nic("mlx5_0", "mlx5_core", "0000:41:00.0", nil), iface("eth0", "0000:41:00.0", fileSet{"master": "-> ../../../../virtual/net/bond0"}),
		iface("eth1", "0000:41:00.1", fileSet{"master": "-> ../../../../virtual/net/bond0"}),
		fileSet{
			"sys/class/net/bond0":                              "-> ../../devices/virtual/net/bond0",
			"sys/devices/virtual/net/bond0/bonding/slaves":     "eth0 eth1\n",
			"sys/class/infiniband/rxe0":                        "-> ../../devices/virtual/infiniband/rxe0",
			"sys/devices/virtual/infiniband/rxe0/parent":       "eth2\n",
			"sys/devices/virtual/infiniband/rxe0/ports/1/rate": "1 Gb/sec\n",
			"dmesg": "",
		},
		iface("eth2", "0000:43:00.0", nil),
	), only("kmsg"))
	m.collect()
	m.later(15 * time.Second)
	m.set("dmesg", "mlx5_core 0000:41:00.1 eth1: TX timeout detected\ne1000e 0000:43:00.0 eth2: NIC Link is Down\n")
	m.collect().want(t, values{
		`rdma_kernel_events_total{device="mlx5_0",pci="0000:41:00.0",event="tx_timeout"}`: 1,
		`rdma_kernel_events_total{device="rxe0",pci="0000:43:00.0",event="link_down"}`:    1,
	})
}

// A log that may not be read is said to be so, once an hour; one that is not
// there is no fault either.
func TestKmsgDenied(t *testing.T) {
	m := newRig(t, twoFunctions(fileSet{"dmesg": "errno:EPERM\n"}), only("kmsg"))
	v := m.collect()
	v.want(t, values{
		`rdma_collector_skipped{device="",collector="kmsg",reason="permission"}`: 1,
		`rdma_collector_success{device="",collector="kmsg"}`:                     1,
	})
	v.absent(t, "rdma_kernel_")
	m.opened()
	m.later(time.Minute)
	m.collect()
	if slices.Contains(m.opened(), "dmesg") {
		t.Error("it was tried again after a minute")
	}
	m.remove("dmesg")
	m.later(time.Hour)
	m.collect().want(t, values{`rdma_collector_skipped{device="",collector="kmsg",reason="unsupported"}`: 1})
}

// What is excluded is excluded here too.
func TestKmsgExcluded(t *testing.T) {
	for name, adjust := range map[string]func(*Config){
		"by name for all":  func(c *Config) { c.Devices = filter(t, "", "mlx5_0") },
		"by name for kmsg": func(c *Config) { c.Filters["kmsg"] = filter(t, "mlx5_1", "") },
	} {
		t.Run(name, func(t *testing.T) {
			m := newRig(t, twoFunctions(fileSet{"dmesg": ""}), only("kmsg"), adjust)
			v := m.collect()
			for _, what := range m.opened() {
				if strings.Contains(what, "mlx5_0") || strings.Contains(what, "41:00.0") {
					t.Errorf("looks at %s", what)
				}
			}
			v.absent(t, `rdma_kernel_events_total{device="mlx5_0"`)
			if len(v.like(`rdma_kernel_events_total{device="mlx5_1"`)) == 0 || len(v.like("rdma_kernel_log_lost")) != 1 ||
				len(v.like(`rdma_collector_success{device="",collector="kmsg"`)) != 1 {
				t.Error("what was not excluded is missing")
			}
		})
	}
}

func FuzzSubject(f *testing.F) {
	s := subjects{"0000:41:00.0": {device: "mlx5_0"}, "eth0": {device: "mlx5_1"}}
	f.Add("mlx5_core 0000:41:00.0: x")
	f.Add("NETDEV WATCHDOG: eth0 (mlx5_core): y")
	f.Fuzz(func(t *testing.T, text string) {
		if got := s.find(text); got != nil && !strings.Contains(text, "0000:41:00.0") && !strings.Contains(text, "eth0") {
			t.Errorf("%q is about %v", text, got)
		}
	})
}

// A device with another name is spoken of under that name only, and at once.
func TestKmsgRenamed(t *testing.T) {
	m := newRig(t, twoFunctions(fileSet{"dmesg": ""}), only("kmsg"))
	if v := m.collect(); len(v.like(`rdma_kernel_events_total{device="mlx5_0"`)) == 0 {
		t.Fatal("nothing of mlx5_0")
	}
	m.remove("sys/class/infiniband/mlx5_0")
	m.add(fileSet{"sys/class/infiniband/rocep65s0": "-> ../../devices/pci0000:00/0000:00:01.0/0000:41:00.0/infiniband/mlx5_0"})
	m.later(time.Second)
	v := m.collect()
	v.absent(t, `rdma_kernel_events_total{device="mlx5_0"`)
	v.want(t, values{`rdma_kernel_events_total{device="rocep65s0",pci="0000:41:00.0",event="firmware_fatal"}`: 0})

	// A message that still has the former name is about the same device.
	m.set("dmesg", "infiniband mlx5_0: Fatal error 1 detected\n")
	m.later(time.Second)
	v = m.collect()
	v.absent(t, `rdma_kernel_events_total{device="mlx5_0"`)
	v.want(t, values{`rdma_kernel_events_total{device="rocep65s0",pci="0000:41:00.0",event="firmware_fatal"}`: 1})
}
