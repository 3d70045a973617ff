package collector

import (
	"context"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

const ecnDir = pciRoot + "/0000:01:00.0/net/eth0/ecn/"

// ecn is the settings of DCQCN as the out-of-tree driver shows them.
func ecn() fileSet {
	set := fileSet{}
	for i := range 8 {
		enable := "0\n"
		if i == 3 {
			enable = "1\n"
		}
		set[ecnDir+"roce_np/enable/"+string(rune('0'+i))] = enable
		set[ecnDir+"roce_rp/enable/"+string(rune('0'+i))] = "1\n"
	}
	return join(set, inDir(ecnDir, fileSet{
		"roce_np/min_time_between_cnps": "4\n", "roce_np/cnp_dscp": "48\n", "roce_np/cnp_802p_prio": "6\n",
		"roce_rp/rpg_time_reset": "300\n", "roce_rp/rpg_ai_rate": "5\n", "roce_rp/dce_tcp_g": "1019\n", "roce_rp/clamp_tgt_rate": "0\n",
	}))
}

func TestDCQCN(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), ecn()), only("dcqcn"))
	const reads = `rdma_collector_reads_total{device="a0",collector="dcqcn"}`
	want := values{
		`rdma_dcqcn_notification_point_enabled` + p1 + `,priority="3"}`:       1,
		`rdma_dcqcn_notification_point_enabled` + p1 + `,priority="4"}`:       0,
		`rdma_dcqcn_reaction_point_enabled` + p1 + `,priority="4"}`:           1,
		`rdma_dcqcn_min_time_between_cnps_seconds` + p1 + `}`:                 4e-6,
		`rdma_dcqcn_period_seconds` + p1 + `,parameter="rpg_time_reset"}`:     300e-6,
		`rdma_dcqcn_rate_bytes_per_second` + p1 + `,parameter="rpg_ai_rate"}`: 625000,
		`rdma_dcqcn_ratio` + p1 + `,parameter="dce_tcp_g"}`:                   1019.0 / 1024,
		`rdma_dcqcn_parameter` + p1 + `,parameter="cnp_dscp"}`:                48,
		`rdma_dcqcn_parameter` + p1 + `,parameter="clamp_tgt_rate"}`:          0,
	}
	first := m.collect()
	first.want(t, want)

	m.set(ecnDir+"roce_np/cnp_dscp", "26\n")
	m.later(settingsAge - 1)
	v := m.collect()
	v.want(t, want) // repeated, not read
	v.want(t, values{reads: first[reads]})
	m.later(1)
	m.collect().want(t, values{`rdma_dcqcn_parameter` + p1 + `,parameter="cnp_dscp"}`: 26})

	// A setting that cannot be read is absent, and costs no other one.
	m.set(ecnDir+"roce_rp/rpg_time_reset", "\n")
	m.later(settingsAge)
	v = m.collect()
	v.absent(t, `rdma_dcqcn_period_seconds`+p1+`,parameter="rpg_time_reset"}`)
	v.want(t, values{`rdma_dcqcn_parameter` + p1 + `,parameter="cnp_dscp"}`: 26})
	m.set(ecnDir+"roce_rp/rpg_time_reset", "301\n")
	m.later(settingsAge)
	m.collect().want(t, values{`rdma_dcqcn_period_seconds` + p1 + `,parameter="rpg_time_reset"}`: 301e-6})
}

func TestDCQCNOfAPartBelongsToItsPF(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), ecn(), fileSet{pciRoot + "/0000:01:00.0/physfn/vendor": ""}), only("dcqcn"))
	m.collect().absent(t, "rdma_dcqcn")
}

// A series is one pointer for as long as the reader lives, also when what it
// says was read anew.
func TestDCQCNKeepsItsSeries(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), ecn()), only("dcqcn"))
	read := func() map[string]*node.Series {
		found := map[string]*node.Series{}
		m.runner.Collect(context.Background(), nil).All(func(s node.Sample) {
			if strings.HasPrefix(s.Series.Metric.Name, "rdma_dcqcn") {
				found[s.Series.Key()] = s.Series
			}
		})
		return found
	}
	first := read()
	m.later(settingsAge)
	m.set(ecnDir+"roce_np/cnp_dscp", "26\n")
	second := read()
	if len(first) == 0 || len(first) != len(second) {
		t.Fatalf("%d series, then %d", len(first), len(second))
	}
	for key, s := range first {
		if second[key] != s {
			t.Errorf("%q is another series", key)
		}
	}
}
