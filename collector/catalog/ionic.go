package catalog

// AMD Pensando and Pollara. Port level only. The names come from the firmware,
// not from the driver; a value that the driver cannot decode reads 2^64-1.
var ionic = Page{
	Driver:  "ionic",
	Bound:   []string{"ionic"},
	HW:      ionicHW,
	Ethtool: ionicEthtool,
}

// As Pollara firmware lists them, after the RDMA statistics that AMD's
// node-scraper and RCCL's net_telemetry read. No vendor page explains them: the
// names follow the states of the InfiniBand specification. outouf is spelled so.
//
// Without a row on purpose: the retransmissions, timeouts and gaps of
// clear-to-send messages (*_ccl_cts_*), of which it is not told whether they are
// part of the others, and resp_rx_s0_table_err, inside the device.
var ionicHW = []Row{
	{"tx_rdma_ucast_bytes", &transmittedBytes, "", Bytes, Full, ""},
	{"tx_rdma_ucast_pkts", &transmittedPackets, "", Packets, Full, ""},
	{"tx_rdma_ucast_pkts", &transmittedUnicastPackets, "", Packets, Full, ""},
	{"tx_rdma_mcast_bytes", &transmittedBytes, "", Bytes, Full, ""},
	{"tx_rdma_mcast_bytes", &transmittedMulticastBytes, "", Bytes, Full, ""},
	{"tx_rdma_mcast_pkts", &transmittedPackets, "", Packets, Full, ""},
	{"tx_rdma_mcast_pkts", &transmittedMulticastPackets, "", Packets, Full, ""},
	{"tx_rdma_cnp_pkts", &cnpSent, "", Packets, Full, ""},
	{"rx_rdma_ucast_bytes", &receivedBytes, "", Bytes, Full, ""},
	{"rx_rdma_ucast_pkts", &receivedPackets, "", Packets, Full, ""},
	{"rx_rdma_ucast_pkts", &receivedUnicastPackets, "", Packets, Full, ""},
	{"rx_rdma_mcast_bytes", &receivedBytes, "", Bytes, Full, ""},
	{"rx_rdma_mcast_bytes", &receivedMulticastBytes, "", Bytes, Full, ""},
	{"rx_rdma_mcast_pkts", &receivedPackets, "", Packets, Full, ""},
	{"rx_rdma_mcast_pkts", &receivedMulticastPackets, "", Packets, Full, ""},
	{"rx_rdma_cnp_pkts", &cnpReceived, "", Packets, Full, ""},
	{"rx_rdma_ecn_pkts", &ecnMarked, "", Packets, Full, ""},

	// Requester: what came back (rx) and what was about to be sent (tx).
	{"req_rx_pkt_seq_err", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	{"req_rx_rnr_retry_err", &rnrNAKsReceived, "", Events, Full, ""},
	{"req_rx_rmt_acc_err", &transportErrors, "side=requester,kind=remote_access", Events, Full, ""},
	{"req_rx_rmt_req_err", &transportErrors, "side=requester,kind=invalid_request", Events, Full, ""},
	{"req_rx_oper_err", &transportErrors, "side=requester,kind=remote_operation", Events, Full, ""},
	{"req_rx_impl_nak_seq_err", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"req_rx_cqe_err", &completionErrors, "side=requester", Events, Full, ""},
	{"req_rx_cqe_flush", &completionFlushes, "side=requester", Events, Full, ""},
	{"req_rx_dup_response", &duplicatePackets, "kind=response", Packets, Full, ""},
	{"req_rx_inval_pkts", &transportErrors, "side=requester,kind=bad_response", Events, Full, ""},
	{"req_tx_loc_acc_err", &transportErrors, "side=requester,kind=local_protection", Events, Full, ""},
	{"req_tx_loc_oper_err", &transportErrors, "side=requester,kind=local_qp", Events, Full, ""},
	{"req_tx_mem_mgmt_err", &transportErrors, "side=requester,kind=memory_management", Events, Full, ""},
	{"req_tx_retry_excd_err", &retriesExceeded, "kind=transport", Events, Full, ""},
	{"req_tx_loc_sgl_inv_err", &transportErrors, "side=requester,kind=invalid_sgl", Events, Full, ""},

	// Responder: what arrived (rx) and what was answered (tx). Of the two
	// counters of invalid requests one is taken, lest they count the same.
	{"resp_rx_dup_request", &duplicatePackets, "kind=request", Packets, Full, ""},
	{"resp_rx_outof_buf", &receiveBufferExhausted, "", Packets, Full, ""},
	{"resp_rx_outouf_seq", &outOfSequence, "", Packets, Full, ""},
	{"resp_rx_cqe_err", &completionErrors, "side=responder", Events, Full, ""},
	{"resp_rx_cqe_flush", &completionFlushes, "side=responder", Events, Full, ""},
	{"resp_rx_loc_len_err", &transportErrors, "side=responder,kind=local_length", Events, Full, ""},
	{"resp_rx_inval_request", &transportErrors, "side=responder,kind=invalid_request", Events, Full, ""},
	{"resp_rx_loc_oper_err", &transportErrors, "side=responder,kind=local_qp", Events, Full, ""},
	{"resp_rx_outof_atomic", &transportErrors, "side=responder,kind=atomic_resources", Events, Full, ""},
	{"resp_tx_pkt_seq_err", &sequenceNAKsSent, "", Events, Full, ""},
	{"resp_tx_rmt_inval_req_err", &transportErrors, "side=responder,kind=invalid_request", Events, Full, "resp_rx_inval_request"},
	{"resp_tx_rmt_acc_err", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"resp_tx_rmt_oper_err", &transportErrors, "side=responder,kind=remote_operation", Events, Full, ""},
	{"resp_tx_rnr_retry_err", &rnrNAKsSent, "", Events, Full, ""},
	{"resp_tx_loc_sgl_inv_err", &transportErrors, "side=responder,kind=invalid_sgl", Events, Full, ""},

	{"tx_rdma_ccl_cts_bytes", &clearToSendTransmittedBytes, "", Bytes, Full, ""},
	{"tx_rdma_ccl_cts_pkts", &clearToSendTransmittedPackets, "", Packets, Full, ""},
	{"rx_rdma_ccl_cts_bytes", &clearToSendReceivedBytes, "", Bytes, Full, ""},
	{"rx_rdma_ccl_cts_pkts", &clearToSendReceivedPackets, "", Packets, Full, ""},
	{"tx_rdma_ack_timeout", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"tx_rdma_retx_bytes", &retransmittedBytes, "", Bytes, Full, ""},
	{"tx_rdma_retx_pkts", &retransmittedPackets, "", Packets, Full, ""},
	{"rx_rdma_mtu_discard_pkts", &receivedDiscardPackets, "", Packets, Full, ""},
}

// drivers/net/ethernet/pensando/ionic/ionic_stats.c.
//
// Without a row on purpose: queues, the Ethernet function's own statistics but
// one, frames by size, cast and VLAN, the sums frames_rx_ok, frames_rx_bad_all,
// frames_tx_ok and octets_*_ok, and frames_tx_truncated, which may be part of
// frames_tx_bad.
var ionicEthtool = []Row{
	// ionic_lif_stats_desc: the device's rx_queue_empty (ionic_get_stats64).
	{"hw_rx_over_errors", &noHostDescriptor, "", Packets, Full, ""},

	// ionic_port_stats_desc: the wire, all functions, RDMA or not. Counts of 1us
	// are microseconds.
	{"frames_rx_all", &wireReceivedPackets, "", Packets, Full, ""},
	{"frames_rx_bad_fcs", &crcErrors, "", Packets, Full, ""},
	{"octets_rx_all", &wireReceivedBytes, "", Bytes, Full, ""},
	{"frames_rx_pause", &globalPauseReceived, "", Frames, Full, ""},
	{"frames_rx_bad_length", &wireReceiveErrors, "kind=length", Events, Full, ""},
	{"frames_rx_undersized", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"frames_rx_oversized", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"frames_rx_fragments", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
	{"frames_rx_jabber", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
	{"frames_rx_pripause", &pfcReceivedAll, "", Frames, Full, ""},
	{"frames_rx_stomped_crc", &wireReceiveErrors, "kind=stomped", Events, Full, ""},
	{"frames_rx_too_long", &wireReceiveErrors, "kind=too_long", Events, Full, ""},
	{"frames_rx_dropped", &receiveDiscards, "", Packets, Full, ""},
	{"frames_tx_all", &wireTransmittedPackets, "", Packets, Full, ""},
	{"frames_tx_bad", &transmitErrors, "", Packets, Full, ""},
	{"octets_tx_total", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"frames_tx_pause", &globalPauseSent, "", Frames, Full, ""},
	{"frames_tx_pripause", &pfcSentAll, "", Frames, Full, ""},
	{"frames_tx_pri_{priority}", &priorityTransmittedPackets, "", Packets, Full, ""},
	{"frames_rx_pri_{priority}", &priorityReceivedPackets, "", Packets, Full, ""},
	{"tx_pripause_{priority}_1us_count", &pfcSentSeconds, "", Microseconds, Full, ""},
	{"rx_pripause_{priority}_1us_count", &pfcReceivedSeconds, "", Microseconds, Full, ""},
	{"rx_pause_1us_count", &globalPauseReceivedSeconds, "", Microseconds, Full, ""},
}
