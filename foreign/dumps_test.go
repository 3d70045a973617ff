package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

var noon = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

// wanted is what must become of each dump, a line an item: outcome, reading,
// kind, what it is about, and after a bar a part of the reason. It was written
// after reading the dump.
var wanted = map[string]string{
	"001-sysfs-cx7-ib-ndr-h100":                      "used 1 sysfs: mlx5_0",
	"003-sysfs-bf3-roce-bond":                        "used 1 sysfs: mlx5_bond_0",
	"005-sysfs-hfi1-omnipath":                        "used 1 sysfs: hfi1_0",
	"006-sysfs-i40iw-no-pma":                         "used 1 sysfs: i40iw0",
	"007-sysfs-mlx4-two-ports-counters-ext":          "used 1 sysfs: mlx4_0",
	"008-ethtool-S-mlx5-cx4lx-kernel-4.15":           "used 1 ethtool -S: netdev0",
	"009-ethtool-S-bnxt_en-ring-discards":            "used 1 ethtool -S: netdev0",
	"010-ethtool-S-ice-e810-idle":                    "used 1 ethtool -S: netdev0",
	"011-ethtool-S-ena":                              "refused 0 ethtool -S: netdev0 | no driver",
	"012-ethtool-S-be2net-roce-fields":               "refused 0 ethtool -S: netdev0 | no driver",
	"013-ethtool-S-sfc":                              "refused 0 ethtool -S: netdev0 | no driver",
	"014-ethtool-S-bnx2x-bracket-names":              "refused 0 ethtool -S: netdev0 | no driver\nrefused 0 :  | 1 line between",
	"015-perfquery-edr-hdr-switch-and-hca":           "used 1 perfquery: lid133\nused 1 perfquery: lid2052\nrefused 0 perfquery:  | no counter",
	"018-rdma-statistic-layout-variants":             "used 1 rdma statistic: mlx5_2\nused 1 rdma statistic: rocep8s0f0\nused 1 rdma statistic: rocep8s0f0\nused 1 rdma statistic: rocep1s0f5\nrefused 0 rdma statistic:  | some queue pairs\nrefused 0 rdma resource:  | not judged",
	"019-hwcounters-cx4lx-out-of-buffer":             "used 1 sysfs: mlx5_0",
	"021-show_gids-and-devinfo-mixed-firmware":       "used 1 ibdev2netdev: mlx5_0, mlx5_1, mlx5_2, mlx5_3\nused 1 show_gids: mlx5_0, mlx5_1, mlx5_2, mlx5_3\nused 1 ibv_devinfo: mlx5_0, mlx5_1, mlx5_2, mlx5_3",
	"016-ethtool-prio-pairs-and-ack-timeouts-roce":   "used 1 ethtool -S: netdev0\nused 2 ethtool -S: netdev0\nused 3 ethtool -S: netdev0\nused 3 sysfs: mlx5_0",
	"029-metrics-efa-four-devices":                   "refused 0 Prometheus page:  | another exporter",
	"033-ibstat-cx6dx-dual-roce":                     "used 1 ibstat: mlx5_0, mlx5_1",
	"036-ibstatus-hdr-active-down-and-odd-rates":     "used 1 ibstatus: mlx5_0, mlx5_1, mlx5_3\nrefused 0 ibstatus:  | another machine: its mlx5_1 has GID",
	"037-ibstat-ndr-cx7":                             "used 1 ibstat: mlx5_5",
	"038-lspci-lnk-cx5ex-stuck-gen3":                 "used 1 lspci -vv: ffff:01:00.0",
	"040-lspci-lnk-spelling-variants":                "used 1 lspci -vv: ffff:01:00.0\nused 1 lspci -vv: ffff:02:00.0\nrefused 0 lspci -vv:  | LnkSta without LnkCap: nothing to compare with (and so 4 more)\nrefused 0 :  | 1 line between",
	"041-dmesg-mlx5-boot-cable-unplugged":            "refused 0 kernel log:  | not judged",
	"043-dmesg-mlx5-power-and-module-events":         "refused 0 kernel log:  | not judged",
	"045-mlnx_qos-and-show_gids-firmware-dcbx":       "noted 0 mlnx_qos:  | trust dscp; PFC on priority 3\nused 1 show_gids: mlx5_0, mlx5_1",
	"047-ethtool-m-qsfp28-sr4-as-lr4":                "refused 0 ethtool -m:  | not judged",
	"049-ibv_devinfo-bond-active-mtu-1024":           "used 1 ibv_devinfo: mlx5_bond_0\nrefused 0 :  | 4 lines between",
	"050-ethtool-S-cx6dx-pam4-corrected-bits-normal": "used 1 ethtool -S: netdev0\nused 1 ethtool -S: netdev1\nused 1 ethtool -S: netdev2\nrefused 0 :  | 4 lines between",
	"051-lspci-acsctl-plx-on-and-off":                "refused 0 ACS control of PCIe switches:  | nothing looks (and so 2 more)",
	"052-log-lines-nccl-ucx-older-spellings":         "refused 0 application log:  | attach the counters",
	"053-hwcounters-dcqcn-working-cluster":           "used 1 list of counters: rocep19s0\nused 1 list of counters: rocep11s0",
	"060-names-bnxt_re-two-generations":              "refused 0 list of counter names:  | without values (and so 1 more)",
	"061-names-ionic-pollara":                        "refused 0 list of counter names:  | without values (and so 1 more)",
	"rxe-aer":                                        "",
	"rxe-counters-loss": "used 1 list of counters: rxe0\nused 1 list of counters: rxe1\nused 2 list of counters: rxe0\nused 2 list of counters: rxe1\n" +
		"refused 0 perftest:  | benchmark\nused 3 list of counters: rxe0\nused 3 list of counters: rxe1\nrefused 0 perftest:  | benchmark\n" +
		"used 4 list of counters: rxe0\nused 4 list of counters: rxe1\nrefused 0 perftest:  | benchmark\nused 5 list of counters: rxe0\nused 5 list of counters: rxe1\n" +
		"refused 0 perftest:  | benchmark\nused 6 list of counters: rxe0\nused 6 list of counters: rxe1\nrefused 0 perftest:  | benchmark\n" +
		"used 7 list of counters: rxe0\nused 7 list of counters: rxe1\nrefused 0 :  | 9 lines between",
	"rxe-ethtool-after-traffic": "refused 0 ethtool -S: eth0 | no driver\nrefused 0 ethtool -S: eth1 | no driver\nrefused 0 sysfs: eth0 | no driver\nused 1 sysfs: rxe0, rxe1",
	"rxe-gids":                  "used 1 sysfs: rxe0\nused 1 sysfs: rxe0\nrefused 0 :  | 2 lines between",
	"rxe-link-down":             "",
	"rxe-pci-links":             "",
	"rxe-rdma-statistic":        "used 1 rdma statistic: rxe0\nused 1 rdma statistic: rxe1\nused 1 rdma statistic: rxe0\nused 1 rdma in JSON: rxe0, rxe1\nused 1 rdma in JSON: rxe0, rxe1\nrefused 0 rdma resource:  | not judged\nused 1 rdma link: rxe0, rxe1\nused 1 rdma in JSON: rxe0, rxe1\nused 1 rdma dev: rxe0, rxe1\nused 1 rdma in JSON: rxe0, rxe1\nrefused 0 :  | 1 line between",
	"rxe-retry-exceeded":        "refused 0 perftest:  | benchmark\nused 1 list of counters: rxe0\nused 1 list of counters: rxe1",
	"rxe-selftest":              "",
}

