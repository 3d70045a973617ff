package catalog

// Chelsio T4 to T6, iWARP. Device level only: the counters are those of TCP on
// the whole adapter, all ports together and what is not RDMA as well.
var cxgb4 = Page{
	Driver:  "cxgb4",
	Bound:   []string{"cxgb4", "iw_cxgb4"},
	HW:      cxgb4HW,
	Ethtool: cxgb4Ethtool,
}

// drivers/infiniband/hw/cxgb4/provider.c, cxgb4_descs. Resets are 32 bits wide
// (tp_tcp_stats in drivers/net/ethernet/chelsio/cxgb4/cxgb4.h).
var cxgb4HW = []Row{
	{"ip4InSegs", &tcpReceivedSegments, "", Segments, Full, ""},
	{"ip4OutSegs", &tcpTransmittedSegments, "", Segments, Full, ""},
	{"ip4RetransSegs", &retransmittedPackets, "", Packets, Full, ""},
	{"ip4OutRsts", &connectionResets, "", Events, Wrap32, ""},
	{"ip6InSegs", &tcpReceivedSegments, "", Segments, Full, ""},
	{"ip6OutSegs", &tcpTransmittedSegments, "", Segments, Full, ""},
	{"ip6RetransSegs", &retransmittedPackets, "", Packets, Full, ""},
	{"ip6OutRsts", &connectionResets, "", Events, Wrap32, ""},
}

// drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c, stats_strings, which pads
// the names with blanks. Meanings: struct port_stats in cxgb4.h beside it. Frames
// and octets are those of good frames.
//
// Without a row on purpose: frames by cast and size, offloads, TLS, the adapter's
// doorbell statistics and the loopback channel (the same names without rx_, tx_).
var cxgb4Ethtool = []Row{
	{"tx_octets_ok", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"tx_frames_ok", &wireTransmittedPackets, "", Packets, Full, ""},
	{"tx_error_frames", &transmitErrors, "", Packets, Full, ""},
	{"tx_frames_dropped", &transmitDiscards, "kind=phy", Packets, Full, ""},
	{"tx_pause_frames", &globalPauseSent, "", Frames, Full, ""},
	{"tx_ppp{priority}_frames", &pfcSentFrames, "", Frames, Full, ""},
	{"rx_octets_ok", &wireReceivedBytes, "", Bytes, Full, ""},
	{"rx_frames_ok", &wireReceivedPackets, "", Packets, Full, ""},
	{"rx_frames_too_long", &wireReceiveErrors, "kind=mtu", Events, Full, ""},
	{"rx_jabber_errors", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
	{"rx_fcs_errors", &crcErrors, "", Packets, Full, ""},
	{"rx_length_errors", &wireReceiveErrors, "kind=length", Events, Full, ""},
	{"rx_symbol_errors", &symbolErrors, "kind=mac", Events, Full, ""},
	{"rx_runt_frames", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"rx_pause_frames", &globalPauseReceived, "", Frames, Full, ""},
	{"rx_ppp{priority}_frames", &pfcReceivedFrames, "", Frames, Full, ""},

	// Four buffer groups, of which a port uses some. What is truncated for want
	// of buffer is lost like what is dropped.
	{"rx_bg0_frames_dropped", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg1_frames_dropped", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg2_frames_dropped", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg3_frames_dropped", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg0_frames_trunc", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg1_frames_trunc", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg2_frames_trunc", &receiveDiscards, "", Packets, Full, ""},
	{"rx_bg3_frames_trunc", &receiveDiscards, "", Packets, Full, ""},
}
