package diagnose

import (
	"github.com/prometheus/prometheus/model/labels"
)

// speaking are counters of which a value above zero is worth a look even if it
// has not moved for long: none of them counts on a node that never had trouble.
// They are read by alerts of severity warning or critical, which judge whether
// they move now.
var speaking = []speakingMetric{
	{metric: "rdma_retries_exceeded_total"},
	{metric: "rdma_transport_errors_total"},
	{metric: "rdma_icrc_error_packets_total"},
	{metric: "rdma_port_link_downed_total", one: true},
	{metric: "rdma_port_symbol_errors_total", one: true},
	{metric: "rdma_port_crc_error_packets_total", one: true},
	{metric: "rdma_port_receive_error_packets_total"},
	{metric: "rdma_port_local_link_integrity_errors_total"},
	{metric: "rdma_port_buffer_overrun_errors_total"},
	{metric: "rdma_port_fec_uncorrectable_blocks_total", one: true},
	{metric: "rdma_port_module_faults_total", not: map[string]string{"kind": "unplug"}},
	{metric: "rdma_pause_storm_events_total", not: map[string]string{"kind": "warning|resumed.*"}},
	{metric: "rdma_priority_receive_discard_packets_total", one: true},
	{metric: "rdma_pcie_buffer_overflow_packets_total"},
	{metric: "rdma_pcie_aer_errors_total", not: map[string]string{"severity": "correctable", "error": "UnsupReq|Unsupported Request|Undefined"}},
}

type speakingMetric struct {
	metric string
	// one: several sources or priorities count the same thing; the highest count
	// is shown.
	one bool
	// A series of which a label has such a value (a regular expression) is left
	// out: it counts without any trouble.
	not map[string]string
}

// sinceBoot lists what has counted on a port, or on its device.
func (b *builder) sinceBoot(k key) []Evidence {
	var all []Evidence
	for _, s := range speaking {
		matchers := []*labels.Matcher{labels.MustNewMatcher(labels.MatchEqual, "device", k.device)}
		for name, values := range s.not {
			matchers = append(matchers, labels.MustNewMatcher(labels.MatchNotRegexp, name, values))
		}
		var found []Evidence
		for _, p := range b.past(s.metric, b.since, matchers...) {
			if port := p.Labels.Get("port"); port != "" && port != k.port || p.Last.Value <= 0 {
				continue
			}
			found = append(found, b.shown(b.metrics[s.metric], s.metric, p))
		}
		if s.one {
			found = highest(found)
		}
		all = append(all, found...)
	}
	return all
}

func highest(all []Evidence) []Evidence {
	if len(all) == 0 {
		return nil
	}
	best := all[0]
	for _, e := range all {
		if e.Value > best.Value {
			best = e
		}
	}
	return []Evidence{best}
}
