package foreign

import (
	"errors"
	"regexp"
	"strings"
)

// `lspci -vv`: an indented block a function. People also paste the lines of
// its link alone.

var (
	pciHead  = regexp.MustCompile(`^([0-9a-f]{4,8}:)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.+?)(?: \[[0-9a-f]{4}\])?: (.+)$`)
	linkWord = regexp.MustCompile(`Speed ([0-9.]+GT/s|unknown)(?: \((\w+)\))?, Width x(\d+)(?: \((\w+)\))?`)
	pciBus   = regexp.MustCompile(`secondary=([0-9a-f]{2})`)
	pciIDs   = regexp.MustCompile(`\[([0-9a-f]{4}):([0-9a-f]{4})\]`) // with -nn
)

func takeLspci(lines []string, _ *hint) int {
	indented := func(line string) bool { return line[0] == ' ' || line[0] == '\t' }
	if pciHead.MatchString(lines[0]) {
		return first(lines, func(string) bool { return true }, indented)
	}
	if !isLnk(lines[0]) {
		return 0
	}
	// Of a block without a head: each capability once.
	seen := map[string]bool{}
	return run(lines, func(line string) bool {
		if !isLnk(line) {
			return indented(line)
		}
		name, _, _ := pair(line)
		if seen[name] {
			return false
		}
		seen[name] = true
		return true
	})
}

// isLnk recognises the lines about the PCIe link.
func isLnk(line string) bool {
	text := strings.TrimSpace(line)
	for _, begin := range []string{"LnkCap:", "LnkSta:", "LnkCap2:", "LnkSta2:", "LnkCtl:", "LnkCtl2:"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// pasted is the class of a function of which there are only some lines.
const pasted = "pasted"

func parseLspci(s *section, to *facts) error {
	address, lines := fullAddress(s.after("-s")), s.lines
	bare := true
	if m := pciHead.FindStringSubmatch(lines[0]); m != nil {
		address, bare = fullAddress(m[1]+m[2]), false
		to.set(pciFunction, address, factClass, m[3])
		if ids := pciIDs.FindStringSubmatch(m[4]); ids != nil {
			to.set(pciFunction, address, "vendor", "0x"+ids[1])
			to.set(pciFunction, address, "device", "0x"+ids[2])
		}
		if strings.Contains(m[4], "Virtual Function") {
			to.set(pciFunction, address, factVirtual, "1")
		}
		lines = lines[1:]
	}
	if bare {
		to.set(pciFunction, address, factClass, pasted)
	}
	var capable, running bool
	for _, line := range lines {
		name, value, _ := pair(line)
		switch name {
		case "LnkCap":
			capable = linkFacts(to, address, "max_", value) || capable
		case "LnkSta":
			running = linkFacts(to, address, "current_", value) || running
		case "Bus":
			if m := pciBus.FindStringSubmatch(value); m != nil {
				to.set(pciFunction, address, factSecondary, m[1])
			}
		case "Kernel driver in use":
			to.set(pciFunction, address, factDriver, value)
		case "NUMA node":
			to.set(pciFunction, address, "numa_node", value)
		}
	}
	switch {
	case !bare:
		return nil
	case running && !capable:
		return errors.New("has LnkSta without LnkCap: nothing to compare with")
	case !running:
		return errors.New("has no LnkSta: how the link runs is not known")
	}
	return nil
}

// fullAddress adds the domain, which lspci leaves out where there is only one;
// "" if it is no address.
func fullAddress(address string) string {
	if strings.Count(address, ":") == 1 {
		address = "0000:" + address
	}
	if !bdf.MatchString(address) {
		return ""
	}
	return address
}

// linkFacts reads "Speed 8GT/s (downgraded), Width x2 (downgraded)". The words
// in brackets compare with what the function itself could do, older ones are
// "ok"; the numbers say all that.
func linkFacts(to *facts, address, which, value string) bool {
	m := linkWord.FindStringSubmatch(value)
	if m == nil || m[1] == "unknown" {
		return false
	}
	to.set(pciFunction, address, which+"link_speed", strings.TrimSuffix(m[1], "GT/s")+" GT/s PCIe")
	to.set(pciFunction, address, which+"link_width", m[3])
	return true
}
