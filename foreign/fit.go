package foreign

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// fit supplies what the texts leave out: which interface belongs to which
// device, which driver it has, at which place in the machine it sits. All that
// is not certain is noted.
type fit struct {
	all     sketch // of all readings
	renames []rename
	extra   sketch
	assumed []string
	useless map[subject]string // why nothing is made of it
	ports   int                // of switches, made up
}

type rename struct {
	kind     kind
	from, to string
}

func newFit(all sketch) *fit {
	f := &fit{all: all.clone(), extra: sketch{}, useless: map[subject]string{}}
	f.joinLIDs()
	f.joinFunctions()
	f.nameDevices()
	f.nameNetdevs()
	f.joinNetdevs()
	f.inventForNetdevs()
	f.joinPCI()
	f.findDrivers()
	return f
}

// apply brings the facts of one reading into the form that was settled on.
func (f *fit) apply(s sketch) sketch {
	s = s.clone()
	for _, r := range f.renames {
		s.rename(r.kind, r.from, r.to)
	}
	for k, v := range f.extra {
		if s[k] == "" || strings.HasPrefix(s[k], "?") {
			s[k] = v
		}
	}
	return s
}

func (f *fit) rename(k kind, from, to string) {
	f.renames = append(f.renames, rename{k, from, to})
	f.all.rename(k, from, to)
	f.extra.rename(k, from, to)
}

func (f *fit) put(k kind, name, file, value string) {
	f.all.set(k, name, file, value)
	f.extra.set(k, name, file, value)
}

func (f *fit) assume(format string, args ...any) {
	f.assumed = append(f.assumed, fmt.Sprintf(format, args...))
}

// names lists subjects of a kind, mlx5_2 before mlx5_10.
func (f *fit) names(k kind) []string {
	return slices.SortedFunc(maps.Keys(f.all.subjects(k)), natural)
}

var digits = regexp.MustCompile(`\d+`)

func natural(a, b string) int {
	pad := func(s string) string {
		return digits.ReplaceAllStringFunc(s, func(n string) string { return strings.Repeat("0", max(0, 12-len(n))) + n })
	}
	return strings.Compare(pad(a), pad(b))
}

// netdevs lists the interfaces of a device by port.
func (f *fit) netdevs(device string) map[string]string {
	found := map[string]string{}
	for k, v := range f.all {
		if port, ok := strings.CutPrefix(k.file, factNetdev); ok && k.kind == rdmaDevice && k.name == device {
			found[port] = v
		}
	}
	return found
}

// joinLIDs finds the device of counters that are told by LID only.
func (f *fit) joinLIDs() {
	for _, lid := range f.names(rdmaDevice) {
		if !byLID(lid) {
			continue
		}
		n, _ := strconv.Atoi(lid[3:])
		var of []string
		for k, v := range f.all {
			if k.kind == rdmaDevice && k.name != lid && !byLID(k.name) && strings.HasSuffix(k.file, "/lid") && hex(v) == hex(strconv.Itoa(n)) {
				of = append(of, k.name)
			}
		}
		if len(of) == 1 {
			f.rename(rdmaDevice, lid, of[0])
			continue
		}
		f.assume("the port with LID %d is shown as device %s; whether a NIC or a switch has it is not known", n, lid)
	}
}

func byLID(device string) bool {
	return strings.HasPrefix(device, "lid") && isNumber(device[3:])
}

// joinFunctions joins PCI functions that are known by what sits on them.
func (f *fit) joinFunctions() {
	for _, name := range f.names(pciFunction) {
		if !strings.HasPrefix(name, "?") {
			continue
		}
		for _, k := range []kind{rdmaDevice, netInterface} {
			if at := f.all.get(k, name[1:], factFunction); at != "" && at != name {
				f.rename(pciFunction, name, at)
			}
		}
	}
	for _, device := range f.names(rdmaDevice) {
		own := f.all.get(rdmaDevice, device, factFunction)
		for port, netdev := range f.netdevs(device) {
			at := f.all.get(netInterface, netdev, factFunction)
			switch {
			case at == "" || own == at:
			case own == "" && f.all.get(rdmaDevice, device, factSoftware) == "":
				f.put(rdmaDevice, device, factFunction, at)
			case strings.HasPrefix(at, "?"):
				f.rename(pciFunction, at, own)
			case strings.HasPrefix(own, "?"):
				f.rename(pciFunction, own, at)
			}
			_ = port
		}
	}
	f.joinByFunction()
}

// joinByFunction finds the interface that sits on the same function.
func (f *fit) joinByFunction() {
	for _, device := range f.names(rdmaDevice) {
		at := f.all.get(rdmaDevice, device, factFunction)
		if at == "" || len(f.netdevs(device)) > 0 {
			continue
		}
		var on []string
		for _, netdev := range f.names(netInterface) {
			if f.all.get(netInterface, netdev, factFunction) == at {
				on = append(on, netdev)
			}
		}
		if len(on) == 1 {
			f.put(rdmaDevice, device, factNetdev+"1", on[0])
		}
	}
}

