package collector

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// gidReader reads the GID tables of RoCE ports: the addresses that the port can
// send from, each as RoCE v1 and v2. A GID of InfiniBand comes from the port's
// GUID and the subnet, and is never wrong by itself.
type gidReader struct {
	door  *host.Door
	ports []*gidPort
}

type gidPort struct {
	p       *port
	dir     string
	table   slots
	changed float64

	counts         map[gidKind]*node.Series
	index, changes *node.Series
}

// iWARP is how node_type names a device of that protocol, RDMA_NODE_RNIC of
// include/rdma/ib_verbs.h. Its GID is made of the MAC address and says nothing.
const iWARP = "4:"

// gidKind is what the entries of a table are counted by.
type gidKind struct{ version, family string }

// gidKinds are those that a RoCE port can have, so that one without any shows 0.
func gidKinds() []gidKind {
	var all []gidKind
	for _, version := range []string{"roce_v1", "roce_v2"} {
		for _, family := range []string{"ipv4", "ipv6", "link_local"} {
			all = append(all, gidKind{version, family})
		}
	}
	return all
}

func openGID(t *target, d *host.Door) reader {
	if strings.HasPrefix(t.identity.nodeType, iWARP) {
		return nil
	}
	r := &gidReader{door: d}
	for _, p := range t.ports {
		dir := path.Join(t.path, "ports", p.number)
		if !p.onDevice || !p.ethernet() || !d.Exists(path.Join(dir, "gid_attrs/types")) {
			continue
		}
		g := &gidPort{
			p: p, dir: dir, table: slots{path: path.Join(dir, "gids"), empty: emptyGID}, counts: map[gidKind]*node.Series{},
			index:   series(&catalog.PortGIDIndex, t.name, p.number),
			changes: series(&catalog.PortGIDChanges, t.name, p.number),
		}
		for _, kind := range gidKinds() {
			g.counts[kind] = series(&catalog.PortGIDs, t.name, p.number, kind.version, kind.family)
		}
		r.ports = append(r.ports, g)
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *gidReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		if err := p.read(r.door, b); err != nil && !host.Denied(err) && !host.NotOffered(err) {
			failed = append(failed, fmt.Errorf("GIDs of port %s: %w", p.p.number, err))
		}
	}
	return errors.Join(failed...)
}

func (r *gidReader) close() {}

func (p *gidPort) read(d *host.Door, b *batch) error {
	changed, err := p.table.read(d, b.now)
	if err != nil {
		return err
	}
	if changed {
		p.changed++
	}
	counts, index, err := p.kinds(d)
	if err != nil {
		return err
	}
	for _, kind := range gidKinds() {
		b.add(p.counts[kind], counts[kind])
	}
	if index >= 0 {
		b.add(p.index, float64(index))
	}
	b.add(p.changes, p.changed)
	return nil
}

// kinds counts the entries, and finds the first that a program on another subnet
// can answer to: RoCE v2 on an IPv4 address of the port's own interface, else on
// a global IPv6 address of it. index is -1 if there is none.
func (p *gidPort) kinds(d *host.Door) (counts map[gidKind]float64, index int, err error) {
	types, err := d.OpenDir(path.Join(p.dir, "gid_attrs/types"))
	if err != nil {
		return nil, -1, err
	}
	defer types.Close()
	counts = map[gidKind]float64{}
	ipv4, ipv6 := -1, -1
	for _, slot := range p.table.inUse() {
		version, err := readOnce(types.File(strconv.Itoa(slot)), d)
		if host.NotOffered(err) {
			continue // removed a moment ago
		}
		if err != nil {
			return nil, -1, err
		}
		family, err := gidFamily(p.table.used[slot])
		if err != nil {
			return nil, -1, fmt.Errorf("slot %d: %w", slot, err)
		}
		kind := gidKind{roceVersion(version), family}
		counts[kind]++
		switch {
		case kind == gidKind{"roce_v2", "ipv4"} && ipv4 < 0 && p.own(d, slot):
			ipv4 = slot
		case kind == gidKind{"roce_v2", "ipv6"} && ipv6 < 0 && p.own(d, slot):
			ipv6 = slot
		}
	}
	if ipv4 < 0 {
		ipv4 = ipv6
	}
	return counts, ipv4, nil
}

// own reports whether an entry belongs to the port's own interface: VLANs and
// others on top of it have entries in the same table.
func (p *gidPort) own(d *host.Door, slot int) bool {
	netdev, err := d.Read(path.Join(p.dir, "gid_attrs/ndevs", strconv.Itoa(slot)))
	return err != nil || p.p.netdev == "" || netdev == p.p.netdev
}

// roceVersion names the types of drivers/infiniband/core/cache.c, gid_type_str.
func roceVersion(text string) string {
	if text == "RoCE v2" {
		return "roce_v2"
	}
	return "roce_v1"
}

// emptyGID reports whether a slot has no entry: all zero.
func emptyGID(text string) bool {
	gid, err := netip.ParseAddr(text)
	return err == nil && gid.IsUnspecified()
}

// gidFamily tells what a GID is made of: an IPv4 address as ::ffff:192.0.2.1, an
// IPv6 address, or one that holds on the link only.
func gidFamily(text string) (string, error) {
	gid, err := netip.ParseAddr(text)
	switch {
	case err != nil || !gid.Is6():
		return "", fmt.Errorf("%q is no GID: %w", text, host.ErrNotNumber)
	case gid.Is4In6():
		return "ipv4", nil
	case gid.IsLinkLocalUnicast():
		return "link_local", nil
	}
	return "ipv6", nil
}
