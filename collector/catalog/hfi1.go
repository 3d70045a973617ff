package catalog

// Omni-Path 100. Both levels have hundreds of hw_counters, most of them states
// of the chip; names that end in ",32" are 32-bit registers that the driver
// shows as they are. DRIVER_* are sums over all hfi1 devices of the node.
var hfi1 = Page{
	Driver: "hfi1",
	Bound:  []string{"hfi1"},
	// Without a row on purpose: chip internals, what the port counters show
	// already (TxWait, XmitCstrErr, RcvCstrErr, DcXmitFlits and the other
	// counters of which drivers/infiniband/hw/hfi1/mad.c makes them), and
	// DRIVER_*, which would count once for every device.
	HW: []Row{
		// drivers/infiniband/hw/hfi1/chip.c, dev_cntrs. OPA marks congestion
		// with FECN where RoCE has ECN, and BECN tells the sender. Packets of
		// the link are checked per lane and replayed when bad.
		{"RxICrcErr,32", &icrcErrors, "", Packets, Wrap32, ""},
		{"DcRcvFcn", &ecnMarked, "", Packets, Full, ""},
		{"DcRcvBcn", &cnpReceived, "", Packets, Full, ""},
		{"DcCrcLn{lane}", &laneErrors, "", Events, Full, ""},

		// drivers/infiniband/hw/hfi1/chip.c, port_cntrs.
		{"TxDropped,32", &transmittedDiscardPackets, "", Packets, Wrap32, ""},
		{"SwLinkDown,32", &linkDowned, "kind=driver", Events, Wrap32, ""},

		// drivers/infiniband/hw/hfi1/chip.c, port_cntrs, SW_IBP_CNTR: verbs in
		// software; what each counts is in rc.c. OtherNak is invalid request,
		// remote access and remote operation together. RcDupRew is spelt so.
		{"RcResend", &retransmittedPackets, "", Packets, Full, ""},
		{"RnrNak", &rnrNAKsReceived, "", Events, Full, ""},
		{"OtherNak", &transportErrors, "side=requester,kind=other_nak", Events, Full, ""},
		{"RcTimeOut", &lossEvents, "kind=ack_timeout", Events, Full, ""},
		{"PktDrop", &receivedDiscardPackets, "", Packets, Full, ""},
		{"RcSeqNak", &sequenceNAKsSent, "", Events, Full, ""},
		{"RcDupRew", &duplicatePackets, "kind=request", Packets, Full, ""},
		{"RdmaSeq", &lossEvents, "kind=implied_nak", Events, Full, ""},
		{"SeqNak", &lossEvents, "kind=sequence_nak", Events, Full, ""},
	},
}
