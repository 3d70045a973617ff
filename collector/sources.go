package collector

// Sources lists every source, in the order in which a device is read: where
// two offer the same series, the first one counts.
func Sources() []Source {
	return []Source{
		{
			Name: "port", Default: true, What: "identity, state, rate and network interface of each port",
			Cost: "about ten small files a port, none of which asks the firmware for more than its link state",
			open: openPort,
		},
		{
			Name: "counters", Default: true, What: "InfiniBand port counters (PMA)",
			Cost: "one firmware command a file on mlx5",
			open: openPortCounters,
		},
		{
			Name: "hw_counters", Default: true, What: "the driver's own RDMA counters",
			Cost: "one firmware command a set where the kernel caches it",
			open: openHWCounters,
		},
		{
			Name: "ethtool", Default: true, What: "`ethtool -S` statistics of the port's network interface",
			Cost: "some dozens of register reads an interface on mlx5, a copy of memory on others; holds the kernel's RTNL lock",
			open: openEthtool,
		},
		{
			Name: "link", Default: true, What: "pause, FEC and link-down statistics of ethtool netlink",
			Cost: "three requests an interface; holds the kernel's RTNL lock",
			open: openLink,
		},
		{
			Name: "dcqcn", Default: true, What: "DCQCN settings that the out-of-tree mlx5 driver shows",
			Cost:  "about thirty files an interface, once a minute",
			Every: settingsAge, open: openDCQCN,
		},
		{
			Name: "qos", Default: true, What: "PFC, traffic classes, buffers and DSCP table of the port's network interface (DCB netlink), and the default traffic class",
			Cost:  "one request and one small file an interface, once a minute; holds the kernel's RTNL lock",
			Every: settingsAge, open: openQoS,
		},
		{
			Name: "pkey", Default: true, What: "partition keys of InfiniBand ports",
			Cost:  "one firmware command a key and four more, once a minute; 64 more every ten minutes",
			Every: settingsAge, open: openPKey,
		},
		{
			Name: "gid", Default: true, What: "GID tables of RoCE ports, from which connections take their addresses",
			Cost:  "three small files an entry and four more, once a minute; 64 more every ten minutes; the firmware is not asked",
			Every: settingsAge, open: openGID,
		},
		{
			Name: "pcie", Default: true, What: "PCIe link of the device, the path above it, and the errors (AER) at both ends",
			Cost: "fourteen small files a PCI function and two more for each switch above it; the firmware is not asked",
			open: openPCIe,
		},
		{
			Name: "kmsg", Default: true, What: "what the kernel's log says of the devices: firmware, power, modules, PCIe errors and recovery",
			Privilege: "to open /dev/kmsg: CAP_SYSLOG where kernel.dmesg_restrict is 1, and in a container that device",
			Cost:      "one read for each message that the kernel has logged since the last time",
			openNode:  openKmsg,
		},
	}
}
