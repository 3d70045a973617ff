package collector

import (
	"math"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	const none = -1
	for text, want := range map[string]float64{
		"10 Gb/sec (4X)":         10, // kernels before 2.6.35 or so: no name
		"2.5 Gb/sec (1X SDR)":    2.5,
		"40 Gb/sec (4X QDR)":     40,
		"56 Gb/sec (4X FDR)":     56,
		"100 Gb/sec (4X EDR)":    100,
		"200 Gb/sec (2X NDR)":    200,
		"800 Gb/sec (4X XDR)":    800,
		"1600 Gb/sec (8X XDR)":   1600,
		"0 GB/sec":               0, // an empty cage
		"0 Gb/sec (4X SDR)":      0,
		"25 Gb/sec (1X EDR)\n":   25,
		" 25 Gb/sec":             25,
		"25 gb/SEC":              25,
		"25":                     none,
		"25 Mb/sec (1X)":         none,
		"Gb/sec":                 none,
		"fast enough":            none,
		"":                       none,
		"-25 Gb/sec (1X EDR)":    none,
		"NaN Gb/sec":             none,
		"Inf Gb/sec":             none,
		"10000000 Gb/sec":        none,
		"2,5 Gb/sec (1X SDR)":    none,
		"25\x00 Gb/sec (1X EDR)": none,
	} {
		got, err := parseRate(text)
		if (err != nil) != (want == none) || err == nil && got != want {
			t.Errorf("%q: %v, error %v; want %v", text, got, err, want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"400 Gb/sec (4X NDR)", "2.5 Gb/sec (1X SDR)", "0 GB/sec", "1e400 Gb/sec", "", "0x1p4 Gb/sec", "9 \xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseRate(text)
		if math.IsNaN(got) || got < 0 || got >= 1e6 || err != nil && got != 0 {
			t.Errorf("%q: %v, error %v", text, got, err)
		}
	})
}

const (
	portRate   = `rdma_port_rate_bytes_per_second{device="a0",port="1"}`
	portActive = `rdma_port_active{device="a0",port="1"}`
	portState_ = `rdma_port_state{device="a0",port="1"}`
	portPhys   = `rdma_port_physical_state{device="a0",port="1"}`
	portAdmin  = `rdma_port_admin_up{device="a0",port="1"}`
)

func TestPortState(t *testing.T) {
	for _, c := range []struct {
		state, phys  string
		want         values
		wantAbsent   []string
		collectorBad bool
	}{
		{"1: DOWN", "3: Disabled", values{portState_: 1, portActive: 0, portPhys: 3, portAdmin: 0}, nil, false},
		{"1: DOWN", "2: Polling", values{portState_: 1, portActive: 0, portPhys: 2, portAdmin: 1}, nil, false},
		{"2: INIT", "5: LinkUp", values{portState_: 2, portActive: 0, portPhys: 5, portAdmin: 1}, nil, false},
		{"3: ARMED", "5: LinkUp", values{portState_: 3, portActive: 0, portPhys: 5, portAdmin: 1}, nil, false},
		{"4: ACTIVE", "5: LinkUp", values{portState_: 4, portActive: 1, portPhys: 5, portAdmin: 1}, nil, false},
		{"5: ACTIVE_DEFER", "6: LinkErrorRecovery", values{portState_: 5, portActive: 0, portPhys: 6}, nil, false},
		{"0: NOP", "0: <unknown>", values{portState_: 0, portPhys: 0}, []string{portActive}, false},
		{"9: UNKNOWN", "7: Phy Test", values{portState_: 9, portPhys: 7}, []string{portActive}, false},
		{"4", "5", values{portState_: 4, portActive: 1, portPhys: 5}, nil, false},
		{"ACTIVE", "<unknown>", nil, []string{portState_, portActive, portPhys, portAdmin}, false},
		{"", "", nil, []string{portState_, portActive, portPhys, portAdmin}, false},
		{"-4: ACTIVE", "-5: LinkUp", nil, []string{portState_, portActive, portPhys, portAdmin}, false},
		{"errno:EINVAL", "5: LinkUp", values{portPhys: 5, portAdmin: 1}, []string{portState_, portActive}, false},
		{"4: ACTIVE", "errno:EIO", values{portState_: 4, portActive: 1}, []string{portPhys, portAdmin}, true},
	} {
		t.Run(c.state+", "+c.phys, func(t *testing.T) {
			m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{
				"ports/1/state": c.state + "\n", "ports/1/phys_state": c.phys + "\n", "ports/1/lid": "0x1f\n", "ports/1/sm_lid": "0x1\n",
			}), only("port"))
			v := m.collect()
			v.want(t, c.want)
			v.absent(t, c.wantAbsent...)
			success := 1.0
			if c.collectorBad {
				success = 0
			}
			v.want(t, values{
				`rdma_collector_success{device="a0",collector="port"}`: success,
				`rdma_port_lid{device="a0",port="1"}`:                  31,
				`rdma_port_sm_lid{device="a0",port="1"}`:               1,
			})
		})
	}
}

