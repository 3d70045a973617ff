package collector

import (
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

const (
	dcbText = `tc-bw 0:41 1:59 2:0 3:0 4:0 5:0 6:0 7:0 
tc-tsa 0:ets 1:ets 2:ets 3:ets 4:ets 5:ets 6:strict 7:ets 
prio-tc 0:0 1:0 2:0 3:1 4:0 5:0 6:6 7:0 
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off 
dscp-prio 24:3 25:3 26:3 48:6 
`
	tclassFile = pciRoot + "/0000:01:00.0/infiniband/a0/tc/1/traffic_class"
)

func setting(name, value string) string {
	return `rdma_config_setting_info` + p1 + `,setting="` + name + `",value="` + value + `"}`
}

func priorityHasPFC(priority string) string {
	return `rdma_config_pfc_enabled` + p1 + `,priority="` + priority + `"}`
}

func TestQoS(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), fileSet{"dcb/eth0/show": dcbText, tclassFile: "Global tclass=106\n"}), only("qos"))
	first := m.collect()
	first.want(t, values{
		priorityHasPFC("2"): 0, priorityHasPFC("3"): 1,
		setting("pfc", "3"): 1,
		setting("ets", "0:0,1,2,4,5,7 ets 41%; 1:3 ets 59%; 6:6 strict"): 1,
		setting("dscp", "24-26:3 48:6"):                                  1,
		setting("traffic_class", "106"):                                  1,
	})
	first.absent(t, `rdma_config_setting_info`+p1+`,setting="buffer"`)
	hash := first.like("rdma_config_hash_info" + p1)
	if len(hash) != 1 {
		t.Fatalf("hashes: %q", hash)
	}

	// The table of DSCPs is lost and PFC is not, as after a reload of the driver.
	m.set("dcb/eth0/show", "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n")
	m.later(settingsAge - 1)
	m.collect().want(t, values{setting("dscp", "24-26:3 48:6"): 1}) // repeated, not read
	m.later(1)
	v := m.collect()
	v.want(t, values{setting("pfc", "3"): 1, setting("dscp", "none"): 1})
	v.absent(t, setting("dscp", "24-26:3 48:6"), hash[0])
	if other := v.like("rdma_config_hash_info" + p1); len(other) != 1 {
		t.Errorf("hashes: %q", other)
	}

	// As it was: the hash, too.
	m.set("dcb/eth0/show", dcbText)
	m.later(settingsAge)
	m.collect().want(t, values{hash[0]: 1})

	// What cannot be read would make another hash.
	m.set(tclassFile, "errno:EIO")
	m.later(settingsAge)
	v = m.collect()
	v.want(t, values{setting("pfc", "3"): 1, `rdma_collector_success{device="a0",collector="qos"}`: 0})
	v.absent(t, "rdma_config_hash_info", `rdma_config_setting_info`+p1+`,setting="traffic_class"`)
}

// A driver without DCB is asked once an hour.
func TestQoSNotOffered(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), fileSet{"dcb/eth0/show": "errno:EOPNOTSUPP"}), only("qos"))
	const reads = `rdma_collector_reads_total{device="a0",collector="qos"}`
	v := m.collect()
	v.absent(t, "rdma_config_")
	v.want(t, values{reads: 1, `rdma_collector_skipped{device="a0",collector="qos",reason="unsupported"}`: 1})
	m.set("dcb/eth0/show", dcbText)
	m.later(reprobeAfter - time.Second)
	m.collect().want(t, values{reads: 1})
	m.later(settingsAge)
	m.collect().want(t, values{reads: 2, priorityHasPFC("3"): 1})
}

func TestQoSOfAPartBelongsToItsPF(t *testing.T) {
	m := newRig(t, join(ethNIC("mlx5_core", statistics()), fileSet{"dcb/eth0/show": dcbText, pciRoot + "/0000:01:00.0/physfn/vendor": ""}), only("qos"))
	m.collect().absent(t, "rdma_config_")
}

// table is of DSCPs and their priorities in turn.
func table(pairs ...uint8) (entries []host.DSCPPriority) {
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, host.DSCPPriority{DSCP: pairs[i], Priority: pairs[i+1]})
	}
	return entries
}

func TestSettingsInWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "unset", "Global tclass=106": "106", "Global tclass=106\ntclass=96 dst=192.0.2.0/24\n": "106; tclass=96 dst=192.0.2.0/24",
	} {
		if got := trafficClassInWords(text); got != want {
			t.Errorf("traffic class %q: %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		table []host.DSCPPriority
		want  string
	}{
		{nil, "none"},
		{table(26, 3), "26:3"},
		{table(0, 0, 1, 0, 2, 1, 4, 1, 62, 7, 63, 7), "0-1:0 2:1 4:1 62-63:7"},
		{table(5, 1, 5, 2), "5:1 5:2"},
	} {
		if got := dscpInWords(c.table); got != c.want {
			t.Errorf("%v: %q, want %q", c.table, got, c.want)
		}
	}
	// A class that cannot be has no name.
	if got := etsInWords(&host.ETS{Class: [8]uint8{0: 9, 1: 255}, Percent: [8]uint8{0: 100}, Algorithm: [8]string{0: "ets"}}); got != "0:2,3,4,5,6,7 ets 100%" {
		t.Errorf("%q", got)
	}
	if got := buffersInWords(&host.Buffers{Buffer: [8]uint8{3: 1}, Bytes: [8]uint32{7, 11, 13}}); got != "0:0,1,2,4,5,6,7 7; 1:3 11" {
		t.Errorf("%q", got)
	}
}
