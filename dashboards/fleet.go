package dashboards

// What fires, in words and colours. 4 is what the recording rule gives to a node
// that does not answer.
var health = map[string]meaning{
	"0": {"healthy", green},
	"1": {"info", blue},
	"2": {"warning", orange},
	"3": {"critical", red},
	"4": {"no answer", purple},
}

// inCluster keeps of recorded series those of the nodes in the chosen clusters:
// they have no label that says so themselves.
const inCluster = ` and on (instance) up{job="rdmawatch",cluster=~"$cluster",instance=~"$instance"}`

// toNode leads from a series of a node to the node's own dashboard.
const toNode = "/d/rdmawatch-node?var-datasource=${datasource}&var-instance=${__field.labels.instance}&from=${__from}&to=${__to}"

// rowToNode does so from a line of a table.
const rowToNode = "/d/rdmawatch-node?var-datasource=${datasource}&var-instance=${__data.fields.Node}&from=${__from}&to=${__to}"

// runbook is where a click on the name of an alert leads.
const runbook = "https://github.com/rdmawatch/rdmawatch/blob/main/alerts/runbooks/${__value.raw}.md"

// most is how many of the worst a panel of the fleet shows.
const most = "10"

func fleetBoard() board {
	return board{
		uid: "rdmawatch-fleet", title: "RDMA / Fleet",
		about: "Is anything wrong with RDMA, where, and since when: all nodes, by recorded series and the worst of them, usable with ten thousand. Needs the rules of rdmawatch loaded in this Prometheus, and the scrape job named rdmawatch.",
		rows: []row{
			{title: "Is anything wrong?", panels: fleetVerdict()},
			{title: "Where, and since when?", panels: fleetWhere()},
			{title: "Who is worst?", panels: fleetWorst()},
			{title: "Which ports?", panels: fleetPorts()},
			{title: "Do they differ?", panels: fleetSpread()},
			{title: "Traffic", panels: fleetTraffic()},
		},
	}
}

func fleetVerdict() []panel {
	nodes := func(title, about, value string, limits []limit) panel {
		return panel{
			kind: number, title: title, about: about, unit: "short", width: 4, height: 4, limits: limits,
			queries: []query{ask(`sum(cluster_health:rdma_nodes:count{@cluster,health=~"`+value+`"}) or vector(0)`, title)},
		}
	}
	return []panel{
		nodes("Nodes", "Nodes that Prometheus scrapes for rdmawatch, or tries to.", ".*", nil),
		nodes("Critical", "Nodes on which an alert fires that somebody must look at now.", "3", []limit{{1, red}}),
		nodes("Warning", "Nodes on which an alert fires that wants a look in the course of the day, and none that is critical.", "2", []limit{{1, orange}}),
		nodes("No answer", "Nodes whose rdmawatch cannot be scraped. Nothing is known of their devices, which is not the same as healthy.", "4", []limit{{1, purple}}),
		{
			kind: number, title: "Ports down", unit: "short", width: 4, height: 4, limits: []limit{{1, red}},
			about:   "Ports that are switched on, have been up since their driver was loaded, and are down.",
			queries: []query{ask(`sum(node:rdma_ports_down:sum{@node}) or vector(0)`, "Ports down")},
		},
		{
			kind: number, title: "PCIe links degraded", unit: "short", width: 4, height: 4, limits: []limit{{1, orange}},
			about:   "PCI functions whose link runs slower or narrower than both of its ends can. Both ports of a card count.",
			queries: []query{ask(`sum(node:rdma_pcie_links_degraded:sum{@node}) or vector(0)`, "Links")},
		},
	}
}

