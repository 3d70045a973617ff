package catalog

// Elastic Fabric Adapter of AWS. Commands are at device level, traffic at port
// level; older kernels have all of them in the port's directory. State and rate
// are constants. Reliability is the device's own protocol (SRD): no NAKs, no CNPs.
var efa = Page{
	Driver:        "efa",
	Bound:         []string{"efa"},
	ConstantState: true,
	ConstantRate:  true,
	HW:            efaHW,
}

// drivers/infiniband/hw/efa/efa_verbs.c. What the traffic counters mean: Amazon
// EC2 User Guide, "EFA driver metrics" (efa-working-monitor.html).
var efaHW = []Row{
	// EFA_DEFINE_DEVICE_STATS: counted by the driver.
	{"submitted_cmds", &commands, "outcome=submitted", Events, Full, ""},
	{"completed_cmds", &commands, "outcome=completed", Events, Full, ""},
	{"cmds_err", &commands, "outcome=failed", Events, Full, ""},
	{"no_completion_cmds", &commands, "outcome=unanswered", Events, Full, ""},
	{"keep_alive_rcvd", &keepAlives, "", Events, Full, ""},
	{"alloc_pd_err", &commandErrors, "kind=alloc_pd", Events, Full, ""},
	{"create_qp_err", &commandErrors, "kind=create_qp", Events, Full, ""},
	{"create_cq_err", &commandErrors, "kind=create_cq", Events, Full, ""},
	{"reg_mr_err", &commandErrors, "kind=reg_mr", Events, Full, ""},
	{"alloc_ucontext_err", &commandErrors, "kind=alloc_ucontext", Events, Full, ""},
	{"create_ah_err", &commandErrors, "kind=create_ah", Events, Full, ""},
	{"mmap_err", &commandErrors, "kind=mmap", Events, Full, ""},

	// EFA_DEFINE_PORT_STATS. The device does not say why it drops what it
	// received; a missing receive buffer is one reason, hence two rows.
	{"tx_bytes", &transmittedBytes, "", Bytes, Full, ""},
	{"tx_pkts", &transmittedPackets, "", Packets, Full, ""},
	{"rx_bytes", &receivedBytes, "", Bytes, Full, ""},
	{"rx_pkts", &receivedPackets, "", Packets, Full, ""},
	{"rx_drops", &receivedDiscardPackets, "", Packets, Full, ""},
	{"rx_drops", &receiveBufferExhausted, "", Packets, Full, ""},
	{"send_bytes", &operationSentBytes, "operation=send", Bytes, Full, ""},
	{"send_wrs", &requestsSent, "operation=send", Events, Full, ""},
	{"recv_bytes", &operationReceivedBytes, "operation=send", Bytes, Full, ""},
	{"recv_wrs", &receiveRequestsCompleted, "", Events, Full, ""},

	// Present always, but 0 on devices without RDMA read or write.
	{"rdma_read_wrs", &requestsSent, "operation=read", Events, Full, ""},
	{"rdma_read_bytes", &operationReceivedBytes, "operation=read", Bytes, Full, ""},
	{"rdma_read_wr_err", &completionErrors, "side=requester", Events, Full, ""},
	{"rdma_read_wr_err", &transportErrors, "side=requester,kind=read", Events, Full, ""},
	{"rdma_read_resp_bytes", &operationSentBytes, "operation=read_response", Bytes, Full, ""},
	{"rdma_write_wrs", &requestsSent, "operation=write", Events, Full, ""},
	{"rdma_write_bytes", &operationSentBytes, "operation=write", Bytes, Full, ""},
	{"rdma_write_wr_err", &completionErrors, "side=requester", Events, Full, ""},
	{"rdma_write_wr_err", &transportErrors, "side=requester,kind=write", Events, Full, ""},
	{"rdma_write_recv_bytes", &operationReceivedBytes, "operation=write", Bytes, Full, ""},

	// Newer kernels and Nitro v4 or later. A timeout makes SRD take another
	// path; an unresponsive remote is the nearest it has to retries running out.
	{"retrans_bytes", &retransmittedBytes, "", Bytes, Full, ""},
	{"retrans_pkts", &retransmittedPackets, "", Packets, Full, ""},
	{"retrans_timeout_events", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"unresponsive_remote_events", &retriesExceeded, "kind=transport", Events, Full, ""},
	{"impaired_remote_conn_events", &impairedPaths, "", Events, Full, ""},
}
