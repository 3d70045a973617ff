package foreign

import "strings"

// `ibv_devinfo`, with or without -v.

func takeDevinfo(lines []string, _ *hint) int {
	return first(lines, isHCA, func(line string) bool {
		return isHCA(line) || line[0] == ' ' || line[0] == '\t'
	})
}

func isHCA(line string) bool { return strings.HasPrefix(line, "hca_id:") }

func parseDevinfo(s *section, to *facts) error {
	device, port := "", ""
	for _, line := range s.lines {
		name, value, ok := pair(line)
		switch {
		case !ok:
		case isHCA(line):
			device, port = value, ""
		case name == "port" && isNumber(value):
			port = value
		case port == "":
			devinfoDevice(to, device, name, value)
		default:
			devinfoPort(to, device, "ports/"+port+"/", name, value)
		}
	}
	return nil
}

func devinfoDevice(to *facts, device, name, value string) {
	switch name {
	case "fw_ver", "node_guid", "sys_image_guid", "board_id":
		to.set(rdmaDevice, device, name, value)
	case "hw_ver":
		to.set(rdmaDevice, device, "hw_rev", value)
	case "transport":
		if strings.HasPrefix(value, "iWARP") {
			to.set(rdmaDevice, device, "node_type", "4: RNIC")
		}
	}
}

func devinfoPort(to *facts, device, dir, name, value string) {
	switch name {
	case "state":
		word, _, _ := strings.Cut(strings.TrimPrefix(value, "PORT_"), " ")
		to.set(rdmaDevice, device, dir+"state", portStates[word])
	case "phys_state":
		word, _, _ := strings.Cut(value, " ")
		to.set(rdmaDevice, device, dir+"phys_state", physStates[strings.ReplaceAll(word, "_", "")])
	case "port_lid":
		to.set(rdmaDevice, device, dir+"lid", hex(value))
	case "sm_lid":
		to.set(rdmaDevice, device, dir+"sm_lid", hex(value))
	case "link_layer":
		to.set(rdmaDevice, device, dir+"link_layer", value)
	}
}

// `ibdev2netdev`: "mlx5_0 port 1 ==> eth0 (Up)", with -v more between.

func takeDev2netdev(lines []string, _ *hint) int {
	return run(lines, func(line string) bool { _, _, _, ok := dev2netdev(line); return ok })
}

func dev2netdev(line string) (device, port, netdev string, ok bool) {
	left, right, ok := strings.Cut(line, "==>")
	if !ok {
		return "", "", "", false
	}
	netdev, _, _ = strings.Cut(strings.TrimSpace(right), " ")
	f := strings.Fields(left)
	for i, word := range f {
		if bdf.MatchString(word) && i+1 < len(f) {
			device = f[i+1]
		}
		if word == "port" && i > 0 && i+1 < len(f) && isNumber(f[i+1]) {
			if device == "" {
				device = f[i-1]
			}
			port = f[i+1]
		}
	}
	return device, port, netdev, isName(device) && port != "" && goodNetdev(netdev)
}

func parseDev2netdev(s *section, to *facts) error {
	for _, line := range s.lines {
		device, port, netdev, ok := dev2netdev(line)
		if !ok {
			continue
		}
		to.set(rdmaDevice, device, factNetdev+port, netdev)
		if f := strings.Fields(line); bdf.MatchString(f[0]) {
			to.set(rdmaDevice, device, factFunction, f[0])
		}
	}
	return nil
}

// `show_gids`: a table; the last column, the interface, may be missing.

func takeGIDs(lines []string, _ *hint) int {
	return first(lines, func(line string) bool {
		f := strings.Fields(line)
		return len(f) >= 4 && f[0] == "DEV" && f[1] == "PORT" && f[2] == "INDEX" && f[3] == "GID"
	}, func(line string) bool {
		f := strings.Fields(line)
		return strings.HasPrefix(f[0], "---") || strings.HasPrefix(f[0], "n_gids_found") || isGID(f)
	})
}

func isGID(f []string) bool {
	return len(f) >= 5 && isName(f[0]) && isNumber(f[1]) && isNumber(f[2]) && strings.Count(f[3], ":") == 7
}

func parseGIDs(s *section, to *facts) error {
	for _, line := range s.lines {
		f := strings.Fields(line)
		if !isGID(f) {
			continue
		}
		device, dir, index, last := f[0], "ports/"+f[1]+"/", f[2], f[len(f)-1]
		to.set(rdmaDevice, device, dir+"gids/"+index, f[3])
		to.set(rdmaDevice, device, dir+"link_layer", "Ethernet") // only RoCE has these versions
		if last != "v1" && last != "v2" && goodNetdev(last) {
			to.set(rdmaDevice, device, dir+"gid_attrs/ndevs/"+index, last)
			if base, _, _ := strings.Cut(last, "."); index == "0" { // a VLAN is on the port's own
				to.set(rdmaDevice, device, factNetdev+f[1], base)
			}
		}
	}
	return nil
}
