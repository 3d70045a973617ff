package capture

import (
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kinds of what is replaced, in the order in which they are reported.
const (
	kindGUID   = "GUID"
	kindGID    = "GID or IPv6 address"
	kindIPv4   = "IPv4 address"
	kindMAC    = "MAC address"
	kindHost   = "host name"
	kindSerial = "vital product data (serial number)"
)

var kinds = [...]string{kindGUID, kindGID, kindIPv4, kindMAC, kindHost, kindSerial}

// anonymiser replaces what identifies a machine or its cards. The same original
// always gets the same replacement, so that what was equal stays equal. It
// knows originals only in memory.
type anonymiser struct {
	raw      bool
	replaced map[string]map[string]int // by kind and original: which one it is
	places   map[string]int            // by kind: how often
	hosts    []string                  // names to replace wherever they are
	host     *regexp.Regexp            // any of them
}

func newAnonymiser(raw bool, hosts []string) *anonymiser {
	a := &anonymiser{raw: raw, replaced: map[string]map[string]int{}, places: map[string]int{}}
	for _, name := range hosts {
		a.addHost(name)
	}
	return a
}

// number counts an original and returns which one of its kind it is, from 1.
func (a *anonymiser) number(kind, original string) int {
	a.places[kind]++
	if a.replaced[kind] == nil {
		a.replaced[kind] = map[string]int{}
	}
	n := a.replaced[kind][original]
	if n == 0 {
		n = len(a.replaced[kind]) + 1
		a.replaced[kind][original] = n
	}
	return n
}

// addHost has a name replaced wherever it stands alone. Very short ones and
// numbers would hit what is no name.
func (a *anonymiser) addHost(name string) {
	name = strings.ToLower(name)
	if short, _, domain := strings.Cut(name, "."); domain {
		a.addHost(short)
	}
	if len(name) < 3 || strings.Trim(name, "0123456789.") == "" || name == "localhost" || vendorWord(name) || slices.Contains(a.hosts, name) {
		return
	}
	a.hosts = append(a.hosts, name)
	// The longest first: a name may begin with another one and a dot.
	slices.SortFunc(a.hosts, func(x, y string) int { return len(y) - len(x) })
	quoted := make([]string, len(a.hosts))
	for i, host := range a.hosts {
		quoted[i] = regexp.QuoteMeta(host)
	}
	a.host = regexp.MustCompile(`(?i)(^|[^0-9a-z_-])(` + strings.Join(quoted, "|") + `)($|[^0-9a-z_-])`)
}

// hostName replaces a host's name, with its domain or without.
func (a *anonymiser) hostName(original string) string {
	key, _, _ := strings.Cut(strings.ToLower(original), ".")
	return fmt.Sprintf("host-%d", a.number(kindHost, key))
}

// learn takes the host's name from a device's description, before anything is
// replaced.
func (a *anonymiser) learn(name, text string) {
	if path.Base(name) == "node_desc" && !a.raw {
		if host := describedHost(name, text); !strings.ContainsAny(host, " \t\n") {
			a.addHost(host)
		}
	}
}

// describedHost returns what of a device's description is no name of a device
// or vendor: rdma-ndd writes "%h %d", the host and the device.
func describedHost(name, text string) string {
	text = strings.TrimSpace(text)
	if device := path.Base(path.Dir(name)); text == device {
		return ""
	} else if host, ok := strings.CutSuffix(text, " "+device); ok {
		return strings.TrimSpace(host)
	}
	words := strings.Fields(text)
	if len(words) > 1 && adapter.MatchString(words[len(words)-1]) {
		return strings.Join(words[:len(words)-1], " ")
	}
	for _, word := range words {
		if !vendorWord(word) {
			return text
		}
	}
	return ""
}

// adapter is how descriptions number adapters when they do not name them.
var adapter = regexp.MustCompile(`^(HCA-|[a-z0-9]+_)[0-9]+$`)

// vendorWords are those of which drivers and firmware make the description that
// a device has until it gets another one.
var vendorWords = strings.Fields(`
	mellanox technologies nvidia connect-x infinihost infiniscale bluefield
	broadcom netxtreme-c/e emulex oneconnect intel corporation omni-path qlogic
	chelsio huawei hisilicon amazon elastic fabric adapter microsoft azure
	hca roce rdma infiniband driver device software iwarp stack rxe siw usnic
	mana efa erdma ionic irdma hfi hns`)

// model matches models: MT4129, ConnectX7, ConnectX-6.
var model = regexp.MustCompile(`^(?i:mt[0-9]+|connectx-?[0-9]*|hfi1|hns)(_[0-9]+)?$`)

func vendorWord(word string) bool {
	return slices.Contains(vendorWords, strings.ToLower(word)) || model.MatchString(word)
}

// name replaces addresses in the names of devices and interfaces: udev forms
// rocex525400c0fe123455 of a GUID and enx525400123456 of a MAC address.
func (a *anonymiser) name(name string) string {
	if a.raw || !strings.Contains(name, "x") {
		return name
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if m := addressName.FindStringSubmatch(part); m != nil {
			parts[i] = m[1] + a.digits(m[2])
		}
	}
	return strings.Join(parts, "/")
}

var (
	addressName    = regexp.MustCompile(`^([a-z]+x)([0-9a-f]{16}|[0-9a-f]{12})$`)
	addressInWords = regexp.MustCompile(`\b([a-z]+x)([0-9a-f]{16}|[0-9a-f]{12})\b`)
)

func (a *anonymiser) digits(original string) string {
	kind := kindGUID
	if len(original) == 12 {
		kind = kindMAC
	}
	return fmt.Sprintf("02%0*x", len(original)-2, a.number(kind, original))
}

// fixed are files whose words the program itself understands, and those with
// versions, which look like IPv4 addresses.
var fixed = map[string]bool{
	"fw_ver": true, "hw_rev": true, "board_id": true, "hca_type": true, "node_type": true,
	"link_layer": true, "state": true, "phys_state": true, "rate": true,
	"current_link_speed": true, "max_link_speed": true,
}

// text replaces what identifies in the content of a file.
func (a *anonymiser) text(name, text string) string {
	base := path.Base(name)
	switch {
	case a.raw || fixed[base] || strings.HasPrefix(text, "errno:"):
		return text
	case base == "vpd":
		return a.vpd(text)
	case base == "node_desc":
		if host := describedHost(name, text); host != "" {
			text = strings.Replace(text, host, a.hostName(host), 1)
		}
	}
	// Counters and other numbers are most of all files.
	if strings.Trim(text, "0123456789\n") == "" {
		return text
	}
	text = a.addresses(text)
	if a.host != nil && strings.HasPrefix(name, "sys/") && base != "node_desc" {
		text = a.host.ReplaceAllStringFunc(text, func(match string) string {
			m := a.host.FindStringSubmatch(match)
			return m[1] + a.hostName(m[2]) + m[3]
		})
	}
	return text
}

// vpd keeps of the vital product data only by what the fabric manager's devices
// are known.
func (a *anonymiser) vpd(text string) string {
	a.number(kindSerial, text)
	const managed = "SW_MNG"
	if strings.Contains(text, managed) {
		return managed + "\n"
	}
	return "\n"
}

var (
	hexGUID   = regexp.MustCompile(`\b0x[0-9a-fA-F]{16}\b`)
	addressy  = regexp.MustCompile(`[0-9a-fA-F]*:[0-9a-fA-F:]*(?:\d+\.\d+\.\d+\.\d+)?`)
	dotted    = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	hardware  = regexp.MustCompile(`^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5,}$`)
	colonGUID = regexp.MustCompile(`^[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){3}$`)
)

func (a *anonymiser) addresses(text string) string {
	if strings.Contains(text, ":") {
		text = addressy.ReplaceAllStringFunc(text, a.colons)
	}
	if strings.Contains(text, "0x") {
		text = hexGUID.ReplaceAllStringFunc(text, func(s string) string { return "0x" + strings.ReplaceAll(a.guid(s[2:]), ":", "") })
	}
	if strings.Contains(text, "x") {
		text = addressInWords.ReplaceAllStringFunc(text, func(s string) string {
			m := addressInWords.FindStringSubmatch(s)
			return m[1] + a.digits(m[2])
		})
	}
	if strings.Contains(text, ".") {
		text = dotted.ReplaceAllStringFunc(text, func(s string) string {
			if ip, err := netip.ParseAddr(s); err == nil {
				return a.ip(ip, s)
			}
			return s
		})
	}
	return text
}

// colons replaces an address that is written with colons.
func (a *anonymiser) colons(s string) string {
	switch {
	case colonGUID.MatchString(s):
		return a.guid(s)
	case hardware.MatchString(s):
		if strings.Trim(s, "0:") == "" || strings.Trim(strings.ToLower(s), "f:") == "" {
			return s // nobody's
		}
		b := []byte("02" + strings.Repeat(":00", strings.Count(s, ":")))
		n := fmt.Sprintf("%04x", a.number(kindMAC, strings.ToLower(strings.ReplaceAll(s, ":", "")))&0xffff)
		copy(b[len(b)-5:], n[:2])
		copy(b[len(b)-2:], n[2:])
		return string(b)
	}
	if ip, err := netip.ParseAddr(s); err == nil {
		return a.ip(ip, s)
	}
	return s
}

// guid replaces a GUID, with colons or without. One of zeros is none.
func (a *anonymiser) guid(s string) string {
	key := strings.ToLower(strings.ReplaceAll(s, ":", ""))
	if strings.Trim(key, "0") == "" {
		return s
	}
	n := a.number(kindGUID, key)
	return fmt.Sprintf("0200:0000:%04x:%04x", n>>16&0xffff, n&0xffff)
}

// ip replaces an address by one of those that are set aside for documents and
// benchmarks (RFC 3849, RFC 2544). An IPv4 address keeps its identity inside a
// GID. Addresses that mean the same everywhere stay.
func (a *anonymiser) ip(ip netip.Addr, written string) string {
	bare := ip.Unmap()
	if bare.IsUnspecified() || bare.IsLoopback() || bare.IsMulticast() {
		return written
	}
	var other netip.Addr
	if bare.Is4() {
		n := a.number(kindIPv4, bare.String())
		other = netip.AddrFrom4([4]byte{198, 18 + byte(n>>16&1), byte(n >> 8), byte(n)})
		if !ip.Is4() {
			other = netip.AddrFrom16(other.As16())
		}
	} else {
		n := a.number(kindGID, bare.String())
		b := [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 14: byte(n >> 8), 15: byte(n)}
		if bare.IsLinkLocalUnicast() {
			copy(b[:4], []byte{0xfe, 0x80, 0, 0})
		}
		other = netip.AddrFrom16(b)
	}
	if strings.Count(written, ":") == 7 {
		return expanded(other)
	}
	return other.String()
}

// expanded writes an IPv6 address as sysfs writes GIDs, all eight groups.
func expanded(ip netip.Addr) string {
	if ip.Is4In6() {
		b := ip.As16()
		return fmt.Sprintf("0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x", b[12], b[13], b[14], b[15])
	}
	return ip.StringExpanded()
}

// Replaced says how much of one kind was replaced.
type Replaced struct {
	Kind     string
	Distinct int // originals
	Places   int // where they were
}

// report lists what was replaced.
func (a *anonymiser) report() []Replaced {
	var all []Replaced
	for _, kind := range kinds {
		if n := len(a.replaced[kind]); n > 0 {
			all = append(all, Replaced{kind, n, a.places[kind]})
		}
	}
	return all
}
