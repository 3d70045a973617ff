package catalog

import "testing"

// The lines are those of kernels: captured ones, and others as the format
// strings in the kernel's source make them.
func TestKernelMessages(t *testing.T) {
	for _, c := range []struct {
		driver, text, event string
		harmless            bool
	}{
		{"mlx5_core", "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).", "pcie_power_insufficient", false},
		{"mlx5_core", "mlx5_core 0000:5c:00.0: mlx5_pcie_event:301:(pid 9): PCIe slot advertised sufficient power (75W).", "pcie_power_sufficient", true},
		{"mlx5_core", "mlx5_core 0000:5c:00.0: mlx5_pcie_event:296:(pid 9): PCIe slot power capability was not advertised.", "pcie_power_not_advertised", true},
		{"mlx5_core", "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), syndrome (0x305684), err(-22)", "register_refused", true},
		{"mlx5_core", "mlx5_core 0000:41:00.1: Port module event: module 1, Cable unplugged", "module_unplugged", true},
		{"mlx5_core", "mlx5_core 0000:41:00.1: mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 0, Cable error, High Temperature", "module_high_temperature", false},
		{"mlx5_core", "mlx5_core 0000:41:00.1: Port module event[error]: module 0, Cable error, Bus stuck (I2C or data shorted)", "module_error", false},
		{"mlx5_core", "mlx5_core enp1s0f0np0: Link down", "link_down", false},
		{"mlx5_core", "mlx5_core 0000:41:00.0 enp65s0f0np0: Link up", "", false},
		{"mlx5_core", "mlx5_core 0000:41:00.0: wait_func:1158:(pid 4711): QUERY_VPORT_COUNTER(0x770) timeout. Will cause a leak of a command resource", "firmware_command_timeout", false},
		{"mlx5_core", "mlx5_core 0000:41:00.0: poll_health:825:(pid 0): device's health compromised - reached miss count", "health_compromised", false},
		{"mlx5_core", "mlx5_core 0000:41:00.0: poll_health:810:(pid 0): Fatal error 1 detected", "firmware_fatal", false},
		{"mlx5_core", "mlx5_core 0000:41:00.0: mlx5_health_try_recover:335:(pid 77): health recovery flow aborted, PCI reads still not working", "pcie_dead", false},
		{"bnxt_en", "bnxt_en 0000:c1:00.0 ens1f0np0: Error (timeout: 500015) msg {0x90 0x3ab} len:0", "firmware_command_timeout", false},
		{"bnxt_en", "bnxt_en 0000:c1:00.0 ens1f0np0: TX timeout detected, starting reset task!", "tx_timeout", false},
		{"bnxt_en", "bnxt_en 0000:c1:00.0 ens1f0np0: Fatal firmware reset event, data1: 0x1, data2: 0x2, min wait 100 ms, max wait 200 ms", "firmware_fatal", false},
		{"bnxt_en", "bnxt_en 0000:c1:00.0 ens1f0np0: Non-fatal firmware reset event, data1: 0x1", "", false},
		{"ice", "ice 0000:41:00.0 ens1f0: tx_timeout: VSI_num: 12, Q 3, NTC: 0x10, HW_HEAD: 0x10, NTU: 0x11, INT: 0x0", "tx_timeout", false},
		{"efa", "efa 0000:10:1b.0 rdmap16s27: The device didn't send any completion for admin cmd CREATE_QP(1) status 0 (ctx 3, sq producer: 4, sq consumer: 4, cq consumer: 3)", "firmware_command_timeout", false},
		{"e1000e", "NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out 5012 ms", "netdev_watchdog", false},
		{"e1000e", "e1000e 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)", "pcie_correctable", false},
		{"e1000e", "e1000e 0000:01:00.0: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)", "pcie_correctable", false},
		{"e1000e", "e1000e 0000:01:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)", "pcie_nonfatal", false},
		{"e1000e", "e1000e 0000:01:00.0: AER: PCIe Bus Error: severity=Uncorrected (Fatal), type=Inaccessible, (Unregistered Agent ID)", "pcie_fatal", false},
		{"e1000e", "pcieport 0000:00:01.0: AER: device recovery successful", "recovered", true},
		{"e1000e", "pcieport 0000:00:01.0: AER: device recovery failed", "recovery_failed", false},
		{"e1000e", "pcieport 0000:00:01.0: DPC: containment event, status:0x1f01 source:0x0000", "pcie_contained", false},
		{"e1000e", "e1000e 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible", "pcie_dead", false},
		{"e1000e", "e1000e 0000:01:00.0 eth0: NIC Link is Up 1000 Mbps Full Duplex, Flow Control: Rx/Tx", "", false},
	} {
		event, harmless := "", false
		for _, m := range KernelMessages() {
			if (m.Driver == "" || m.Driver == c.driver) && m.Matches(c.text) {
				event, harmless = m.Event, m.Harmless
				break
			}
		}
		if event != c.event || harmless != c.harmless {
			t.Errorf("%q is %q, harmless %v; want %q, %v", c.text, event, harmless, c.event, c.harmless)
		}
	}
}

// An event is harmless or not, whoever says it.
func TestKernelEventsAreOfOneKind(t *testing.T) {
	harmless := map[string]bool{}
	for _, m := range KernelMessages() {
		if was, ok := harmless[m.Event]; ok && was != m.Harmless {
			t.Errorf("%s is harmless and is not", m.Event)
		}
		harmless[m.Event] = m.Harmless
	}
}
