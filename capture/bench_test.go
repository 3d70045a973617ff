package capture_test

import (
	"io"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// BenchmarkSeries is one later reading of eight NICs: what recording and packing
// cost beside the reading itself.
func BenchmarkSeries(b *testing.B) {
	for _, recorded := range []bool{false, true} {
		name := "read"
		if recorded {
			name = "read-and-pack"
		}
		b.Run(name, func(b *testing.B) {
			rec := capture.NewRecording()
			m := start(b, fixtures.Node("cx7-ib-mlx5-6.8"), nil)
			if recorded {
				m = start(b, fixtures.Node("cx7-ib-mlx5-6.8"), rec)
			}
			w := capture.NewWriter(io.Discard, rec, capture.Config{})
			for b.Loop() {
				m.now = m.now.Add(time.Second)
				m.runner.Collect(b.Context(), nil)
				if err := w.Add(m.now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
