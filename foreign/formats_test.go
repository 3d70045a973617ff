package foreign

import (
	"strings"
	"testing"
)

// one understands a text given as it is.
func one(name, text string) *Evidence {
	return Understand([]Input{{Name: name, Text: []byte(text)}}, Options{Now: noon})
}

// facts lists what a text says at its last reading, of subjects in the form
// kind/name/file.
func factsOf(e *Evidence) map[string]string {
	found := map[string]string{}
	if len(e.steps) == 0 {
		return found
	}
	for k, v := range e.steps[len(e.steps)-1] {
		found[[]string{"dev", "net", "pci"}[k.kind]+"/"+k.name+"/"+k.file] = v
	}
	return found
}

// TestFormats holds facts against texts that no dump has.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             map[string]string // "" is absent
	}{
		{"ethtool with a prompt of a terminal, colours, CRLF and a zero byte", "paste.txt",
			"\x1b[01;32mroot@gpu-07\x1b[00m:\x1b[01;34m~\x1b[00m# ethtool -S enp65s0f0np0 | grep prio3\r\n     rx_prio3_bytes: 17\r\n     rx_prio3_pause: 19\x00\r\n",
			map[string]string{"net/enp65s0f0np0/@S/rx_prio3_pause": "19", "net/enp65s0f0np0/@S/rx_prio3_bytes": "17"}},
		{"prompt with brackets and sudo", "paste.txt", "[admin@n1 ~]$ sudo ethtool -S eth7\nNIC statistics:\n     rx_prio0_pause: 3\n",
			map[string]string{"net/eth7/@S/rx_prio0_pause": "3"}},
		{"the file is called as sosreport calls it", "sos_commands/networking/ethtool_-S_ens1f0np0", "NIC statistics:\n     rx_out_of_buffer: 5\n     rx_prio0_pause: 7\n",
			map[string]string{"net/ens1f0np0/@S/rx_out_of_buffer": "5"}},
		{"the file is called as people call it", "ethtool-S-eth0.txt", "NIC statistics:\n     rx_prio0_pause: 7\n",
			map[string]string{"net/eth0/@S/rx_prio0_pause": "7"}},
		{"names of statistics repeat: the first counts", "ethtool-S-eth0", "NIC statistics:\n     rx_prio0_pause: 7\n     rx_prio0_pause: 9\n",
			map[string]string{"net/eth0/@S/rx_prio0_pause": "7"}},
		{"several commands in one file", "all.txt",
			"$ ibdev2netdev\nmlx5_0 port 1 ==> eth0 (Up)\n$ ethtool -S eth0\nNIC statistics:\n     rx_prio0_pause: 7\n$ rdma statistic\nlink mlx5_0/1 out_of_buffer 11 out_of_sequence 13\n$ ethtool -i eth0\ndriver: mlx5_core\nversion: 6.8.0\nfirmware-version: 28.41.1000 (MT_0000000838)\nexpansion-rom-version: \nbus-info: 0000:41:00.0\nsupports-statistics: yes\n",
			map[string]string{"dev/mlx5_0/@netdev/1": "eth0", "net/eth0/@S/rx_prio0_pause": "7", "dev/mlx5_0/ports/1/hw_counters/out_of_buffer": "11",
				"dev/mlx5_0/@function": "0000:41:00.0", "dev/mlx5_0/@driver": "mlx5_core"}},
		{"ethtool settings", "e.txt", "Settings for eth0:\n\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tLink detected: yes\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0\n",
			map[string]string{"net/eth0/speed": "100000", "net/eth0/carrier": "1"}},
		{"ethtool -I -a", "e.txt", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0\nPause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\nStatistics:\n  tx_pause_frames: 5\n  rx_pause_frames: 7\n",
			map[string]string{"net/eth0/@text/a": "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\ton\nStatistics:\n  tx_pause_frames: 5\n  rx_pause_frames: 7"}},
		{"rdma statistic cut by a mail program", "r.txt", "link mlx5_2/1 rx_write_requests 8 rx_read_requests 4\nout_of_buffer 3 out_of_sequence 2\n    Optional-set: cc_rx_ce_pkts 6\n",
			map[string]string{"dev/mlx5_2/ports/1/hw_counters/out_of_sequence": "2", "dev/mlx5_2/ports/1/hw_counters/cc_rx_ce_pkts": "6"}},
		{"rdma statistic in JSON", "r.json", `[{"ifname":"mlx5_0","port":1,"out_of_buffer":21,"rx_write_requests":18446744073709551615,"np_cnp_sent":4,"rp_cnp_handled":1}]`,
			map[string]string{"dev/mlx5_0/ports/1/hw_counters/out_of_buffer": "21", "dev/mlx5_0/ports/1/hw_counters/rx_write_requests": "18446744073709551615"}},
		{"rdma statistic in JSON, cut", "r.json", "[{\"ifname\":\"mlx5_0\",\"port\":1,\"out_of_buf", map[string]string{"dev/mlx5_0/ports/1/hw_counters/out_of_buffer": ""}},
		{"rdma dev", "r.txt", "2: mlx5_2: node_type ca fw 28.41.1000 node_guid 0200:0000:0000:0005 sys_image_guid 0200:0000:0000:0005 \n3: smi3: node_type ca node_guid 0200:0000:0000:0006 type smi parent mlx5_2\n",
			map[string]string{"dev/mlx5_2/fw_ver": "28.41.1000", "dev/smi3/@rdma-dev": "type smi parent mlx5_2"}},
		{"grep -r below a device's directory", "g.txt", "ports/1/hw_counters/out_of_buffer:5\n./ports/1/counters/port_rcv_data:7\nlink mlx5_3/1 state ACTIVE physical_state LINK_UP\n",
			map[string]string{"dev/mlx5_3/ports/1/hw_counters/out_of_buffer": "5", "dev/mlx5_3/ports/1/counters/port_rcv_data": "7"}},
		{"paths of sysfs with colons, names with commas and blanks", "g.txt",
			"/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/infiniband/hfi1_0/ports/1/hw_counters/SwLinkUp,32:3\n/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/infiniband/hfi1_0/ports/1/hw_counters/RcvHdr Ovr:5\n/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/current_link_width:8\n/sys/devices/pci0000:40/0000:40:01.1/max_link_width:16\n/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/infiniband/hfi1_0/ports/1/rate:100 Gb/sec (4X EDR)\n",
			map[string]string{"dev/hfi1_0/ports/1/hw_counters/SwLinkUp,32": "3", "dev/hfi1_0/ports/1/hw_counters/RcvHdr Ovr": "5", "dev/hfi1_0/@function": "0000:41:00.0",
				"pci/0000:41:00.0/current_link_width": "8", "pci/0000:41:00.0/@path": "pci0000:40/0000:40:01.1/0000:41:00.0", "dev/hfi1_0/ports/1/rate": "100 Gb/sec (4X EDR)"}},
		{"what hangs on an interface", "g.txt", "/sys/class/net/eth0/device/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n/sys/class/net/eth0/device/aer_dev_correctable:RxErr 0\n/sys/class/net/eth0/device/aer_dev_correctable:BadTLP 7\n/sys/class/net/eth0/device/uevent:DRIVER=mlx5_core\n",
			map[string]string{"dev/mlx5_0/@netdev/1": "eth0", "pci/ffff:01:00.0/aer_dev_correctable": "RxErr 0\nBadTLP 7", "dev/mlx5_0/@driver": "mlx5_core"}},
		{"cat of single files", "c.txt", "$ cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer /sys/class/infiniband/mlx5_0/ports/1/rate\n135\n400 Gb/sec (4X NDR)\n",
			map[string]string{"dev/mlx5_0/ports/1/hw_counters/out_of_buffer": "135", "dev/mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)"}},
		{"cat is over after its lines", "c.txt", "$ cat /sys/class/infiniband/mlx5_0/ports/1/rate\nNo such file\nmore\n\n7\n",
			map[string]string{"dev/mlx5_0/ports/1/rate": ""}},
		{"an address is not lost to a listing that lacks it", "g.txt", "0000:41:00.0 mlx5_0 (MT4129 - X) fw 28 port 1 (ACTIVE) ==> eth0 (Up)\n/sys/class/infiniband/mlx5_0/device/numa_node:1\n",
			map[string]string{"dev/mlx5_0/@function": "0000:41:00.0", "pci/0000:41:00.0/numa_node": "1"}},
		{"ibstat: 10 is what a kernel says of a rate that it does not know", "i.txt", "CA 'mlx5_0'\n\tPort 1:\n\t\tRate: 10\n\t\tState: Active\nCA 'mlx5_1'\n\tPort 1:\n\t\tRate: 56\n",
			map[string]string{"dev/mlx5_0/ports/1/rate": "", "dev/mlx5_0/ports/1/state": "4: ACTIVE", "dev/mlx5_1/ports/1/rate": "56 Gb/sec (4X ibstat)"}},
		{"perfquery of a port elsewhere, asked through a device", "p.txt", "$ perfquery -C mlx5_0 -G 0x0200000000000009\n# Port counters: Lid 4 port 7 (CapMask: 0x5A00)\nSymbolErrorCounter:..............3\n",
			map[string]string{"dev/lid4/ports/7/counters/symbol_error": "3", "dev/mlx5_0/ports/7/counters/symbol_error": ""}},
		{"head of files", "h.txt", "==> /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer <==\n135\n\n==> /sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence <==\n7\n",
			map[string]string{"dev/mlx5_0/ports/1/hw_counters/out_of_buffer": "135", "dev/mlx5_0/ports/1/hw_counters/out_of_sequence": "7"}},
		{"perfquery of a named device", "sos_commands/infiniband/perfquery_-C_mlx5_0_-P_1", "# Port counters: Lid 4 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\nSymbolErrorCounter:..............3\n",
			map[string]string{"dev/mlx5_0/ports/1/counters/symbol_error": "3"}},
		{"perfquery finds the device by its LID", "p.txt", "# Port extended counters: Lid 987 port 1 (CapMask: 0x5A00)\nSymbolErrorCounter:..............3\nCA 'mlx5_5'\n        CA type: MT4129\n        Port 1:\n                State: Active\n                Base lid: 987\n                Link layer: InfiniBand\n",
			map[string]string{"dev/mlx5_5/ports/1/counters/symbol_error": "3", "dev/lid987/ports/1/counters/symbol_error": ""}},
		{"interface and device of one place", "e.txt", "link rocep65s0f0/1 state ACTIVE physical_state LINK_UP\nlink rocep65s0f1/1 state ACTIVE physical_state LINK_UP\n$ ethtool -S enp65s0f1np1\nNIC statistics:\n     rx_prio0_pause: 7\n     rx_prio1_pause: 7\n     rx_prio2_pause: 7\n",
			map[string]string{"dev/rocep65s0f1/@netdev/1": "enp65s0f1np1", "dev/rocep65s0f0/@netdev/1": ""}},
		{"lspci with the bridge above", "lspci.txt",
			"40:01.1 PCI bridge: Advanced Micro Devices GPP Bridge\n\tBus: primary=40, secondary=41, subordinate=41, sec-latency=0\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L1\n\t\tLnkSta:\tSpeed 16GT/s, Width x8\n\n41:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]\n\tNUMA node: 1\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)\n\tKernel driver in use: mlx5_core\n\n42:00.0 VGA compatible controller: Some GPU\n\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16\n\tKernel driver in use: gpu\nCA 'mlx5_0'\n        CA type: MT4129\n",
			map[string]string{"dev/mlx5_0/@function": "0000:41:00.0", "pci/0000:41:00.0/@path": "pci0000:40/0000:40:01.1/0000:41:00.0", "pci/0000:41:00.0/current_link_width": "8",
				"pci/0000:41:00.0/vendor": "0x15b3", "pci/0000:40:01.1/@path": "pci0000:40/0000:40:01.1"}},
		{"lspci of one function, cut by grep", "l.txt", "$ lspci -vv -s 41:00.0 | grep Lnk\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed 16GT/s, Width x8 (downgraded)\nCA 'mlx5_0'\n        CA type: MT4125\n",
			map[string]string{"dev/mlx5_0/@function": "0000:41:00.0", "pci/0000:41:00.0/current_link_width": "8"}},
		{"a GPU in a listing of sysfs is no NIC", "g.txt", "/sys/bus/pci/devices/0000:17:00.0/max_link_speed:16.0 GT/s PCIe\n/sys/bus/pci/devices/0000:17:00.0/max_link_width:16\n/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n",
			map[string]string{"dev/mlx5_0/@function": "", "dev/pci-0000:17:00.0/@function": "", "pci/0000:17:00.0/max_link_width": "16"}},
		{"Omni-Path class, VF left out", "lspci.txt", "0000:af:00.0 Fabric controller: Intel Omni-Path HFI Silicon 100 Series\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16\n\t\tLnkSta:\tSpeed 8GT/s, Width x16\n0000:af:00.2 Infiniband controller: Mellanox MT28908 Virtual Function\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16\n\t\tLnkSta:\tSpeed 8GT/s, Width x16\n",
			map[string]string{"dev/pci-0000:af:00.0/@function": "0000:af:00.0", "dev/pci-0000:af:00.2/@function": ""}},
		{"names that cannot be paths", "x.txt", "link ..mlx/1 out_of_buffer 3\n/sys/class/infiniband/../ports/1/state:4\n/sys/class/infiniband/mlx5_0/../../x/y:4\n",
			map[string]string{"dev/../ports/1/state": "", "dev/mlx5_0/../../x/y": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := one(c.file, c.text)
			got := factsOf(e)
			for fact, want := range c.want {
				if got[fact] != want {
					t.Errorf("%s is %q, want %q", fact, got[fact], want)
				}
			}
			if t.Failed() {
				for f, v := range got {
					t.Logf("%s = %q", f, v)
				}
				t.Logf("%+v", e.Items)
			}
			if _, err := e.Collect(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRefused holds the reasons why nothing is made of a text.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, why string }{
		{"empty", " \n\n", "is empty"},
		{"binary", "\x00\x01\x02\x03\x7fELF\x00\x00\x00\x05\x06", "is no text"},
		{"archive", "\x1f\x8b\x08\x00abc", "is a gzip archive: unpack it first"},
		{"prose", "Dear all,\nthe network is slow.\n", `is of no kind that is known here, such as "Dear all,"`},
		{"long line", strings.Repeat("x", 1<<20), "is of no kind that is known here"},
		{"ethtool -i without an interface", "driver: mlx5_core\nversion: 5\nbus-info: 0000:41:00.0\n", "does not say of which network interface"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := one("x.txt", c.text)
			if len(e.Items) == 0 || e.Items[0].Outcome != Refused || !strings.Contains(e.Items[0].Why, c.why) {
				t.Errorf("%+v, want %q", e.Items, c.why)
			}
		})
	}
}
