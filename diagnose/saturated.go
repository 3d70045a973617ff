package diagnose

import "github.com/rdmawatch/rdmawatch/collector/catalog"

// stuck is a counter that stands at the limit of its field.
type stuck struct {
	device, port string
	row          *catalog.Row
}

// findStuck tells which counters stand at their limit. The collector names the
// file; the catalogue knows as what it is exported.
func (b *builder) findStuck() []stuck {
	var all []stuck
	for _, p := range b.past(catalog.CounterSaturated.Name, b.since) {
		if p.Last.Value != 1 {
			continue
		}
		for _, row := range limited(p.Labels.Get("counter")) {
			all = append(all, stuck{p.Labels.Get("device"), p.Labels.Get("port"), row})
		}
	}
	return all
}

// limited lists the rows of a file whose field has a limit.
func limited(file string) []*catalog.Row {
	pages := [][]catalog.Row{catalog.PortCounters()}
	for _, p := range catalog.Pages() {
		pages = append(pages, p.HW)
	}
	var rows []*catalog.Row
	for _, page := range pages {
		for i := range page {
			if row := &page[i]; row.Name == file && row.Width.Limit() > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// limit is where a series is stuck; nil if it is not.
func (b *builder) limit(m *catalog.Metric, labels map[string]string) *float64 {
	for _, s := range b.stuck {
		if s.row.Metric != m || s.device != labels["device"] || s.port != labels["port"] {
			continue
		}
		same := true
		for i, value := range s.row.LabelValues(nil) {
			same = same && labels[m.Labels[i]] == value
		}
		if same {
			limit := s.row.Unit.ToBase(float64(s.row.Width.Limit()))
			return &limit
		}
	}
	return nil
}