func TestPortRate(t *testing.T) {
	const none = -1
	const ib, eth = "InfiniBand", "Ethernet"
	for _, c := range []struct {
		name, driver, layer, state, rate, speed string
		want                                    float64 // Gb/s
	}{
		{"InfiniBand", "mlx5_core", ib, "4: ACTIVE", "400 Gb/sec (4X NDR)", "gone", 400},
		{"InfiniBand at 800", "mlx5_core", ib, "4: ACTIVE", "800 Gb/sec (4X XDR)", "gone", 800},
		{"InfiniBand at 1600", "mlx5_core", ib, "4: ACTIVE", "1600 Gb/sec (8X XDR)", "gone", 1600},
		{"old kernel that names no speed", "mlx4_core", ib, "4: ACTIVE", "10 Gb/sec (4X)", "gone", none},
		{"speed newer than the kernel", "mlx5_core", ib, "4: ACTIVE", "10 Gb/sec (4X SDR)", "gone", none},
		{"40 Gb/s as QDR", "mlx4_core", ib, "4: ACTIVE", "40 Gb/sec (4X QDR)", "gone", 40},
		{"InfiniBand does not ask its IPoIB interface", "mlx5_core", ib, "4: ACTIVE", "400 Gb/sec (4X NDR)", "56000", 400},
		{"down shows the lowest rate", "mlx5_core", ib, "1: DOWN", "2.5 Gb/sec (1X SDR)", "gone", none},
		{"down shows an old rate", "mlx4_core", ib, "1: DOWN", "40 Gb/sec (4X QDR)", "gone", none},
		{"INIT is not active", "mlx5_core", ib, "2: INIT", "400 Gb/sec (4X NDR)", "gone", none},
		{"empty cage", "mlx5_core", ib, "4: ACTIVE", "0 GB/sec", "gone", none},
		{"text", "mlx5_core", ib, "4: ACTIVE", "fast enough", "gone", none},
		{"EINVAL", "mlx5_core", ib, "4: ACTIVE", "errno:EINVAL", "gone", none},
		{"state not known", "mlx5_core", ib, "errno:EINVAL", "400 Gb/sec (4X NDR)", "gone", none},
		{"Ethernet: the interface's speed", "bnxt_en", eth, "4: ACTIVE", "400 Gb/sec (4X NDR)", "200000", 200},
		{"speed unknown", "bnxt_en", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "-1", 100},
		{"speed unknown, unsigned", "bnxt_en", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "4294967295", 100},
		{"speed 0", "bnxt_en", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "0", 100},
		{"speed EINVAL", "bnxt_en", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "errno:EINVAL", 100},
		{"no interface", "bnxt_en", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "gone", 100},
		{"Ethernet down", "bnxt_en", eth, "1: DOWN", "100 Gb/sec (4X EDR)", "200000", none},
		{"state not known, speed is", "bnxt_en", eth, "errno:EINVAL", "100 Gb/sec (4X EDR)", "200000", 200},
		{"neither is known", "bnxt_en", eth, "errno:EINVAL", "100 Gb/sec (4X EDR)", "-1", none},
		{"a driver's constant", "efa", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "gone", none},
		{"a driver's constant beside a speed", "efa", eth, "4: ACTIVE", "100 Gb/sec (4X EDR)", "50000", 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := nic("a0", c.driver, "0000:01:00.0", fileSet{
				"ports/1/state": c.state + "\n", "ports/1/link_layer": c.layer + "\n", "ports/1/rate": c.rate + "\n",
			})
			if c.speed != "gone" {
				set = join(set, iface("eth0", "0000:01:00.0", fileSet{"speed": c.speed + "\n", "flags": "0x1003\n"}))
			}
			v := newRig(t, set, only("port")).collect()
			const best = `rdma_port_best_rate_bytes_per_second{device="a0",port="1"}`
			if c.want == none {
				v.absent(t, portRate, best)
			} else {
				v.want(t, values{portRate: c.want * 125e6, best: c.want * 125e6})
			}
		})
	}
}

