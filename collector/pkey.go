package collector

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// pkeyReader reads the partition keys that the subnet manager has given to the
// ports. Ethernet ports show the default key and nothing that means anything.
type pkeyReader struct {
	door  *host.Door
	ports []*pkeyPort
}

type pkeyPort struct {
	t     *target
	p     *port
	table slots
	count *node.Series
	full  map[uint16]*node.Series // by number of the key
}

func openPKey(t *target, d *host.Door) reader {
	r := &pkeyReader{door: d}
	for _, p := range t.ports {
		dir := path.Join(t.path, "ports", p.number, "pkeys")
		if p.onDevice && p.infiniband() && d.Exists(dir) {
			r.ports = append(r.ports, &pkeyPort{
				t: t, p: p, count: series(&catalog.PortPKeys, t.name, p.number), full: map[uint16]*node.Series{},
				table: slots{path: dir, empty: func(text string) bool { key, err := parsePKey(text); return err == nil && key.number == 0 }},
			})
		}
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

func (r *pkeyReader) read(b *batch) error {
	var failed []error
	for _, p := range r.ports {
		if err := p.read(r.door, b); err != nil && !host.Denied(err) {
			failed = append(failed, fmt.Errorf("partition keys of port %s: %w", p.p.number, err))
		}
	}
	return errors.Join(failed...)
}

func (r *pkeyReader) close() {}

func (p *pkeyPort) read(d *host.Door, b *batch) error {
	if _, err := p.table.read(d, b.now); err != nil {
		return err
	}
	full := map[uint16]bool{}
	for _, slot := range p.table.inUse() {
		key, err := parsePKey(p.table.used[slot])
		if err != nil {
			return fmt.Errorf("slot %d: %w", slot, err)
		}
		full[key.number] = full[key.number] || key.full // it may be in the table as both
	}
	b.add(p.count, float64(len(full)))
	for _, number := range slices.Sorted(maps.Keys(full)) {
		if p.full[number] == nil {
			p.full[number] = series(&catalog.PortPKeyFull, p.t.name, p.p.number, fmt.Sprintf("0x%04x", number))
		}
		b.addBool(p.full[number], full[number])
	}
	return nil
}

// pkey is a partition key: InfiniBand Architecture Specification, volume 1,
// 10.9. Ports talk if their numbers are equal and at least one is a full member.
type pkey struct {
	number uint16 // 15 bits; 0 is no key
	full   bool
}

// parsePKey reads a partition key as sysfs shows it: 0x8001.
func parsePKey(text string) (pkey, error) {
	const member = 1 << 15
	v, err := strconv.ParseUint(text, 0, 16)
	if err != nil {
		return pkey{}, fmt.Errorf("%q is no partition key: %w", text, host.ErrNotNumber)
	}
	return pkey{uint16(v &^ member), v&member != 0}, nil
}
