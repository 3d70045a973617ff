package collector

import (
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// frozen watches the operation counters of bnxt_re. When one of its statistics
// commands fails, that driver never asks again (drivers/infiniband/hw/bnxt_re/
// hw_counters.c): error and operation counters then stand still for ever while
// packets go on being counted. Operation counters must move when packets do;
// error counters that stand still alone are health.
type frozen struct {
	out   *node.Series
	last  float64
	since time.Time // when they last moved; zero until they have
	seen  bool
}

// operations are the metrics whose sum must move with traffic.
var operations = map[string]bool{
	"rdma_requests_received_total": true, "rdma_requests_sent_total": true,
	"rdma_read_responses_received_total": true, "rdma_read_responses_sent_total": true,
}

func newFrozen(device, port string) *frozen {
	return &frozen{out: series(&catalog.OperationsUnchanged, device, port)}
}

// watch looks at the samples of a port that were read at one time. It says how
// long the counters have stood still, once they have ever moved.
func (f *frozen) watch(b *batch, samples []node.Sample) {
	sum, any := 0.0, false
	for _, s := range samples {
		if operations[s.Series.Metric.Name] {
			sum, any = sum+s.Value, true
		}
	}
	if !any {
		return
	}
	if f.seen && sum != f.last {
		f.since = b.now
	}
	f.last, f.seen = sum, true
	if !f.since.IsZero() {
		b.add(f.out, b.now.Sub(f.since).Seconds())
	}
}
