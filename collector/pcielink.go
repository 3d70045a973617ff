package collector

import (
	"path"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// linkEnd is what one end of a PCIe link says of it. Zero is unknown.
type linkEnd struct {
	speed, maxSpeed float64 // GT/s
	width, maxWidth int     // lanes
	noLink          bool    // says outright that it has no link
}

// parseLinkSpeed reads current_link_speed and max_link_speed: "16.0 GT/s PCIe",
// before Linux 5.7 "16 GT/s". A speed that the kernel does not know, or a
// device that does not answer, is "Unknown" or "Unknown speed".
func parseLinkSpeed(text string) (gigatransfers float64, err error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	if unit != "GT/s" && !strings.HasPrefix(unit, "GT/s ") {
		return 0, host.ErrNotNumber
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v <= 1024) {
		return 0, host.ErrNotNumber
	}
	return v, nil
}

// widest is the widest link that PCI Express has.
const widest = 32

// parseLinkWidth reads current_link_width and max_link_width. Not a width are
// 0 (no link, or a VF), 63 (all ones: the device does not answer) and 255 (the
// kernel's word for a capability it could not read).
func parseLinkWidth(text string) (lanes int, err error) {
	v, err := host.ParseCounter([]byte(text))
	if err != nil || v == 0 || v > widest {
		return 0, host.ErrNotNumber
	}
	return int(v), nil
}

// linkBandwidth is what a link carries in one direction after line coding, in
// bytes per second: PCIE_SPEED2MBS_ENC in drivers/pci/pci.h. 0 if unknown.
func linkBandwidth(gigatransfers float64, lanes int) float64 {
	raw := catalog.GigabitsPerSecond.ToBase(gigatransfers * float64(lanes))
	switch {
	case gigatransfers <= 5: // generations 1 and 2: 8b/10b
		return raw * 8 / 10
	case gigatransfers <= 32: // 3 to 5: 128b/130b
		return raw * 128 / 130
	}
	return raw // 6: FLITs, of which the kernel deducts nothing
}

// verdict compares a NIC's link with what its two ends could do. Zero and
// unknown mean that an end does not say.
type verdict struct {
	speed             float64 // expected, GT/s
	width             int     // expected, lanes
	degraded, limited answer
}

func judge(nic, port linkEnd) verdict {
	v := verdict{speed: lower(nic.maxSpeed, port.maxSpeed), width: lower(nic.maxWidth, port.maxWidth)}
	v.degraded = either(below(nic.speed, v.speed), below(nic.width, v.width))
	v.limited = either(below(v.speed, nic.maxSpeed), below(v.width, nic.maxWidth))
	return v
}

// lower is the lower of two values, unknown if one of them is.
func lower[T int | float64](a, b T) T {
	if a == 0 || b == 0 {
		return 0
	}
	return min(a, b)
}

func below[T int | float64](value, than T) answer {
	switch {
	case value == 0 || than == 0:
		return unknown
	case value < than:
		return yes
	}
	return no
}

// either is yes as soon as one answer is, no only if both are.
func either(a, b answer) answer {
	switch {
	case a == yes || b == yes:
		return yes
	case a == no && b == no:
		return no
	}
	return unknown
}

// emulators make the PCIe ports of virtual machines, which show links that do
// not exist. That Amazon's do was seen on p5 instances: the switch above a GPU
// and its EFA devices runs at 16 GT/s x8, they at 32 GT/s x16.
var emulators = map[string]bool{
	"0x1414": true, // Microsoft
	"0x15ad": true, // VMware
	"0x1af4": true, // virtio
	"0x1b36": true, // QEMU
	"0x1d0f": true, // Amazon
	"0x5853": true, // Xen
}

// hyperV recognises the PCI buses that Hyper-V and Azure give their guests:
// they hang below the ACPI device of the VMBus, not below a host bridge.
func hyperV(pciPath string) bool {
	for p := pciPath; p != "." && p != "/"; p = path.Dir(p) {
		if base := path.Base(p); strings.HasPrefix(base, "VMBUS:") || strings.HasPrefix(base, "MSFT1000:") {
			return true
		}
	}
	return false
}

// emulated recognises an emulated slot by what its two ends say. above tells
// whether there is a port above the NIC at all.
func emulated(nic, port linkEnd, above bool) bool {
	switch {
	case nic.noLink: // a VF, whose PF only the host of the machine sees
		return true
	case !above: // a link needs another end
		return nic.width != 0 || nic.speed != 0
	}
	// No link runs faster than its port can.
	return below(port.maxSpeed, max(nic.speed, port.speed)) == yes ||
		below(port.maxWidth, max(nic.width, port.width)) == yes
}

// notional recognises a NIC inside the chipset, which has no lanes and says
// 2.5 GT/s x1 instead; i40e does not check the links of the X722 either
// (i40e_probe in drivers/net/ethernet/intel/i40e/i40e_main.c).
func notional(nic linkEnd) bool { return nic.maxSpeed == 2.5 && nic.maxWidth == 1 }