// What a driver does not offer is asked for once an hour; what only means that
// the interface is down is asked for each time.
func TestPortAttributesThatSleep(t *testing.T) {
	m := newRig(t, join(
		nic("a0", "bnxt_en", "0000:01:00.0", fileSet{
			"ports/1/link_layer": "Ethernet\n", "ports/1/rate": "errno:EINVAL\n",
		}),
		iface("eth0", "0000:01:00.0", fileSet{"flags": "0x1003\n", "speed": "errno:EINVAL\n", "mtu": "9000\n"}),
	), only("port"))
	const (
		errs  = `rdma_collector_read_errors_total{device="a0",collector="port",error="EINVAL"}`
		reads = `rdma_collector_reads_total{device="a0",collector="port"}`
	)
	first := m.collect()
	first.want(t, values{errs: 2, `rdma_collector_success{device="a0",collector="port"}`: 1})
	m.later(time.Second)
	second := m.collect()
	second.want(t, values{errs: 3}) // the speed, which passes
	m.later(time.Second)
	third := m.collect()
	if a, b := second[reads]-first[reads], third[reads]-second[reads]; a != b {
		t.Errorf("%v reads, then %v", a, b)
	}
	m.set("sys/class/net/eth0/speed", "200000\n")
	m.collect().want(t, values{portRate: 25e9})
	m.set("sys/class/net/eth0/speed", "-1\n")
	m.set(classFile("a0", "ports/1/rate"), "100 Gb/sec (4X EDR)\n")
	m.collect().absent(t, portRate)
	m.later(reprobeAfter)
	m.collect().want(t, values{portRate: 12.5e9})
}

func TestPortRemembersItsBest(t *testing.T) {
	const (
		ever = `rdma_port_ever_active{device="a0",port="1"}`
		best = `rdma_port_best_rate_bytes_per_second{device="a0",port="1"}`
	)
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/state": "1: DOWN\n", "ports/1/rate": "400 Gb/sec (4X NDR)\n"}), only("port"))
	v := m.collect()
	v.want(t, values{ever: 0})
	v.absent(t, best)
	m.set(classFile("a0", "ports/1/state"), "4: ACTIVE\n")
	m.collect().want(t, values{ever: 1, best: 50e9})
	m.set(classFile("a0", "ports/1/rate"), "200 Gb/sec (4X HDR)\n")
	m.collect().want(t, values{portRate: 25e9, best: 50e9})
	m.set(classFile("a0", "ports/1/state"), "1: DOWN\n")
	m.collect().want(t, values{portActive: 0, ever: 1})
}

func TestAdminUp(t *testing.T) {
	for _, c := range []struct {
		name, layer, phys, flags string
		want                     float64 // -1: not known
	}{
		{"InfiniBand by its physical state", "InfiniBand", "3: Disabled", "0x1003", 0},
		{"InfiniBand polls: no cable", "InfiniBand", "2: Polling", "0x1002", 1},
		{"Ethernet by its interface", "Ethernet", "3: Disabled", "0x1003", 1},
		{"Ethernet interface switched off", "Ethernet", "5: LinkUp", "0x1002", 0},
		{"Ethernet, flags are no number", "Ethernet", "5: LinkUp", "up", -1},
		{"Ethernet whose interface is elsewhere", "Ethernet", "3: Disabled", "gone", -1},
		{"link layer not known", "errno:EIO", "3: Disabled", "gone", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/link_layer": c.layer + "\n", "ports/1/phys_state": c.phys + "\n"})
			if c.flags != "gone" {
				set = join(set, iface("eth0", "0000:01:00.0", fileSet{"flags": c.flags + "\n"}))
			}
			v := newRig(t, set, only("port")).collect()
			if c.want < 0 {
				v.absent(t, portAdmin)
			} else {
				v.want(t, values{portAdmin: c.want})
			}
		})
	}
}

func TestConstantStateSaysNothing(t *testing.T) {
	v := newRig(t, nic("a0", "efa", "0000:01:00.0", fileSet{"ports/1/link_layer": "InfiniBand\n"}), only("port")).collect()
	v.want(t, values{portState_: 4, portPhys: 5})
	v.absent(t, portActive, portAdmin, portRate)
}

