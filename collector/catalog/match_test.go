package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMatcher(t *testing.T) {
	var (
		plain    = Metric{Name: "plain"}
		perPrio  = Metric{Name: "prio", Labels: []string{"priority"}}
		perKind  = Metric{Name: "kind", Labels: []string{"kind"}}
		twoParts = Metric{Name: "both", Labels: []string{"priority", "kind"}}
	)
	m := NewMatcher([]Row{
		{"out_of_buffer", &plain, "", Packets, Wrap32, ""},
		{"rp_cnp_handled", &plain, "", Packets, Full, ""},
		{"rp_cnp_handled", &perKind, "kind=handled", Packets, Full, ""},
		{"res_cmp_err", &plain, "", Events, Full, "resp_cqe_error"},
		{"rx_prio{priority}_pause", &perPrio, "", Frames, Full, ""},
		{"rx_prio{priority}_pause_duration", &perPrio, "", Microseconds, Full, ""},
		{"rx_prio{priority}_discards", &twoParts, "kind=port", Packets, Full, ""},
		{"rx_errors_lane_{priority}_phy", &perPrio, "", Events, Full, "rx_err_lane_{priority}_phy"},
		{"rx_prio9_pause", &plain, "", Frames, Full, ""},
		{"RxTidFLGMs,32", &plain, "", Events, Wrap32, ""},
		{"Cce LATriggered", &plain, "", Events, Full, ""},
		{"{priority}", &plain, "", Events, Full, ""},
		{"rx_prio{priority}_pause_transition", &perPrio, "", Events, Full, ""},
	})
	for _, c := range []struct {
		reason  string
		name    string
		present string // names beside it
		want    string // metric(values) of each match
		knows   bool
	}{
		{"an exact name", "out_of_buffer", "", "plain[]", true},
		{"a name that no row has", "out_of_sequence", "", "", false},
		{"a part and the whole", "rp_cnp_handled", "", "plain[] kind[handled]", true},
		{"the alternative is missing", "res_cmp_err", "req_cqe_error", "plain[]", true},
		{"the alternative exists", "res_cmp_err", "resp_cqe_error", "", true},
		{"a captured priority", "rx_prio3_pause", "", "prio[3]", true},
		{"a longer name with the same start", "rx_prio3_pause_duration", "", "prio[3]", true},
		{"captured and fixed labels in the metric's order", "rx_prio7_discards", "", "both[7 port]", true},
		{"the exact row comes before the pattern", "rx_prio9_pause", "", "plain[]", true},
		{"more than one digit", "rx_prio10_pause", "", "prio[10]", true},
		{"more digits than a number has room for", "rx_prio18446744073709551616_pause", "", "prio[18446744073709551616]", true},
		{"no digits", "rx_prio_pause", "", "", false},
		{"a sign is no digit", "rx_prio-1_pause", "", "", false},
		{"a letter among the digits", "rx_prio3x_pause", "", "", false},
		{"digits of another script", "rx_prio٣_pause", "", "", false},
		{"another word where the number stands", "rx_global_pause", "", "", false},
		{"only the beginning fits", "rx_prio3_paused", "", "", false},
		{"something before the name", "vport_rx_prio3_pause", "", "", false},
		{"the alternative of another lane exists", "rx_errors_lane_1_phy", "rx_err_lane_0_phy", "prio[1]", true},
		{"the alternative of this lane exists", "rx_errors_lane_1_phy", "rx_err_lane_1_phy", "", true},
		{"31 characters, as long as ethtool names get", "rx_prio0000003_pause_transition", "", "prio[0000003]", true},
		{"cut off at 31 characters", "rx_prio00000003_pause_transitio", "", "", false},
		{"a comma, as hfi1 has", "RxTidFLGMs,32", "", "plain[]", true},
		{"without its comma", "RxTidFLGMs", "", "", false},
		{"a blank, as hfi1 and irdma have", "Cce LATriggered", "", "plain[]", true},
		{"case counts", "rxtidflgms,32", "", "", false},
		{"a number alone", "42", "", "plain[]", true},
		{"nothing", "", "", "", false},
	} {
		has := func(name string) bool { return slices.Contains(strings.Fields(c.present), name) }
		var got []string
		for _, match := range m.Find(c.name, has) {
			got = append(got, fmt.Sprint(match.Row.Metric.Name, match.Values))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: Find(%q) = %q, want %q", c.reason, c.name, got, c.want)
		}
		if got := m.Knows(c.name); got != c.knows {
			t.Errorf("%s: Knows(%q) = %v", c.reason, c.name, got)
		}
	}
}

// What the fixtures cannot show at once: every spelling of one counter.
func TestAlternativesOfRealPages(t *testing.T) {
	find := func(rows []Row, name string, present ...string) string {
		var got []string
		for _, m := range NewMatcher(rows).Find(name, func(n string) bool { return slices.Contains(present, n) }) {
			got = append(got, fmt.Sprintf("%s%v %s", m.Row.Metric.Name, m.Values, m.Row.Width))
		}
		return strings.Join(got, " ")
	}
	for _, c := range []struct{ reason, got, want string }{
		{"mlx5 queue counter of a switchdev port",
			find(mlx5.HW, "vport_packet_seq_err"), "rdma_loss_events_total[sequence_nak] 32 bits, unwrapped"},
		{"mlx5 optional counter beside the ordinary one",
			find(mlx5.HW, "cc_tx_cnp_pkts", "np_cnp_sent"), ""},
		{"mlx5 optional counter alone",
			find(mlx5.HW, "cc_tx_cnp_pkts"), "rdma_cnp_sent_packets_total[] "},
		{"mlx5 optional counter of marks beside the ordinary one",
			find(mlx5.HW, "cc_rx_ce_pkts", "np_ecn_marked_roce_packets"), ""},
		{"mlx5 optional counter of CNPs beside its two parts",
			find(mlx5.HW, "cc_rx_cnp_pkts", "rp_cnp_ignored", "rp_cnp_handled"), ""},
		{"an old spelling of a lane beside the new one",
			find(mlx5.Ethtool, "phy_raw_errors_lane2", "rx_err_lane_2_phy"), ""},
		{"another old spelling of a lane beside the new one",
			find(mlx5.Ethtool, "rx_errors_lane_2_phy", "rx_err_lane_2_phy"), ""},
		{"an old spelling of symbol errors beside the new one",
			find(mlx5.Ethtool, "rx_symbol_errors_phy", "rx_symbol_err_phy"), ""},
		{"an old spelling of an internal drop beside the new one",
			find(mlx5.Ethtool, "dev_out_of_buffer", "dev_internal_queue_oob"), ""},
		{"32-bit words where counters_ext has 64",
			find(PortCounters(), "port_rcv_data", "port_rcv_data_64"), ""},
		{"words on a kernel with one directory",
			find(PortCounters(), "port_rcv_data"), "rdma_received_bytes_total[] sticks at 4294967295 without extended counters"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, c.got, c.want)
		}
	}
}
