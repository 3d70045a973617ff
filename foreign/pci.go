package foreign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// joinPCI finds the devices of the PCI functions that lspci shows. Where no
// text tells, as many devices as functions are joined in order; a function that
// is left stands for a device of its own.
func (f *fit) joinPCI() {
	free := f.freeFunctions()
	devices := f.devicesNowhere()
	if len(free) > 0 && len(free) == len(devices) {
		for i, at := range free {
			f.put(rdmaDevice, devices[i], factFunction, at)
			if bdf.MatchString(at) {
				f.assume("%s sits at %s: there are as many devices as functions, taken in order", devices[i], at)
			} else {
				f.assume("the PCIe link is that of %s", devices[i])
			}
		}
		free = nil
	} else if len(free) > 0 && len(devices) > 0 {
		f.assume("which of %s sits at which PCI address is not told; the links are shown as devices of their own", strings.Join(devices, ", "))
	}
	if len(free) > maxInvented {
		f.assume("of %d RDMA NICs that lspci shows the first %d are looked at", len(free), maxInvented)
		free = free[:maxInvented]
	}
	for i, at := range free {
		device := "pci-" + at
		if !bdf.MatchString(at) {
			device = "unnamed-pci" + strconv.Itoa(i)
			f.assume("a PCIe link without an address is taken for that of an RDMA NIC, %s", device)
		}
		f.put(rdmaDevice, device, factFunction, at)
	}
	f.giveAddresses()
	f.giveUpstream()
}

// maxInvented is how many devices are made for functions at most.
const maxInvented = 256

// freeFunctions are RDMA NICs that nothing is known to sit on.
func (f *fit) freeFunctions() []string {
	taken := map[string]bool{}
	for k, v := range f.all {
		if k.file == factFunction {
			taken[v] = true
		}
	}
	var free []string
	for _, at := range f.names(pciFunction) {
		if !taken[at] && f.isRDMA(at) {
			free = append(free, at)
		}
	}
	return free
}

// isRDMA tells functions of RDMA NICs from others. The lines of a link alone
// were pasted because it is one.
func (f *fit) isRDMA(at string) bool {
	class := f.all.get(pciFunction, at, factClass)
	if f.all.get(pciFunction, at, factVirtual) != "" {
		return false
	}
	if class == pasted {
		return f.all.get(pciFunction, at, "max_link_speed") != ""
	}
	if class == "Infiniband controller" || class == "Fabric controller" {
		return true
	}
	page := catalog.ForDriver(f.all.get(pciFunction, at, factDriver))
	return page != nil && !page.Software && (class == "Ethernet controller" || class == "Network controller")
}

// devicesNowhere are devices whose place is not known.
func (f *fit) devicesNowhere() []string {
	return slices.DeleteFunc(f.names(rdmaDevice), func(d string) bool {
		return f.all.get(rdmaDevice, d, factFunction) != "" || f.all.get(rdmaDevice, d, factSoftware) != "" || byLID(d)
	})
}

// giveAddresses gives functions without an address one that no machine has.
func (f *fit) giveAddresses() {
	bus := 1
	for _, at := range f.names(pciFunction) {
		if bdf.MatchString(at) {
			continue
		}
		address := fmt.Sprintf("ffff:%02x:00.0", bus%256)
		if bus++; bus > 255 {
			return
		}
		f.rename(pciFunction, at, address)
		if on := f.sitsAt(address); on != nil {
			f.assume("the PCI address of %s is not told: %s stands for it", strings.Join(on, ", "), address)
		}
	}
}

// sitsAt lists the devices on a function.
func (f *fit) sitsAt(address string) []string {
	var on []string
	for k, v := range f.all {
		if k.file == factFunction && v == address && k.kind == rdmaDevice {
			on = append(on, k.name)
		}
	}
	slices.Sort(on)
	return on
}

// giveUpstream finds the port above each function: that of the bridge whose bus
// it is on, else one that is as good as the function itself.
func (f *fit) giveUpstream() {
	bridges := map[string]string{}
	for _, at := range f.names(pciFunction) {
		if bus := f.all.get(pciFunction, at, factSecondary); bus != "" {
			bridges[at[:strings.IndexByte(at, ':')]+":"+bus] = at
		}
	}
	for _, at := range f.names(pciFunction) {
		if f.all.get(pciFunction, at, factPath) == "" && bdf.MatchString(at) {
			f.putPath(f.chain(at, bridges))
		}
	}
}

// linkFiles are what a PCI function tells of its link.
var linkFiles = []string{"current_link_speed", "current_link_width", "max_link_speed", "max_link_width"}

// chain lists a function and the ports above it.
func (f *fit) chain(at string, bridges map[string]string) []string {
	chain := []string{at}
	for len(chain) < 16 {
		top := chain[len(chain)-1]
		up := bridges[top[:strings.LastIndexByte(top, ':')]]
		if up == "" || slices.Contains(chain, up) {
			break
		}
		chain = append(chain, up)
	}
	if len(chain) == 1 && f.sitsAt(at) != nil && f.all.get(pciFunction, at, "max_link_speed") != "" {
		chain = append(chain, f.inventPort(at))
	}
	return chain
}

// putPath gives each member of a chain its place.
func (f *fit) putPath(chain []string) {
	root := chain[len(chain)-1]
	at := "pci" + root[:strings.LastIndexByte(root, ':')]
	for _, function := range slices.Backward(chain) {
		at += "/" + function
		f.put(pciFunction, function, factPath, at)
	}
}

// inventPort makes a port above a function. Without one the collectors take the
// link for one that a hypervisor made up.
func (f *fit) inventPort(at string) string {
	port := fmt.Sprintf("ffff:00:%02x.%d", f.ports%32, f.ports/32%8)
	f.ports++
	for _, file := range linkFiles {
		f.put(pciFunction, port, file, f.all.get(pciFunction, at, file))
	}
	f.assume("the port above %s is not told: it is taken to be able to do what %s can", at, at)
	return port
}
