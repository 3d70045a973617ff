package catalog

// Broadcom NetXtreme-E (Thor and others), port level only. The kernel's driver
// and Broadcom's own package share a name and differ in those of the counters;
// the rows of both stand here, and the files that exist choose. Once a
// statistics command to the firmware has failed, the kernel's driver never asks
// again: all counters stand still but active_pds to rx_roce_discards.
var bnxt = Page{
	Driver:  "bnxt_re",
	Freezes: true,
	Bound:   []string{"bnxt_en"},
	HW:      append(append([]Row(nil), bnxtUpstream...), bnxtVendor...),
	Ethtool: bnxtEthtool,
}

// drivers/infiniband/hw/bnxt_re/hw_counters.c, bnxt_re_stat_descs, as of Linux
// 6.12. Chips before P5 (Thor) end at oos_drop_count. On virtual functions of P5
// the extended statistics after it exist and stay 0.
//
// Without a row on purpose: {tx,rx}_roce_only_{pkts,bytes} count the traffic of
// {tx,rx}_{pkts,bytes} again, but are extended statistics: they stay 0 on those
// functions and stand still when firmware is no longer asked.
var bnxtUpstream = []Row{
	{"active_pds", &activeObjects, "kind=pd", Events, Full, ""},
	{"active_ahs", &activeObjects, "kind=ah", Events, Full, ""},
	{"active_qps", &activeObjects, "kind=qp", Events, Full, ""},
	{"active_rc_qps", &activeObjects, "kind=rc_qp", Events, Full, ""},
	{"active_ud_qps", &activeObjects, "kind=ud_qp", Events, Full, ""},
	{"active_srqs", &activeObjects, "kind=srq", Events, Full, ""},
	{"active_cqs", &activeObjects, "kind=cq", Events, Full, ""},
	{"active_mrs", &activeObjects, "kind=mr", Events, Full, ""},
	{"active_mws", &activeObjects, "kind=mw", Events, Full, ""},
	{"watermark_pds", &activeObjectsWatermark, "kind=pd", Events, Full, ""},
	{"watermark_ahs", &activeObjectsWatermark, "kind=ah", Events, Full, ""},
	{"watermark_qps", &activeObjectsWatermark, "kind=qp", Events, Full, ""},
	{"watermark_rc_qps", &activeObjectsWatermark, "kind=rc_qp", Events, Full, ""},
	{"watermark_ud_qps", &activeObjectsWatermark, "kind=ud_qp", Events, Full, ""},
	{"watermark_srqs", &activeObjectsWatermark, "kind=srq", Events, Full, ""},
	{"watermark_cqs", &activeObjectsWatermark, "kind=cq", Events, Full, ""},
	{"watermark_mrs", &activeObjectsWatermark, "kind=mr", Events, Full, ""},
	{"watermark_mws", &activeObjectsWatermark, "kind=mw", Events, Full, ""},
	{"resize_cq_cnt", &cqResizes, "", Events, Full, ""},

	// Statistics context of the RoCE function, unicast. Broadcom's package adds
	// the CNPs on physical functions.
	{"rx_pkts", &receivedPackets, "", Packets, Full, ""},
	{"rx_bytes", &receivedBytes, "", Bytes, Full, ""},
	{"tx_pkts", &transmittedPackets, "", Packets, Full, ""},
	{"tx_bytes", &transmittedBytes, "", Bytes, Full, ""},

	// The name notwithstanding, both drivers fill recoverable_errors from the
	// broadcast packets sent.
	{"recoverable_errors", &transmittedBroadcastPackets, "", Packets, Full, ""},
	{"tx_roce_errors", &transmittedErrorPackets, "", Packets, Full, ""},
	{"tx_roce_discards", &transmittedDiscardPackets, "", Packets, Full, ""},
	{"rx_roce_errors", &receivedErrorPackets, "", Packets, Full, ""},
	{"rx_roce_discards", &receivedDiscardPackets, "", Packets, Full, ""},

	// Requester. missin_resp is how older kernels spell missing_resp.
	{"to_retransmits", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"seq_err_naks_rcvd", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	{"max_retry_exceeded", &retriesExceeded, "kind=transport", Events, Full, ""},
	{"rnr_naks_rcvd", &rnrNAKsReceived, "", Events, Full, ""},
	{"missing_resp", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"missin_resp", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"unrecoverable_err", &fatalErrors, "kind=unrecoverable", Events, Full, ""},
	{"bad_resp_err", &transportErrors, "side=requester,kind=bad_response", Events, Full, ""},
	{"local_qp_op_err", &transportErrors, "side=requester,kind=local_qp", Events, Full, ""},
	{"local_protection_err", &transportErrors, "side=requester,kind=local_protection", Events, Full, ""},
	{"mem_mgmt_op_err", &transportErrors, "side=requester,kind=memory_management", Events, Full, ""},
	{"remote_invalid_req_err", &transportErrors, "side=requester,kind=invalid_request", Events, Full, ""},
	{"remote_access_err", &transportErrors, "side=requester,kind=remote_access", Events, Full, ""},
	{"remote_op_err", &transportErrors, "side=requester,kind=remote_operation", Events, Full, ""},

	// Responder. That a peer asked for what it may not has eight names: four
	// reasons, found while receiving (rx) or while answering (tx).
	{"dup_req", &duplicatePackets, "kind=request", Packets, Full, ""},
	{"res_exceed_max", &transportErrors, "side=responder,kind=invalid_request", Events, Full, ""},
	{"res_length_mismatch", &transportErrors, "side=responder,kind=local_length", Events, Full, ""},
	{"res_exceeds_wqe", &transportErrors, "side=responder,kind=receive_buffer_too_small", Events, Full, ""},
	{"res_opcode_err", &transportErrors, "side=responder,kind=invalid_request", Events, Full, ""},
	{"res_rx_invalid_rkey", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_rx_domain_err", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_rx_no_perm", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_rx_range_err", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_tx_invalid_rkey", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_tx_domain_err", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_tx_no_perm", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_tx_range_err", &transportErrors, "side=responder,kind=remote_access", Events, Full, ""},
	{"res_irrq_oflow", &transportErrors, "side=responder,kind=read_queue_overflow", Events, Full, ""},
	{"res_unsup_opcode", &transportErrors, "side=responder,kind=invalid_request", Events, Full, ""},
	{"res_unaligned_atomic", &transportErrors, "side=responder,kind=unaligned_atomic", Events, Full, ""},
	{"res_rem_inv_err", &transportErrors, "side=responder,kind=remote_invalidate", Events, Full, ""},
	{"res_mem_err", &transportErrors, "side=responder,kind=memory", Events, Full, ""},
	{"res_srq_err", &transportErrors, "side=responder,kind=srq", Events, Full, ""},
	{"res_cmp_err", &transportErrors, "side=responder,kind=completion", Events, Full, ""},
	{"res_invalid_dup_rkey", &transportErrors, "side=responder,kind=duplicate_key", Events, Full, ""},
	{"res_wqe_format_err", &transportErrors, "side=responder,kind=work_request_format", Events, Full, ""},
	{"res_cq_load_err", &transportErrors, "side=responder,kind=cq_load", Events, Full, ""},
	{"res_srq_load_err", &transportErrors, "side=responder,kind=srq_load", Events, Full, ""},
	{"res_tx_pci_err", &transportErrors, "side=responder,kind=pci", Events, Full, ""},
	{"res_rx_pci_err", &transportErrors, "side=responder,kind=pci", Events, Full, ""},

	// What Broadcom's package adds up to req_cqe_error and resp_cqe_error
	// (bnxt_re_copy_err_stats of its hw_counters.c).
	{"bad_resp_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"local_qp_op_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"local_protection_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"mem_mgmt_op_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"remote_invalid_req_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"remote_access_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"remote_op_err", &completionErrors, "side=requester", Events, Full, "req_cqe_error"},
	{"res_cmp_err", &completionErrors, "side=responder", Events, Full, "resp_cqe_error"},
	{"res_cq_load_err", &completionErrors, "side=responder", Events, Full, "resp_cqe_error"},

	// Packets dropped for their sequence number. It starts at 0 with the first
	// reading unless extended statistics replace it.
	{"oos_drop_count", &outOfSequence, "", Packets, Full, ""},

	// Extended statistics. The firmware interface (roce_hsi.h) calls requests
	// and responses packets: one of many packets may count many times.
	{"tx_atomic_req", &requestsSent, "operation=atomic", Events, Full, ""},
	{"tx_read_req", &requestsSent, "operation=read", Events, Full, ""},
	{"tx_read_resp", &readResponsesSent, "", Events, Full, ""},
	{"tx_write_req", &requestsSent, "operation=write", Events, Full, ""},
	{"tx_send_req", &requestsSent, "operation=send", Events, Full, ""},
	{"rx_atomic_req", &requestsReceived, "operation=atomic", Events, Full, ""},
	{"rx_read_req", &requestsReceived, "operation=read", Events, Full, ""},
	{"rx_read_resp", &readResponsesReceived, "", Events, Full, ""},
	{"rx_write_req", &requestsReceived, "operation=write", Events, Full, ""},
	{"rx_send_req", &requestsReceived, "operation=send", Events, Full, ""},
	{"rx_roce_good_pkts", &receivedGoodPackets, "", Packets, Full, ""},
	{"rx_roce_good_bytes", &receivedGoodBytes, "", Bytes, Full, ""},
	{"rx_out_of_buffer", &receiveBufferExhausted, "", Packets, Full, ""},
	{"tx_cnp_pkts", &cnpSent, "", Packets, Full, ""},
	{"rx_cnp_pkts", &cnpReceived, "", Packets, Full, ""},
	{"rx_ecn_marked_pkts", &ecnMarked, "", Packets, Full, ""},

	// Doorbell pacing. The last is a register, not a count.
	{"pacing_reschedule", &pacingEvents, "kind=reschedule", Events, Full, ""},
	{"pacing_complete", &pacingEvents, "kind=complete", Events, Full, ""},
	{"pacing_alerts", &pacingEvents, "kind=alert", Events, Full, ""},
	{"db_fifo_register", &doorbellFIFO, "", Events, Full, ""},
}

// bnxt_re/hw_counters.c of Broadcom's driver package: only the names that the
// kernel's driver does not have. Most are those of mlx5 for what is called
// otherwise above; np_cnp_pkts stands in a patch that brings them to the kernel
// (RDMA/bnxt_re: RoCE related hardware counters update, 2025-08-14). The revision
// seen lists *_flush_error, roce_adp_*, roce_slow_*, rp_cnp_ignored and
// rx_icrc_encapsulated but fills none of them, and books every CNP received
// under rp_cnp_handled.
//
// Without a row on purpose: resp_remote_access_errors is the sum of two of the
// eight access errors above, all of which are in both drivers.
var bnxtVendor = []Row{
	{"local_ack_timeout_err", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"packet_seq_err", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	{"rnr_nak_retry_err", &rnrNAKsReceived, "", Events, Full, ""},
	{"implied_nak_seq_err", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"req_remote_invalid_request", &transportErrors, "side=requester,kind=invalid_request", Events, Full, ""},
	{"req_remote_access_errors", &transportErrors, "side=requester,kind=remote_access", Events, Full, ""},
	{"duplicate_request", &duplicatePackets, "kind=request", Packets, Full, ""},
	{"resp_local_length_error", &transportErrors, "side=responder,kind=local_length", Events, Full, ""},
	{"res_unaligned_atmeomic", &transportErrors, "side=responder,kind=unaligned_atomic", Events, Full, ""}, // spelled so for kernels without rdma_stat_desc
	{"out_of_sequence", &outOfSequence, "", Packets, Full, ""},
	{"rx_atomic_requests", &requestsReceived, "operation=atomic", Events, Full, ""},
	{"rx_read_requests", &requestsReceived, "operation=read", Events, Full, ""},
	{"rx_write_requests", &requestsReceived, "operation=write", Events, Full, ""},
	{"rx_good_pkts", &receivedGoodPackets, "", Packets, Full, ""},
	{"rx_good_bytes", &receivedGoodBytes, "", Bytes, Full, ""},
	{"out_of_buffer", &receiveBufferExhausted, "", Packets, Full, ""},
	{"np_cnp_sent", &cnpSent, "", Packets, Full, ""},
	{"np_cnp_pkts", &cnpSent, "", Packets, Full, ""},
	{"rp_cnp_handled", &cnpReceived, "", Packets, Full, ""},
	{"rp_cnp_handled", &cnpHandled, "", Packets, Full, ""},
	{"np_ecn_marked_roce_packets", &ecnMarked, "", Packets, Full, ""},
	{"req_cqe_error", &completionErrors, "side=requester", Events, Full, ""},
	{"req_cqe_flush_error", &completionFlushes, "side=requester", Events, Full, ""},
	{"resp_cqe_error", &completionErrors, "side=responder", Events, Full, ""},
	{"resp_cqe_flush_error", &completionFlushes, "side=responder", Events, Full, ""},
	{"roce_adp_retrans", &adaptiveRetransmissions, "", Events, Full, ""},
	{"roce_adp_retrans_to", &adaptiveRetransmissionTimeouts, "", Events, Full, ""},
	{"roce_slow_restart", &slowRestarts, "", Events, Full, ""},
	{"roce_slow_restart_cnps", &slowRestartCNPs, "", Packets, Full, ""},
	{"roce_slow_restart_trans", &slowRestartTransitions, "", Events, Full, ""},
	{"rp_cnp_ignored", &cnpReceived, "", Packets, Full, ""},
	{"rp_cnp_ignored", &cnpIgnored, "", Packets, Full, ""},
	{"rx_icrc_encapsulated", &icrcErrors, "", Packets, Full, ""},
}

// drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c. Statistics of the port are
// on physical functions only, and firmware cuts the extended ones short.
//
// Without a row on purpose: the rings ([N]: ...), what the driver counts of them
// (l4_csum_errors, resets, buf_errors, netpoll discards, missed IRQs, discards on
// sending), frames by size, cast and VLAN tag, energy-efficient Ethernet,
// collisions, tx_xthol_frames, rx_runt_bytes, and rx_stat_err, tx_stat_error,
// tx_jabber_frames, tx_fcs_err_frames and tx_fifo_underruns, which are sums or
// parts of errors that have a row.
var bnxtEthtool = []Row{
	// bnxt_ring_drv_stats_arr: no memory for a new buffer, no buffer in the
	// ring. Older kernels call the second rx_total_discard_pkts.
	{"rx_total_oom_discards", &noHostDescriptor, "", Packets, Full, ""},
	{"rx_total_ring_discards", &noHostDescriptor, "", Packets, Full, ""},
	{"rx_total_discard_pkts", &noHostDescriptor, "", Packets, Full, "rx_total_ring_discards"},

	// bnxt_port_stats_arr: the wire, all functions, RDMA or not.
	{"rx_total_frames", &wireReceivedPackets, "", Packets, Full, ""},
	{"rx_fcs_err_frames", &crcErrors, "", Packets, Full, ""},
	{"rx_ctrl_frames", &macControlReceived, "", Frames, Full, ""},
	{"rx_pause_frames", &globalPauseReceived, "", Frames, Full, ""},
	{"rx_pfc_frames", &pfcReceivedAll, "", Frames, Full, ""},
	{"rx_align_err_frames", &wireReceiveErrors, "kind=alignment", Events, Full, ""},
	{"rx_ovrsz_frames", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"rx_jbr_frames", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
	{"rx_mtu_err_frames", &wireReceiveErrors, "kind=mtu", Events, Full, ""},
	{"rx_pfc_ena_frames_pri{priority}", &pfcReceivedFrames, "", Frames, Full, ""},
	{"rx_undrsz_frames", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"rx_bytes", &wireReceivedBytes, "", Bytes, Full, ""},
	{"rx_runt_frames", &wireReceiveErrors, "kind=runt", Events, Full, ""},
	{"rx_stat_discard", &receiveDiscards, "", Packets, Full, ""},
	{"tx_total_frames", &wireTransmittedPackets, "", Packets, Full, ""},
	{"tx_pause_frames", &globalPauseSent, "", Frames, Full, ""},
	{"tx_pfc_frames", &pfcSentAll, "", Frames, Full, ""},
	{"tx_err", &transmitErrors, "", Packets, Full, ""},
	{"tx_pfc_ena_frames_pri{priority}", &pfcSentFrames, "", Frames, Full, ""},
	{"tx_bytes", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"tx_stat_discard", &transmitDiscards, "kind=phy", Packets, Full, ""},

	// bnxt_port_stats_ext_arr and bnxt_tx_port_stats_ext_arr. Durations are in
	// microseconds; rx is pause received, which holds us.
	{"link_down_events", &linkDowned, "kind=phy", Events, Full, ""},
	{"continuous_pause_events", &pauseStorms, "kind=continuous", Events, Full, ""},
	{"resume_pause_events", &pauseStorms, "kind=resumed", Events, Full, ""},
	{"continuous_roce_pause_events", &pauseStorms, "kind=continuous_roce", Events, Full, ""},
	{"resume_roce_pause_events", &pauseStorms, "kind=resumed_roce", Events, Full, ""},
	{"rx_bytes_cos{cos}", &cosReceivedBytes, "", Bytes, Full, ""},
	{"rx_packets_cos{cos}", &cosReceivedPackets, "", Packets, Full, ""},
	{"pfc_pri{priority}_rx_duration_us", &pfcReceivedSeconds, "", Microseconds, Full, ""},
	{"pfc_pri{priority}_rx_transitions", &pfcReceivedTransitions, "", Events, Full, ""},
	{"rx_bits", &receivedBits, "", Bits, Full, ""},
	{"rx_buffer_passed_threshold", &bufferThreshold, "", Events, Full, ""},
	{"rx_pcs_symbol_err", &symbolErrors, "kind=pcs", Events, Full, ""},
	{"rx_corrected_bits", &fecCorrectedBits, "", Bits, Full, ""},
	{"rx_discard_bytes_cos{cos}", &cosDiscardBytes, "", Bytes, Full, ""},
	{"rx_discard_packets_cos{cos}", &cosDiscardPackets, "", Packets, Full, ""},
	{"rx_fec_corrected_blocks", &fecCorrectedBlocks, "", Blocks, Full, ""},
	{"rx_fec_uncorrectable_blocks", &fecUncorrectableBlocks, "", Blocks, Full, ""},
	{"rx_filter_miss", &nicInternalDrops, "kind=steering_missed", Packets, Full, ""},
	{"tx_bytes_cos{cos}", &cosTransmittedBytes, "", Bytes, Full, ""},
	{"tx_packets_cos{cos}", &cosTransmittedPackets, "", Packets, Full, ""},
	{"pfc_pri{priority}_tx_duration_us", &pfcSentSeconds, "", Microseconds, Full, ""},
	{"pfc_pri{priority}_tx_transitions", &pfcSentTransitions, "", Events, Full, ""},

	// bnxt_{rx,tx}_{bytes,pkts}_pri_arr: the queues above, relabelled by the map
	// of priorities to them. Two priorities on one queue show one value.
	{"rx_bytes_pri{priority}", &priorityReceivedBytes, "", Bytes, Full, ""},
	{"rx_packets_pri{priority}", &priorityReceivedPackets, "", Packets, Full, ""},
	{"tx_bytes_pri{priority}", &priorityTransmittedBytes, "", Bytes, Full, ""},
	{"tx_packets_pri{priority}", &priorityTransmittedPackets, "", Packets, Full, ""},
}
