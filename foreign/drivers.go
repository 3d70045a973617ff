package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// findDrivers settles the driver of every device. Where only the names of its
// counters tell it, that is said.
func (f *fit) findDrivers() {
	guessed := map[string][]string{}
	var unknown []string
	for _, device := range f.names(rdmaDevice) {
		if byLID(device) {
			continue
		}
		if told := f.toldDriver(device); told != "" {
			f.put(rdmaDevice, device, factDriver, told)
			continue
		}
		if page := f.driverOf(device); page != nil {
			if !f.certain(device) {
				guessed[page.Driver] = append(guessed[page.Driver], device)
			}
			f.put(rdmaDevice, device, factDriver, bound(page))
			if page.Software {
				f.put(rdmaDevice, device, factSoftware, page.Driver)
			}
			continue
		}
		if f.countsItself(device) {
			unknown = append(unknown, device)
		}
	}
	for _, driver := range slices.Sorted(maps.Keys(guessed)) {
		f.assume("by the names of the counters, %s has the driver %s", strings.Join(guessed[driver], ", "), driver)
	}
	if unknown != nil {
		f.assume("the driver of %s is not known; what its hw_counters mean is not either", strings.Join(unknown, ", "))
	}
}

// certain reports whether the name or the type of a device tells its driver.
func (f *fit) certain(device string) bool {
	return f.all.get(rdmaDevice, device, factSoftware) != "" || byType(f.all.get(rdmaDevice, device, "hca_type")) != nil || byName(device) != nil
}

func (f *fit) countsItself(device string) bool {
	for k := range f.all {
		if k.kind == rdmaDevice && k.name == device && strings.Contains(k.file, "hw_counters/") {
			return true
		}
	}
	return false
}

// toldDriver is the driver that a text names.
func (f *fit) toldDriver(device string) string {
	if d := f.all.get(rdmaDevice, device, factDriver); d != "" {
		return d
	}
	if at := f.all.get(rdmaDevice, device, factFunction); at != "" {
		if d := f.all.get(pciFunction, at, factDriver); d != "" {
			return d
		}
	}
	for _, netdev := range f.netdevs(device) {
		if d := f.all.get(netInterface, netdev, factDriver); d != "" && f.all.get(rdmaDevice, device, factSoftware) == "" {
			return d
		}
	}
	return ""
}

// driverOf finds the page of a device.
func (f *fit) driverOf(device string) *catalog.Page {
	if f.all.get(rdmaDevice, device, factSoftware) != "" {
		return catalog.ForDriver("rxe")
	}
	if p := catalog.ForDriver(f.toldDriver(device)); p != nil {
		return p
	}
	if p := byType(f.all.get(rdmaDevice, device, "hca_type")); p != nil {
		return p
	}
	if p := byName(device); p != nil {
		return p
	}
	n, found := knownNames(), map[string]bool{}
	for k := range f.all {
		if i := strings.Index(k.file, "hw_counters/"); k.kind == rdmaDevice && k.name == device && i >= 0 {
			found[k.file[i+len("hw_counters/"):]] = true
		}
	}
	if s := best(n.pages, n.hw, found); s.hits > 0 && (s.hits > s.second || s.alike) {
		return s.page
	}
	for _, netdev := range f.netdevs(device) {
		if page := f.netdevDriver(netdev); page != nil {
			return page
		}
	}
	return nil
}

// byType knows the types that Mellanox gives its cards: MT4099, MT4100 and
// MT4103 are ConnectX-3 (drivers/net/ethernet/mellanox/mlx4/main.c), older
// numbers have five digits; all later ones are mlx5.
func byType(hca string) *catalog.Page {
	switch number, ok := strings.CutPrefix(hca, "MT"); {
	case !ok || !isNumber(number):
		return nil
	case number == "4099" || number == "4100" || number == "4103" || len(number) == 5 && number[0] == '2':
		return catalog.ForDriver("mlx4")
	default:
		return catalog.ForDriver("mlx5")
	}
}

// prefixes are the names that drivers give their devices before udev renames
// them (the name passed to ib_register_device in drivers/infiniband).
var prefixes = []struct{ prefix, driver string }{
	{"mlx5_", "mlx5"}, {"mlx4_", "mlx4"}, {"bnxt_re", "bnxt_re"}, {"irdma", "irdma"}, {"i40iw", "i40iw"}, {"rxe", "rxe"}, {"siw", "siw"},
	{"hfi1_", "hfi1"}, {"qib", "qib"}, {"cxgb4_", "cxgb4"}, {"qedr", "qedr"}, {"hns_", "hns"}, {"erdma_", "erdma"}, {"efa_", "efa"},
	{"ionic_", "ionic"}, {"mana_", "mana"}, {"ocrdma", "ocrdma"}, {"usnic_", "usnic"}, {"mthca", "mthca"}, {"vmw_pvrdma", "vmw_pvrdma"},
}

func byName(device string) *catalog.Page {
	for _, p := range prefixes {
		if strings.HasPrefix(device, p.prefix) {
			return catalog.ForDriver(p.driver)
		}
	}
	return nil
}

// netdevDriver finds the page by which the statistics of an interface are read,
// nil if none has rows for them.
func (f *fit) netdevDriver(netdev string) *catalog.Page {
	if told := f.all.get(netInterface, netdev, factDriver); told != "" {
		return catalog.ForDriver(told)
	}
	n, found := knownNames(), map[string]bool{}
	for k := range f.all {
		if name, ok := strings.CutPrefix(k.file, factStat); ok && k.kind == netInterface && k.name == netdev {
			found[name] = true
		}
	}
	// Every driver has some names that another has too: of 188 names of bnx2x,
	// which has no page, qedr knows 8 and bnxt_re 4.
	s := best(n.pages, n.eth, found)
	if s.hits < 3*s.second || s.hits < 3 && s.hits < len(found) {
		return nil
	}
	return s.page
}
