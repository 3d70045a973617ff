package catalog

// Soft-RoCE, in software over any network interface; good for tests.
// hw_counters are per port, and there are no port counters. The rate file rounds
// the speed of the interface to an InfiniBand rate of 2.5 Gb/s or more, also
// where the interface has none.
var rxe = Page{
	Driver:       "rxe",
	Software:     true,
	ConstantRate: true,
	HW: []Row{
		// drivers/infiniband/sw/rxe/rxe_hw_counters.c; what each counts is at
		// its rxe_counter_inc. 64 bits. An out-of-sequence request counts once
		// per gap, and RNR NAKs count also when no retries are left.
		// ack_deferred has no row on purpose: it counts every response packet
		// handed to the completer, deferred or not.
		{"sent_pkts", &transmittedPackets, "", Packets, Full, ""},
		{"rcvd_pkts", &receivedPackets, "", Packets, Full, ""},
		{"duplicate_request", &duplicatePackets, "kind=request", Packets, Full, ""},
		{"out_of_seq_request", &outOfSequence, "", Packets, Full, ""},
		{"rcvd_rnr_err", &rnrNAKsReceived, "", Events, Full, ""},
		{"send_rnr_err", &rnrNAKsSent, "", Events, Full, ""},
		{"rcvd_seq_err", &lossEvents, "kind=sequence_nak", Events, Full, ""},
		{"retry_exceeded_err", &retriesExceeded, "kind=transport", Events, Full, ""},
		{"retry_rnr_exceeded_err", &retriesExceeded, "kind=rnr", Events, Full, ""},
		{"completer_retry_err", &retransmissionEvents, "", Events, Full, ""},
		{"send_err", &transmittedErrorPackets, "", Packets, Full, ""},
		{"link_downed", &linkDowned, "kind=driver", Events, Full, ""},
		{"rdma_sends", &requestsSent, "operation=send", Events, Full, ""},
		{"rdma_recvs", &receiveRequestsCompleted, "", Events, Full, ""},
	},
}
