package foreign

import "strings"

const statsTitle = "NIC statistics:"

// takeStats takes what `ethtool -S` prints, or a part of it: then there is no
// title, and the names must be known or many, or the command stands above.
func takeStats(lines []string, around *hint) int {
	if strings.TrimSpace(lines[0]) == statsTitle {
		return first(lines, func(string) bool { return true }, isStat)
	}
	begin := ""
	n := run(lines, func(line string) bool {
		name, _, ok := stat(line)
		again := name == begin // the list begins anew
		if begin == "" {
			begin = name
		}
		return ok && !again
	})
	if n == 0 || around.statistics() {
		return n
	}
	known, total, hw := 0, 0, 0
	for _, line := range lines[:min(n, 1000)] { // as good as all of them
		name, _, ok := stat(line)
		if !ok {
			continue
		}
		total++
		if knownNames().anyEthtool(name) {
			known++
		}
		if knownNames().anyHW(name) || knownNames().pma.Knows(name) {
			hw++
		}
	}
	if hw > known { // a list of the device's own counters
		return -n
	}
	if known == 0 && total < 10 {
		return -n
	}
	return n
}

func isStat(line string) bool { _, _, ok := stat(line); return ok }

// stat reads "     rx_prio0_bytes: 17". Names may hold colons and blanks:
// "[0]: rx_bytes", "rxq0: rx_bytes".
func stat(line string) (name, value string, ok bool) {
	i := strings.LastIndexByte(line, ':')
	if i < 0 {
		return "", "", false
	}
	name, value = strings.TrimSpace(line[:i]), plain(strings.TrimSpace(line[i+1:]))
	if name == "" || len(name) > 64 || strings.ContainsAny(name, "/\t='\"{}") || name[0] == '#' || strings.Count(name, " ") > 2 {
		return "", "", false
	}
	return name, value, isNumber(value)
}

// maxStats is how many the collectors read.
const maxStats = 32767

func parseStats(s *section, to *facts) error {
	netdev := s.netdev()
	for _, line := range s.lines {
		name, value, ok := stat(line)
		if !ok {
			continue
		}
		if len(to.sketch) == maxStats {
			break
		}
		k := key{subject{netInterface, netdev}, factStat + name}
		if _, twice := to.sketch[k]; !twice { // as the collector has it, the first one counts
			to.put(k, value)
		}
	}
	return nil
}
