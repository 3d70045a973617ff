package collector

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// statistics is the text of `ethtool -S` of name and value by turns.
func statistics(pairs ...any) string {
	var b strings.Builder
	b.WriteString("NIC statistics:\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "     %v: %v\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

// ethNIC has one Ethernet port whose statistics are in ethtool/eth0/S.
func ethNIC(driver, stats string) fileSet {
	return join(
		nic("a0", driver, "0000:01:00.0", fileSet{"ports/1/link_layer": "Ethernet\n"}),
		netdev0("eth0"), fileSet{"ethtool/eth0/S": stats},
	)
}

const (
	pfc3      = `rdma_pfc_received_frames_total{device="a0",port="1",priority="3"}`
	pfc4      = `rdma_pfc_received_frames_total{device="a0",port="1",priority="4"}`
	wireBytes = `rdma_port_wire_received_bytes_total{device="a0",port="1"}`
	noDesc    = `rdma_port_no_host_descriptor_packets_total{device="a0",port="1"}`
)

// Switching PFC to another priority changes names, not how many there are.
func TestEthtoolNamesChange(t *testing.T) {
	m := newRig(t, ethNIC("mlx5_core", statistics("rx_out_of_buffer", 4294967290, "rx_prio3_pause", 5, "rx_bytes_phy", 7)), only("ethtool"))
	v := m.collect()
	v.want(t, values{pfc3: 5, wireBytes: 7, noDesc: 4294967290})
	v.absent(t, pfc4)
	m.set("ethtool/eth0/S", statistics("rx_out_of_buffer", 4, "rx_prio4_pause", 11, "rx_bytes_phy", 13))
	v = m.collect()
	v.want(t, values{pfc4: 11, wireBytes: 13, noDesc: 4294967300}) // the wrap is not forgotten
	v.absent(t, pfc3)
	m.set("ethtool/eth0/S", statistics("rx_bytes_phy", 17, "rx_out_of_buffer", 5))
	v = m.collect()
	v.want(t, values{wireBytes: 17, noDesc: 4294967301})
	v.absent(t, pfc3, pfc4)
}

func TestEthtoolValues(t *testing.T) {
	const max = "18446744073709551615"
	for _, c := range []struct {
		name, driver, stats string
		want                values
		absent              []string
	}{
		{"the first of two names", "mlx5_core", statistics("rx_bytes_phy", 7, "rx_bytes_phy", 9), values{wireBytes: 7}, nil},
		{"blanks around a name", "mlx5_core", statistics("rx_bytes_phy    ", 7), values{wireBytes: 7}, nil},
		{"a name of 31 characters", "mlx5_core", statistics("tx_vport_rdma_multicast_packets", 7),
			values{`rdma_vport_transmitted_packets_total{device="a0",port="1",cast="multicast"}`: 7}, nil},
		{"all ones is no value", "mlx5_core", statistics("rx_bytes_phy", max, "rx_prio3_pause", 5), values{pfc3: 5}, []string{wireBytes}},
		{"microseconds", "mlx5_core", statistics("rx_prio3_pause_duration", 1500007),
			values{`rdma_pfc_received_pause_seconds_total{device="a0",port="1",priority="3"}`: 1.500007}, nil},
		{"no statistics", "mlx5_core", "NIC statistics:\n", nil, []string{"rdma_port_"}},
		{"an unknown driver", "newdriver", statistics("rx_bytes_phy", 7), nil, []string{wireBytes, "rdma_ethtool_counter"}},
		{"unmapped names stay away", "mlx5_core", statistics("rx_bytes_phy", 7, "rx0_packets", 9, "future", 11), values{wireBytes: 7}, []string{"rdma_ethtool_counter"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newRig(t, ethNIC(c.driver, c.stats), only("ethtool")).collect()
			v.want(t, c.want)
			v.absent(t, c.absent...)
		})
	}
}

// A metric that several statistics feed needs all of them: ionic counts unicast
// and multicast apart.
func TestEthtoolSum(t *testing.T) {
	rows := []catalog.Row{{Name: "uc", Metric: sumMetric}, {Name: "mc", Metric: sumMetric}, {Name: "x", Metric: otherMetric}}
	d := doorTo(t, tree(t, fileSet{"sys/.keep": "", "ethtool/eth0/S": statistics("uc", 101, "mc", 1009, "x", 13)}))
	p := &ethtoolPort{
		t: &target{name: "nic0", memory: newMemory(1, time.Unix(0, 0))}, p: &port{number: "1", netdev: "eth0", physical: true},
		stats: d.EthtoolStats("eth0"), matcher: catalog.NewMatcher(rows),
	}
	read := func(stats ...uint64) values {
		b := &batch{}
		p.book(stats, b)
		return ofBatch(b)
	}
	b := &batch{}
	if err := p.read(d, b); err != nil {
		t.Fatal(err)
	}
	ofBatch(b).want(t, values{sum: 1110, other: 13})
	read(103, 1009, 13).want(t, values{sum: 1112})
	v := read(103, notReported, 17)
	v.want(t, values{other: 17})
	v.absent(t, sum)
	v = read(103) // fewer values than names
	v.absent(t, sum, other)
	read(107, 1009, 13).want(t, values{sum: 1116})
}

func TestEthtoolUnwraps(t *testing.T) {
	m := newRig(t, ethNIC("mlx5_core", statistics("rx_out_of_buffer", 4294967290, "rx_bytes_phy", 1000)), only("ethtool"))
	m.collect()
	m.set("ethtool/eth0/S", statistics("rx_out_of_buffer", 4, "rx_bytes_phy", 1001))
	m.collect().want(t, values{noDesc: 4294967300})
	// The 64-bit counter beside it shows that all began anew.
	m.set("ethtool/eth0/S", statistics("rx_out_of_buffer", 3, "rx_bytes_phy", 5))
	m.collect().want(t, values{noDesc: 3, wireBytes: 5})
	// Also when names change at the same time.
	m.set("ethtool/eth0/S", statistics("rx_out_of_buffer", 4294967290, "rx_bytes_phy", 1000))
	m.collect()
	m.set("ethtool/eth0/S", statistics("rx_bytes_phy", 7, "rx_prio3_pause", 1, "rx_out_of_buffer", 4))
	m.collect().want(t, values{noDesc: 4, wireBytes: 7})
}

func TestEthtoolRawNames(t *testing.T) {
	m := newRig(t, ethNIC("mlx5_core", statistics("rx_bytes_phy", 7, "rx0_xdp_drop", 9, "rx1_xdp_drop", 11, "xrx1_xdp_drop", 13)), only("ethtool"),
		func(c *Config) { c.RawEthtool = regexp.MustCompile(`^(?:rx\d_.*|rx_bytes_phy)$`) })
	v := m.collect()
	v.want(t, values{
		wireBytes: 7,
		`rdma_ethtool_counter{device="a0",port="1",counter="rx0_xdp_drop"}`: 9,
		`rdma_ethtool_counter{device="a0",port="1",counter="rx1_xdp_drop"}`: 11,
	})
	if found := v.like("rdma_ethtool_counter"); len(found) != 2 {
		t.Errorf("raw counters %q, want two: what is mapped is not doubled", found)
	}
}

func TestEthtoolThatIsNotOffered(t *testing.T) {
	for _, refusal := range []string{"errno:EOPNOTSUPP", "errno:EPERM"} {
		t.Run(refusal, func(t *testing.T) {
			m := newRig(t, ethNIC("mlx5_core", refusal), only("ethtool"))
			const reads = `rdma_collector_reads_total{device="a0",collector="ethtool"}`
			for range 3 {
				v := m.collect()
				v.want(t, values{`rdma_collector_success{device="a0",collector="ethtool"}`: 1, reads: 1})
				v.absent(t, "rdma_port_")
				m.later(time.Minute)
			}
			m.set("ethtool/eth0/S", statistics("rx_bytes_phy", 7))
			m.later(reprobeAfter)
			m.collect().want(t, values{wireBytes: 7})
		})
	}
	m := newRig(t, ethNIC("mlx5_core", "errno:EIO"), only("ethtool"))
	m.collect().want(t, values{`rdma_collector_success{device="a0",collector="ethtool"}`: 0})
	if lines := m.log.take("level=warn"); len(lines) != 1 || !strings.Contains(lines[0], "eth0") {
		t.Errorf("log %q, want one line that names the interface", lines)
	}
	m.set("ethtool/eth0/S", statistics("rx_bytes_phy", 7))
	m.collect().want(t, values{wireBytes: 7})
}

// FuzzEthtoolPlan plans any names, with several drivers' rows: no two exported
// series may be one, and every label must be fit for the page.
func FuzzEthtoolPlan(f *testing.F) {
	for _, seed := range []string{
		"rx_prio3_pause\x00rx_prio4_pause", "rx_bytes_phy\x00rx_bytes_phy", "[0]: rx_bytes", "\xff\x00\xfe", "rx_prio_pause", "rx_prio00_pause\x00rx_prio0_pause", "",
	} {
		f.Add(seed)
	}
	var rows []catalog.Row
	for _, page := range catalog.Pages() {
		rows = append(rows, page.Ethtool...)
	}
	matcher := catalog.NewMatcher(rows)
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Split(text, "\x00")
		p := &ethtoolPort{
			t: &target{name: "nic0", memory: newMemory(1, time.Unix(0, 0)), rawNames: regexp.MustCompile("")},
			p: &port{number: "1", physical: true}, matcher: matcher,
		}
		p.plan(names)
		stats := make([]uint64, len(names))
		for i := range stats {
			stats[i] = uint64(i + 1)
		}
		b := &batch{}
		p.book(stats, b)
		seen := map[string]bool{}
		for _, s := range b.samples {
			if key := s.Series.Key(); seen[key] {
				t.Errorf("%q twice", key)
			} else {
				seen[key] = true
			}
			for _, label := range s.Series.Values {
				if !utf8.ValidString(label) {
					t.Errorf("label %q", label)
				}
			}
		}
	})
}
