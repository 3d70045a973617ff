package main

import (
	"errors"
	"fmt"
	"slices"
)

// outliers says which rule that compares nodes does not fire on the odd one, or
// fires elsewhere.
func (b *bench) outliers() error {
	want := map[string]map[string]string{
		"RDMANodeLossOutlier":    {"instance": lossy.instance()},
		"RDMAFleetFirmwareDrift": {"cluster": oldCard.cluster(), "firmware": "27.41.1000"},
		"RDMAPFCStormSpreading":  {"cluster": paused.cluster(), "leaf": paused.leaf()},
		"RDMAFabricWideErrors":   {"cluster": shakenLo.cluster()},
		"RDMACNPsNotDelivered":   {"cluster": node(muted).cluster()},
		"RDMAExporterAbsent":     {"instance": absent.instance()},
	}
	firing, err := b.server.query(`ALERTS{alertstate="firing",scope="fleet"}`)
	if err != nil {
		return err
	}
	var failed []error
	fired := map[string]bool{}
	for _, s := range firing {
		name := s.labels["alertname"]
		where, known := want[name]
		if !known {
			failed = append(failed, fmt.Errorf("%s fires, and no node is odd in that way: %v", name, s.labels))
			continue
		}
		right := true
		for label, value := range where {
			right = right && s.labels[label] == value
		}
		if !right || fired[name] {
			failed = append(failed, fmt.Errorf("%s fires on %v, want it once, on %v", name, s.labels, where))
		}
		fired[name] = fired[name] || right
	}
	names := []string{}
	for name, where := range want {
		if !fired[name] {
			failed = append(failed, fmt.Errorf("%s does not fire on %v", name, where))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if len(failed) == 0 {
		fmt.Printf("\nEach of %v fires on the odd one and nowhere else.\n", names)
	}
	return errors.Join(failed...)
}
