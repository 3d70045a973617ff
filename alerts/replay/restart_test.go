package replay

import (
	"path/filepath"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

// A counter of 32 bits wraps, and the program is restarted: on the page it goes
// on as if nothing had been. A central Prometheus would take a fall for a reset
// and the next value, here 3.9 billion, for what came since.
func TestRestartAfterWrap(t *testing.T) {
	s, err := Load(filepath.Join("..", "..", "fixtures", "scenarios", "S3-reload-and-wrap.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Cases {
		if c := &s.Cases[i]; c.Name == "restart" {
			follow(t, c)
			return
		}
	}
	t.Fatal("the scenario has no case restart")
}

// follow plays the case, in which rx_write_requests begins at 3,900,000,000,
// gains 3,579,139 a second and is restarted after 20 minutes.
func follow(t *testing.T, c *Case) {
	const begin, perStep = 3_900_000_000, 3_579_139 * 15
	seen := 0
	_, err := Run(t.Context(), c, Setup{Observe: func(step int, snapshot *node.Snapshot) {
		snapshot.All(func(sample node.Sample) {
			s := sample.Series
			if s.Metric.Name != "rdma_requests_received_total" || s.Label("device") != "mlx5_0" || s.Label("operation") != "write" {
				return
			}
			seen++
			if want := float64(begin + step*perStep); sample.Value != want {
				t.Errorf("step %d: %.0f, want %.0f", step, sample.Value, want)
			}
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if seen != 121 { // 30 minutes, both ends included
		t.Errorf("the counter was read %d times", seen)
	}
}