func TestNetdevCounts(t *testing.T) {
	m := newRig(t, join(
		nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/link_layer": "Ethernet\n"}),
		iface("eth0", "0000:01:00.0", fileSet{"mtu": "9000\n", "carrier_changes": "7\n", "carrier_down_count": "3\n"}),
	), only("port"))
	m.collect().want(t, values{
		`rdma_port_netdev_mtu_bytes{device="a0",port="1"}`:                 9000,
		`rdma_port_carrier_changes_total{device="a0",port="1"}`:            7,
		`rdma_port_link_downed_total{device="a0",port="1",kind="carrier"}`: 3,
	})
	m.set("sys/class/net/eth0/carrier_changes", "errno:EIO\n")
	v := m.collect()
	v.want(t, values{`rdma_port_netdev_mtu_bytes{device="a0",port="1"}`: 9000, `rdma_collector_success{device="a0",collector="port"}`: 0})
	v.absent(t, "rdma_port_carrier_changes_total")
}

// roceBond is a RoCE bond of two ports of one card: the second has no RDMA device.
func roceBond(carrier0, carrier1 string) fileSet {
	return join(
		nic("bond0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/link_layer": "Ethernet\n", "ports/1/gid_attrs/ndevs/0": "lag0\n"}),
		fileSet{
			pciRoot + "/0000:01:00.1/driver":                     "-> ../../../bus/pci/drivers/mlx5_core",
			"sys/devices/virtual/net/lag0/bonding/slaves":        "eth0 eth1\n",
			"sys/devices/virtual/net/lag0/speed":                 "200000\n",
			"sys/devices/virtual/net/lag0/flags":                 "0x1003\n",
			"sys/class/net/lag0":                                 "-> ../../devices/virtual/net/lag0",
			pciRoot + "/0000:01:00.0/net/eth0/master":            "-> ../../../../virtual/net/lag0",
			pciRoot + "/0000:01:00.1/net/eth1/master":            "-> ../../../../virtual/net/lag0",
			pciRoot + "/0000:01:00.1/net/eth1/carrier_changes":   "5\n",
			pciRoot + "/0000:01:00.1/net/eth1/phys_port_name":    "p1\n",
			"ethtool/eth1/S":                                     "NIC statistics:\n     rx_bytes_phy: 13\n",
			"ethtool/lag0/S":                                     "NIC statistics:\n     rx_bytes_phy: 99\n",
			pciRoot + "/0000:01:00.0/infiniband/bond0/" + "none": "",
		},
		iface("eth0", "0000:01:00.0", fileSet{"carrier": carrier0 + "\n", "speed": "100000\n", "flags": "0x1003\n"}),
		iface("eth1", "0000:01:00.1", fileSet{"carrier": carrier1 + "\n", "speed": "100000\n", "flags": "0x1003\n"}),
	)
}

func TestBondPorts(t *testing.T) {
	for _, c := range []struct {
		name, carrier0, carrier1 string
		active                   float64
		member                   float64 // whether eth1 is active, -1: not known
	}{
		{"both up", "1", "1", 2, 1},
		{"one cable pulled", "1", "0", 1, 0},
		{"one switched off", "1", "errno:EINVAL", 1, 0},
		{"both off", "errno:EINVAL", "0", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newRig(t, roceBond(c.carrier0, c.carrier1), only("port", "ethtool")).collect()
			v.want(t, values{
				`rdma_port_bond_members{device="bond0",port="1"}`:                   2,
				`rdma_port_bond_members_active{device="bond0",port="1"}`:            c.active,
				`rdma_port_active{device="bond0",port="1/eth1"}`:                    c.member,
				`rdma_port_carrier_changes_total{device="bond0",port="1/eth1"}`:     5,
				`rdma_port_rate_bytes_per_second{device="bond0",port="1"}`:          25e9,
				`rdma_port_wire_received_bytes_total{device="bond0",port="1/eth1"}`: 13,
			})
			v.absent(t, `rdma_port_state{device="bond0",port="1/`, `rdma_port_wire_received_bytes_total{device="bond0",port="1"}`)
			rate := `rdma_port_rate_bytes_per_second{device="bond0",port="1/eth1"}`
			if c.member == 1 {
				v.want(t, values{rate: 12.5e9})
			} else {
				v.absent(t, rate)
			}
		})
	}
}

// A carrier that cannot be read is not a carrier that is off.
func TestBondMemberWhoseCarrierIsNotKnown(t *testing.T) {
	for _, refusal := range []string{"errno:EIO", "errno:EACCES", "maybe"} {
		t.Run(refusal, func(t *testing.T) {
			m := newRig(t, roceBond("1", refusal), only("port"))
			for range 2 {
				v := m.collect()
				v.want(t, values{`rdma_port_active{device="bond0",port="1/eth0"}`: 1})
				v.absent(t, `rdma_port_active{device="bond0",port="1/eth1"}`, `rdma_port_bond_members_active{device="bond0",port="1"}`)
			}
		})
	}
}
