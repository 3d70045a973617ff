package foreign

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFill looks at what lies between readings that are five minutes apart.
func TestFill(t *testing.T) {
	e := Understand([]Input{
		{Name: "a", Time: noon, Text: []byte("link mlx5_0/1 local_ack_timeout_err 100 out_of_buffer 50 packet_seq_err 7\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP\n")},
		{Name: "b", Time: noon.Add(5 * time.Minute), Text: []byte("link mlx5_0/1 local_ack_timeout_err 400 out_of_buffer 20 packet_seq_err 7\nlink mlx5_0/1 state DOWN physical_state POLLING\n")},
	}, Options{Now: noon})
	snapshots, err := e.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// 12:00:00, every 30 s to 12:04:30, 12:05:00
	if len(snapshots) != 11 || !snapshots[3].Time.Equal(noon.Add(90*time.Second)) || !snapshots[9].Time.Equal(noon.Add(270*time.Second)) {
		t.Fatalf("%d readings", len(snapshots))
	}
	if said := strings.Join(e.Assumed, "\n"); !strings.Contains(said, evenly) {
		t.Errorf("assumed %q", said)
	}
	got := map[string]float64{}
	for _, s := range snapshots[3].Devices[0].Samples {
		got[s.Series.Metric.Name+strings.Join(s.Series.Values[min(2, len(s.Series.Values)):], ",")] = s.Value
	}
	for series, want := range map[string]float64{
		"rdma_loss_events_totalack_timeout":  190, // 100 + 300 x 90/300
		"rdma_loss_events_totalsequence_nak": 7,
		"rdma_port_state":                    4, // as it was
	} {
		if v, ok := got[series]; !ok || v != want {
			t.Errorf("%s = %v (%v), want %v", series, v, ok, want)
		}
	}
	// One that fell is not known between.
	for series, v := range got {
		if strings.HasPrefix(series, "rdma_receive_buffer") {
			t.Errorf("%s = %v", series, v)
		}
	}
}

// TestRestart takes counters that began anew for that, and not for overflows of
// their 32 bits.
func TestRestart(t *testing.T) {
	text := func(writes, reads, timeouts int) []byte {
		return fmt.Appendf(nil, "link mlx5_0/1 rx_write_requests %d rx_read_requests %d local_ack_timeout_err %d\n", writes, reads, timeouts)
	}
	e := Understand([]Input{
		{Name: "a", Time: noon, Text: text(3809045607, 9187392, 5)},
		{Name: "b", Time: noon.Add(time.Minute), Text: text(1000, 17, 0)},
	}, Options{Now: noon})
	after := values(t, e, 1)
	if v := after["rdma_requests_received_total{device=mlx5_0,port=1,operation=write}"]; v != 1000 {
		t.Errorf("%v requests, want 1000", v)
	}
	if at := int64(after["rdma_device_registered_timestamp_seconds{device=mlx5_0}"]); at != noon.Add(time.Minute).Unix() {
		t.Errorf("registered %d s after noon, want 60", at-noon.Unix())
	}
	if said := strings.Join(e.Assumed, "\n"); !strings.Contains(said, "counters of mlx5_0 began anew") {
		t.Errorf("assumed %q", said)
	}
}

// TestFillSpan fills no farther back than rules look.
func TestFillSpan(t *testing.T) {
	e := Understand([]Input{
		{Name: "a", Time: noon, Text: []byte("link mlx5_0/1 local_ack_timeout_err 100\n")},
		{Name: "b", Time: noon.Add(24 * time.Hour), Text: []byte("link mlx5_0/1 local_ack_timeout_err 24100\n")},
	}, Options{Now: noon})
	snapshots, err := e.Collect(t.Context())
	if err != nil || len(snapshots) != 152 { // 2 and 75 minutes by half ones
		t.Errorf("%d readings, %v", len(snapshots), err)
	}
}
