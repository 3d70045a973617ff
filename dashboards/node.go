package dashboards

// perPort is what the series of a port are called.
const perPort = "{{instance}} {{device}}/{{port}}"

// lines is a panel of lines, of which most are.
func lines(title, about, unit string, width uint32, queries ...query) panel {
	return panel{kind: graph, title: title, about: about, unit: unit, width: width, queries: queries, ranked: true}
}

func (p panel) with(limits ...limit) panel { p.limits = limits; return p }

func (p panel) saying(none string) panel { p.none = none; return p }

func (p panel) reaching(floor float64) panel { p.floor = floor; return p }

// whole is a panel of shares that cannot be more than all.
func (p panel) whole() panel { p.ratio = true; return p }

func nodeBoard() board {
	return board{
		uid: "rdmawatch-node", title: "RDMA / Node",
		about: "One node, or a few: what its ports do, what they lose, what holds them up, and what carries them. Choose the node at the top.",
		rows: []row{
			{title: "Is something wrong?", panels: nodeState()},
			{title: "What are its ports?", panels: nodeInventory()},
			{title: "How much of their rate do they use?", panels: nodeThroughput()},
			{title: "Do they lose anything?", panels: nodeTransport()},
			{title: "Does congestion hold them up?", panels: nodeCongestion()},
			{title: "Does PCIe carry them?", panels: nodePCIe()},
			{title: "Is the link clean?", panels: nodeLink()},
		},
	}
}

var portStates = map[string]meaning{
	"1": {"down", red},
	"2": {"initializing", orange},
	"3": {"armed", orange},
	"4": {"active", green},
	"5": {"active-defer", green},
}

func nodeState() []panel {
	return []panel{
		{
			kind: states, title: "Findings", width: 12, height: 9, none: "None firing",
			about:   "The alerts that the node itself finds firing, and when. Red critical, orange warning, blue info.",
			queries: []query{ask(firing("critical", "3"), "{{alertname}} {{device}} {{port}}"), ask(firing("warning", "2"), "{{alertname}} {{device}} {{port}}"), ask(firing("info", "1"), "{{alertname}} {{device}} {{port}}")},
			values:  health,
		},
		{
			kind: states, title: "Port state", width: 12, height: 9, values: portStates,
			about:   "The logical state of each port: green active, orange on its way, red down.",
			queries: []query{ask(`max by (instance, device, port) (rdma_port_state{@port})`, "{{device}}/{{port}}")},
		},
	}
}

// firing are the alerts of a severity, as a number for its colour.
func firing(severity, number string) string {
	return number + ` * max by (alertname, device, port) (rdma_alert_firing{@port,severity="` + severity + `"})`
}

func nodeInventory() []panel {
	return []panel{
		{
			kind: list, title: "Ports", width: 12, sort: "Device", ascending: true,
			about: "Each port with its network interface, its kind, its state and the rate at which it runs.",
			queries: []query{
				ask(`max by (instance, device, port, netdev, link_layer, kind) (rdma_port_info{@port})`, ""),
				ask(`max by (instance, device, port) (rdma_port_state{@port})`, ""),
				ask(`8 * max by (instance, device, port) (rdma_port_rate_bytes_per_second{@port})`, ""),
			},
			columns: []column{
				{field: "instance", title: "Node", width: 110},
				{field: "device", title: "Device", width: 105},
				{field: "port", title: "Port", width: 100},
				{field: "netdev", title: "Interface", width: 115},
				{field: "link_layer", title: "Link", width: 85},
				{field: "kind", title: "Kind", width: 80},
				{field: "Value #B", title: "State", width: 65, values: portStates},
				{field: "Value #C", title: "Rate", unit: "bps", width: 85},
			},
		},
		{
			kind: list, title: "Devices", width: 12, sort: "Device", ascending: true,
			about: "Each device with its driver, board, firmware and place on PCIe.",
			queries: []query{
				ask(`max by (instance, device, driver, board_id, firmware, pci, numa_node) (rdma_device_info{@device})`, ""),
			},
			columns: []column{
				{field: "device", title: "Device", width: 110},
				{field: "driver", title: "Driver", width: 80},
				{field: "board_id", title: "Board"},
				{field: "firmware", title: "Firmware", width: 115},
				{field: "pci", title: "PCI", width: 115},
				{field: "numa_node", title: "NUMA", width: 75},
			},
		},
	}
}

