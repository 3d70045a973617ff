package collector

import (
	"slices"
	"strings"
	"testing"
)

// mlx4 counts per device and, on most cards, per port under the same names.
// Both together would count everything twice.
func TestDeviceSetThatSumsThePorts(t *testing.T) {
	set := fileSet{
		"ports/1/hw_counters/rq_num_oos": "3\n", "ports/2/hw_counters/rq_num_oos": "5\n", "ports/2/state": "1: DOWN\n",
		"ports/2/hw_counters/rq_num_dup": "7\n",
		"hw_counters/rq_num_oos":         "8\n", "hw_counters/rq_num_dup": "7\n", "hw_counters/num_cqovf": "11\n", "hw_counters/lifespan": "10\n",
	}
	m := newRig(t, nic("mlx4_0", "mlx4_core", "0000:01:00.0", set), only("hw_counters"))
	v := m.collect()
	v.want(t, values{
		`rdma_out_of_sequence_packets_total{device="mlx4_0",port="1"}`:          3,
		`rdma_out_of_sequence_packets_total{device="mlx4_0",port="2"}`:          5,
		`rdma_duplicate_packets_total{device="mlx4_0",port="2",kind="request"}`: 7,
		`rdma_completion_queue_overflows_total{device="mlx4_0",port=""}`:        11,
	})
	v.absent(t, `rdma_out_of_sequence_packets_total{device="mlx4_0",port=""}`, `rdma_duplicate_packets_total{device="mlx4_0",port=""`)
	if slices.ContainsFunc(m.opened(), func(what string) bool { return strings.HasSuffix(what, "mlx4_0/hw_counters/rq_num_oos") }) {
		t.Error("a file was read that is not exported")
	}

	// Without counters per port the device's are all there is.
	m = newRig(t, nic("mlx4_0", "mlx4_core", "0000:01:00.0", fileSet{"hw_counters/rq_num_oos": "8\n"}), only("hw_counters"))
	m.collect().want(t, values{`rdma_out_of_sequence_packets_total{device="mlx4_0",port=""}`: 8})
}

// mana has one name at both levels for two things.
func TestDeviceSetOfItsOwn(t *testing.T) {
	m := newRig(t, nic("mana_0", "mana", "0000:01:00.0", fileSet{
		"ports/1/hw_counters/rate_inc_events": "3\n", "hw_counters/rate_inc_events": "5\n",
	}), only("hw_counters"))
	m.collect().want(t, values{
		`rdma_rate_increase_events_total{device="mana_0",port="1"}`: 3,
		`rdma_rate_increase_events_total{device="mana_0",port=""}`:  5,
	})
}

func TestMlx5ReadsItsCacheWindowFirst(t *testing.T) {
	m := newRig(t, nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{
		"ports/1/hw_counters/duplicate_request": "3\n", oos: "5\n", "ports/1/hw_counters/rx_write_requests": "7\n",
	}), only("hw_counters"))
	m.collect()
	var read []string
	for _, what := range m.opened() {
		if _, name, ok := strings.Cut(what, "ports/1/hw_counters/"); ok {
			read = append(read, name)
		}
	}
	if want := []string{"rx_write_requests", "duplicate_request", "out_of_sequence"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
}

func TestUnknownDriverIsExportedRaw(t *testing.T) {
	m := newRig(t, nic("new0", "newdriver", "0000:01:00.0", fileSet{oos: "5\n", "ports/1/hw_counters/lifespan": "10\n"}), only("port", "hw_counters"))
	v := m.collect()
	v.want(t, values{`rdma_hw_counter{device="new0",port="1",counter="out_of_sequence"}`: 5})
	v.absent(t, "rdma_out_of_sequence", `rdma_hw_counter{device="new0",port="1",counter="lifespan"`)
	if got := v.labels(t, "rdma_device_info")["driver"]; got != "newdriver" {
		t.Errorf("driver %q", got)
	}
}
