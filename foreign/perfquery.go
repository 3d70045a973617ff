package foreign

import (
	"errors"
	"regexp"
	"strings"
)

// `perfquery`, the counters of a port of a NIC or of a switch, told by its LID:
// "# Port counters: Lid 133 port 1 (CapMask: 0x5A00)" and "SymbolErrorCounter:...0".

var perfTitle = regexp.MustCompile(`^# (Port(?: extended)? counters|\w+ counters): Lid (\d+) port (\d+)`)

func takePerfquery(lines []string, _ *hint) int {
	return first(lines, perfTitle.MatchString, func(line string) bool {
		name, value, ok := pair(line)
		return ok && isName(name) && strings.HasPrefix(value, ".")
	})
}

func parsePerfquery(s *section, to *facts) error {
	title := perfTitle.FindStringSubmatch(s.lines[0])
	device, port := s.after("-C"), title[3]
	if device == "" || s.after("-G") != "" {
		device = "lid" + title[2]
		to.set(rdmaDevice, device, "ports/"+port+"/lid", hex(title[2]))
	} else if p := s.after("-P"); p != "" {
		port = p
	}
	dir, found := "ports/"+port+"/counters/", false
	for _, line := range s.lines[1:] {
		name, value, _ := pair(line)
		value = strings.TrimLeft(value, ".")
		if file := perfFiles[name]; file != "" && isNumber(value) {
			to.set(rdmaDevice, device, dir+file, value)
			found = true
		}
	}
	if !found {
		return errors.New("no counter that is judged stands in it")
	}
	to.set(rdmaDevice, device, "ports/"+port+"/link_layer", "InfiniBand")
	return nil
}

// perfFiles are the files of sysfs that hold the same counters, for the names
// of infiniband-diags (libibmad/src/fields.c), which differ between the short
// and the extended set.
var perfFiles = map[string]string{
	"SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery", "LinkErrorRecovers": "link_error_recovery",
	"LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors",
	"PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors", "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors",
	"PortXmitDiscards": "port_xmit_discards", "PortXmitConstraintErrors": "port_xmit_constraint_errors",
	"PortRcvConstraintErrors": "port_rcv_constraint_errors", "LocalLinkIntegrityErrors": "local_link_integrity_errors",
	"ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors", "VL15Dropped": "VL15_dropped",
	"PortXmitWait": "port_xmit_wait", "PortXmitData": "port_xmit_data", "PortRcvData": "port_rcv_data",
	"PortXmitPkts": "port_xmit_packets", "PortRcvPkts": "port_rcv_packets",
	"PortUnicastXmitPkts": "unicast_xmit_packets", "PortUnicastRcvPkts": "unicast_rcv_packets",
	"PortMulticastXmitPkts": "multicast_xmit_packets", "PortMulticastRcvPkts": "multicast_rcv_packets",
}