func nodeThroughput() []panel {
	used := func(direction, metric string) query {
		return ask(`sum by (instance, device, port) (rate(`+metric+`{@port}[$__rate_interval])) / on (instance, device, port) max by (instance, device, port) (rdma_port_rate_bytes_per_second{@port})`, perPort+" "+direction)
	}
	return []panel{
		lines("RDMA received", "RDMA data received by this function, in the accounting of its driver.", "bps", 12,
			ask(`8 * rate(rdma_received_bytes_total{@port}[$__rate_interval])`, perPort)),
		lines("RDMA sent", "RDMA data sent by this function, in the accounting of its driver.", "bps", 12,
			ask(`8 * rate(rdma_transmitted_bytes_total{@port}[$__rate_interval])`, perPort)),
		lines("Share of the rate, RDMA", "RDMA data received and sent, as a share of the rate at which the port's link runs. Headers and other traffic come on top.", "percentunit", 12,
			used("received", "rdma_received_bytes_total"), used("sent", "rdma_transmitted_bytes_total")).whole(),
		lines("Share of the rate, all traffic of the physical port", "Everything received and sent at the wire, RDMA or not and all functions together, as a share of the rate.", "percentunit", 12,
			used("received", "rdma_port_wire_received_bytes_total"), used("sent", "rdma_port_wire_transmitted_bytes_total")).whole().
			saying("No counters of the physical port: InfiniBand, or a virtual function"),
		lines("Packets", "RDMA packets received and sent by this function.", "pps", 12,
			ask(`rate(rdma_received_packets_total{@port}[$__rate_interval])`, perPort+" received"),
			ask(`rate(rdma_transmitted_packets_total{@port}[$__rate_interval])`, perPort+" sent")),
		lines("Requests", "What applications ask for: requests that peers sent to this port, by operation, and requests sent by it where the card counts them.", "ops", 12,
			ask(`rate(rdma_requests_received_total{@port}[$__rate_interval])`, perPort+" {{operation}} received"),
			ask(`rate(rdma_requests_sent_total{@port}[$__rate_interval])`, perPort+" {{operation}} sent")),
	}
}

