package catalog

import "slices"

// ConnectX-4 and later, Connect-IB and BlueField. In switchdev mode the set of
// the function itself is at device level, and ports have the queue counters
// under vport_ names. On a RoCE bond the congestion counters are summed over
// the members.
var mlx5 = Page{
	Driver: "mlx5",
	// The second is that of subfunctions, which sit on the auxiliary bus.
	Bound:     []string{"mlx5_core", "mlx5_core.sf"},
	FirstRead: "rx_write_requests",
	HW:        slices.Concat(mlx5QueueCounters, mlx5OtherCounters, prefixed("vport_", mlx5QueueCounters)),
	Ethtool:   mlx5Ethtool,
}

// prefixed gives rows to the same counters under names with a prefix.
func prefixed(prefix string, rows []Row) []Row {
	named := make([]Row, len(rows))
	for i, row := range rows {
		row.Name = prefix + row.Name
		named[i] = row
	}
	return named
}

// drivers/infiniband/hw/mlx5/counters.c, the INIT_Q_COUNTER tables in the order
// of mlx5_ib_fill_counters. The device keeps 32 bits;
// the driver shows them as they are. Flushed requests are part of *_cqe_error.
var mlx5QueueCounters = []Row{
	{"rx_write_requests", &requestsReceived, "operation=write", Events, Wrap32, ""},
	{"rx_read_requests", &requestsReceived, "operation=read", Events, Wrap32, ""},
	{"rx_atomic_requests", &requestsReceived, "operation=atomic", Events, Wrap32, ""},
	{"rx_dct_connect", &dctConnects, "", Events, Wrap32, ""},
	{"out_of_buffer", &receiveBufferExhausted, "", Packets, Wrap32, ""},
	{"out_of_sequence", &outOfSequence, "", Packets, Wrap32, ""},
	{"duplicate_request", &duplicatePackets, "kind=request", Packets, Wrap32, ""},
	{"rnr_nak_retry_err", &rnrNAKsReceived, "", Events, Wrap32, ""},
	{"packet_seq_err", &lossEvents, "kind=sequence_nak", Events, Wrap32, ""},
	{"implied_nak_seq_err", &lossEvents, "kind=implied_nak", Events, Wrap32, ""},
	{"local_ack_timeout_err", &lossEvents, "kind=ack_timeout", Events, Wrap32, ""},
	{"resp_local_length_error", &transportErrors, "side=responder,kind=local_length", Events, Wrap32, ""},
	{"resp_cqe_error", &completionErrors, "side=responder", Events, Wrap32, ""},
	{"req_cqe_error", &completionErrors, "side=requester", Events, Wrap32, ""},
	{"req_remote_invalid_request", &transportErrors, "side=requester,kind=invalid_request", Events, Wrap32, ""},
	{"req_remote_access_errors", &transportErrors, "side=requester,kind=remote_access", Events, Wrap32, ""},
	{"resp_remote_access_errors", &transportErrors, "side=responder,kind=remote_access", Events, Wrap32, ""},
	{"resp_cqe_flush_error", &completionFlushes, "side=responder", Events, Wrap32, ""},
	{"req_cqe_flush_error", &completionFlushes, "side=requester", Events, Wrap32, ""},
	{"req_transport_retries_exceeded", &retriesExceeded, "kind=transport", Events, Wrap32, ""},
	{"req_rnr_retries_exceeded", &retriesExceeded, "kind=rnr", Events, Wrap32, ""},
	{"roce_adp_retrans", &adaptiveRetransmissions, "", Events, Wrap32, ""},
	{"roce_adp_retrans_to", &adaptiveRetransmissionTimeouts, "", Events, Wrap32, ""},
	{"roce_slow_restart", &slowRestarts, "", Events, Wrap32, ""},
	{"roce_slow_restart_cnps", &slowRestartCNPs, "", Packets, Wrap32, ""},
	{"roce_slow_restart_trans", &slowRestartTransitions, "", Events, Wrap32, ""},
}

