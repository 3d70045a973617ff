package catalog

// Marvell FastLinQ. It has no hw_counters, and every file of its counters
// directory fails with EINVAL: what is known comes from the Ethernet driver,
// which does not tell RDMA from other traffic.
var qedr = Page{
	Driver: "qedr",
	Bound:  []string{"qede"},
	// Without a row on purpose: traffic of the Ethernet function, frame sizes,
	// counters of half duplex and low power, filters that drop frames meant for
	// others (mftag_filter_discards, mac_filter_discards, gft_filter_drop,
	// ttl0_discard), tx_err_drop_pkts and coalesced_*, which count Ethernet
	// alone, rx_carrier_errors, which no source explains, link_change_count,
	// which counts up and down alike, and everything per queue.
	Ethtool: []Row{
		// drivers/net/ethernet/qlogic/qede/qede_ethtool.c, qede_stats_arr; the
		// port fields are those of struct port_stats in qed/qed_mfw_hsi.h. The
		// brb is the packet buffer of the port. rx_mac_crtl is spelt so.
		{"rx_mac_crtl_frames", &macControlReceived, "", Frames, Full, ""},
		{"tx_mac_ctrl_frames", &macControlSent, "", Frames, Full, ""},
		{"rx_pause_frames", &globalPauseReceived, "", Frames, Full, ""},
		{"tx_pause_frames", &globalPauseSent, "", Frames, Full, ""},
		{"rx_pfc_frames", &pfcReceivedAll, "", Frames, Full, ""},
		{"tx_pfc_frames", &pfcSentAll, "", Frames, Full, ""},
		{"rx_crc_errors", &crcErrors, "", Packets, Full, ""},
		{"rx_align_errors", &wireReceiveErrors, "kind=alignment", Events, Full, ""},
		{"rx_oversize_packets", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
		{"rx_jabbers", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
		{"rx_undersize_packets", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
		{"rx_fragments", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
		{"brb_truncates", &receiveDiscards, "", Packets, Full, ""},
		{"brb_discards", &receiveDiscards, "", Packets, Full, ""},
		{"no_buff_discards", &noHostDescriptor, "", Packets, Full, ""},
		{"packet_too_big_discard", &nicInternalDrops, "kind=oversize", Packets, Full, ""},
	},
}
