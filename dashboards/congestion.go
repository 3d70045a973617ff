package dashboards

// perPriority is what the series of a priority of a port are called.
const perPriority = perPort + " prio {{priority}}"

func congestionBoard() board {
	return board{
		uid: "rdmawatch-congestion", title: "RDMA / Congestion",
		about: "Who tells whom to wait, whether switches mark and senders obey, and what is dropped. The first row is of all nodes; choose nodes and ports at the top for the others.",
		rows: []row{
			{title: "Who pauses whom?", panels: congestionWho()},
			{title: "On which priority?", panels: congestionPriority()},
			{title: "Do switches mark, and do senders slow down?", panels: congestionMarks()},
			{title: "What is dropped?", panels: congestionDrops()},
			{title: "Other ways to be held", panels: congestionOther()},
		},
	}
}

func congestionWho() []panel {
	leafPort := "{{leaf}} {{instance}} {{device}}/{{port}}"
	top := func(series string) string {
		return "sort_desc(topk(" + most + ", " + series + "{@port} > 0))"
	}
	over := func(series string) string {
		return series + "{@port} and on (cluster, leaf, instance, device, port) topk(" + most + ", max_over_time(" + series + "{@port}[$__range] @ end()))"
	}
	return []panel{
		{
			kind: bars, title: "Sources: ports that pause others", unit: "percentunit", width: 12, height: 12, limits: []limit{{0.005, yellow}, {0.01, red}},
			about:   "Share of the last two minutes for which a port told the other end of the wire to wait. A host that does this does not take what arrives. Look here first: heal the source, and the victims recover.",
			queries: []query{ask(top("leaf_port:rdma_pfc_sent_pause:share_rate2m"), leafPort)}, none: "No port pauses others",
			dataLinks: []link{{"Node", toNode}},
		},
		{
			kind: bars, title: "Victims: ports that are held", unit: "percentunit", width: 12, height: 12, limits: []limit{{0.01, yellow}, {0.05, red}},
			about:   "Share of the last two minutes for which a port was told to wait. The source is a port on the same leaf that pauses others, or, if there is none, a switch.",
			queries: []query{ask(top("leaf_port:rdma_pfc_received_pause:share_rate2m"), leafPort)}, none: "No port is held",
			dataLinks: []link{{"Node", toNode}},
		},
		lines("Sources over time", "The ten ports that paused others most in the time shown. What rises here first is the cause of what rises on the right.", "percentunit", 12,
			ask(over("leaf_port:rdma_pfc_sent_pause:share_rate2m"), leafPort)).reaching(0.01).saying("No port counts the time it pauses others"),
		lines("Victims over time", "The ten ports that were held most in the time shown.", "percentunit", 12,
			ask(over("leaf_port:rdma_pfc_received_pause:share_rate2m"), leafPort)).reaching(0.01).saying("No port counts the time it is held"),
		lines("Held ports of each leaf", "Ports held for more than 5 % of the time, by leaf switch. One leaf: a host below it. All leaves at once: a spine, or a storm that spreads.", "short", 12,
			ask(`count by (cluster, leaf) (leaf_port:rdma_pfc_received_pause:share_rate2m{@node} > 0.05) or 0 * count by (cluster, leaf) (leaf_port:rdma_pfc_received_pause:share_rate2m{@node})`, "{{cluster}} {{leaf}}")).
			reaching(1).saying("No port counts the time it is held"),
		lines("Notifications of each cluster", "Congestion notifications that receivers send and senders get, by ports that count both. Far fewer received than sent means that they are lost on the way.", "pps", 12,
			ask(`cluster:rdma_cnp_sent:rate15m{@cluster}`, "{{cluster}} sent"),
			ask(`cluster:rdma_cnp_received:rate15m{@cluster}`, "{{cluster}} received")).saying("No card here counts notifications"),
	}
}