var mlx5OtherCounters = []Row{
	// drivers/infiniband/hw/mlx5/counters.c, cong_cnts. 64 bits. Every CNP that
	// arrives is either handled or ignored.
	{"rp_cnp_ignored", &cnpReceived, "", Packets, Full, ""},
	{"rp_cnp_ignored", &cnpIgnored, "", Packets, Full, ""},
	{"rp_cnp_handled", &cnpReceived, "", Packets, Full, ""},
	{"rp_cnp_handled", &cnpHandled, "", Packets, Full, ""},
	{"np_ecn_marked_roce_packets", &ecnMarked, "", Packets, Full, ""},
	{"np_cnp_sent", &cnpSent, "", Packets, Full, ""},

	// drivers/infiniband/hw/mlx5/counters.c, ext_ppcnt_cnts. 64 bits, counted
	// at the physical port.
	{"rx_icrc_encapsulated", &icrcErrors, "", Packets, Full, ""},

	// drivers/infiniband/hw/mlx5/counters.c, the optional counters. 64 bits,
	// shown by netlink only and only while switched on. They count again what
	// the congestion counters count.
	{"cc_rx_ce_pkts", &ecnMarked, "", Packets, Full, "np_ecn_marked_roce_packets"},
	{"cc_rx_cnp_pkts", &cnpReceived, "", Packets, Full, "rp_cnp_handled"},
	{"cc_tx_cnp_pkts", &cnpSent, "", Packets, Full, "np_cnp_sent"},

	// rdma_{rx,tx}_{bytes,packets}, optional counters of newer kernels, have no
	// row on purpose: they count again what port_{rcv,xmit}_{data,packets} of
	// the counters directory count, and its names are not known here.
}

