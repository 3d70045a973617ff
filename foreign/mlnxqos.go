package foreign

import (
	"errors"
	"strings"
)

// `mlnx_qos -i IF`. No rule asks for its settings, but whoever reads a finding
// about pauses wants to see them.

func takeQoS(lines []string, _ *hint) int {
	return first(lines, func(line string) bool {
		return strings.HasPrefix(line, "DCBX mode:") || strings.HasPrefix(line, "Priority trust state:")
	}, func(line string) bool {
		for _, begin := range []string{" ", "\t", "DCBX", "Priority trust", "dscp2prio", "default priority", "Receive buffer", "Cable len", "PFC configuration", "tc:"} {
			if strings.HasPrefix(line, begin) {
				return true
			}
		}
		return false
	})
}

func parseQoS(s *section, to *facts) error {
	var said []string
	for _, line := range s.lines {
		name, value, _ := pair(line)
		switch f := strings.Fields(line); {
		case name == "Priority trust state":
			said = append(said, "trust "+value)
		case len(f) == 9 && f[0] == "enabled":
			var on []string
			for priority, v := range f[1:] {
				if v == "1" {
					on = append(on, string(rune('0'+priority)))
				}
			}
			if on == nil {
				said = append(said, "PFC on no priority")
			} else {
				said = append(said, "PFC on priority "+strings.Join(on, ", "))
			}
		}
	}
	if said == nil {
		return errors.New("has neither the trust state nor the PFC configuration")
	}
	to.note = strings.Join(said, "; ")
	return nil
}
