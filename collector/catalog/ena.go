package catalog

// The Ethernet interface of AWS instances. It carries no RDMA, but its limits
// are those of the instance that EFA runs on.
var ena = Page{
	Driver:  "ena",
	Bound:   []string{"ena"},
	Ethtool: enaEthtool,
}

// drivers/net/ethernet/amazon/ena/ena_ethtool.c. Meanings: ena_admin_defs.h
// beside it, and the Amazon EC2 User Guide, "Monitor network performance".
//
// Without a row on purpose: queues, resets and states of the driver, its admin
// queue, and ena_srd_mode, a bitmap of settings.
var enaEthtool = []Row{
	// ena_hw_stats_strings. The last is a gauge.
	{"bw_in_allowance_exceeded", &allowanceExceeded, "kind=bandwidth_in", Packets, Full, ""},
	{"bw_out_allowance_exceeded", &allowanceExceeded, "kind=bandwidth_out", Packets, Full, ""},
	{"pps_allowance_exceeded", &allowanceExceeded, "kind=packet_rate", Packets, Full, ""},
	{"conntrack_allowance_exceeded", &allowanceExceeded, "kind=connections", Packets, Full, ""},
	{"linklocal_allowance_exceeded", &allowanceExceeded, "kind=link_local", Packets, Full, ""},
	{"conntrack_allowance_available", &trackableConnections, "", Events, Full, ""},

	// ena_srd_info_strings. The last is a gauge in percent.
	{"ena_srd_tx_pkts", &srdPackets, "kind=transmitted", Packets, Full, ""},
	{"ena_srd_eligible_tx_pkts", &srdPackets, "kind=eligible", Packets, Full, ""},
	{"ena_srd_rx_pkts", &srdPackets, "kind=received", Packets, Full, ""},
	{"ena_srd_resource_utilization", &srdUtilisation, "", Percent, Full, ""},
}
