package collector

import (
	"path"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// netdevFinder maps the ports of a device to network interfaces, best way
// first: RDMA netlink, the interfaces of the first GIDs, the parent of a
// software device, the interfaces of the PCI function.
type netdevFinder struct {
	door   *host.Door
	t      *target
	ports  int
	linked map[string]string // by port number, from RDMA netlink
}

func newNetdevFinder(d *host.Door, t *target, ports int) *netdevFinder {
	f := &netdevFinder{d, t, ports, map[string]string{}}
	if links, err := d.RDMALinks(t.name); err == nil {
		for _, l := range links {
			f.linked[strconv.Itoa(l.Port)] = l.Netdev
		}
	}
	return f
}

func (f *netdevFinder) find(p *port) string {
	if name := f.linked[p.number]; name != "" {
		return f.lag(name)
	}
	if name := f.fromGIDs(p.number); name != "" {
		return f.lag(name)
	}
	if name, err := f.door.Read(path.Join(f.t.path, "parent")); err == nil && f.exists(name) {
		return name
	}
	return f.fromFunction(p)
}

func (f *netdevFinder) exists(netdev string) bool {
	return netdev != "" && f.door.Exists(path.Join("class/net", netdev))
}

// The first entries of the GID table belong to the port's own interface; those
// of VLANs and other uppers come later.
const firstGIDs = 4

func (f *netdevFinder) fromGIDs(number string) string {
	first := ""
	for i := range firstGIDs {
		name, err := f.door.Read(path.Join(f.t.path, "ports", number, "gid_attrs/ndevs", strconv.Itoa(i)))
		if err != nil || !f.exists(name) {
			continue
		}
		if f.ofDevice(name) {
			return name
		}
		if first == "" {
			first = name
		}
	}
	return first
}

func (f *netdevFinder) ofDevice(netdev string) bool {
	device, err := f.door.Resolve(path.Join("class/net", netdev, "device"))
	return err == nil && f.t.device != "" && device == f.t.device
}

// lag returns the bond of which netdev is a member if the RDMA device stands
// for the whole bond: its other members are then of the same driver and have no
// RDMA device.
func (f *netdevFinder) lag(netdev string) string {
	bond, members := bondOf(f.door, netdev)
	if len(members) < 2 {
		return netdev
	}
	driver := boundDriver(f.door, path.Join("class/net", netdev, "device"))
	for _, member := range members {
		device := path.Join("class/net", member, "device")
		if member != netdev && (f.door.Exists(path.Join(device, "infiniband")) || boundDriver(f.door, device) != driver) {
			return netdev
		}
	}
	return bond
}

// bondOf returns the bond that an interface is a member of, "" if it is of
// none, and all members. A bridge is a master too but has none.
func bondOf(d *host.Door, netdev string) (bond string, members []string) {
	master, err := d.Resolve(path.Join("class/net", netdev, "master"))
	if err != nil {
		return "", nil
	}
	bond = path.Base(master)
	if members = bondMemberNames(d, bond); len(members) == 0 {
		return "", nil
	}
	return bond, members
}

// bondMemberNames lists the interfaces of a bond, nothing for other interfaces.
func bondMemberNames(d *host.Door, netdev string) []string {
	members, err := d.Read(path.Join("class/net", netdev, "bonding/slaves"))
	if err != nil {
		return nil
	}
	return strings.Fields(members)
}

// fromFunction looks at the interfaces of the device's function. dev_port tells the
// port; it is not read on a function with one interface only. Representors are
// not the port's interface. (dev_id, the older way, must not be read: on IPoIB
// the kernel logs who did.)
func (f *netdevFinder) fromFunction(p *port) string {
	if f.t.device == "" {
		return ""
	}
	names, err := f.door.List(path.Join(f.t.device, "net"))
	if err != nil {
		return ""
	}
	var own []string
	for _, name := range names {
		if phys, err := f.door.Read(path.Join("class/net", name, "phys_port_name")); err == nil && representor.MatchString(phys) {
			continue
		}
		own = append(own, name)
	}
	if len(own) == 1 && f.ports == 1 {
		return own[0]
	}
	for _, name := range own {
		devPort, err := f.door.Read(path.Join("class/net", name, "dev_port"))
		if n, convErr := strconv.Atoi(devPort); err == nil && convErr == nil && strconv.Itoa(n+1) == p.number {
			return name
		}
	}
	return ""
}
