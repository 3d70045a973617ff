package catalog

// Intel X722 (gen1), E810 (gen2) and the IPU E2000 (gen3): iWARP, from gen2 on
// RoCE v2 as well. Port level only. What gen1 and gen2 keep in 24 to 56 bits the
// driver adds up in 64, so nothing wraps here. Volume is that of the IP layer:
// RoCE v2 is carried in UDP over IP, iWARP in TCP.
var irdma = Page{
	Driver:  "irdma",
	Bound:   []string{"ice", "i40e", "idpf", "i40iw"},
	HW:      irdmaHW,
	Ethtool: irdmaEthtool,
}

// drivers/infiniband/hw/irdma/verbs.c, irdma_hw_stat_names of Linux 6.12. The
// kernels that know gen3 have other names for thirteen counters of all
// generations (patch "RDMA/irdma: Add GEN3 HW statistics support", 2025); a
// kernel has either the old or the new ones.
var irdmaHW = []Row{
	{"ip4InDiscards", &ipReceivedDiscards, "version=4", Packets, Full, ""},
	{"ip4InTruncatedPkts", &ipReceivedTruncated, "version=4", Packets, Full, ""},
	{"ip4OutNoRoutes", &ipNoRoute, "version=4", Packets, Full, ""},
	{"ip6InDiscards", &ipReceivedDiscards, "version=6", Packets, Full, ""},
	{"ip6InTruncatedPkts", &ipReceivedTruncated, "version=6", Packets, Full, ""},
	{"ip6OutNoRoutes", &ipNoRoute, "version=6", Packets, Full, ""},
	{"tcpRetransSegs", &retransmittedPackets, "", Packets, Full, ""},
	{"tcpInOptErrors", &tcpErrors, "kind=option", Segments, Full, ""},
	{"tcpInProtoErrors", &tcpErrors, "kind=protocol", Segments, Full, ""},
	{"rxVlanErrors", &vlanErrors, "", Packets, Full, ""},

	// Octets are bytes of the IP layer. Multicast has counters of its own for
	// octets from gen2 on.
	{"ip4InOctets", &receivedBytes, "", Bytes, Full, ""},
	{"ip4InPkts", &receivedPackets, "", Packets, Full, ""},
	{"ip4InReasmRqd", &ipReassemblies, "version=4", Packets, Full, ""},
	{"ip4InMcastPkts", &receivedMulticastPackets, "", Packets, Full, ""},
	{"ip4OutOctets", &transmittedBytes, "", Bytes, Full, ""},
	{"ip4OutPkts", &transmittedPackets, "", Packets, Full, ""},
	{"ip4OutSegRqd", &ipFragmentations, "version=4", Packets, Full, ""},
	{"ip4OutMcastPkts", &transmittedMulticastPackets, "", Packets, Full, ""},
	{"ip6InOctets", &receivedBytes, "", Bytes, Full, ""},
	{"ip6InPkts", &receivedPackets, "", Packets, Full, ""},
	{"ip6InReasmRqd", &ipReassemblies, "version=6", Packets, Full, ""},
	{"ip6InMcastPkts", &receivedMulticastPackets, "", Packets, Full, ""},
	{"ip6OutOctets", &transmittedBytes, "", Bytes, Full, ""},
	{"ip6OutPkts", &transmittedPackets, "", Packets, Full, ""},
	{"ip6OutSegRqd", &ipFragmentations, "version=6", Packets, Full, ""},
	{"ip6OutMcastPkts", &transmittedMulticastPackets, "", Packets, Full, ""},
	{"tcpInSegs", &tcpReceivedSegments, "", Segments, Full, ""},
	{"tcpOutSegs", &tcpTransmittedSegments, "", Segments, Full, ""},
	{"iwInRdmaReads", &requestsReceived, "operation=read", Events, Full, ""},
	{"iwInRdmaSends", &requestsReceived, "operation=send", Events, Full, ""},
	{"iwInRdmaWrites", &requestsReceived, "operation=write", Events, Full, ""},
	{"iwOutRdmaReads", &requestsSent, "operation=read", Events, Full, ""},
	{"iwOutRdmaSends", &requestsSent, "operation=send", Events, Full, ""},
	{"iwOutRdmaWrites", &requestsSent, "operation=write", Events, Full, ""},
	{"iwRdmaBnd", &memoryWindowBinds, "", Events, Full, ""},
	{"iwRdmaInv", &localInvalidates, "", Events, Full, ""},

	// From gen2 on. Every CNP that arrives is either handled or ignored.
	{"cnpHandled", &cnpReceived, "", Packets, Full, ""},
	{"cnpHandled", &cnpHandled, "", Packets, Full, ""},
	{"cnpIgnored", &cnpReceived, "", Packets, Full, ""},
	{"cnpIgnored", &cnpIgnored, "", Packets, Full, ""},
	{"cnpSent", &cnpSent, "", Packets, Full, ""},
	{"ip4InMcastOctets", &receivedMulticastBytes, "", Bytes, Full, ""},
	{"ip4OutMcastOctets", &transmittedMulticastBytes, "", Bytes, Full, ""},
	{"ip6InMcastOctets", &receivedMulticastBytes, "", Bytes, Full, ""},
	{"ip6OutMcastOctets", &transmittedMulticastBytes, "", Bytes, Full, ""},
	{"RxUDP", &udpReceivedPackets, "", Packets, Full, ""},
	{"TxUDP", &udpTransmittedPackets, "", Packets, Full, ""},
	{"RxECNMrkd", &ecnMarked, "", Packets, Full, ""},

	// The new names.
	{"InRdmaReads", &requestsReceived, "operation=read", Events, Full, ""},
	{"InRdmaSends", &requestsReceived, "operation=send", Events, Full, ""},
	{"InRdmaWrites", &requestsReceived, "operation=write", Events, Full, ""},
	{"OutRdmaReads", &requestsSent, "operation=read", Events, Full, ""},
	{"OutRdmaSends", &requestsSent, "operation=send", Events, Full, ""},
	{"OutRdmaWrites", &requestsSent, "operation=write", Events, Full, ""},
	{"RdmaBnd", &memoryWindowBinds, "", Events, Full, ""},
	{"RdmaInv", &localInvalidates, "", Events, Full, ""},
	{"RetransSegs", &retransmittedPackets, "", Packets, Full, ""},
	{"InOptErrors", &tcpErrors, "kind=option", Segments, Full, ""},
	{"InProtoErrors", &tcpErrors, "kind=protocol", Segments, Full, ""},
	{"InSegs", &tcpReceivedSegments, "", Segments, Full, ""},
	{"OutSegs", &tcpTransmittedSegments, "", Segments, Full, ""},

	// Gen3, with blanks in the names. That the sequence NAKs are those received
	// is not written anywhere. Another revision of the patch calls the atomics
	// Rx ATS and Tx ATS after their index in the code.
	{"RNR sent", &rnrNAKsSent, "", Events, Full, ""},
	{"RNR received", &rnrNAKsReceived, "", Events, Full, ""},
	{"ord limit count", &readDepthLimits, "kind=ord", Events, Full, ""},
	{"ird limit count", &readDepthLimits, "kind=ird", Events, Full, ""},
	{"Rx atomics", &requestsReceived, "operation=atomic", Events, Full, ""},
	{"Tx atomics", &requestsSent, "operation=atomic", Events, Full, ""},
	{"Rx ATS", &requestsReceived, "operation=atomic", Events, Full, ""},
	{"Tx ATS", &requestsSent, "operation=atomic", Events, Full, ""},
	{"Nak Sequence Error", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	{"Nak Sequence Error Implied", &lossEvents, "kind=implied_nak", Events, Full, ""},
	{"RTO", &lossEvents, "kind=ack_timeout", Events, Full, ""},
	{"Rcvd Out of order packets", &outOfSequence, "", Packets, Full, ""},
	{"CRC errors", &icrcErrors, "", Packets, Full, ""},
}

// One list serves both Ethernet drivers: ice ends the names of the port in .nic,
// i40e begins them with port. They are on the physical function only. What the
// registers keep in 32 or 40 bits the drivers add up in 64.
//
// Without a row on purpose: the names without either mark (the interface's own
// traffic, without RDMA), queues, the virtual switch (veb.*), frames by size,
// checksum, flow director, time stamp and energy-efficient Ethernet statistics,
// and everything of idpf, which has no statistics of the port.
var irdmaEthtool = []Row{
	// drivers/net/ethernet/intel/ice/ice_ethtool.c, ice_gstrings_pf_stats.
	// rx_length_errors.nic left it in newer kernels.
	{"rx_bytes.nic", &wireReceivedBytes, "", Bytes, Full, ""},
	{"tx_bytes.nic", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"rx_unicast.nic", &wireReceivedPackets, "", Packets, Full, ""},
	{"tx_unicast.nic", &wireTransmittedPackets, "", Packets, Full, ""},
	{"rx_multicast.nic", &wireReceivedPackets, "", Packets, Full, ""},
	{"tx_multicast.nic", &wireTransmittedPackets, "", Packets, Full, ""},
	{"rx_broadcast.nic", &wireReceivedPackets, "", Packets, Full, ""},
	{"tx_broadcast.nic", &wireTransmittedPackets, "", Packets, Full, ""},
	{"tx_errors.nic", &transmitErrors, "", Packets, Full, ""},
	{"link_xon_rx.nic", &globalPauseReceivedResume, "", Frames, Full, ""},
	{"link_xon_tx.nic", &globalPauseSentResume, "", Frames, Full, ""},
	{"link_xoff_rx.nic", &globalPauseReceived, "", Frames, Full, ""},
	{"link_xoff_tx.nic", &globalPauseSent, "", Frames, Full, ""},
	{"tx_dropped_link_down.nic", &transmitDiscards, "kind=link_down", Packets, Full, ""},
	{"rx_undersize.nic", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"rx_fragments.nic", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
	{"rx_oversize.nic", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"rx_jabber.nic", &wireReceiveErrors, "kind=jabber", Events, Full, ""},
	{"rx_length_errors.nic", &wireReceiveErrors, "kind=length", Events, Full, ""},
	{"rx_dropped.nic", &receiveDiscards, "", Packets, Full, ""},
	{"rx_crc_errors.nic", &crcErrors, "", Packets, Full, ""},
	{"illegal_bytes.nic", &illegalBytes, "", Bytes, Full, ""},
	{"mac_local_faults.nic", &macFaults, "kind=local", Events, Full, ""},
	{"mac_remote_faults.nic", &macFaults, "kind=remote", Events, Full, ""},

	// ice_ethtool.c, __ice_get_strings. The priorities of one traffic class
	// count the same frames.
	{"tx_priority_{priority}_xon.nic", &pfcSentResumeFrames, "", Frames, Full, ""},
	{"tx_priority_{priority}_xoff.nic", &pfcSentFrames, "", Frames, Full, ""},
	{"rx_priority_{priority}_xon.nic", &pfcReceivedResumeFrames, "", Frames, Full, ""},
	{"rx_priority_{priority}_xoff.nic", &pfcReceivedFrames, "", Frames, Full, ""},

	// drivers/net/ethernet/intel/i40e/i40e_ethtool.c, i40e_gstrings_stats. Older
	// kernels call the discards port.rx_dropped.
	{"port.rx_bytes", &wireReceivedBytes, "", Bytes, Full, ""},
	{"port.tx_bytes", &wireTransmittedBytes, "", Bytes, Full, ""},
	{"port.rx_unicast", &wireReceivedPackets, "", Packets, Full, ""},
	{"port.tx_unicast", &wireTransmittedPackets, "", Packets, Full, ""},
	{"port.rx_multicast", &wireReceivedPackets, "", Packets, Full, ""},
	{"port.tx_multicast", &wireTransmittedPackets, "", Packets, Full, ""},
	{"port.rx_broadcast", &wireReceivedPackets, "", Packets, Full, ""},
	{"port.tx_broadcast", &wireTransmittedPackets, "", Packets, Full, ""},
	{"port.tx_errors", &transmitErrors, "", Packets, Full, ""},
	{"port.rx_discards", &receiveDiscards, "", Packets, Full, ""},
	{"port.rx_dropped", &receiveDiscards, "", Packets, Full, "port.rx_discards"},
	{"port.tx_dropped_link_down", &transmitDiscards, "kind=link_down", Packets, Full, ""},
	{"port.rx_crc_errors", &crcErrors, "", Packets, Full, ""},
	{"port.illegal_bytes", &illegalBytes, "", Bytes, Full, ""},
	{"port.mac_local_faults", &macFaults, "kind=local", Events, Full, ""},
	{"port.mac_remote_faults", &macFaults, "kind=remote", Events, Full, ""},
	{"port.rx_length_errors", &wireReceiveErrors, "kind=length", Events, Full, ""},
	{"port.link_xon_rx", &globalPauseReceivedResume, "", Frames, Full, ""},
	{"port.link_xoff_rx", &globalPauseReceived, "", Frames, Full, ""},
	{"port.link_xon_tx", &globalPauseSentResume, "", Frames, Full, ""},
	{"port.link_xoff_tx", &globalPauseSent, "", Frames, Full, ""},
	{"port.rx_undersize", &wireReceiveErrors, "kind=undersize", Events, Full, ""},
	{"port.rx_fragments", &wireReceiveErrors, "kind=fragment", Events, Full, ""},
	{"port.rx_oversize", &wireReceiveErrors, "kind=oversize", Events, Full, ""},
	{"port.rx_jabber", &wireReceiveErrors, "kind=jabber", Events, Full, ""},

	// i40e_ethtool.c, i40e_gstrings_pfc_stats. Older kernels repeat no direction
	// at the end; no kernel has both spellings.
	{"port.tx_priority_{priority}_xon_tx", &pfcSentResumeFrames, "", Frames, Full, ""},
	{"port.tx_priority_{priority}_xoff_tx", &pfcSentFrames, "", Frames, Full, ""},
	{"port.rx_priority_{priority}_xon_rx", &pfcReceivedResumeFrames, "", Frames, Full, ""},
	{"port.rx_priority_{priority}_xoff_rx", &pfcReceivedFrames, "", Frames, Full, ""},
	{"port.rx_priority_{priority}_xon_2_xoff", &pfcReceivedTransitions, "", Events, Full, ""},
	{"port.tx_priority_{priority}_xon", &pfcSentResumeFrames, "", Frames, Full, ""},
	{"port.tx_priority_{priority}_xoff", &pfcSentFrames, "", Frames, Full, ""},
	{"port.rx_priority_{priority}_xon", &pfcReceivedResumeFrames, "", Frames, Full, ""},
	{"port.rx_priority_{priority}_xoff", &pfcReceivedFrames, "", Frames, Full, ""},
}
