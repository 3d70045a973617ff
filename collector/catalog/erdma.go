package catalog

// Elastic RDMA of Alibaba Cloud, an iWARP device of virtual machines. Port level
// only. It tells no loss and no recovery; what the platform's limits drop it does.
var erdma = Page{
	Driver: "erdma",
	Bound:  []string{"erdma"},
	HW:     erdmaHW,
}

// drivers/infiniband/hw/erdma/erdma_verbs.c, erdma_descs.
var erdmaHW = []Row{
	{"tx_reqs_cnt", &requestsSent, "operation=any", Events, Full, ""},
	{"tx_packets_cnt", &transmittedPackets, "", Packets, Full, ""},
	{"tx_bytes_cnt", &transmittedBytes, "", Bytes, Full, ""},
	{"tx_disable_drop_cnt", &transmitDropPackets, "kind=disabled", Packets, Full, ""},
	{"tx_bps_limit_drop_cnt", &transmitDropPackets, "kind=bytes", Packets, Full, ""},
	{"tx_pps_limit_drop_cnt", &transmitDropPackets, "kind=packets", Packets, Full, ""},
	{"rx_packets_cnt", &receivedPackets, "", Packets, Full, ""},
	{"rx_bytes_cnt", &receivedBytes, "", Bytes, Full, ""},
	{"rx_disable_drop_cnt", &receiveDropPackets, "kind=disabled", Packets, Full, ""},
	{"rx_bps_limit_drop_cnt", &receiveDropPackets, "kind=bytes", Packets, Full, ""},
	{"rx_pps_limit_drop_cnt", &receiveDropPackets, "kind=packets", Packets, Full, ""},
}
