package catalog

import "strings"

// KernelMessage is a kind of message of the kernel's log that says something of
// a NIC.
type KernelMessage struct {
	Driver   string // of the PCI function; "" if any driver's or PCI itself
	Words    string // what the message has in this order; * stands for anything
	Event    string
	Harmless bool // says that all is well, or what nobody needs to act on
}

// Matches reports whether a message is of this kind.
func (m KernelMessage) Matches(text string) bool {
	for part := range strings.SplitSeq(m.Words, "*") {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// KernelMessages are the kinds that are known; of several that match a message
// the first counts.
func KernelMessages() []KernelMessage {
	return []KernelMessage{
		// drivers/net/ethernet/mellanox/mlx5/core: events.c, cmd.c, health.c,
		// fw_reset.c. The kernel's line numbers in front of the words vary.
		{"mlx5_core", "Detected insufficient power on the PCIe slot", "pcie_power_insufficient", false},
		{"mlx5_core", "PCIe slot advertised sufficient power", "pcie_power_sufficient", true},
		{"mlx5_core", "PCIe slot power capability was not advertised", "pcie_power_not_advertised", true},
		{"mlx5_core", "Port module event[error]:*High Temperature", "module_high_temperature", false},
		{"mlx5_core", "Port module event[error]:", "module_error", false},
		{"mlx5_core", "Port module event: module *, Cable unplugged", "module_unplugged", true},
		{"mlx5_core", "Port module event: module *, Cable plugged", "module_plugged", true},
		{"mlx5_core", "High temperature on sensors with bit set", "card_high_temperature", false},
		{"mlx5_core", "timeout. Will cause a leak of a command resource", "firmware_command_timeout", false},
		{"mlx5_core", "ACCESS_REG(0x805)*status bad operation", "register_refused", true},
		{"mlx5_core", "health compromised - reached miss count", "health_compromised", false},
		{"mlx5_core", "Fatal error * detected", "firmware_fatal", false},
		{"mlx5_core", "Health issue observed", "health_issue", false},
		{"mlx5_core", "health recovery succeeded", "recovered", true},
		{"mlx5_core", "health recovery failed", "recovery_failed", false},
		{"mlx5_core", "PCI reads still not working", "pcie_dead", false},
		// drivers/net/ethernet/broadcom/bnxt: bnxt_hwrm.c, bnxt.c; the command
		// queue of RDMA in drivers/infiniband/hw/bnxt_re/qplib_rcfw.c.
		{"bnxt_en", "Error (timeout: *) msg", "firmware_command_timeout", false},
		{"bnxt_en", "cmdq[*timedout", "firmware_command_timeout", false},
		{"bnxt_en", "Fatal firmware reset event", "firmware_fatal", false},
		{"bnxt_en", "Firmware fatal reset event", "firmware_fatal", false},
		{"bnxt_en", "module is shutdown", "module_error", false},
		// drivers/net/ethernet/intel/ice/ice_main.c.
		{"ice", "tx_timeout recovery unsuccessful", "firmware_fatal", false},
		{"ice", "tx_timeout: VSI_num", "tx_timeout", false},
		{"ice", "unsupported SFP module type was detected", "module_error", false},
		{"ice", "module's power requirements exceed the device's power supply", "module_error", false},
		// drivers/infiniband/hw/efa/efa_com.c.
		{"efa", "The device didn't send any completion for admin cmd", "firmware_command_timeout", false},
		{"efa", "Wait for completion (polling) timeout", "firmware_command_timeout", false},
		// The network stack, net/sched/sch_generic.c, and its drivers: en_main.c
		// and bnxt.c.
		{"", "TX timeout detected", "tx_timeout", false},
		{"", "NETDEV WATCHDOG*timed out", "netdev_watchdog", false},
		{"", "NIC Link is Down", "link_down", false},
		{"mlx5_core", ": Link down", "link_down", false},
		// drivers/pci: pcie/aer.c, pcie/err.c, pcie/dpc.c, pci.c. Linux 6.11
		// writes Uncorrectable and Correctable.
		{"", "PCIe Bus Error: severity=Correct", "pcie_correctable", false},
		{"", "PCIe Bus Error: severity=Uncorrect*(Non-Fatal)", "pcie_nonfatal", false},
		{"", "PCIe Bus Error: severity=Uncorrect*(Fatal)", "pcie_fatal", false},
		{"", "device recovery successful", "recovered", true},
		{"", "device recovery failed", "recovery_failed", false},
		{"", "DPC: containment event", "pcie_contained", false},
		{"", "change power state from *inaccessible", "pcie_dead", false},
		{"", "not ready *; giving up", "pcie_dead", false},
	}
}
