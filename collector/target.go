package collector

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// target is an RDMA device as the sources see it.
type target struct {
	name     string
	path     string // of its class directory
	driver   string // RDMA driver, or what the PCI function is bound to if unknown
	page     *catalog.Page
	function string // pf, vf, sf or virtual; "" if not known
	device   string // resolved path of the device it is on, "" if there is none
	pciPath  string // of the PCI function above that
	identity identity
	ports    []*port
	memory   *memory
	rawNames *regexp.Regexp // ethtool statistics to export unmapped
}

// identity is what only describes the device. Every part may be missing.
type identity struct {
	firmware, boardID, hcaType, hwRev string
	nodeType, nodeGUID, sysGUID, desc string
	numaNode, parent, kind            string
}

// port is a port of a device, or the port of a bond's member, which has a
// network interface and counters of its own but no RDMA device.
type port struct {
	number    string // "1"; for a bond member "1/" and its interface
	onDevice  bool   // has a directory in sysfs
	physical  bool   // physical counters are attributed to it
	kind      string
	linkLayer string
	netdev    string
	physName  string // phys_port_name of the interface: p0, pf0vf3
	bond      string
	members   []string
	pciPath   string // of the PCI function, or of the one its interface is on
}

func (p *port) ethernet() bool   { return p.linkLayer == "Ethernet" }
func (p *port) infiniband() bool { return p.linkLayer == "InfiniBand" }

// shared reports whether the physical counters in the port's own directory are
// those of another port: the PF's or the uplink's. A bond's are nobody else's,
// though those of its interfaces belong to its members.
func (p *port) shared() bool {
	return p.kind == "vf" || p.kind == "sf" || p.kind == "representor" || p.kind == "plane"
}

var bdf = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// discover finds out what a device is. Nothing about it is mandatory: a device
// of which nothing can be read is still a device with a name.
func discover(d *host.Door, name string) *target {
	t := &target{name: name, path: path.Join("class/infiniband", name)}
	t.driver = softwareDriver(d, t.path)
	if t.driver == "" {
		if device, err := d.Resolve(path.Join(t.path, "device")); err == nil {
			t.device, t.pciPath = device, nearestPCI(device)
		}
		t.driver = boundDriver(d, t.device, t.pciPath)
	}
	if t.page = catalog.ForDriver(t.driver); t.page != nil {
		t.driver = t.page.Driver
	}
	t.function = function(d, t)
	t.identity = readIdentity(d, t)
	t.ports = findPorts(d, t)
	return t
}

// nearestPCI cuts a device path after its last component that is a PCI
// address: subfunctions sit below the PCI function on the auxiliary bus.
func nearestPCI(devicePath string) string {
	for p := devicePath; p != "." && p != "/"; p = path.Dir(p) {
		if bdf.MatchString(path.Base(p)) {
			return p
		}
	}
	return ""
}

func function(d *host.Door, t *target) string {
	switch {
	case t.page != nil && t.page.Software:
		return "virtual"
	case t.pciPath == "":
		return ""
	case t.device != t.pciPath:
		return "sf"
	case d.Exists(path.Join(t.pciPath, "physfn")):
		return "vf"
	}
	return "pf"
}

// part reports whether the device is a part of a PCI function that has the
// physical port.
func (t *target) part() bool { return t.function == "vf" || t.function == "sf" }

// boundDriver reads the driver from the driver link, never from the device's
// name, which udev rules change.
func boundDriver(d *host.Door, paths ...string) string {
	for _, p := range paths {
		if p == "" {
			continue
		}
		if driver, err := d.Resolve(path.Join(p, "driver")); err == nil {
			return path.Base(driver)
		}
	}
	return ""
}

// softwareDriver recognises the two drivers without hardware, "" for others.
// Only rxe has an attribute parent (drivers/infiniband/sw/rxe/rxe_verbs.c), and
// some kernels show its interface's PCI function as its device. Of what has no
// device at all, siw is iWARP and calls itself an RNIC.
func softwareDriver(d *host.Door, class string) string {
	if d.Exists(path.Join(class, "parent")) {
		return "rxe"
	}
	if !d.Exists(path.Join(class, "device")) {
		if nodeType, err := d.Read(path.Join(class, "node_type")); err == nil && strings.HasPrefix(nodeType, "4") {
			return "siw"
		}
	}
	return ""
}

