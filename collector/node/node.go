// Package node holds what one reading of a machine gave: plain values, made
// once and never changed. What could not be read is absent, never zero.
package node

import (
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// Series is the identity of a time series. A source makes it once and uses the
// same pointer in every reading, so that two readings can be compared cheaply.
type Series struct {
	Metric *catalog.Metric
	Values []string // in the order of Metric.LabelNames
}

// Key identifies a series by its content.
func (s *Series) Key() string {
	return s.Metric.Name + "\xff" + strings.Join(s.Values, "\xff")
}

// Label returns the value of a label, "" if the series has none of that name.
func (s *Series) Label(name string) string {
	if i := s.Metric.LabelIndex(name); i >= 0 && i < len(s.Values) {
		return s.Values[i]
	}
	return ""
}

// Sample is the value of a series, in the base unit of its metric.
type Sample struct {
	Series *Series
	Value  float64
}

// Device is what one RDMA device gave. Samples of its ports are among them.
type Device struct {
	Name    string
	Samples []Sample
}

// Snapshot is one reading of the whole node.
type Snapshot struct {
	Time    time.Time
	Devices []Device
	// Samples are about the node and about the reading itself.
	Samples []Sample
}

// All calls f for every sample of the snapshot.
func (s *Snapshot) All(f func(Sample)) {
	for i := range s.Devices {
		for _, sample := range s.Devices[i].Samples {
			f(sample)
		}
	}
	for _, sample := range s.Samples {
		f(sample)
	}
}
