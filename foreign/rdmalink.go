package foreign

import (
	"errors"
	"strings"
)

// `rdma link`: "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0".

func takeRDMALink(lines []string, _ *hint) int {
	return run(lines, func(line string) bool {
		f := strings.Fields(line)
		return len(f) >= 4 && f[0] == "link" && isLink(f[1]) && (f[2] == "state" || f[2] == "subnet_prefix")
	})
}

func parseRDMALink(s *section, to *facts) error {
	for _, line := range s.lines {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		device, port, _ := strings.Cut(f[1], "/")
		values := map[string]string{}
		for i := 2; i+1 < len(f); i += 2 {
			values[f[i]] = f[i+1]
		}
		link(to, device, port, values["state"], values["physical_state"], values["netdev"])
	}
	return nil
}

func link(to *facts, device, port, state, phys, netdev string) {
	dir := "ports/" + port + "/"
	to.set(rdmaDevice, device, dir+"state", portStates[strings.ToUpper(state)])
	to.set(rdmaDevice, device, dir+"phys_state", physStates[strings.ToUpper(strings.ReplaceAll(phys, "_", ""))])
	if goodNetdev(netdev) {
		to.set(rdmaDevice, device, factNetdev+port, netdev)
	}
}

// portStates and physStates give the texts of sysfs, include/rdma/ib_verbs.h
// and drivers/infiniband/core/sysfs.c, for the words of all tools. Those of the
// physical state stand here without underscores.
var portStates = map[string]string{
	"NOP": "0: NOP", "DOWN": "1: DOWN", "INIT": "2: INIT", "INITIALIZING": "2: INIT", "INITIALIZE": "2: INIT",
	"ARMED": "3: ARMED", "ARM": "3: ARMED", "ACTIVE": "4: ACTIVE", "ACTIVE_DEFER": "5: ACTIVE_DEFER",
}

var physStates = map[string]string{
	"SLEEP": "1: Sleep", "POLLING": "2: Polling", "DISABLED": "3: Disabled",
	"PORTCONFIGURATIONTRAINING": "4: PortConfigurationTraining", "LINKUP": "5: LinkUp",
	"LINKERRORRECOVER": "6: LinkErrorRecovery", "LINKERRORRECOVERY": "6: LinkErrorRecovery", "PHYTEST": "7: Phytest",
}

// `rdma dev`: "0: mlx5_0: node_type ca fw 28.41.1000 node_guid ...", below which
// -d writes what the device can do.

func takeRDMADev(lines []string, _ *hint) int {
	return first(lines, isRDMADev, func(line string) bool {
		return isRDMADev(line) || strings.HasPrefix(strings.TrimSpace(line), "caps:")
	})
}

func isRDMADev(line string) bool {
	f := strings.Fields(line)
	return len(f) >= 4 && strings.HasSuffix(f[0], ":") && isNumber(strings.TrimSuffix(f[0], ":")) &&
		strings.HasSuffix(f[1], ":") && f[2] == "node_type"
}

func parseRDMADev(s *section, to *facts) error {
	for _, line := range s.lines {
		if !isRDMADev(line) {
			continue
		}
		f := strings.Fields(line)
		device := strings.TrimSuffix(f[1], ":")
		var special []string
		for i := 2; i+1 < len(f); i += 2 {
			switch f[i] {
			case "fw":
				to.set(rdmaDevice, device, "fw_ver", f[i+1])
			case "node_guid", "sys_image_guid":
				to.set(rdmaDevice, device, f[i], f[i+1])
			case "type", "parent", "protocol":
				special = append(special, f[i], f[i+1])
			}
		}
		to.set(rdmaDevice, device, factRDMADev, strings.Join(special, " "))
	}
	if len(to.sketch) == 0 {
		return errors.New("says nothing of any device")
	}
	return nil
}
