package catalog

// HiSilicon, on Kunpeng servers. Port level only, on physical functions of HIP09
// and later. Packets alone: no bytes, no retransmissions and no timeouts.
var hns = Page{
	Driver:  "hns",
	Bound:   []string{"hns3", "hns_roce_hw_v2"},
	HW:      hnsHW,
	Ethtool: hnsEthtool,
}

// drivers/infiniband/hw/hns/hns_roce_main.c, hns_roce_port_stats_descs.
//
// Without a row on purpose, since no source says what they count: ecn_doorbell,
// rx_buffer, trp_rx_sof, cq_cqe, cq_poe and cq_notify, steps inside the device.
// The two errors with a row are read off their names: packets whose entry in
// the memory protection table (MPT) or in the list of inbound reads (IRRL)
// could not be fetched.
var hnsHW = []Row{
	{"rx_rc_pkt", &receivedTransportPackets, "transport=rc", Packets, Full, ""},
	{"rx_uc_pkt", &receivedTransportPackets, "transport=uc", Packets, Full, ""},
	{"rx_ud_pkt", &receivedTransportPackets, "transport=ud", Packets, Full, ""},
	{"rx_xrc_pkt", &receivedTransportPackets, "transport=xrc", Packets, Full, ""},
	{"rx_pkt", &receivedPackets, "", Packets, Full, ""},
	{"rx_err_pkt", &receivedErrorPackets, "", Packets, Full, ""},
	{"rx_cnp_pkt", &cnpReceived, "", Packets, Full, ""},
	{"tx_rc_pkt", &transmittedTransportPackets, "transport=rc", Packets, Full, ""},
	{"tx_uc_pkt", &transmittedTransportPackets, "transport=uc", Packets, Full, ""},
	{"tx_ud_pkt", &transmittedTransportPackets, "transport=ud", Packets, Full, ""},
	{"tx_xrc_pkt", &transmittedTransportPackets, "transport=xrc", Packets, Full, ""},
	{"tx_pkt", &transmittedPackets, "", Packets, Full, ""},
	{"tx_err_pkt", &transmittedErrorPackets, "", Packets, Full, ""},
	{"tx_cnp_pkt", &cnpSent, "", Packets, Full, ""},
	{"trp_get_mpt_err_pkt", &transportErrors, "side=responder,kind=memory_protection", Events, Full, ""},
	{"trp_get_irrl_err_pkt", &transportErrors, "side=responder,kind=read_queue", Events, Full, ""},
}

// drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c, g_mac_stats_string:
// the MAC, all functions, RDMA or not.
//
// Without a row on purpose: mac_{tx,rx}_pause_xoff_time and _pfc_priN_xoff_time,
// whose unit no source gives; frames by size and cast; good and bad ones, which
// are sums; undermin, of which it is not told how it differs from undersize; the
// kinds of malformed frames sent, which err_all adds up; app ones, inside the
// device; and the queues.
var hnsEthtool = []Row{
	{"mac_tx_mac_pause_num", &globalPauseSent, "", Frames, Full, ""},
	{"mac_rx_mac_pause_num", &globalPauseReceived, "", Frames, Full, ""},
	{"mac_tx_control_pkt_num", &macControlSent, "", Frames, Full, ""},
	{"mac_rx_control_pkt_num", &macControlReceived, "", Frames, Full, ""},
	{"mac_tx_pfc_pkt_num", &pfcSentAll, "", Frames, Full, ""},
	{"mac_tx_pfc_pri{priority}_pkt_num", &pfcSentFrames, "", Frames, Full, ""},
	{"mac_rx_pfc_pkt_num", &pfcReceivedAll, "", Frames, Full, ""},
	{"mac_rx_pfc_pri{priority}_pkt_num", &pfcReceivedFrames, "", Frames, Full, ""},
	{"mac_tx_total_pkt_num", &wireTransmittedPackets, "", Packets, Full, ""},
	{"mac_tx_total_oct_num", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"mac_rx_total_pkt_num", &wireReceivedPackets, "", Packets, Full, ""},
	{"mac_rx_total_oct_num", &wireReceivedBytes, "", Bytes, Full, ""},
	{"mac_rx_undersize_pkt_num", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"mac_rx_oversize_pkt_num", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"mac_tx_err_all_pkt_num", &transmitErrors, "", Packets, Full, ""},
	{"mac_rx_fragment_pkt_num", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
	{"mac_rx_jabber_pkt_num", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
	{"mac_rx_fcs_err_pkt_num", &crcErrors, "", Packets, Full, ""},
}
