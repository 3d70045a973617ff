package collector

import (
	"testing"
	"time"
)

// A file that has answered and then fails is tried again after a minute: what
// goes wrong there passes. One that never answered sleeps for an hour.
func TestFileThatHasAnsweredIsTriedSoon(t *testing.T) {
	const (
		file   = "ports/1/hw_counters/out_of_sequence"
		series = `rdma_out_of_sequence_packets_total{device="a0",port="1"}`
	)
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{file: "7\n"}), only("hw_counters"))
	m.collect().want(t, values{series: 7})
	m.set(classFile("a0", file), "errno:EINVAL\n")
	m.later(15 * time.Second)
	m.collect().absent(t, series)
	m.set(classFile("a0", file), "11\n")
	m.later(15 * time.Second)
	m.collect().absent(t, series)
	m.later(retryAfter)
	m.collect().want(t, values{series: 11})
	// Twice in a row it is not offered any more.
	m.set(classFile("a0", file), "errno:EINVAL\n")
	m.collect()
	m.later(retryAfter)
	m.collect()
	m.set(classFile("a0", file), "13\n")
	m.later(retryAfter)
	m.collect().absent(t, series)
	m.later(reprobeAfter)
	m.collect().want(t, values{series: 13})
}