func nodeTransport() []panel {
	return []panel{
		lines("Loss, for each packet sent", "Losses that the sender here noticed, or packets it sent again, for each packet sent. Only ports that send 10,000 packets a second have a ratio. The line is where RDMARetransmissionRatioHigh begins, 10 in a million.", "ppm", 8,
			ask(`1e6 * port:rdma_loss:ratio_rate2m{@recorded}`+inCluster, perPort+" losses"),
			ask(`1e6 * port:rdma_retransmission:ratio_rate2m{@recorded}`+inCluster, perPort+" sent again")).with(limit{10, red}).
			saying("No port sends 10,000 packets a second, so none has a ratio"),
		lines("Losses by how they were noticed", "Seen by the sender: sequence_nak, the peer reported a gap; implied_nak, an answer showed it; ack_timeout, no answer came at all.", "eps", 8,
			ask(`rate(rdma_loss_events_total{@port}[$__rate_interval])`, perPort+" {{kind}}")),
		lines("Out of sequence and twice", "Seen by the receiver: packets that did not have the expected number, and packets that came a second time. Both together mean loss on the way here; the first alone may be adaptive routing.", "pps", 8,
			ask(`rate(rdma_out_of_sequence_packets_total{@port}[$__rate_interval])`, perPort+" out of sequence"),
			ask(`rate(rdma_duplicate_packets_total{@port}[$__rate_interval])`, perPort+" {{kind}} twice")),
		lines("Receiver not ready", "Packets that found no receive buffer here, and answers of that kind from peers: the program does not post receives fast enough.", "eps", 8,
			ask(`rate(rdma_receive_buffer_exhausted_packets_total{@port}[$__rate_interval])`, perPort+" no buffer here"),
			ask(`rate(rdma_rnr_naks_received_total{@port}[$__rate_interval])`, perPort+" peer not ready"),
			ask(`rate(rdma_rnr_naks_sent_total{@port}[$__rate_interval])`, perPort+" said so to peers")),
		lines("Connections given up", "Connections that ended because retries ran out, in the last five minutes: transport, the peer did not answer; rnr, it never posted a receive. One is one too many.", "short", 8,
			ask(`port_kind:rdma_retries_exceeded:increase5m{@recorded}`+inCluster, perPort+" {{kind}}")).reaching(1),
		lines("Requests that failed", "Requests completed with an error, flushed ones included, which follow any error and every end of a job; and requests refused or failed, by kind.", "eps", 8,
			ask(`rate(rdma_completion_errors_total{@port}[$__rate_interval])`, perPort+" {{side}} failed"),
			ask(`rate(rdma_transport_errors_total{@port}[$__rate_interval]) > 0`, perPort+" {{side}} {{kind}}")),
	}
}

func nodeCongestion() []panel {
	return []panel{
		lines("Pause", "Share of time for which a port was held by the other end of the wire, and for which it held the other end, on the priority that was held most. Held is a victim, holding is a source.", "percentunit", 8,
			ask(`port:rdma_pause_received:ratio_rate5m{@recorded}`+inCluster, perPort+" held"),
			ask(`port:rdma_pause_sent:ratio_rate5m{@recorded}`+inCluster, perPort+" holding")).
			with(limit{0.05, red}).saying("No card here counts pause time: InfiniBand, or frames only"),
		lines("Marked by switches", "Packets received that a switch had marked for congestion (ECN), and the notifications sent to their senders.", "pps", 8,
			ask(`rate(rdma_ecn_marked_packets_total{@port}[$__rate_interval])`, perPort+" marked"),
			ask(`rate(rdma_cnp_sent_packets_total{@port}[$__rate_interval])`, perPort+" notifications sent")),
		lines("Discarded", "Packets dropped at the port for want of a buffer, on receiving and on sending. In a lossless network there are none.", "pps", 8,
			ask(`rate(rdma_port_receive_discard_packets_total{@port}[$__rate_interval])`, perPort+" received"),
			ask(`rate(rdma_port_transmit_discard_packets_total{@port}[$__rate_interval])`, perPort+" sent ({{kind}})")),
	}
}

