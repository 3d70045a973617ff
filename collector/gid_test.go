package collector

import (
	"fmt"
	"testing"
)

const gidsOf = pciRoot + "/0000:01:00.0/infiniband/a0/ports/1/"

// The GIDs of the tests: link-local, of 192.0.2.33, and of 2001:db8::7.
const (
	gidNone  = "0000:0000:0000:0000:0000:0000:0000:0000"
	gidLocal = "fe80:0000:0000:0000:0000:00ff:fe00:0001"
	gidV4    = "0000:0000:0000:0000:0000:ffff:c000:0221"
	gidV6    = "2001:0db8:0000:0000:0000:0000:0000:0007"
)

// gid is a slot of a table.
type gid struct{ gid, version, netdev string }

// gids are the files of a table of so many slots.
func gids(size int, entries ...gid) fileSet {
	set := fileSet{}
	for i := range size {
		entry := gid{gidNone, "errno:EINVAL", "errno:EINVAL"}
		if i < len(entries) {
			entry = entries[i]
		}
		set[fmt.Sprintf("ports/1/gids/%d", i)] = entry.gid + "\n"
		set[fmt.Sprintf("ports/1/gid_attrs/types/%d", i)] = entry.version + "\n"
		set[fmt.Sprintf("ports/1/gid_attrs/ndevs/%d", i)] = entry.netdev + "\n"
	}
	return set
}

func gidNIC(size int, entries ...gid) fileSet {
	return join(
		nic("a0", "mlx5_core", "0000:01:00.0", join(fileSet{"ports/1/link_layer": "Ethernet\n"}, gids(size, entries...))),
		netdev0("eth0"),
	)
}

func gidCount(version, family string) string {
	return `rdma_port_gids` + p1 + `,type="` + version + `",family="` + family + `"}`
}

const (
	gidIndex   = `rdma_port_roce_v2_gid_index` + p1 + `}`
	gidChanges = `rdma_port_gid_table_changes_total` + p1 + `}`
)

func TestGID(t *testing.T) {
	m := newRig(t, gidNIC(16,
		gid{gidLocal, "IB/RoCE v1", "eth0"}, gid{gidLocal, "RoCE v2", "eth0"},
		gid{gidV6, "IB/RoCE v1", "eth0"}, gid{gidV6, "RoCE v2", "eth0"},
		gid{gidV4, "IB/RoCE v1", "eth0.7"}, gid{gidV4, "RoCE v2", "eth0.7"}, // of a VLAN
		gid{gidV4, "IB/RoCE v1", "eth0"}, gid{gidV4, "RoCE v2", "eth0"},
	), only("gid"))
	m.collect().want(t, values{
		gidCount("roce_v1", "link_local"): 1, gidCount("roce_v2", "link_local"): 1,
		gidCount("roce_v1", "ipv6"): 1, gidCount("roce_v2", "ipv6"): 1,
		gidCount("roce_v1", "ipv4"): 2, gidCount("roce_v2", "ipv4"): 2,
		gidIndex: 7, gidChanges: 0,
	})

	// The address goes: what is left is the global IPv6 address.
	for _, slot := range []string{"6", "7"} {
		m.set(gidsOf+"gids/"+slot, gidNone+"\n")
		m.set(gidsOf+"gid_attrs/types/"+slot, "errno:EINVAL\n")
	}
	m.later(settingsAge)
	m.collect().want(t, values{gidCount("roce_v2", "ipv4"): 1, gidIndex: 3, gidChanges: 1})

	// It comes back behind the others.
	m.set(gidsOf+"gids/9", gidV4+"\n")
	m.set(gidsOf+"gid_attrs/types/9", "RoCE v2\n")
	m.set(gidsOf+"gid_attrs/ndevs/9", "eth0\n")
	m.later(settingsAge)
	m.collect().want(t, values{gidCount("roce_v2", "ipv4"): 2, gidIndex: 9, gidChanges: 2})
	m.later(settingsAge)
	m.collect().want(t, values{gidChanges: 2})
}

// A port without an address has no index, and says that it has no such GID.
func TestGIDWithoutAddress(t *testing.T) {
	m := newRig(t, gidNIC(16, gid{gidLocal, "IB/RoCE v1", "eth0"}, gid{gidLocal, "RoCE v2", "eth0"}), only("gid"))
	v := m.collect()
	v.want(t, values{gidCount("roce_v2", "ipv4"): 0, gidCount("roce_v2", "ipv6"): 0, gidCount("roce_v2", "link_local"): 1})
	v.absent(t, gidIndex)
}

// Most of 1,024 slots are empty; they are not asked again each minute. Kernels
// around 4.10 have an error for an empty slot.
func TestGIDReads(t *testing.T) {
	const reads = `rdma_collector_reads_total{device="a0",collector="gid"}`
	set := gidNIC(1024, gid{gidV4, "IB/RoCE v1", "eth0"}, gid{gidV4, "RoCE v2", "eth0"})
	for i := 2; i < 1024; i++ {
		set[fmt.Sprintf(gidsOf+"gids/%d", i)] = "errno:EINVAL\n"
	}
	m := newRig(t, set, only("gid"))
	before := m.collect()
	before.want(t, values{gidIndex: 1, gidCount("roce_v2", "ipv4"): 1, `rdma_collector_success{device="a0",collector="gid"}`: 1})
	m.later(settingsAge)
	// Two entries with their types, the interface of one, and the spare slots.
	if got := m.collect()[reads] - before[reads]; got != 2*2+1+spareSlots {
		t.Errorf("%v reads a minute later, want %d", got, 2*2+1+spareSlots)
	}
}

// An InfiniBand port has GIDs that nobody sets, an iWARP one has none that count.
func TestGIDOfOthers(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", gids(4, gid{gidLocal, "IB/RoCE v1", "errno:EINVAL"})), only("gid"))
	m.collect().absent(t, "rdma_port_gids", gidIndex)

	m = newRig(t, join(gidNIC(4, gid{gidV6, "IB/RoCE v1", "eth0"}), fileSet{pciRoot + "/0000:01:00.0/infiniband/a0/node_type": "4: RNIC\n"}), only("gid"))
	m.collect().absent(t, "rdma_port_gids", gidIndex)
}

func TestGIDFamily(t *testing.T) {
	for text, want := range map[string]string{gidLocal: "link_local", gidV4: "ipv4", gidV6: "ipv6", "febf::1": "link_local", "fec0::1": "ipv6"} {
		if got, err := gidFamily(text); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "192.0.2.1", "fe80", "x"} {
		if got, err := gidFamily(text); err == nil {
			t.Errorf("%q is %q, want an error", text, got)
		}
	}
}

func FuzzGIDFamily(f *testing.F) {
	for _, seed := range []string{gidNone, gidLocal, gidV4, gidV6, "fe80::1%eth0", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if family, err := gidFamily(text); (family == "") != (err != nil) {
			t.Errorf("%q: family %q and error %v", text, family, err)
		}
	})
}