// TestDumps reads every dump: it is accepted or refused with a reason, and
// nothing fails.
func TestDumps(t *testing.T) {
	paths, err := filepath.Glob("testdata/dumps/*.txt")
	if err != nil || len(paths) != len(wanted) {
		t.Fatalf("%d dumps, %d expectations, %v", len(paths), len(wanted), err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".txt")
		t.Run(name, func(t *testing.T) {
			e := understood(t, p)
			want, ok := wanted[name]
			if !ok {
				t.Fatal("no expectation")
			}
			if want != "" {
				compare(t, e.Items, want)
			}
			if _, err := e.Collect(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func understood(t *testing.T, paths ...string) *Evidence {
	t.Helper()
	inputs, err := Read(paths)
	if err != nil {
		t.Fatal(err)
	}
	return Understand(inputs, Options{Now: noon})
}

func compare(t *testing.T, items []Item, want string) {
	t.Helper()
	lines := strings.Split(want, "\n")
	for i, item := range items {
		got := fmt.Sprintf("%s %d %s: %s", item.Outcome, item.Reading, item.Kind, item.About)
		if i >= len(lines) {
			t.Errorf("one too many: %s | %s", got, item.Why)
			continue
		}
		head, reason, _ := strings.Cut(lines[i], " | ")
		reason, again, _ := strings.Cut(reason, " (and so")
		if got != head || !strings.Contains(item.Why, reason) || again != "" && !strings.HasSuffix(item.Why, "(and so"+again) {
			t.Errorf("item %d:\n got %s | %s\nwant %s", i, got, item.Why, lines[i])
		}
	}
	if len(items) < len(lines) {
		t.Errorf("%d items, want %d", len(items), len(lines))
	}
}

// values reads the last reading as series and values.
func values(t *testing.T, e *Evidence, reading int) map[string]float64 {
	t.Helper()
	snapshots, err := e.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(snapshots, func(s *node.Snapshot) bool { return s.Time.Equal(e.Times[reading]) })
	found := map[string]float64{}
	for _, d := range snapshots[i].Devices {
		for _, s := range d.Samples {
			var labels []string
			for i, name := range s.Series.Metric.LabelNames() {
				if s.Series.Values[i] != "" {
					labels = append(labels, name+"="+s.Series.Values[i])
				}
			}
			found[s.Series.Metric.Name+"{"+strings.Join(labels, ",")+"}"] = s.Value
		}
	}
	return found
}

// TestValues holds what the collectors make of the dumps against values worked
// out by hand.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		dump    string
		reading int
		want    map[string]float64
		absent  []string
	}{
		{"001-sysfs-cx7-ib-ndr-h100", 0, map[string]float64{
			// port_rcv_data 230539874932483 words of 4 bytes
			"rdma_received_bytes_total{device=mlx5_0,port=1}":                                           922159499729932,
			"rdma_port_rate_bytes_per_second{device=mlx5_0,port=1}":                                     50e9, // 400 Gb/s
			"rdma_port_state{device=mlx5_0,port=1}":                                                     4,
			"rdma_port_counter_saturated{device=mlx5_0,port=1,counter=excessive_buffer_overrun_errors}": 1, // 15 of 15
		}, nil},
		{"006-sysfs-i40iw-no-pma", 0, map[string]float64{"rdma_port_state{device=i40iw0,port=1}": 4},
			[]string{"rdma_received_bytes_total{device=i40iw0,port=1}", "rdma_port_symbol_errors_total{device=i40iw0,port=1,kind=pma}"}},
		{"007-sysfs-mlx4-two-ports-counters-ext", 0, map[string]float64{
			// port_rcv_data_64 4631917 x 4; the 32-bit file gives way to it
			"rdma_received_bytes_total{device=mlx4_0,port=2}": 18527668,
		}, nil},
		{"016-ethtool-prio-pairs-and-ack-timeouts-roce", 0, map[string]float64{
			"rdma_priority_received_bytes_total{device=mlx5_0,port=1,priority=0}": 88034564921216,
		}, []string{"rdma_loss_events_total{device=mlx5_0,port=1,kind=ack_timeout}"}},
		{"016-ethtool-prio-pairs-and-ack-timeouts-roce", 2, map[string]float64{
			"rdma_priority_received_bytes_total{device=mlx5_0,port=1,priority=0}": 88178050405854,
			"rdma_loss_events_total{device=mlx5_0,port=1,kind=ack_timeout}":       2705,
		}, nil},
		{"015-perfquery-edr-hdr-switch-and-hca", 0, map[string]float64{
			"rdma_port_transmit_discard_packets_total{device=lid2052,port=1,kind=pma}": 20046,
			"rdma_transmitted_bytes_total{device=lid133,port=1}":                       148434707415420, // 37108676853855 x 4
			"rdma_port_lid{device=lid2052,port=1}":                                     2052,
		}, nil},
		{"021-show_gids-and-devinfo-mixed-firmware", 0, map[string]float64{
			"rdma_port_state{device=mlx5_1,port=1}": 1,
			"rdma_device_info{device=mlx5_2,driver=mlx5,firmware=14.32.1010,board_id=MT_2420110034,hw_rev=0x0,node_guid=0200:0000:0000:0003,sys_image_guid=0200:0000:0000:0003}": 1,
			"rdma_port_info{device=mlx5_3,port=1,link_layer=Ethernet,netdev=eth04,kind=physical,role=mlx5 MT_2420110034 Ethernet}":                                               1,
		}, nil},
		{"033-ibstat-cx6dx-dual-roce", 0, map[string]float64{"rdma_port_rate_bytes_per_second{device=mlx5_1,port=1}": 12.5e9}, nil},
		{"036-ibstatus-hdr-active-down-and-odd-rates", 0, map[string]float64{
			"rdma_port_lid{device=mlx5_0,port=1}":   0x22,
			"rdma_port_state{device=mlx5_1,port=1}": 4, // not that of the other machine
		}, nil},
		{"038-lspci-lnk-cx5ex-stuck-gen3", 0, map[string]float64{
			"rdma_pcie_link_transfers_per_second{device=unnamed-pci0,pci=ffff:01:00.0}":          8e9,
			"rdma_pcie_link_expected_transfers_per_second{device=unnamed-pci0,pci=ffff:01:00.0}": 16e9,
			"rdma_pcie_link_width_lanes{device=unnamed-pci0,pci=ffff:01:00.0}":                   4,
		}, nil},
		{"040-lspci-lnk-spelling-variants", 0, map[string]float64{
			"rdma_pcie_link_width_lanes{device=unnamed-pci0,pci=ffff:01:00.0}":          2,
			"rdma_pcie_link_expected_width_lanes{device=unnamed-pci0,pci=ffff:01:00.0}": 8,
			"rdma_pcie_link_width_lanes{device=unnamed-pci1,pci=ffff:02:00.0}":          1,
		}, nil},
		{"050-ethtool-S-cx6dx-pam4-corrected-bits-normal", 0, map[string]float64{
			"rdma_port_fec_corrected_bits_total{device=rdma-netdev0,port=1}": 153303800,
			"rdma_port_fec_corrected_bits_total{device=rdma-netdev1,port=1}": 191025837,
		}, nil},
		{"053-hwcounters-dcqcn-working-cluster", 0, map[string]float64{
			"rdma_ecn_marked_packets_total{device=rocep19s0,port=1}": 40510552,
			"rdma_cnp_sent_packets_total{device=rocep11s0,port=1}":   34569335,
		}, nil},
		{"rxe-counters-loss", 2, map[string]float64{
			"rdma_loss_events_total{device=rxe0,port=1,kind=sequence_nak}": 234,
			"rdma_out_of_sequence_packets_total{device=rxe1,port=1}":       258,
		}, nil},
	} {
		t.Run(fmt.Sprintf("%s/%d", c.dump, c.reading), func(t *testing.T) {
			got := values(t, understood(t, "testdata/dumps/"+c.dump+".txt"), c.reading)
			for series, want := range c.want {
				if v, ok := got[series]; !ok || v != want {
					t.Errorf("%s = %v (present: %v), want %v\n%s", series, v, ok, want, alike(got, series))
				}
			}
			for _, series := range c.absent {
				if v, ok := got[series]; ok {
					t.Errorf("%s = %v, want none", series, v)
				}
			}
		})
	}
}

func alike(got map[string]float64, series string) string {
	name, _, _ := strings.Cut(series, "{")
	var lines []string
	for s, v := range got {
		if strings.HasPrefix(s, name) {
			lines = append(lines, fmt.Sprintf("  there is %s %v", s, v))
		}
	}
	return strings.Join(lines, "\n")
}

func TestMain(m *testing.M) {
	// Times of files say nothing in a checkout.
	paths, _ := filepath.Glob("testdata/dumps/*")
	for _, p := range paths {
		_ = os.Chtimes(p, noon, noon)
	}
	os.Exit(m.Run())
}