// nameDevices gives devices without a name that of the only one there is, or
// one of our own.
func (f *fit) nameDevices() {
	var named, unnamed []string
	for _, device := range f.names(rdmaDevice) {
		if strings.HasPrefix(device, "?") {
			unnamed = append(unnamed, device)
		} else {
			named = append(named, device)
		}
	}
	if len(unnamed) == 1 && len(named) == 1 && !byLID(named[0]) {
		f.assume("counters without a device are those of %s, the only one that is named", named[0])
		f.rename(rdmaDevice, unnamed[0], named[0])
		return
	}
	for i, device := range unnamed {
		name := "unnamed" + strconv.Itoa(i)
		f.assume("the text does not name the device of some counters; it is shown as %s", name)
		f.rename(rdmaDevice, device, name)
	}
}

// nameNetdevs gives interfaces without a name one of our own.
func (f *fit) nameNetdevs() {
	unnamed := 0
	for _, netdev := range f.names(netInterface) {
		if strings.HasPrefix(netdev, "?") {
			f.rename(netInterface, netdev, "netdev"+strconv.Itoa(unnamed))
			unnamed++
		}
	}
}

// byPlace takes the place out of a name that udev made: rocep65s0f0 and
// enp65s0f0np0 sit at p65s0f0.
var byPlace = regexp.MustCompile(`^(?:en|roce|ib|rdma|iw)(P?\d*p\d+s\d+(?:f\d+)?)(?:n\w+)?$`)

func place65(name string) string {
	if m := byPlace.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// joinNetdevs finds the device of interfaces of which no text tells it.
func (f *fit) joinNetdevs() {
	devices, netdevs := f.freeDevices(), f.freeNetdevs()
	for _, netdev := range netdevs {
		for _, device := range devices {
			if at := place65(device); at != "" && at == place65(netdev) {
				f.put(rdmaDevice, device, factNetdev+"1", netdev)
				f.assume("%s is the interface of %s, as their names are of one place", netdev, device)
			}
		}
	}
	devices, netdevs = f.freeDevices(), f.freeNetdevs()
	if len(devices) != 1 || len(netdevs) != 1 || !f.alike(devices[0], netdevs[0]) {
		return
	}
	f.assume("%s belongs to %s: no other is left", netdevs[0], devices[0])
	f.put(rdmaDevice, devices[0], factNetdev+f.port(devices[0]), netdevs[0])
}

// port is the number of the only port that is known of a device.
func (f *fit) port(device string) string {
	if ports := f.all.ports(device); len(ports) == 1 {
		return ports[0]
	}
	return "1"
}

// alike reports whether statistics can be of a device's driver.
func (f *fit) alike(device, netdev string) bool {
	a, b := f.driverOf(device), f.netdevDriver(netdev)
	return a == nil || b == nil || a == b
}

// freeDevices are those that may have an interface of which nothing is known.
func (f *fit) freeDevices() []string {
	var free []string
	for _, device := range f.names(rdmaDevice) {
		infiniband := false
		for k, v := range f.all {
			infiniband = infiniband || k.kind == rdmaDevice && k.name == device && strings.HasSuffix(k.file, "/link_layer") && v == "InfiniBand"
		}
		if !infiniband && !byLID(device) && len(f.netdevs(device)) == 0 {
			free = append(free, device)
		}
	}
	return free
}

// freeNetdevs are those that no device has.
func (f *fit) freeNetdevs() []string {
	taken := map[string]bool{}
	for _, device := range f.names(rdmaDevice) {
		for _, netdev := range f.netdevs(device) {
			taken[netdev] = true
		}
	}
	return slices.DeleteFunc(f.names(netInterface), func(n string) bool { return taken[n] })
}

// inventForNetdevs makes a device for each interface that is left and whose
// counters mean something: the collectors begin at devices.
func (f *fit) inventForNetdevs() {
	for _, netdev := range f.freeNetdevs() {
		page := f.netdevDriver(netdev)
		if page == nil {
			f.useless[subject{netInterface, netdev}] = "no driver that rdmawatch knows has such statistics"
			if driver := f.all.get(netInterface, netdev, factDriver); driver != "" {
				f.useless[subject{netInterface, netdev}] = driver + " is no driver of which rdmawatch knows statistics"
			}
			continue
		}
		device := "rdma-" + netdev
		f.put(rdmaDevice, device, factNetdev+"1", netdev)
		f.put(rdmaDevice, device, "ports/1/link_layer", "Ethernet")
		f.put(rdmaDevice, device, factDriver, bound(page))
		f.assume("the RDMA device of %s is not told; it is shown as %s", netdev, device)
	}
}

// bound is the name under which the PCI function of a driver is bound.
func bound(p *catalog.Page) string {
	if len(p.Bound) > 0 {
		return p.Bound[0]
	}
	return p.Driver
}