func congestionPriority() []panel {
	return []panel{
		lines("Held, by priority", "Share of time for which our transmitter was held on this priority. Pause on a priority that carries no RDMA means that the class is set wrong.", "percentunit", 12,
			ask(`rate(rdma_pfc_received_pause_seconds_total{@port}[$__rate_interval])`, perPriority)).with(limit{0.05, red}),
		lines("Holding, by priority", "Share of time for which we held the peer on this priority.", "percentunit", 12,
			ask(`rate(rdma_pfc_sent_pause_seconds_total{@port}[$__rate_interval])`, perPriority)).with(limit{0.01, red}),
		lines("Pause frames received", "PFC frames received, by priority or of all priorities together, as the card counts them.", "pps", 12,
			ask(`rate(rdma_pfc_received_frames_total{@port}[$__rate_interval])`, perPriority),
			ask(`rate(rdma_pfc_received_all_priorities_frames_total{@port}[$__rate_interval])`, perPort+" all")),
		lines("Pause frames sent", "PFC frames sent, by priority or of all priorities together, as the card counts them.", "pps", 12,
			ask(`rate(rdma_pfc_sent_frames_total{@port}[$__rate_interval])`, perPriority),
			ask(`rate(rdma_pfc_sent_all_priorities_frames_total{@port}[$__rate_interval])`, perPort+" all")),
		lines("Received, by priority", "All data received with this priority at the physical port.", "bps", 12,
			ask(`8 * rate(rdma_priority_received_bytes_total{@port}[$__rate_interval])`, perPriority)).saying("No card here counts priorities"),
		lines("Sent, by priority", "All data sent with this priority at the physical port.", "bps", 12,
			ask(`8 * rate(rdma_priority_transmitted_bytes_total{@port}[$__rate_interval])`, perPriority)).saying("No card here counts priorities"),
	}
}

func congestionMarks() []panel {
	return []panel{
		lines("Marked share", "Share of the packets received that a switch had marked (ECN). Only ports that receive 10,000 packets a second have a ratio.", "percentunit", 8,
			ask(`port:rdma_ecn_marked:ratio_rate5m{@recorded}`+inCluster, perPort)).with(limit{0.1, orange}).
			saying("No port receives 10,000 packets a second, so none has a ratio"),
		lines("Receiver: marks seen, notifications sent", "Marked packets received, and congestion notifications (CNP) sent to their senders. Cards join marks of one flow, so fewer notifications than marks is normal.", "pps", 8,
			ask(`rate(rdma_ecn_marked_packets_total{@port}[$__rate_interval])`, perPort+" marks"),
			ask(`rate(rdma_cnp_sent_packets_total{@port}[$__rate_interval])`, perPort+" notifications")),
		lines("Sender: notifications received, obeyed, ignored", "Congestion notifications received, acted on by slowing down, and not acted on. Ignored ones mean that the reaction point is off.", "pps", 8,
			ask(`rate(rdma_cnp_received_packets_total{@port}[$__rate_interval])`, perPort+" received"),
			ask(`rate(rdma_cnp_handled_packets_total{@port}[$__rate_interval])`, perPort+" obeyed"),
			ask(`rate(rdma_cnp_ignored_packets_total{@port}[$__rate_interval])`, perPort+" ignored")),
	}
}

func congestionDrops() []panel {
	return []panel{
		lines("Received and dropped", "Frames received intact and dropped for want of a port buffer, and by priority where the card counts that. On a lossless priority there are none.", "pps", 8,
			ask(`rate(rdma_port_receive_discard_packets_total{@port}[$__rate_interval])`, perPort),
			ask(`rate(rdma_priority_receive_discard_packets_total{@port}[$__rate_interval]) > 0`, perPriority+" {{kind}}")),
		lines("Dropped instead of sent", "Packets dropped at the port instead of being sent, by the layer that counts.", "pps", 8,
			ask(`rate(rdma_port_transmit_discard_packets_total{@port}[$__rate_interval])`, perPort+" {{kind}}")),
		lines("Dropped inside the NIC", "Frames that the NIC dropped itself, by kind, and Ethernet frames for which the host had no descriptor ready, which do not touch RDMA.", "pps", 8,
			ask(`rate(rdma_port_nic_internal_drop_packets_total{@port}[$__rate_interval])`, perPort+" {{kind}}"),
			ask(`rate(rdma_port_no_host_descriptor_packets_total{@port}[$__rate_interval])`, perPort+" no descriptor")),
	}
}

func congestionOther() []panel {
	return []panel{
		lines("Global pause", "Global pause frames, which hold the whole port. With PFC there should be none.", "pps", 8,
			ask(`rate(rdma_global_pause_received_frames_total{@port}[$__rate_interval])`, perPort+" received"),
			ask(`rate(rdma_global_pause_sent_frames_total{@port}[$__rate_interval])`, perPort+" sent")),
		lines("Waiting for credits", "InfiniBand: ticks in which data was ready and nothing could be sent for want of credits. The length of a tick is the device's own: compare a port with itself.", "eps", 8,
			ask(`rate(rdma_port_transmit_wait_ticks_total{@port}[$__rate_interval])`, perPort)),
		lines("Storms and full buffers", "Pause without end that the NIC itself detected, and times its receive buffer was more than 85 % full, in the last five minutes.", "short", 8,
			ask(`increase(rdma_pause_storm_events_total{@port}[5m])`, perPort+" storm, {{kind}}"),
			ask(`increase(rdma_port_buffer_threshold_passed_events_total{@port}[5m])`, perPort+" buffer 85 % full")).reaching(1),
	}
}
