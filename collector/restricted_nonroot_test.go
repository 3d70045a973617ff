package collector

import (
	"testing"
	"time"
)

// Without the privilege to read the vital product data, a function of the
// fabric manager is known by its first refused register, and not read again.
func TestRestrictedWithoutPrivilege(t *testing.T) {
	const skipped = `rdma_device_skipped{device="a0",reason="restricted"}`
	start := func(t *testing.T, symbolError, vpd string) *rig {
		return newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{
			"../../vpd":                              vpd,
			"ports/1/counters/symbol_error":          symbolError,
			"ports/1/hw_counters/out_of_sequence":    "7\n",
			"ports/1/counters/port_xmit_data":        "5\n",
			"ports/1/counters/link_error_recovery":   symbolError,
			"ports/1/counters/port_rcv_packets":      "3\n",
			"ports/1/hw_counters/rx_write_requests":  "11\n",
			"ports/1/hw_counters/duplicate_request":  "13\n",
			"ports/1/hw_counters/packet_seq_err":     "17\n",
			"ports/1/hw_counters/rnr_nak_retry_err":  "19\n",
			"ports/1/hw_counters/rx_read_requests":   "23\n",
			"ports/1/hw_counters/rx_atomic_requests": "29\n",
		}))
	}
	t.Run("refused", func(t *testing.T) {
		m := start(t, "errno:EINVAL\n", "errno:EACCES\n")
		m.collect().absent(t, skipped) // it is found out
		m.later(15 * time.Second)
		v := m.collect()
		v.want(t, values{skipped: 1})
		v.absent(t, `rdma_out_of_sequence_packets_total{device="a0",port="1"}`)
	})
	t.Run("not refused", func(t *testing.T) {
		m := start(t, "31\n", "errno:EACCES\n")
		m.collect()
		m.later(15 * time.Second)
		v := m.collect()
		v.absent(t, skipped)
		v.want(t, values{`rdma_out_of_sequence_packets_total{device="a0",port="1"}`: 7})
	})
	t.Run("refused, but the product data say no", func(t *testing.T) {
		m := start(t, "errno:EINVAL\n", "another board\n")
		m.collect()
		m.later(15 * time.Second)
		m.collect().absent(t, skipped)
	})
}

// mlx4 answers for an Ethernet port from flow counters, which have no errors;
// ocrdma never has any.
func TestPortErrorsThatAreNone(t *testing.T) {
	const symbol, received = `rdma_port_symbol_errors_total{device="a0",port="1",kind="pma"}`, `rdma_received_bytes_total{device="a0",port="1"}`
	for _, c := range []struct {
		driver, layer string
		errors        bool
	}{
		{"mlx4_core", "InfiniBand", true},
		{"mlx4_core", "Ethernet", false},
		{"mlx5_core", "Ethernet", true},
		{"be2net", "Ethernet", false},
	} {
		t.Run(c.driver+" "+c.layer, func(t *testing.T) {
			v := newRig(t, nic("a0", c.driver, "0000:01:00.0", fileSet{
				"ports/1/link_layer": c.layer + "\n", "ports/1/counters/symbol_error": "0\n", "ports/1/counters/port_rcv_data": "7\n",
			}), only("counters")).collect()
			v.want(t, values{received: 28})
			if c.errors {
				v.want(t, values{symbol: 0})
			} else {
				v.absent(t, symbol)
			}
		})
	}
}