func fleetWhere() []panel {
	return []panel{
		{
			kind: graph, title: "Nodes by health", unit: "short", width: 12, stacked: true, floor: 1,
			about: "How many nodes are in which state: the worst alert that fires on each. A step that everybody takes at once comes from the fabric, not from a node.",
			queries: []query{
				ask(`sum(cluster_health:rdma_nodes:count{@cluster,health="3"}) or vector(0)`, "critical"),
				ask(`sum(cluster_health:rdma_nodes:count{@cluster,health="2"}) or vector(0)`, "warning"),
				ask(`sum(cluster_health:rdma_nodes:count{@cluster,health="4"}) or vector(0)`, "no answer"),
				ask(`sum(cluster_health:rdma_nodes:count{@cluster,health="1"}) or vector(0)`, "info"),
			},
			colors: map[string]string{"critical": red, "warning": orange, "no answer": purple, "info": blue},
		},
		{
			kind: graph, title: "Nodes by alert", unit: "short", width: 12, ranked: true, none: "None firing",
			about:   "On how many nodes each alert fires. Alerts that compare nodes count as one.",
			queries: []query{ask(`sum by (alertname) (cluster_alert:rdma_nodes:count{@cluster})`, "{{alertname}}")},
		},
		{
			kind: states, title: "The 25 worst nodes", width: 12, height: 11, values: health,
			about:     "The nodes that were worst for longest in the time shown: green healthy, blue info, orange warning, red critical, purple no answer. A click leads to the node.",
			queries:   []query{ask(`node:rdma_health:worst{@node} and on (cluster, instance) topk(25, sum_over_time(node:rdma_health:worst{@node}[$__range] @ end()))`, "{{instance}}")},
			dataLinks: []link{{"Node", toNode}},
		},
		{
			kind: list, title: "Firing now, newest first", width: 12, height: 11, none: "None firing",
			about:   "The alerts that fire, at most fifty critical and fifty others, with how long ago their condition first held. The name leads to the runbook, the node to its dashboard.",
			queries: []query{ask(firingSince(`severity="critical"`)+" or "+firingSince(`severity!="critical"`), "")},
			columns: []column{
				{field: "severity", title: "Severity", width: 80, values: severities},
				{field: "alertname", title: "Alert", link: runbook},
				{field: "instance", title: "Node", width: 130, link: rowToNode},
				{field: "device", title: "Device", width: 100},
				{field: "port", title: "Port", width: 80},
				{field: "Value", title: "For", unit: "s", width: 95},
			},
			sort: "For", ascending: true,
		},
	}
}

// severities are the colours of the words.
var severities = map[string]meaning{
	"critical": {"critical", red},
	"warning":  {"warning", orange},
	"info":     {"info", blue},
}

// firingSince is how long ago the condition of each alert that fires began to
// hold, the newest fifty. ALERTS_FOR_STATE is that time.
func firingSince(severity string) string {
	return `bottomk(50, (time() - ALERTS_FOR_STATE{alertname=~"RDMA.+",` + severity + `})` +
		` and ignoring (alertstate) ALERTS{alertname=~"RDMA.+",alertstate="firing",` + severity + `}` +
		` unless on (instance) up{job="rdmawatch",cluster!~"$cluster"})`
}

func fleetWorst() []panel {
	worst := func(title, about, unit, series string, limits []limit) panel {
		return panel{
			kind: bars, title: title, about: about + " The worst port counts for its node.", unit: unit, width: 8, height: 12, limits: limits,
			queries:   []query{ask("sort_desc(topk("+most+", "+series+"{@node}))", "{{instance}}")},
			dataLinks: []link{{"Node", toNode}},
			none:      "No node moves enough packets to have a ratio",
		}
	}
	return []panel{
		worst("Loss", "Losses that senders noticed, for each packet sent; only ports that send 10,000 packets a second have a ratio. Ten in a million cost bandwidth already.", "ppm", "1e6 * node:rdma_loss:ratio_rate2m", []limit{{1, yellow}, {10, red}}),
		worst("Held by pause", "Share of time for which the other end of the wire told a port to wait. These are victims. Where a card counts frames and no time, an upper bound.", "percentunit", "node:rdma_pause_received:ratio_rate5m", []limit{{0.01, yellow}, {0.05, red}}),
		worst("Pauses others", "Share of time for which a port told the other end to wait: its host does not take what arrives. These are the sources.", "percentunit", "node:rdma_pause_sent:ratio_rate5m", []limit{{0.005, yellow}, {0.01, red}}),
		worst("Marked by switches", "Share of the packets received that a switch had marked for congestion (ECN).", "percentunit", "node:rdma_ecn_marked:ratio_rate5m", []limit{{0.01, yellow}, {0.1, red}}),
		{
			kind: bars, title: "Least PCIe for their ports", unit: "percentunit", width: 8, height: 12,
			about:     "What the slowest PCIe link on the way to the CPU carries, for each byte per second that the ports of the slot can. Below 100 % the card cannot run at the rate of its ports.",
			limits:    []limit{{1, green}},
			below:     red,
			queries:   []query{ask("sort(bottomk("+most+", node:rdma_pcie_headroom:ratio{@node}))", "{{instance}}")},
			dataLinks: []link{{"Node", toNode}},
			none:      "No PCIe link is known",
		},
		{
			kind: bars, title: "Ports down", unit: "short", width: 8, height: 12, limits: []limit{{1, red}},
			about:     "Ports that are switched on, have been up since their driver was loaded, and are down.",
			queries:   []query{ask("sort_desc(topk("+most+", node:rdma_ports_down:sum{@node}))", "{{instance}}")},
			dataLinks: []link{{"Node", toNode}},
			none:      "No port is known",
		},
	}
}