// Without a row on purpose: the sw and channels groups (rings and offloads of
// the Ethernet interface; rx_ecn_mark among them is no RoCE mark), the Ethernet
// traffic of the function (*_vport_{unicast,multicast,broadcast}_*), what the
// function loops back to itself without saying whether it is RDMA
// (vport_loopback_*), what a representor says of its function
// (vport_{rx,tx}_*), multicast and broadcast frames and frame sizes of the
// port, and the TLS, IPsec, MACsec, PTP and QoS groups.
//
// Units and meanings: Documentation/networking/device_drivers/ethernet/mellanox/
// mlx5/counters.rst of the kernel.
var mlx5Ethtool = []Row{
	// drivers/net/ethernet/mellanox/mlx5/core/en_stats.c, group qcnt. 32 bits.
	{"rx_out_of_buffer", &noHostDescriptor, "", Packets, Wrap32, ""},
	{"rx_if_down_packets", &nicInternalDrops, "kind=interface_down", Packets, Wrap32, ""},

	// en_stats.c, group vnic_env. Only the first has 64 bits. Older kernels
	// spell the second dev_out_of_buffer.
	{"rx_steer_missed_packets", &nicInternalDrops, "kind=steering_missed", Packets, Full, ""},
	{"dev_internal_queue_oob", &nicInternalDrops, "kind=queue_full", Packets, Wrap32, ""},
	{"dev_out_of_buffer", &nicInternalDrops, "kind=queue_full", Packets, Wrap32, "dev_internal_queue_oob"},
	{"rx_oversize_pkts_buffer", &nicInternalDrops, "kind=oversize", Packets, Wrap32, ""},

	// en_stats.c, group vport: RDMA alone, this function alone.
	{"rx_vport_rdma_unicast_packets", &vportReceivedPackets, "cast=unicast", Packets, Full, ""},
	{"rx_vport_rdma_unicast_bytes", &vportReceivedBytes, "cast=unicast", Bytes, Full, ""},
	{"tx_vport_rdma_unicast_packets", &vportTransmittedPackets, "cast=unicast", Packets, Full, ""},
	{"tx_vport_rdma_unicast_bytes", &vportTransmittedBytes, "cast=unicast", Bytes, Full, ""},
	{"rx_vport_rdma_multicast_packets", &vportReceivedPackets, "cast=multicast", Packets, Full, ""},
	{"rx_vport_rdma_multicast_bytes", &vportReceivedBytes, "cast=multicast", Bytes, Full, ""},
	{"tx_vport_rdma_multicast_packets", &vportTransmittedPackets, "cast=multicast", Packets, Full, ""},
	{"tx_vport_rdma_multicast_bytes", &vportTransmittedBytes, "cast=multicast", Bytes, Full, ""},

	// en_stats.c, group 802_3: the physical port, all functions, RDMA or not.
	// Some vendor drivers are said to spell it rx_symbol_errors_phy; no source
	// of theirs was seen.
	{"tx_packets_phy", &wireTransmittedPackets, "", Packets, Full, ""},
	{"rx_packets_phy", &wireReceivedPackets, "", Packets, Full, ""},
	{"rx_crc_errors_phy", &crcErrors, "", Packets, Full, ""},
	{"tx_bytes_phy", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"rx_bytes_phy", &wireReceivedBytes, "", Bytes, Full, ""},
	{"rx_in_range_len_errors_phy", &wireReceiveErrors, "kind=length", Events, Full, ""},
	{"rx_out_of_range_len_phy", &wireReceiveErrors, "kind=out_of_range", Events, Full, ""},
	{"rx_oversize_pkts_phy", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"rx_symbol_err_phy", &symbolErrors, "kind=phy", Events, Full, ""},
	{"rx_symbol_errors_phy", &symbolErrors, "kind=phy", Events, Full, "rx_symbol_err_phy"},
	{"tx_mac_control_phy", &macControlSent, "", Frames, Full, ""},
	{"rx_mac_control_phy", &macControlReceived, "", Frames, Full, ""},
	{"rx_unsupported_op_phy", &wireReceiveErrors, "kind=unsupported_opcode", Events, Full, ""},
	{"rx_pause_ctrl_phy", &macPauseReceived, "", Frames, Full, ""},
	{"tx_pause_ctrl_phy", &macPauseSent, "", Frames, Full, ""},

	// en_stats.c, group 2863.
	{"rx_discards_phy", &receiveDiscards, "", Packets, Full, ""},
	{"tx_discards_phy", &transmitDiscards, "kind=phy", Packets, Full, ""},
	{"tx_errors_phy", &transmitErrors, "", Packets, Full, ""},

	// en_stats.c, group 2819.
	{"rx_undersize_pkts_phy", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"rx_fragments_phy", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
	{"rx_jabbers_phy", &wireReceiveErrors, "kind=jabber", Events, Full, ""},

	// en_stats.c, group phy. link_down_events_phy and, in newer kernels,
	// total_success_recovery_phy have 32 bits. The lane counters end at lane 3,
	// also on links of eight lanes; two more spellings of them are said to
	// exist in vendor drivers, of which no source was seen. rx_bits_phy is in
	// counters.rst alone. Blocks that FEC corrected come by netlink.
	{"link_down_events_phy", &linkDowned, "kind=phy", Events, Wrap32, ""},
	{"rx_pcs_symbol_err_phy", &symbolErrors, "kind=pcs", Events, Full, ""},
	{"rx_corrected_bits_phy", &fecCorrectedBits, "", Bits, Full, ""},
	{"rx_bits_phy", &receivedBits, "", Bits, Full, ""},
	{"rx_err_lane_{lane}_phy", &laneErrors, "", Events, Full, ""},
	{"rx_errors_lane_{lane}_phy", &laneErrors, "", Events, Full, "rx_err_lane_{lane}_phy"},
	{"phy_raw_errors_lane{lane}", &laneErrors, "", Events, Full, "rx_err_lane_{lane}_phy"},
	{"total_success_recovery_phy", &linkRecoveries, "kind=phy", Events, Wrap32, ""},

	// en_stats.c, group eth_ext. Over 85 % full.
	{"rx_buffer_passed_thres_phy", &bufferThreshold, "", Events, Full, ""},

	// en_stats.c, group pcie: the link that all functions and both ports of the
	// card share. The stalled percentages are of the last second, their
	// *_events count seconds above 30 %. Only the overflow has 64 bits.
	{"rx_pci_signal_integrity", &pcieSignalIntegrity, "direction=received", Events, Wrap32, ""},
	{"tx_pci_signal_integrity", &pcieSignalIntegrity, "direction=transmitted", Events, Wrap32, ""},
	{"outbound_pci_buffer_overflow", &pcieBufferOverflow, "", Packets, Full, ""},
	{"outbound_pci_stalled_rd", &pcieStalledRatio, "direction=read", Percent, Full, ""},
	{"outbound_pci_stalled_wr", &pcieStalledRatio, "direction=write", Percent, Full, ""},
	{"outbound_pci_stalled_rd_events", &pcieStalledSeconds, "direction=read", Seconds, Wrap32, ""},
	{"outbound_pci_stalled_wr_events", &pcieStalledSeconds, "direction=write", Seconds, Wrap32, ""},

	// en_stats.c, group per_prio, traffic of every priority.
	{"rx_prio{priority}_bytes", &priorityReceivedBytes, "", Bytes, Full, ""},
	{"rx_prio{priority}_packets", &priorityReceivedPackets, "", Packets, Full, ""},
	{"rx_prio{priority}_discards", &priorityDiscards, "kind=port", Packets, Full, ""},
	{"tx_prio{priority}_bytes", &priorityTransmittedBytes, "", Bytes, Full, ""},
	{"tx_prio{priority}_packets", &priorityTransmittedPackets, "", Packets, Full, ""},

	// en_stats.c, group per_prio, pause. Present only for the priorities with
	// PFC, the global ones only while global pause is on; they and the storm
	// events are read from priority 0. Durations are in microseconds. Received
	// pause holds us, sent pause holds the peer.
	{"rx_prio{priority}_pause", &pfcReceivedFrames, "", Frames, Full, ""},
	{"rx_prio{priority}_pause_duration", &pfcReceivedSeconds, "", Microseconds, Full, ""},
	{"tx_prio{priority}_pause", &pfcSentFrames, "", Frames, Full, ""},
	{"tx_prio{priority}_pause_duration", &pfcSentSeconds, "", Microseconds, Full, ""},
	{"rx_prio{priority}_pause_transition", &pfcReceivedTransitions, "", Events, Full, ""},
	{"rx_global_pause", &globalPauseReceived, "", Frames, Full, ""},
	{"rx_global_pause_duration", &globalPauseReceivedSeconds, "", Microseconds, Full, ""},
	{"tx_global_pause", &globalPauseSent, "", Frames, Full, ""},
	{"tx_global_pause_duration", &globalPauseSentSeconds, "", Microseconds, Full, ""},
	{"rx_global_pause_transition", &globalPauseTransitions, "", Events, Full, ""},
	{"tx_pause_storm_warning_events", &pauseStorms, "kind=warning", Events, Full, ""},
	{"tx_pause_storm_error_events", &pauseStorms, "kind=error", Events, Full, ""},

	// en_stats.c, group pme: events of the cage, counted by the driver.
	{"module_unplug", &moduleFaults, "kind=unplug", Events, Full, ""},
	{"module_bus_stuck", &moduleFaults, "kind=bus_stuck", Events, Full, ""},
	{"module_high_temp", &moduleFaults, "kind=high_temperature", Events, Full, ""},
	{"module_bad_shorted", &moduleFaults, "kind=bad_shorted", Events, Full, ""},

	// en_stats.c, group per_port_buff_congest: the share of a host in the
	// buffer, on cards that serve several.
	{"rx_prio{priority}_buf_discard", &priorityDiscards, "kind=buffer", Packets, Full, ""},
	{"rx_prio{priority}_cong_discard", &priorityDiscards, "kind=congestion", Packets, Full, ""},
	{"rx_prio{priority}_marked", &priorityMarked, "", Packets, Full, ""},
}
