package catalog

// ConnectX-3. hw_counters are per device and, on cards with that ability, per
// port as well, where the same names count the port's share; VFs have none. On
// Ethernet ports the error files of the port counters always read 0.
var mlx4 = Page{
	Driver: "mlx4",
	// drivers/infiniband/hw/mlx4/mad.c: Ethernet ports and VFs are answered from
	// flow counters, which have the traffic alone.
	PortErrors: OnInfiniBand,
	Bound:      []string{"mlx4_core"},
	// drivers/infiniband/hw/mlx4/main.c, mlx4_ib_alloc_diag_counters: the first
	// set is the device's, the second, of cards that can, the ports'.
	SumsPorts: true,
	HW: []Row{
		// drivers/infiniband/hw/mlx4/main.c, diag_basic. 32 bits, shown as they
		// are. sq is the requester, rq the responder. What the abbreviations
		// stand for follows the same counters in the vendor's manual of the
		// Windows driver; the kernel does not say.
		{"rq_num_lle", &transportErrors, "side=responder,kind=local_length", Events, Wrap32, ""},
		{"sq_num_lle", &transportErrors, "side=requester,kind=local_length", Events, Wrap32, ""},
		{"rq_num_lqpoe", &transportErrors, "side=responder,kind=local_qp", Events, Wrap32, ""},
		{"sq_num_lqpoe", &transportErrors, "side=requester,kind=local_qp", Events, Wrap32, ""},
		{"rq_num_lpe", &transportErrors, "side=responder,kind=local_protection", Events, Wrap32, ""},
		{"sq_num_lpe", &transportErrors, "side=requester,kind=local_protection", Events, Wrap32, ""},
		{"rq_num_wrfe", &completionFlushes, "side=responder", Events, Wrap32, ""},
		{"sq_num_wrfe", &completionFlushes, "side=requester", Events, Wrap32, ""},
		{"sq_num_mwbe", &transportErrors, "side=requester,kind=memory_window_bind", Events, Wrap32, ""},
		{"sq_num_bre", &transportErrors, "side=requester,kind=bad_response", Events, Wrap32, ""},
		{"sq_num_rire", &transportErrors, "side=requester,kind=invalid_request", Events, Wrap32, ""},
		{"rq_num_rire", &transportErrors, "side=responder,kind=invalid_request", Events, Wrap32, ""},
		{"sq_num_rae", &transportErrors, "side=requester,kind=remote_access", Events, Wrap32, ""},
		{"rq_num_rae", &transportErrors, "side=responder,kind=remote_access", Events, Wrap32, ""},
		{"sq_num_roe", &transportErrors, "side=requester,kind=remote_operation", Events, Wrap32, ""},
		{"sq_num_tree", &retriesExceeded, "kind=transport", Events, Wrap32, ""},
		{"sq_num_rree", &retriesExceeded, "kind=rnr", Events, Wrap32, ""},
		{"rq_num_rnr", &rnrNAKsSent, "", Events, Wrap32, ""},
		{"sq_num_rnr", &rnrNAKsReceived, "", Events, Wrap32, ""},
		{"rq_num_oos", &outOfSequence, "", Packets, Wrap32, ""},
		{"sq_num_oos", &lossEvents, "kind=sequence_nak", Events, Wrap32, ""},

		// drivers/infiniband/hw/mlx4/main.c, diag_ext: cards with counters per
		// port, at both levels.
		{"rq_num_dup", &duplicatePackets, "kind=request", Packets, Wrap32, ""},
		{"sq_num_to", &lossEvents, "kind=ack_timeout", Events, Wrap32, ""},

		// drivers/infiniband/hw/mlx4/main.c, diag_device_only. The second is
		// UD packets dropped in silence for want of a receive descriptor.
		{"num_cqovf", &cqOverflows, "", Events, Wrap32, ""},
		{"rq_num_udsdprd", &receiveBufferExhausted, "", Packets, Wrap32, ""},
	},
	// Without a row on purpose: sums that mix hardware and software drops
	// (rx_errors, rx_dropped, tx_dropped), rx_length_errors, which the kernel
	// describes as an overflow, the software counters of the Ethernet
	// interface and its rings, the Ethernet traffic of the function (pf_*),
	// multicast and broadcast frames, and traffic without a VLAN tag
	// (*_novlan_*), which belongs to no priority. {rx,tx}_pause_duration* and
	// tx_pause_transition: mlx4_stats.h says microseconds of the duration, but
	// not whose transmitter the sent one held, and nothing else confirms it.
	Ethtool: []Row{
		// drivers/net/ethernet/mellanox/mlx4/en_ethtool.c, main_strings, filled
		// in en_port.c: RCRC and RdropOvflw, 32 bits.
		{"rx_crc_errors", &crcErrors, "", Packets, Wrap32, ""},
		{"rx_fifo_errors", &receiveDiscards, "", Packets, Wrap32, ""},

		// en_ethtool.c, flow control received, per priority and global. Only
		// the names of what is in use are shown.
		{"rx_pause_prio_{priority}", &pfcReceivedFrames, "", Frames, Full, ""},
		{"rx_pause_transition_prio_{priority}", &pfcReceivedTransitions, "", Events, Full, ""},
		{"rx_pause", &globalPauseReceived, "", Frames, Full, ""},
		{"rx_pause_transition", &globalPauseTransitions, "", Events, Full, ""},

		// en_ethtool.c, flow control sent.
		{"tx_pause_prio_{priority}", &pfcSentFrames, "", Frames, Full, ""},
		{"tx_pause_transition_prio_{priority}", &pfcSentTransitions, "", Events, Full, ""},
		{"tx_pause", &globalPauseSent, "", Frames, Full, ""},

		// en_ethtool.c, packet statistics: the physical port, bad frames
		// included in what was received. RJBBR has 32 bits.
		{"rx_jabbers", &wireReceiveErrors, "kind=jabber", Events, Wrap32, ""},
		{"rx_in_range_length_error", &wireReceiveErrors, "kind=length", Events, Full, ""},
		{"rx_out_range_length_error", &wireReceiveErrors, "kind=out_of_range", Events, Full, ""},
		{"rx_prio_{priority}_packets", &priorityReceivedPackets, "", Packets, Full, ""},
		{"rx_prio_{priority}_bytes", &priorityReceivedBytes, "", Bytes, Full, ""},
		{"tx_prio_{priority}_packets", &priorityTransmittedPackets, "", Packets, Full, ""},
		{"tx_prio_{priority}_bytes", &priorityTransmittedBytes, "", Bytes, Full, ""},

		// en_ethtool.c, phy statistics: the sums over all priorities.
		{"rx_packets_phy", &wireReceivedPackets, "", Packets, Full, ""},
		{"rx_bytes_phy", &wireReceivedBytes, "", Bytes, Full, ""},
		{"tx_packets_phy", &wireTransmittedPackets, "", Packets, Full, ""},
		{"tx_bytes_phy", &wireTransmittedBytes, "", Bytes, Full, ""},
	},
}