func fleetPorts() []panel {
	ports := func(title, about, series, unit, none string, limits []limit) panel {
		return panel{
			kind: list, title: title, about: about, width: 8, height: 9, none: none,
			queries: []query{ask("topk(20, "+series+" > 0"+inCluster+")", "")},
			columns: []column{
				{field: "instance", title: "Node", link: rowToNode},
				{field: "device", title: "Device", width: 100},
				{field: "port", title: "Port", width: 60},
				{field: "Value", title: title, unit: unit, width: 110, limits: limits},
			},
			sort: title,
		}
	}
	return []panel{
		ports("Loss", "The twenty ports that lose most for what they send.", "1e6 * (port:rdma_loss:ratio_rate2m or port:rdma_retransmission:ratio_rate2m)", "ppm", "No port loses anything", []limit{{1, yellow}, {10, red}}),
		ports("Held", "The twenty ports that pause holds most.", "(port:rdma_pause_received:ratio_rate5m or port:rdma_pause_received_bound:ratio_rate5m)", "percentunit", "No port is held", []limit{{0.01, yellow}, {0.05, red}}),
		ports("Pauses", "The twenty ports that pause others most.", "(port:rdma_pause_sent:ratio_rate5m or port:rdma_pause_sent_bound:ratio_rate5m)", "percentunit", "No port pauses others", []limit{{0.005, yellow}, {0.01, red}}),
	}
}

func fleetSpread() []panel {
	spread := func(title, about string, width uint32, series, by string, columns ...column) panel {
		columns = append(columns, column{field: "Value", title: "Count", width: 75})
		return panel{
			kind: list, title: title, about: about + " A few that differ from all others are the first suspects when one node is odd.",
			width: width, height: 8, sort: "Count", columns: columns,
			queries: []query{ask("sum by ("+by+") ("+series+"{@cluster})", "")},
		}
	}
	return []panel{
		spread("Firmware", "Devices by driver, board and firmware, virtual functions left out.", 8, "cluster_firmware:rdma_devices:count", "driver, board_id, firmware",
			column{field: "driver", title: "Driver", width: 80}, column{field: "board_id", title: "Board"}, column{field: "firmware", title: "Firmware"}),
		spread("PCIe", "PCI functions by the width and speed at which their link runs.", 4, "cluster_pcie:rdma_pcie_links:count", "lanes, gigatransfers",
			column{field: "lanes", title: "Lanes", width: 65}, column{field: "gigatransfers", title: "GT/s", width: 65}),
		spread("Rate", "Ports that are up, by rate.", 4, "cluster_rate:rdma_ports:count", "gigabits", column{field: "gigabits", title: "Gb/s", width: 140}),
		spread("MTU", "Ports by the MTU of their network interface.", 4, "cluster_mtu:rdma_ports:count", "mtu", column{field: "mtu", title: "MTU", width: 140}),
		spread("rdmawatch", "Nodes by the version of rdmawatch.", 4, "cluster_version:rdmawatch_nodes:count", "version", column{field: "version", title: "Version", width: 140}),
	}
}

func fleetTraffic() []panel {
	return []panel{
		{
			kind: graph, title: "RDMA traffic of the clusters", unit: "bps", width: 12,
			about: "What all RDMA functions together receive and send, in the accounting of their drivers.",
			queries: []query{
				ask(`8 * sum by (cluster) (cluster:rdma_received_bytes:rate5m{@cluster})`, "{{cluster}} received"),
				ask(`8 * sum by (cluster) (cluster:rdma_transmitted_bytes:rate5m{@cluster})`, "{{cluster}} sent"),
			},
		},
		{
			kind: graph, title: "The 10 busiest nodes", unit: "bps", width: 12,
			about:     "What the nodes receive and send together that moved most in the time shown.",
			queries:   []query{ask(`8 * (node:rdma_received_bytes:rate5m{@node} + node:rdma_transmitted_bytes:rate5m{@node}) and on (cluster, instance) topk(`+most+`, avg_over_time(node:rdma_received_bytes:rate5m{@node}[$__range] @ end()))`, "{{instance}}")},
			dataLinks: []link{{"Node", toNode}},
		},
	}
}
