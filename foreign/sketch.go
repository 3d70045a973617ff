package foreign

import (
	"maps"
	"slices"
	"strings"
)

// kind is what a fact is about.
type kind uint8

const (
	rdmaDevice kind = iota
	netInterface
	pciFunction
)

// subject is one thing on the machine. An empty name is one that the text does
// not give; it begins with a question mark once several of these are told apart.
type subject struct {
	kind kind
	name string
}

// key names a fact: a file below the subject's directory in sysfs, or one of
// the facts below, which begin with @.
type key struct {
	subject
	file string
}

const (
	factDriver    = "@driver"
	factFunction  = "@function"  // PCI address of a device or an interface
	factSoftware  = "@software"  // a device without hardware
	factNetdev    = "@netdev/"   // and the port: its network interface
	factStat      = "@S/"        // and the name: a statistic of ethtool -S
	factText      = "@text/"     // and a, fec or link: what ethtool prints
	factPath      = "@path"      // of a PCI function, below sys/devices
	factSecondary = "@secondary" // the bus behind a bridge
	factVirtual   = "@virtual"   // a PCI function that is part of another
	factClass     = "@class"     // what lspci calls a PCI function
	factRDMADev   = "@rdma-dev"  // type and parent, as rdma dev has them
)

// sketch is what texts say of a machine.
type sketch map[key]string

// maxValue is how long a value may be; what the collectors read is shorter.
const maxValue = 4096

func (s sketch) set(k kind, name, file, value string) {
	s.put(key{subject{k, name}, file}, value)
}

func (s sketch) put(k key, value string) {
	value = strings.TrimSpace(value)
	if value != "" && len(value) <= maxValue && (k.name == "" || goodName(k.name)) && goodPath(k.file) {
		s[k] = value
	}
}

// add appends a line to a file of several lines.
func (s sketch) add(k key, line string) {
	if old, ok := s[k]; ok {
		line = old + "\n" + line
	}
	s.put(k, line)
}

func (s sketch) get(k kind, name, file string) string { return s[key{subject{k, name}, file}] }

// subjects lists what facts are about.
func (s sketch) subjects(k kind) map[string]bool {
	names := map[string]bool{}
	for key := range s {
		if key.kind == k {
			names[key.name] = true
		}
	}
	return names
}

// ports lists the ports of a device that something is known of.
func (s sketch) ports(device string) []string {
	ports := map[string]bool{}
	for k := range s {
		if k.kind != rdmaDevice || k.name != device {
			continue
		}
		if port, ok := strings.CutPrefix(k.file, factNetdev); ok {
			ports[port] = true
		} else if p := strings.SplitN(k.file, "/", 3); len(p) == 3 && p[0] == "ports" {
			ports[p[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}

// rename gives a subject another name, also where others refer to it. Facts
// that the other one has already stay.
func (s sketch) rename(k kind, from, to string) {
	for old, value := range s {
		renamed := old
		if old.kind == k && old.name == from {
			renamed.name = to
		}
		refers := k == netInterface && strings.HasPrefix(old.file, factNetdev) || k == pciFunction && old.file == factFunction
		if refers && value == from {
			value = to
			s[old] = value
		}
		if renamed != old {
			delete(s, old)
			if _, taken := s[renamed]; !taken {
				s[renamed] = value
			}
		}
	}
}

// isCounter tells facts that count from those that describe. What describes
// holds until something else is said; what counts is true of its moment only.
func (k key) isCounter() bool {
	return strings.Contains(k.file, "counters/") || strings.Contains(k.file, "counters_ext/") ||
		strings.HasPrefix(k.file, factStat) || strings.HasPrefix(k.file, "statistics/") ||
		strings.HasPrefix(k.file, "aer_") || strings.HasPrefix(k.file, "carrier_")
}

// goodName refuses what cannot be a part of a path.
func goodName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) < 128 && !strings.ContainsAny(name, "/\x00\n")
}

func goodPath(file string) bool {
	if len(file) > 512 {
		return false
	}
	if strings.HasPrefix(file, factStat) {
		return !strings.ContainsAny(file, "\x00\n")
	}
	for part := range strings.SplitSeq(file, "/") {
		if !goodName(part) {
			return false
		}
	}
	return true
}
