package catalog

// Microsoft Azure Network Adapter. Loss is at port level, congestion marks and
// CNPs sent at device level; rate_inc_events is at both and counts two things.
// Linux 6.12 has no hw_counters yet. The state follows the carrier of the
// interface, while the rate was a constant (mana_ib_query_port in
// drivers/infiniband/hw/mana/main.c) until a fix of 2026, and kernels before
// both fill in nothing: the state is then 0 and the rate file refused.
var mana = Page{
	Driver:       "mana",
	Bound:        []string{"mana"},
	ConstantRate: true,
	HW:           manaHW,
	Ethtool:      manaEthtool,
}

// drivers/infiniband/hw/mana/counters.c. Which side sees the nak_ ones is not
// written anywhere; they stand among those of the requester, which gets NAKs.
//
// Without a row on purpose: dup_rx_requests, of which no source says how it
// differs from responder_dup_request.
var manaHW = []Row{
	// mana_ib_port_stats_desc. general_hw_error is part of total_fatal_error: in
	// the example of the commit message both are 6.
	{"requester_timeout", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"requester_oos_nak", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	{"requester_rnr_nak", &rnrNAKsReceived, "", Events, Full, ""},
	{"responder_rnr_nak", &rnrNAKsSent, "", Events, Full, ""},
	{"responder_oos", &outOfSequence, "", Packets, Full, ""},
	{"responder_dup_request", &duplicatePackets, "kind=request", Packets, Full, ""},
	{"requester_implicit_nak", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"requester_readresp_psn_mismatch", &transportErrors, "side=requester,kind=bad_response", Events, Full, ""},
	{"nak_inv_req", &transportErrors, "side=requester,kind=invalid_request", Events, Full, ""},
	{"nak_access_error", &transportErrors, "side=requester,kind=remote_access", Events, Full, ""},
	{"nak_opp_error", &transportErrors, "side=requester,kind=remote_operation", Events, Full, ""},
	{"nak_inv_read", &transportErrors, "side=requester,kind=invalid_read", Events, Full, ""},
	{"responder_local_len_error", &transportErrors, "side=responder,kind=local_length", Events, Full, ""},
	{"requestor_local_prot_error", &transportErrors, "side=requester,kind=local_protection", Events, Full, ""},
	{"responder_rem_access_error", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"responder_local_qp_error", &transportErrors, "side=responder,kind=local_qp", Events, Full, ""},
	{"responder_malformed_wqe", &transportErrors, "side=responder,kind=work_request_format", Events, Full, ""},
	{"general_hw_error", &fatalErrors, "kind=hardware", Events, Full, ""},
	{"requester_rnr_nak_retries_exceeded", &retriesExceeded, "kind=rnr", Events, Full, ""},
	{"requester_retries_exceeded", &retriesExceeded, "kind=transport", Events, Full, ""},
	{"total_fatal_error", &fatalErrors, "kind=total", Events, Full, ""},
	{"received_cnps", &cnpReceived, "", Packets, Full, ""},
	{"num_qps_congested", &rateLimitedQPs, "", Events, Full, ""},
	{"rate_inc_events", &rateIncreases, "", Events, Full, ""}, // the device's, too
	{"num_qps_recovered", &recoveredQPs, "", Events, Full, ""},
	{"current_rate", &reactionPointRate, "", Events, Full, ""}, // a gauge
	{"tx_bytes", &transmittedBytes, "", Bytes, Full, ""},
	{"rx_bytes", &receivedBytes, "", Bytes, Full, ""},
	{"rx_send_requests", &requestsReceived, "operation=send", Events, Full, ""},
	{"rx_write_requests", &requestsReceived, "operation=write", Events, Full, ""},
	{"rx_read_requests", &requestsReceived, "operation=read", Events, Full, ""},
	{"tx_packets", &transmittedPackets, "", Packets, Full, ""},
	{"rx_packets", &receivedPackets, "", Packets, Full, ""},

	// mana_ib_device_stats_desc.
	{"sent_cnps", &cnpSent, "", Packets, Full, ""},
	{"received_ecns", &ecnMarked, "", Packets, Full, ""},
	{"received_cnp_count", &cnpReceived, "", Packets, Full, ""},
	{"qp_congested_events", &rateLimitedQPs, "", Events, Full, ""},
	{"qp_recovered_events", &recoveredQPs, "", Events, Full, ""},
}

// drivers/net/ethernet/microsoft/mana/mana_ethtool.c.
//
// Without a row on purpose: queues, what the driver counts of them, and the
// packets and bytes of the Ethernet function (hc_rx_*, hc_tx_*), without RDMA.
var manaEthtool = []Row{
	// mana_eth_stats: the Ethernet function, as the device counts it.
	{"hc_rx_discards_no_wqe", &noHostDescriptor, "", Packets, Full, ""},
	{"hc_rx_err_vport_disabled", &nicInternalDrops, "kind=interface_down", Packets, Full, ""},
	{"hc_tx_err_gf_disabled", &nicInternalDrops, "kind=tx_disabled", Packets, Full, ""},
	{"hc_tx_err_vport_disabled", &nicInternalDrops, "kind=tx_disabled", Packets, Full, ""},
	{"hc_tx_err_inval_vportoffset_pkt", &nicInternalDrops, "kind=tx_malformed", Packets, Full, ""},
	{"hc_tx_err_vlan_enforcement", &nicInternalDrops, "kind=tx_policy", Packets, Full, ""},
	{"hc_tx_err_eth_type_enforcement", &nicInternalDrops, "kind=tx_policy", Packets, Full, ""},
	{"hc_tx_err_sa_enforcement", &nicInternalDrops, "kind=tx_policy", Packets, Full, ""},
	{"hc_tx_err_sqpdid_enforcement", &nicInternalDrops, "kind=tx_policy", Packets, Full, ""},
	{"hc_tx_err_cqpdid_enforcement", &nicInternalDrops, "kind=tx_policy", Packets, Full, ""},
	{"hc_tx_err_mtu_violation", &nicInternalDrops, "kind=tx_mtu", Packets, Full, ""},
	{"hc_tx_err_inval_oob", &nicInternalDrops, "kind=tx_malformed", Packets, Full, ""},
	{"hc_tx_err_gdma", &nicInternalDrops, "kind=tx_dma", Packets, Full, ""},

	// mana_phy_stats (patch "net: mana: Expose additional hardware counters for
	// drop and TC via ethtool", 2025): the physical port, by traffic class. Which
	// priority a class carries is not told, so its pauses go to the total.
	{"hc_rx_pkt_drop_phy", &receiveDiscards, "", Packets, Full, ""},
	{"hc_tx_pkt_drop_phy", &transmitDiscards, "kind=phy", Packets, Full, ""},
	{"hc_tc{cos}_rx_pkt_phy", &cosReceivedPackets, "", Packets, Full, ""},
	{"hc_tc{cos}_rx_byte_phy", &cosReceivedBytes, "", Bytes, Full, ""},
	{"hc_tc{cos}_tx_pkt_phy", &cosTransmittedPackets, "", Packets, Full, ""},
	{"hc_tc{cos}_tx_byte_phy", &cosTransmittedBytes, "", Bytes, Full, ""},
	{"hc_tc0_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc0_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc1_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc1_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc2_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc2_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc3_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc3_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc4_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc4_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc5_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc5_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc6_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc6_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
	{"hc_tc7_rx_pause_phy", &pfcReceivedAll, "", Frames, Full, ""},
	{"hc_tc7_tx_pause_phy", &pfcSentAll, "", Frames, Full, ""},
}
