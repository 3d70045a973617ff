package foreign

import (
	"strconv"
	"strings"
)

// `ibstat`: an indented block for each device and in it one for each port.

func takeIbstat(lines []string, _ *hint) int {
	return first(lines, isCA, func(line string) bool {
		return isCA(line) || line[0] == ' ' || line[0] == '\t'
	})
}

func isCA(line string) bool { return strings.HasPrefix(line, "CA '") }

func parseIbstat(s *section, to *facts) error {
	device, port := "", ""
	for _, line := range s.lines {
		if isCA(line) {
			device, port = strings.Trim(strings.TrimPrefix(strings.TrimSpace(line), "CA "), "'"), ""
			continue
		}
		name, value, ok := pair(line)
		if number, isPort := strings.CutPrefix(name, "Port "); ok && isPort && isNumber(number) {
			port = number
			continue
		}
		if port == "" {
			ibstatDevice(to, device, name, value)
		} else {
			ibstatPort(to, device, "ports/"+port+"/", name, value)
		}
	}
	return nil
}

func ibstatDevice(to *facts, device, name, value string) {
	files := map[string]string{"CA type": "hca_type", "Firmware version": "fw_ver", "Hardware version": "hw_rev"}
	switch name {
	case "Node GUID":
		to.set(rdmaDevice, device, "node_guid", colons(value))
	case "System image GUID":
		to.set(rdmaDevice, device, "sys_image_guid", colons(value))
	default:
		if file := files[name]; file != "" {
			to.set(rdmaDevice, device, file, value)
		}
	}
}

func ibstatPort(to *facts, device, dir, name, value string) {
	switch name {
	case "State":
		to.set(rdmaDevice, device, dir+"state", portStates[strings.ToUpper(value)])
	case "Physical state":
		to.set(rdmaDevice, device, dir+"phys_state", physStates[strings.ToUpper(value)])
	case "Rate":
		// It shows the number only. 10 may be what a kernel says of a speed that
		// it does not know; with any other the generation does not matter, but
		// the collector wants one.
		if isNumber(value) && value != "10" && value != "0" {
			to.set(rdmaDevice, device, dir+"rate", value+" Gb/sec (4X ibstat)")
		}
	case "Base lid":
		to.set(rdmaDevice, device, dir+"lid", hex(value))
	case "SM lid":
		to.set(rdmaDevice, device, dir+"sm_lid", hex(value))
	case "Link layer":
		to.set(rdmaDevice, device, dir+"link_layer", value)
	}
}

// colons writes 0x0200000000000001 as sysfs does, 0200:0000:0000:0001.
func colons(guid string) string {
	digits := strings.TrimPrefix(guid, "0x")
	if len(digits) != 16 {
		return ""
	}
	return digits[:4] + ":" + digits[4:8] + ":" + digits[8:12] + ":" + digits[12:]
}

// hex writes a decimal number as sysfs does, "" if it is none.
func hex(value string) string {
	n, err := strconv.ParseUint(value, 0, 32)
	if err != nil {
		return ""
	}
	return "0x" + strconv.FormatUint(n, 16)
}

// `ibstatus`: "Infiniband device 'mlx5_0' port 1 status:" and what sysfs says.

func takeIbstatus(lines []string, _ *hint) int {
	return first(lines, isStatus, func(line string) bool {
		return isStatus(line) || line[0] == ' ' || line[0] == '\t'
	})
}

func isStatus(line string) bool { return strings.HasPrefix(line, "Infiniband device '") }

func parseIbstatus(s *section, to *facts) error {
	device, dir := "", ""
	for _, line := range s.lines {
		if isStatus(line) {
			f := strings.Fields(line)
			device = strings.Trim(f[2], "'")
			if dir = ""; len(f) > 4 && isNumber(f[4]) {
				dir = "ports/" + f[4] + "/"
			}
			continue
		}
		name, value, ok := pair(line)
		if !ok || dir == "" {
			continue
		}
		switch name {
		case "default gid":
			to.set(rdmaDevice, device, dir+"gids/0", value)
		case "base lid":
			to.set(rdmaDevice, device, dir+"lid", value)
		case "sm lid":
			to.set(rdmaDevice, device, dir+"sm_lid", value)
		case "phys state":
			to.set(rdmaDevice, device, dir+"phys_state", value)
		case "state", "rate", "link_layer":
			to.set(rdmaDevice, device, dir+name, value)
		}
	}
	return nil
}