func nodePCIe() []panel {
	return []panel{
		{
			kind: list, title: "Links", width: 12, sort: "Device", ascending: true,
			about: "The PCIe link of each function as it is and as both of its ends can have it.",
			queries: []query{
				ask(`max by (device, pci) (rdma_pcie_link_width_lanes{@device})`, ""),
				ask(`max by (device, pci) (rdma_pcie_link_expected_width_lanes{@device})`, ""),
				ask(`max by (device, pci) (rdma_pcie_link_transfers_per_second{@device}) / 1e9`, ""),
				ask(`max by (device, pci) (rdma_pcie_link_expected_transfers_per_second{@device}) / 1e9`, ""),
				ask(`max by (device, pci) (rdma_pcie_link_degraded{@device})`, ""),
			},
			columns: []column{
				{field: "device", title: "Device", width: 110},
				{field: "pci", title: "PCI", width: 115},
				{field: "Value #A", title: "Lanes", width: 75},
				{field: "Value #B", title: "of lanes", width: 90},
				{field: "Value #C", title: "GT/s", width: 75},
				{field: "Value #D", title: "of GT/s", width: 85},
				{field: "Value #E", title: "Verdict", values: map[string]meaning{"0": {"as it should be", green}, "1": {"degraded", red}}},
			},
			none: "No device here is on PCIe",
		},
		lines("Headroom", "What the slowest PCIe link on the way to the CPU carries, for each byte per second that the ports of the slot can. Below 100 % the card cannot run at the rate of its ports.", "percentunit", 12,
			ask(`pci_hop:rdma_pcie_headroom:ratio{instance=~"$instance",device=~"$device"}`+inCluster, "{{instance}} {{device}} {{pci}}")).
			with(limit{1, orange}).saying("No PCIe link is known, or no port is up"),
		lines("Stalled", "Share of time in which the NIC could not write to or read from memory for want of PCIe credits. Both ports of a card show the same.", "percentunit", 8,
			ask(`rate(rdma_pcie_stalled_seconds_total{@port}[$__rate_interval])`, perPort+" {{direction}}")).with(limit{0.1, orange}),
		lines("Dropped because PCIe was too slow", "Packets received and dropped because PCIe did not drain the NIC's buffer.", "pps", 8,
			ask(`rate(rdma_pcie_buffer_overflow_packets_total{@port}[$__rate_interval])`, perPort)).reaching(1),
		lines("Errors", "PCIe errors recorded at an end of the link (AER) in the last fifteen minutes, and recoveries of the link that the NIC counts.", "short", 8,
			ask(`increase(rdma_pcie_aer_errors_total{@device}[15m]) > 0`, "{{device}} {{end}} {{severity}} {{error}}"),
			ask(`increase(rdma_pcie_signal_integrity_errors_total{@port}[15m])`, perPort+" recoveries, {{direction}}")).reaching(1),
	}
}

func nodeLink() []panel {
	return []panel{
		lines("Lost links", "How often the link went down in the last five minutes, from the best counter there is.", "short", 8,
			ask(`port:rdma_link_downed:increase5m{@recorded}`+inCluster, perPort)).reaching(1),
		lines("Bits that FEC repaired", "Wrong bits that forward error correction repaired, of all bits on the wire. Some are normal on fast links; the line is where RDMAFECMarginLow begins, 24 in a million.", "ppm", 8,
			ask(`1e6 * port:rdma_fec_corrected_bits:ratio_rate15m{@recorded}`+inCluster, perPort)).with(limit{24, orange}).
			saying("No port here reports what FEC repaired"),
		lines("Blocks that FEC could not repair", "Codewords with more errors than FEC can correct, in the last ten minutes. Their packets are lost.", "short", 8,
			ask(`increase(rdma_port_fec_uncorrectable_blocks_total{@port}[10m])`, perPort)).reaching(1),
		lines("Symbol and checksum errors", "Symbol errors that no FEC repaired, by the layer that counts, and frames with a wrong checksum, in the last ten minutes.", "short", 8,
			ask(`increase(rdma_port_symbol_errors_total{@port}[10m])`, perPort+" symbols ({{kind}})"),
			ask(`increase(rdma_port_crc_error_packets_total{@port}[10m])`, perPort+" checksum")).reaching(1),
		lines("Raw errors by lane", "Errors on each lane before correction. A lane far above its sisters points at the cable, the cage or the module.", "eps", 8,
			ask(`rate(rdma_port_lane_raw_errors_total{@port}[$__rate_interval])`, perPort+" lane {{lane}}")),
		lines("Link trained anew, module events", "Recoveries of the link without going down, and events of the cable or module, in the last fifteen minutes.", "short", 8,
			ask(`increase(rdma_port_link_recoveries_total{@port}[15m])`, perPort+" recoveries ({{kind}})"),
			ask(`increase(rdma_port_module_faults_total{@port}[15m]) > 0`, perPort+" module {{kind}}")).reaching(1),
	}
}
