package foreign

import (
	"errors"
	"strings"
)

var errNoNetdev = errors.New("does not say of which network interface; put the command above it, or call the file ethtool-eth0.txt")

// `ethtool IF`: the settings, of which speed and link are of use.

func takeSettings(lines []string, _ *hint) int {
	return first(lines, func(l string) bool { return strings.HasPrefix(l, "Settings for ") },
		func(l string) bool { return l[0] == ' ' || l[0] == '\t' })
}

func parseSettings(s *section, to *facts) error {
	netdev := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(s.lines[0], "Settings for ")), ":")
	if !goodNetdev(netdev) {
		return errNoNetdev
	}
	for _, line := range s.lines[1:] {
		name, value, _ := pair(line)
		switch name {
		case "Speed":
			if mbits := strings.TrimSuffix(value, "Mb/s"); isNumber(mbits) {
				to.set(netInterface, netdev, "speed", mbits)
			}
		case "Link detected":
			to.set(netInterface, netdev, "carrier", map[bool]string{true: "1", false: "0"}[strings.HasPrefix(value, "yes")])
		}
	}
	to.set(netInterface, netdev, factText+"link", strings.Join(s.lines, "\n"))
	return nil
}

// `ethtool -i IF`: the driver and the PCI address.

func takeDriverInfo(lines []string, around *hint) int {
	n := first(lines, func(l string) bool { return strings.HasPrefix(l, "driver: ") }, func(l string) bool {
		name, _, ok := pair(l)
		return ok && (strings.HasPrefix(name, "supports-") || name == "version" || name == "firmware-version" ||
			name == "expansion-rom-version" || name == "bus-info")
	})
	if n < 3 {
		return 0
	}
	return n
}

func parseDriverInfo(s *section, to *facts) error {
	netdev := s.netdev()
	for _, line := range s.lines {
		switch name, value, _ := pair(line); name {
		case "driver":
			to.set(netInterface, netdev, factDriver, value)
		case "bus-info":
			if bdf.MatchString(value) {
				to.set(netInterface, netdev, factFunction, value)
			}
		}
	}
	if netdev == "" {
		return errNoNetdev
	}
	return nil
}

// `ethtool -a` and `ethtool --show-fec`, with or without -I.

func takePause(lines []string, _ *hint) int { return takeTitled(lines, "Pause parameters for ") }
func parsePause(s *section, to *facts) error {
	return parseTitled(s, to, "Pause parameters for ", factText+"a")
}
func takeFEC(lines []string, _ *hint) int { return takeTitled(lines, "FEC parameters for ") }
func parseFEC(s *section, to *facts) error {
	return parseTitled(s, to, "FEC parameters for ", factText+"fec")
}

func takeTitled(lines []string, title string) int {
	return first(lines, func(l string) bool { return strings.HasPrefix(l, title) }, func(l string) bool {
		name, _, ok := pair(l)
		return ok && (l[0] == ' ' || l[0] == '\t' || name == "Autonegotiate" || name == "RX" || name == "TX" || name == "Statistics" ||
			strings.HasPrefix(name, "RX negotiated") || strings.HasPrefix(name, "TX negotiated") || strings.Contains(name, "FEC encoding"))
	})
}

func parseTitled(s *section, to *facts, title, fact string) error {
	netdev := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(s.lines[0], title)), ":")
	if !goodNetdev(netdev) {
		return errNoNetdev
	}
	to.set(netInterface, netdev, fact, strings.Join(s.lines, "\n"))
	return nil
}
