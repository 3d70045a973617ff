package collector

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

const pkeysOf = pciRoot + "/0000:01:00.0/infiniband/a0/ports/1/pkeys/"

// pkeys is a port with a table of so many slots, of which the first have keys.
func pkeys(size int, keys ...string) fileSet {
	set := fileSet{}
	for i := range size {
		set[fmt.Sprintf("ports/1/pkeys/%d", i)] = "0x0000\n"
	}
	for i, key := range keys {
		set[fmt.Sprintf("ports/1/pkeys/%d", i)] = key + "\n"
	}
	return set
}

func member(pkey string) string {
	return `rdma_port_partition_full_member` + p1 + `,pkey="` + pkey + `"}`
}

func TestPKey(t *testing.T) {
	const count = `rdma_port_partition_keys` + p1 + `}`
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", pkeys(128, "0x7fff", "0x8123", "0x0123", "0x8007")), only("pkey"))
	// 0x0123 is there as a limited and as a full member: full.
	m.collect().want(t, values{count: 3, member("0x7fff"): 0, member("0x0123"): 1, member("0x0007"): 1})

	// The manager takes one away and gives another one, in the first free slot.
	m.set(pkeysOf+"3", "0x0000\n")
	m.set(pkeysOf+"4", "0x8009\n")
	m.later(settingsAge)
	v := m.collect()
	v.want(t, values{count: 3, member("0x0009"): 1})
	v.absent(t, member("0x0007"))

	// Nothing is in the table while the port waits for the manager.
	for _, slot := range []string{"0", "1", "2", "4"} {
		m.set(pkeysOf+slot, "0x0000\n")
	}
	m.later(settingsAge)
	v = m.collect()
	v.want(t, values{count: 0})
	v.absent(t, `rdma_port_partition_full_member`+p1)
}

// Of a table that is nearly empty only what is in use is read, and a bit more;
// now and then much more. The end of a short one is found once.
func TestPKeyReads(t *testing.T) {
	const reads = `rdma_collector_reads_total{device="a0",collector="pkey"}`
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", pkeys(128, "0xffff")), only("pkey"))
	before := m.collect()[reads]
	if before != 1+spareSlotsNow {
		t.Errorf("%v reads at first, want %d", before, 1+spareSlotsNow)
	}
	m.later(settingsAge)
	after := m.collect()[reads]
	if got := after - before; got != 1+spareSlots {
		t.Errorf("%v reads a minute later, want %d", got, 1+spareSlots)
	}
	m.set(pkeysOf+"40", "0x8011\n") // behind a gap
	m.later(relistAfter)
	m.collect().want(t, values{member("0x0011"): 1})
	m.later(settingsAge)
	m.collect().want(t, values{member("0x0011"): 1}) // known by now
}

func TestPKeyOfShortTable(t *testing.T) {
	const missing = `rdma_collector_read_errors_total{device="a0",collector="pkey",error="ENOENT"}`
	m := newRig(t, nic("a0", "hfi1", "0000:01:00.0", pkeys(3, "0x8001", "0x0000", "0xffff")), only("pkey"))
	for range 3 {
		m.collect().want(t, values{member("0x0001"): 1, member("0x7fff"): 1, missing: 1})
		m.later(settingsAge)
	}
}

// Ethernet ports have no partitions that mean anything; a device without a table
// is not one with an error.
func TestPKeyOfOthers(t *testing.T) {
	for _, set := range map[string]fileSet{
		"Ethernet": join(fileSet{"ports/1/link_layer": "Ethernet\n"}, pkeys(1, "0xffff")),
		"no table": {},
	} {
		m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", set), only("pkey"))
		v := m.collect()
		v.absent(t, "rdma_port_partition_", `rdma_collector_success{device="a0",collector="pkey"}`)
	}
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", pkeys(2, "nonsense")), only("pkey"))
	m.collect().want(t, values{`rdma_collector_success{device="a0",collector="pkey"}`: 0})
	m.set(pkeysOf+"0", "errno:EINVAL\n")
	m.later(time.Minute)
	m.collect().want(t, values{`rdma_collector_success{device="a0",collector="pkey"}`: 1, `rdma_port_partition_keys` + p1 + `}`: 0})
}

func TestParsePKey(t *testing.T) {
	for text, want := range map[string]pkey{
		"0xffff": {0x7fff, true}, "0x7fff": {0x7fff, false}, "0x8001": {1, true}, "0x0000": {0, false}, "0x8000": {0, true},
	} {
		if got, err := parsePKey(text); got != want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0x", "0x10000", "-1", "key"} {
		if got, err := parsePKey(text); err == nil || !host.NotOffered(err) {
			t.Errorf("%q: %+v, %v; want that it is no number", text, got, err)
		}
	}
}

func FuzzParsePKey(f *testing.F) {
	for _, seed := range []string{"0xffff", "0x0000", "", strings.Repeat("f", 20)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := parsePKey(text); err == nil && key.number > 0x7fff {
			t.Errorf("%q: number %x has the membership bit", text, key.number)
		}
	})
}
