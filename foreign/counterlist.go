package foreign

import (
	"strings"
)

// Lists of counters that people make themselves: "name value" or "name: value",
// perhaps with the device in brackets above, perhaps with commas in the numbers.

func takeCounterList(lines []string, _ *hint) int {
	start := 0
	if bracketed(lines[0]) != "" {
		start = 1
	}
	known, n := 0, start
	for _, line := range lines[start:] {
		name, _, ok := counterPair(line)
		if !ok {
			break
		}
		if n++; n < 1000 && (knownNames().anyHW(name) || knownNames().pma.Knows(name)) {
			known++
		}
	}
	if known == 0 || known*2 < min(n-start, 1000) {
		return -n
	}
	return n
}

// counterPair reads a name and a number; blanks or a colon stand between.
func counterPair(line string) (name, value string, ok bool) {
	name, value, ok = pair(line)
	if !ok {
		f := strings.Fields(line)
		if len(f) != 2 {
			return "", "", false
		}
		name, value = f[0], f[1]
	}
	value = plain(value)
	return name, value, isName(name) && isNumber(value)
}

// bracketed reads a line such as [mlx5_0].
func bracketed(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']' && isName(line[1:len(line)-1]) {
		return line[1 : len(line)-1]
	}
	return ""
}

func parseCounterList(s *section, to *facts) error {
	device, port := s.device()
	lines := s.lines
	if name := bracketed(lines[0]); name != "" {
		device, port, lines = name, "", lines[1:]
	}
	if port == "" {
		port = "1"
	}
	n := knownNames()
	all := map[string]bool{}
	for _, line := range lines {
		if name, _, ok := counterPair(line); ok {
			all[name] = true
		}
	}
	driver := best(n.pages, n.hw, all)
	for _, line := range lines {
		name, value, ok := counterPair(line)
		if !ok {
			continue
		}
		dir := "hw_counters/"
		ofDriver := driver.hits > 0 && n.hw[pageIndex(n, driver.page.Driver)].Knows(name)
		if !ofDriver && n.pma.Knows(name) {
			dir = "counters/"
		}
		to.set(rdmaDevice, device, "ports/"+port+"/"+dir+name, value)
	}
	return nil
}

func pageIndex(n *names, driver string) int {
	for i, p := range n.pages {
		if p.Driver == driver {
			return i
		}
	}
	return 0
}

// plain takes the commas out of 1,169,933.
func plain(value string) string {
	if !strings.Contains(value, ",") {
		return value
	}
	groups := strings.Split(value, ",")
	for i, g := range groups {
		if !isNumber(g) || i == 0 && len(g) > 3 || i > 0 && len(g) != 3 {
			return value
		}
	}
	return strings.Join(groups, "")
}

func isNumber(s string) bool {
	if s == "" || len(s) > 20 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// isName accepts names of counters and devices: no blanks, no path.
func isName(s string) bool {
	if s == "" || len(s) > 64 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
		default:
			return false
		}
	}
	return true
}
