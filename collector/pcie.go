package collector

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// pcieReader reads the PCIe link of a device and the errors recorded at its
// two ends, for each of its PCI functions: a bond has those of its members.
type pcieReader struct {
	door      *host.Door
	functions []*pcieFunction
	ends      map[string]*pcieEnd // by path: functions of one card share those above
}

func openPCIe(t *target, d *host.Door) reader {
	paths := pcieFunctions(t, d)
	if len(paths) == 0 {
		return nil
	}
	r := &pcieReader{door: d, ends: map[string]*pcieEnd{}}
	for _, p := range paths {
		r.functions = append(r.functions, newPCIeFunction(t.name, p, r.end))
	}
	return r
}

func (r *pcieReader) end(pciPath string) *pcieEnd {
	if r.ends[pciPath] == nil {
		r.ends[pciPath] = openPCIeEnd(pciPath, r.door)
	}
	return r.ends[pciPath]
}

func (r *pcieReader) read(b *batch) error {
	reading := &reading{door: r.door, now: b.now}
	for _, f := range r.functions {
		f.read(reading, b)
	}
	return errors.Join(reading.errs...)
}

func (r *pcieReader) close() {
	for _, end := range r.ends {
		end.close()
	}
}

// pcieFunctions lists the paths of the PCI functions whose links the device
// shows. What several devices share is shown by one of them: the planes of a
// device, and VFs, subfunctions and software devices on a function that is an
// RDMA device itself, leave the link to that one.
func pcieFunctions(t *target, d *host.Door) []string {
	if t.identity.kind == "smi" {
		return nil
	}
	candidates := []string{t.pciPath}
	for _, p := range t.ports {
		candidates = append(candidates, p.pciPath)
	}
	var paths []string
	for _, p := range candidates {
		if p == "" {
			continue
		}
		// A VF's own link registers read as zero: the link is its PF's.
		if pf, err := d.Resolve(path.Join(p, "physfn")); err == nil && bdf.MatchString(path.Base(pf)) {
			p = pf
		}
		own := t.function == "pf" && p == t.pciPath
		if (own || !d.Exists(path.Join(p, "infiniband"))) && !slices.Contains(paths, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// pcieFunction reads the link of one PCI function.
type pcieFunction struct {
	// ends are the function itself and the ports above it, up to the root
	// port. Ends 0 and 1 are those of the NIC's link, 2 and 3 those of the
	// uplink of the switch that the NIC is behind, and so on.
	ends []*pcieEnd
	aer  []*aerFile
	hops []*node.Series // path bandwidth, by which link limits it
	// virtual, once found, stays: a failed read must not undo it.
	virtual bool

	info, virtualInfo                             *node.Series
	speed, width, maxSpeed, maxWidth, bandwidth   *node.Series
	expectedSpeed, expectedWidth, degraded, limit *node.Series
}

func newPCIeFunction(device, pciPath string, end func(string) *pcieEnd) *pcieFunction {
	pci := path.Base(pciPath)
	id := func(m *catalog.Metric, more ...string) *node.Series {
		return series(m, append([]string{device, pci}, more...)...)
	}
	f := &pcieFunction{
		virtual: hyperV(pciPath),
		speed:   id(&catalog.PCIeSpeed), width: id(&catalog.PCIeWidth),
		maxSpeed: id(&catalog.PCIeMaxSpeed), maxWidth: id(&catalog.PCIeMaxWidth),
		expectedSpeed: id(&catalog.PCIeExpectedSpeed), expectedWidth: id(&catalog.PCIeExpectedWidth),
		bandwidth: id(&catalog.PCIeBandwidth), degraded: id(&catalog.PCIeDegraded), limit: id(&catalog.PCIeSlotLimited),
	}
	for p := pciPath; bdf.MatchString(path.Base(p)); p = path.Dir(p) {
		f.ends = append(f.ends, end(p))
	}
	upstream, root := "", ""
	if above := f.ends[1:]; len(above) > 0 {
		upstream, root = above[0].address, above[len(above)-1].address
	}
	for i, end := range f.ends {
		f.virtual = f.virtual || i > 0 && emulators[end.vendor]
		if i%2 == 1 {
			f.hops = append(f.hops, id(&catalog.PCIePathBandwidth, end.address+" to "+f.ends[i-1].address))
		}
	}
	slot, _, _ := strings.Cut(pci, ".")
	f.info = id(&catalog.PCIeInfo, slot, upstream, root, "false")
	f.virtualInfo = id(&catalog.PCIeInfo, slot, upstream, root, "true")
	for i, name := range []string{"nic", "upstream"} {
		if i < len(f.ends) {
			f.aer = append(f.aer, f.ends[i].aer(device, pci, name)...)
		}
	}
	return f
}

func (f *pcieFunction) read(r *reading, b *batch) {
	nic, above := f.ends[0].read(r), len(f.ends) > 1
	var port linkEnd
	if above {
		port = f.ends[1].read(r)
	}
	if f.virtual = f.virtual || emulated(nic, port, above); f.virtual {
		b.add(f.virtualInfo, 1)
	} else {
		b.add(f.info, 1)
	}
	addKnown(b, f.speed, catalog.GigatransfersPerSecond.ToBase(nic.speed))
	addKnown(b, f.width, float64(nic.width))
	addKnown(b, f.maxSpeed, catalog.GigatransfersPerSecond.ToBase(nic.maxSpeed))
	addKnown(b, f.maxWidth, float64(nic.maxWidth))
	addKnown(b, f.bandwidth, linkBandwidth(nic.speed, nic.width))
	if above && !f.virtual && !notional(nic) {
		v := judge(nic, port)
		addKnown(b, f.expectedSpeed, catalog.GigatransfersPerSecond.ToBase(v.speed))
		addKnown(b, f.expectedWidth, float64(v.width))
		addAnswer(b, f.degraded, v.degraded)
		addAnswer(b, f.limit, v.limited)
		f.readPath(r, b, nic)
	}
	for _, aer := range f.aer {
		aer.read(r, b)
	}
}

// readPath finds the slowest link between the NIC and the root port; of equal
// ones the one nearest to the NIC. With a link of unknown bandwidth the slowest
// one is not known either. Both ends of a link run alike, so the lower one is
// asked.
func (f *pcieFunction) readPath(r *reading, b *batch, nic linkEnd) {
	slowest, hop := linkBandwidth(nic.speed, nic.width), f.hops[0]
	for i, out := range f.hops[1:] {
		uplink := f.ends[2*(i+1)].current(r)
		if bandwidth := linkBandwidth(uplink.speed, uplink.width); bandwidth < slowest {
			slowest, hop = bandwidth, out
		}
	}
	addKnown(b, hop, slowest)
}

// addKnown adds a value of which zero means that it is not known.
func addKnown(b *batch, s *node.Series, value float64) {
	if value != 0 {
		b.add(s, value)
	}
}

func addAnswer(b *batch, s *node.Series, a answer) {
	if a != unknown {
		b.addBool(s, a == yes)
	}
}

// pcieEnd is one end of a link: the NIC's function, or a port of a switch or
// of the root complex.
type pcieEnd struct {
	address string
	vendor  string
	dir     *host.Dir             // nil if it could not be opened
	files   map[string]*attribute // those opened so far
}

func openPCIeEnd(pciPath string, d *host.Door) *pcieEnd {
	e := &pcieEnd{address: path.Base(pciPath), files: map[string]*attribute{}}
	if vendor, err := d.Read(path.Join(pciPath, "vendor")); err == nil {
		e.vendor = vendor
	}
	if dir, err := d.OpenDir(pciPath); err == nil {
		e.dir = dir
	}
	return e
}

// file returns a kept file of the end, nil if there can be none.
func (e *pcieEnd) file(name string) *attribute {
	if e.files[name] == nil && e.dir != nil {
		e.files[name] = &attribute{file: e.dir.File(name), passing: passing[name]}
	}
	return e.files[name]
}

func (e *pcieEnd) aer(device, pci, end string) []*aerFile {
	var files []*aerFile
	for _, s := range aerSeverities {
		files = append(files, &aerFile{
			attribute: e.file(s.file), device: device, pci: pci, end: end, sev: s.severity, out: map[string]*node.Series{},
		})
	}
	return files
}

// current reads how the link runs.
func (e *pcieEnd) current(r *reading) linkEnd {
	var l linkEnd
	l.speed, _ = parseLinkSpeed(r.text(e.file("current_link_speed")))
	width := r.text(e.file("current_link_width"))
	l.width, _ = parseLinkWidth(width)
	if lanes, err := strconv.Atoi(width); err == nil && lanes == 0 {
		l.noLink = true
	}
	return l
}

// read reads how the link runs and how it could.
func (e *pcieEnd) read(r *reading) linkEnd {
	l := e.current(r)
	l.maxSpeed, _ = parseLinkSpeed(r.text(e.file("max_link_speed")))
	l.maxWidth, _ = parseLinkWidth(r.text(e.file("max_link_width")))
	return l
}

func (e *pcieEnd) close() {
	for _, a := range e.files {
		a.file.Close()
	}
	if e.dir != nil {
		e.dir.Close()
	}
}