func readIdentity(d *host.Door, t *target) identity {
	text := func(name string) string {
		s, err := d.Read(path.Join(t.path, name))
		if err != nil {
			return ""
		}
		return printable(s)
	}
	id := identity{
		firmware: text("fw_ver"), boardID: text("board_id"), hcaType: text("hca_type"), hwRev: text("hw_rev"),
		nodeType: text("node_type"), nodeGUID: text("node_guid"), sysGUID: text("sys_image_guid"), desc: text("node_desc"),
	}
	if t.pciPath != "" {
		if numa, err := d.Read(path.Join(t.pciPath, "numa_node")); err == nil && numa != "-1" {
			id.numaNode = printable(numa)
		}
	}
	if rdma, err := d.RDMADevice(t.name); err == nil {
		id.kind, id.parent = rdma.Type, rdma.Parent
	}
	return id
}

// printable makes text from the machine fit for a label: valid UTF-8 without
// control characters and blanks at its ends.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

func findPorts(d *host.Door, t *target) []*port {
	names, err := d.List(path.Join(t.path, "ports"))
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(n string) bool { _, err := strconv.ParseUint(n, 10, 32); return err != nil })
	slices.SortFunc(names, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })

	netdevs := newNetdevFinder(d, t, len(names))
	var ports []*port
	for _, number := range names {
		p := &port{number: number, onDevice: true, pciPath: t.pciPath}
		if layer, err := d.Read(path.Join(t.path, "ports", number, "link_layer")); err == nil {
			p.linkLayer = printable(layer)
		}
		p.netdev = netdevs.find(p)
		if p.pciPath == "" { // a software device runs on the function of its interface
			p.pciPath = netdevPCI(d, p.netdev)
		}
		describeNetdev(d, p)
		p.kind = portKind(t, p)
		// A software device has the counters of its interface, unless that
		// belongs to an RDMA device of its own.
		p.physical = p.kind == "physical" || p.kind == "virtual" && !d.Exists(path.Join(p.pciPath, "infiniband"))
		ports = append(ports, p)
		ports = append(ports, bondMembers(d, p)...)
	}
	return ports
}

func describeNetdev(d *host.Door, p *port) {
	if p.netdev == "" {
		return
	}
	dir := path.Join("class/net", p.netdev)
	if name, err := d.Read(path.Join(dir, "phys_port_name")); err == nil {
		p.physName = printable(name)
	}
	if p.members = bondMemberNames(d, p.netdev); len(p.members) > 0 {
		p.bond = p.netdev
	} else {
		p.bond, _ = bondOf(d, p.netdev)
	}
}

// representor matches the phys_port_name of an interface that stands for a
// VF, SF or host function in switchdev mode, as include/net/devlink.h forms it.
var representor = regexp.MustCompile(`^(c\d+)?pf\d+(vf\d+|sf\d+)?$`)

func portKind(t *target, p *port) string {
	switch {
	case t.identity.kind == "smi":
		return "plane"
	case t.function == "virtual", t.part():
		return t.function
	case representor.MatchString(p.physName):
		return "representor"
	case len(p.members) > 0:
		return "bond"
	}
	return "physical"
}

// netdevPCI returns the path of the PCI function of an interface, "" if it has
// none.
func netdevPCI(d *host.Door, netdev string) string {
	if netdev == "" {
		return ""
	}
	device, err := d.Resolve(path.Join("class/net", netdev, "device"))
	if err != nil {
		return ""
	}
	return nearestPCI(device)
}

// bondMembers makes a port of each interface of a bond: link and physical
// counters are theirs, while the RDMA device has only the sum of its own.
func bondMembers(d *host.Door, p *port) []*port {
	var members []*port
	for _, netdev := range p.members {
		m := &port{number: p.number + "/" + netdev, physical: true, kind: "bond_member", linkLayer: "Ethernet", netdev: netdev, bond: p.bond, pciPath: netdevPCI(d, netdev)}
		if name, err := d.Read(path.Join("class/net", netdev, "phys_port_name")); err == nil {
			m.physName = printable(name)
		}
		members = append(members, m)
	}
	return members
}
