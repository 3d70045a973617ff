package diagnose

import (
	"slices"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// unseen lists what this reading did not show and why.
func (b *builder) unseen() []Unseen {
	list := []Unseen{}
	add := func(s node.Sample, why string) {
		u := Unseen{Device: s.Series.Label("device"), Collector: s.Series.Label("collector"), Why: why}
		if !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	b.Now.All(func(s node.Sample) {
		switch m := s.Series.Metric; {
		case m == &catalog.DeviceStalled && s.Value == 1:
			add(s, "the device does not answer")
		case m == &catalog.DeviceSkipped && s.Series.Label("reason") == "excluded":
			add(s, "excluded by a flag")
		case m == &catalog.DeviceSkipped:
			add(s, "belongs to the fabric manager")
		case m == &catalog.CollectorSuccess && s.Value == 0:
			add(s, "reading failed")
		case m == &catalog.CollectorSkipped && s.Series.Label("reason") == "permission":
			add(s, "no permission")
		}
	})
	return list
}
