package dashboards

func selfBoard() board {
	return board{
		uid: "rdmawatch-self", title: "RDMA / rdmawatch itself",
		about: "Whether what the other dashboards show can be trusted: are all nodes read, all devices, all collectors; are rules evaluated and alerts sent.",
		rows: []row{
			{title: "Is everything read?", panels: selfVerdict()},
			{title: "How long does it take?", panels: selfReading()},
			{title: "Are rules evaluated, and alerts sent?", panels: selfRules()},
			{title: "What is not read, and why?", panels: selfMissing()},
		},
	}
}

func selfVerdict() []panel {
	count := func(title, about, expr string, limits ...limit) panel {
		return panel{
			kind: number, title: title, about: about, unit: "short", width: 4, height: 4, limits: limits,
			queries: []query{ask(expr+" or vector(0)", title)},
		}
	}
	return []panel{
		count("Nodes scraped", "Nodes whose rdmawatch Prometheus reaches.", `sum(up{@node,job="rdmawatch"})`),
		count("Nodes without answer", "Nodes whose rdmawatch Prometheus cannot scrape.", `count(up{@node,job="rdmawatch"} == 0)`, limit{1, red}),
		count("Devices", "RDMA devices present, skipped ones included.", `sum(rdma_devices{@node})`),
		count("Devices that hang", "Devices whose reading did not return in time and is still waited for.", `sum(rdma_device_stalled{@device})`, limit{1, red}),
		count("Collectors that fail", "Readings of a device by a collector that met an unexpected error.", `count(rdma_collector_success{@device} == 0)`, limit{1, orange}),
		count("Rules that fail", "Evaluations of rules on nodes that failed in the last five minutes.", `ceil(sum(increase(rdmawatch_rule_evaluation_failures_total{@node}[5m])))`, limit{1, orange}),
	}
}

func selfReading() []panel {
	return []panel{
		lines("Reading of all devices", "How long the last reading took, on the ten nodes that took longest in the time shown. A device that takes longer than --collector.timeout, 5 seconds by default, counts as hanging.", "s", 8,
			ask(`rdma_collection_duration_seconds{@node} and on (cluster, instance) topk(`+most+`, max_over_time(rdma_collection_duration_seconds{@node}[$__range] @ end()))`, "{{instance}}")).with(limit{2.5, orange}),
		lines("By collector", "How long a collector's last reading of a device took, the slowest of those chosen.", "s", 8,
			ask(`max by (collector) (rdma_collector_duration_seconds{@device})`, "{{collector}}")),
		lines("Reads of the machine", "Files, ioctls and netlink requests a second, of all chosen nodes together.", "ops", 8,
			ask(`sum by (collector) (rate(rdma_collector_reads_total{@device}[$__rate_interval]))`, "{{collector}}")),
		lines("Scrape", "How long Prometheus takes to scrape a node, the ten slowest of the time shown.", "s", 8,
			ask(`scrape_duration_seconds{@node,job="rdmawatch"} and on (cluster, instance) topk(`+most+`, max_over_time(scrape_duration_seconds{@node,job="rdmawatch"}[$__range] @ end()))`, "{{instance}}")),
		lines("Samples of a scrape", "How many samples a node gives, the ten largest.", "short", 8,
			ask(`scrape_samples_scraped{@node,job="rdmawatch"} and on (cluster, instance) topk(`+most+`, max_over_time(scrape_samples_scraped{@node,job="rdmawatch"}[$__range] @ end()))`, "{{instance}}")),
		{
			kind: list, title: "Versions", width: 8, sort: "Nodes",
			about:   "Nodes by the version of rdmawatch that they run.",
			queries: []query{ask(`count by (version, goversion) (rdmawatch_build_info{@node})`, "")},
			columns: []column{{field: "version", title: "Version"}, {field: "goversion", title: "Go"}, {field: "Value", title: "Nodes", width: 90}},
		},
	}
}

