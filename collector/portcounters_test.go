package collector

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	rxBytes   = `rdma_received_bytes_total{device="a0",port="1"}`
	txBytes   = `rdma_transmitted_bytes_total{device="a0",port="1"}`
	rxPackets = `rdma_received_packets_total{device="a0",port="1"}`
	downed    = `rdma_port_link_downed_total{device="a0",port="1",kind="pma"}`
)

// The data counters count words of four bytes, in both directions, whatever
// the number of lanes.
func TestPortDataIsInBytes(t *testing.T) {
	for _, rate := range []string{"100 Gb/sec (4X EDR)", "25 Gb/sec (1X EDR)", "1600 Gb/sec (8X XDR)"} {
		m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{
			"ports/1/rate": rate + "\n", "ports/1/counters/port_rcv_data": "1009\n", "ports/1/counters/port_xmit_data": "2003\n",
		}), only("counters"))
		m.collect().want(t, values{rxBytes: 4036, txBytes: 8012})
	}
}

// Old kernels have the 64-bit values in a directory of their own. Those of
// counters stick, and are not read beside them.
func TestExtendedCounters(t *testing.T) {
	m := newRig(t, nic("a0", "mlx4_core", "0000:01:00.0", fileSet{
		"ports/1/counters/port_rcv_data": "4294967295\n", "ports/1/counters/port_rcv_packets": "7\n", "ports/1/counters/link_downed": "3\n",
		"ports/1/counters_ext/port_rcv_data_64": "5000000029\n",
	}), only("counters"))
	v := m.collect()
	v.want(t, values{rxBytes: 20000000116, rxPackets: 7, downed: 3})
	v.absent(t, `rdma_port_counter_saturated{device="a0",port="1",counter="port_rcv_data`)
	if slices.Contains(m.opened(), "class/infiniband/a0/ports/1/counters/port_rcv_data") {
		t.Error("the narrow file was read beside the wide one")
	}
}

// A restricted function: the firmware refuses the register of all physical
// counters, and each try is a line in the kernel log.
func TestRefusedRegisterIsTriedOnce(t *testing.T) {
	set := fileSet{"ports/1/counters/port_rcv_data": "5\n", "ports/1/counters/unicast_rcv_packets": "7\n"}
	physical := []string{"link_downed", "link_error_recovery", "port_rcv_errors", "port_xmit_discards", "VL15_dropped", "port_xmit_wait"}
	for _, name := range append(physical, "symbol_error") {
		set["ports/1/counters/"+name] = "errno:EINVAL\n"
	}
	const reads = `rdma_collector_reads_total{device="a0",collector="counters"}`
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", set), only("counters"))
	v := m.collect()
	v.want(t, values{rxBytes: 20, `rdma_collector_success{device="a0",collector="counters"}`: 1})
	opened := strings.Join(m.opened(), "\n") + "\n"
	for _, name := range physical {
		if strings.Contains(opened, "/"+name+"\n") {
			t.Errorf("%s was opened", name)
		}
	}
	m.later(time.Minute)
	second := m.collect()
	if n := second[reads] - v[reads]; n != 2 {
		t.Errorf("%v reads at the second reading, want those of the two others", n)
	}

	// Other drivers refuse one by one.
	m = newRig(t, nic("a0", "hfi1", "0000:01:00.0", join(set, fileSet{"ports/1/counters/link_downed": "3\n"})), only("counters"))
	m.collect().want(t, values{downed: 3})

	// One odd file is not the register.
	for _, odd := range []string{"N/A (no PMA)\n", "errno:EACCES\n", "errno:ENOENT\n", "errno:EIO\n"} {
		m = newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: odd, "ports/1/counters/link_downed": "3\n"}), only("counters"))
		m.collect().want(t, values{downed: 3})
	}
}

func TestUnknownPortCounter(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/counters/counter_of_tomorrow": "5\n"}), only("counters"))
	m.collect().want(t, values{`rdma_port_counter{device="a0",port="1",counter="counter_of_tomorrow"}`: 5})
}

// Lesson of a neighbour: one driver's odd device cost the metrics of all.
func TestOneDeviceCostsNoOther(t *testing.T) {
	m := newRig(t, join(
		nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}),
		nic("irdma0", "ice", "0000:02:00.0", fileSet{"hca_type": "gone", "node_type": "gone", "ports/1/hw_counters/ip4InOctets": "5\n"}),
		nic("i40iw0", "i40e", "0000:03:00.0", fileSet{"ports/1/counters/symbol_error": "N/A (no PMA)\n", "ports/1/counters/link_downed": "N/A (no PMA)\n"}),
		nic("mana0", "mana", "0000:04:00.0", fileSet{"ports/1/rate": "errno:EINVAL\n", "ports/1/state": "errno:EINVAL\n"}),
		nic("gone0", "mlx5_core", "0000:05:00.0", fileSet{"ports/1/state": "errno:ENODEV\n", symbols: "errno:ENODEV\n"}),
	))
	v := m.collect()
	v.want(t, values{symbolsOf("a0"): 3, "rdma_devices": 5})
	for _, device := range []string{"a0", "irdma0", "i40iw0", "mana0"} {
		for _, collector := range []string{"port", "counters", "hw_counters"} {
			v.want(t, values{`rdma_collector_success{device="` + device + `",collector="` + collector + `"}`: 1})
		}
	}
	v.want(t, values{`rdma_collector_success{device="gone0",collector="counters"}`: 0, `rdma_device_stalled{device="gone0"}`: 0})
	v.absent(t, symbolsOf("i40iw0"), symbolsOf("gone0"))
}