func selfRules() []panel {
	return []panel{
		lines("Alerts on the nodes", "Alerts that the chosen nodes themselves have, by state.", "short", 8,
			ask(`sum by (state) (rdmawatch_alerts{@node})`, "{{state}}")).reaching(1).saying("Alerting is switched off on these nodes"),
		lines("Notifications", "Notifications a second that nodes sent, that failed, and that were dropped, by receiver.", "eps", 8,
			ask(`sum by (receiver) (rate(rdmawatch_notifications_sent_total{@node}[$__rate_interval]))`, "{{receiver}} sent"),
			ask(`sum by (receiver) (rate(rdmawatch_notifications_failed_total{@node}[$__rate_interval]))`, "{{receiver}} failed"),
			ask(`sum by (receiver) (rate(rdmawatch_notifications_dropped_total{@node}[$__rate_interval]))`, "{{receiver}} dropped")).
			saying("No node sends alerts itself"),
		lines("Notifications that wait", "Notifications waiting to be sent, by receiver. They wait while the receiver does not answer.", "short", 8,
			ask(`sum by (receiver) (rdmawatch_notifications_waiting{@node})`, "{{receiver}}")).reaching(1).saying("No node sends alerts itself"),
		lines("Evaluation of all rules", "How long the last evaluation took, on the ten nodes that took longest in the time shown.", "s", 8,
			ask(`rdmawatch_rule_evaluation_duration_seconds{@node} and on (cluster, instance) topk(`+most+`, max_over_time(rdmawatch_rule_evaluation_duration_seconds{@node}[$__range] @ end()))`, "{{instance}}")).
			saying("Alerting is switched off on these nodes"),
		lines("Evaluations and failures", "Rules evaluated a second, and evaluations that failed.", "eps", 8,
			ask(`sum(rate(rdmawatch_rule_evaluations_total{@node}[$__rate_interval]))`, "evaluated"),
			ask(`sum(rate(rdmawatch_rule_evaluation_failures_total{@node}[$__rate_interval]))`, "failed")).
			saying("Alerting is switched off on these nodes"),
		lines("Series kept for rules", "Series that a node keeps to evaluate its rules, the ten nodes with most.", "short", 8,
			ask(`rdmawatch_rule_series{@node} and on (cluster, instance) topk(`+most+`, max_over_time(rdmawatch_rule_series{@node}[$__range] @ end()))`, "{{instance}}")).
			saying("Alerting is switched off on these nodes"),
	}
}

func selfMissing() []panel {
	device := column{field: "device", title: "Device"}
	node := column{field: "instance", title: "Node", link: rowToNode}
	nodes := column{field: "Value", title: "Devices", width: 90}
	return []panel{
		{
			kind: list, title: "Not read by a collector", width: 8, sort: "Devices",
			about:   "What collectors do not read: unsupported, the device does not offer it; permission, rdmawatch may not, and a privilege or a mount is missing.",
			queries: []query{ask(`sum by (collector, reason) (rdma_collector_skipped{@device})`, "")},
			columns: []column{{field: "collector", title: "Collector"}, {field: "reason", title: "Why"}, nodes}, none: "Everything is read",
		},
		{
			kind: list, title: "Failing now", width: 8, none: "None fails",
			about:   "Collectors that met an unexpected error at the last reading of a device, and devices that hang. The log of the node has the reason.",
			queries: []query{ask(`topk(50, rdma_collector_success{@device} == 0) or topk(50, label_replace(rdma_device_stalled{@device} == 1, "collector", "the device hangs", "", ""))`, "")},
			columns: []column{node, device, {field: "collector", title: "Collector"}},
		},
		{
			kind: list, title: "Devices left out", width: 8, none: "None left out",
			about:   "Devices that are not read at all: excluded by a flag, or restricted, owned by the fabric manager.",
			queries: []query{ask(`topk(50, rdma_device_skipped{@device} == 1)`, "")},
			columns: []column{node, device, {field: "reason", title: "Why"}},
		},
		lines("Reads that failed", "Failed reads a second by error. What a driver does not offer counts once, when it is found out.", "eps", 12,
			ask(`sum by (collector, error) (rate(rdma_collector_read_errors_total{@device}[$__rate_interval]))`, "{{collector}}: {{error}}")).saying("No read has failed"),
		lines("Series without a row in the catalogue", "Counters of drivers that rdmawatch does not know and exports under their own names. New firmware brings them.", "short", 12,
			ask(`sum(count by (instance) (rdma_hw_counter{@port})) or vector(0)`, "hw_counters"),
			ask(`sum(count by (instance) (rdma_port_counter{@port})) or vector(0)`, "port counters")).reaching(1),
	}
}
