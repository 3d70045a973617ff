package foreign

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const stats = "NIC statistics:\n     rx_prio3_pause: %d\n     rx_prio3_pause_duration: %d\n"

func statsAt(name string, at time.Time, a, b int) Input {
	return Input{Name: name, Time: at, Text: fmt.Appendf(nil, stats, a, b)}
}

// TestReadings sorts texts into readings and finds their times.
func TestReadings(t *testing.T) {
	listing := func(timeouts int) string {
		return fmt.Sprintf("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/local_ack_timeout_err:%d\n/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n", timeouts)
	}
	for _, c := range []struct {
		name   string
		inputs []Input
		times  []time.Duration // since noon
		of     string          // readings by item
		say    string          // part of what is assumed
		quiet  string          // what must not be
	}{
		{"two files, times of the files", []Input{statsAt("ethtool-S-eth0", noon, 1, 2), statsAt("later/ethtool-S-eth0", noon.Add(90*time.Second), 5, 7)},
			[]time.Duration{0, 90 * time.Second}, "1 2", "", "is assumed"},
		{"times in the names come first", []Input{statsAt("20240501-120010/ethtool-S-eth0", noon, 1, 2), statsAt("20240501-120140/ethtool-S-eth0", noon.Add(time.Hour), 5, 7)},
			[]time.Duration{10 * time.Second, 100 * time.Second}, "1 2", "", "nothing tells"},
		{"seconds since 1970 in the names", []Input{statsAt("eth.1714564800", noon, 1, 2), statsAt("eth.1714564830", noon, 5, 7)},
			[]time.Duration{0, 30 * time.Second}, "1 2", "", "nothing tells"},
		{"unpacked at one moment", []Input{statsAt("a/ethtool-S-eth0", noon, 1, 2), statsAt("b/ethtool-S-eth0", noon, 5, 7)},
			[]time.Duration{-time.Minute, 0}, "1 2", "60 s are assumed", ""},
		{"given in the wrong order", []Input{statsAt("b/ethtool-S-eth0", noon.Add(time.Hour), 1, 2), statsAt("a/ethtool-S-eth0", noon, 5, 7)},
			[]time.Duration{-time.Minute, 0}, "1 2", "60 s are assumed", ""},
		{"one file with both", []Input{{Name: "x", Time: noon.Add(time.Hour), Text: []byte("$ ethtool -S eth0\n" + fmt.Sprintf(stats, 1, 2) + "$ ethtool -S eth0\n" + fmt.Sprintf(stats, 5, 7))}},
			[]time.Duration{59 * time.Minute, time.Hour}, "1 2", "60 s are assumed", ""},
		{"a list without a title begins anew", []Input{{Name: "ethtool-S-eth0", Time: noon, Text: []byte("rx_prio3_pause: 1\nrx_prio3_bytes: 3\nrx_prio3_pause: 2\nrx_prio3_bytes: 5\n")}},
			[]time.Duration{-time.Minute, 0}, "1 2", "60 s are assumed", ""},
		{"different interfaces are one reading", []Input{statsAt("ethtool-S-eth0", noon, 1, 2), statsAt("ethtool-S-eth1", noon, 5, 7)},
			[]time.Duration{0}, "1 1", "", "nothing tells"},
		{"without a name, and counters went on", []Input{statsAt("a", noon, 1, 2), statsAt("b", noon.Add(time.Minute), 5, 7)},
			[]time.Duration{0, time.Minute}, "1 2", "", "rdma-netdev1"},
		{"without a name, and counters went back", []Input{statsAt("a", noon, 5, 7), statsAt("b", noon.Add(time.Minute), 1, 2)},
			[]time.Duration{0}, "1 1", "rdma-netdev1", ""},
		{"what was read once belongs to the end", []Input{
			{Name: "hw", Time: noon, Text: []byte(listing(5))}, statsAt("ethtool-S-eth0", noon, 1, 2), statsAt("b/ethtool-S-eth0", noon.Add(30*time.Second), 5, 7)},
			nil, "2 1 2", "", ""},
		{"the same once more in one file is one reading", []Input{{Name: "x", Time: noon, Text: []byte(listing(5) + "\n" + listing(5))}},
			[]time.Duration{0}, "1 1", "", "nothing tells"},
		{"the same in another file is another reading", []Input{{Name: "x", Time: noon, Text: []byte(listing(5))}, {Name: "y", Time: noon.Add(time.Minute), Text: []byte(listing(5))}},
			[]time.Duration{0, time.Minute}, "1 2", "", "nothing tells"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Understand(c.inputs, Options{Now: noon})
			var of []string
			for _, item := range e.Items {
				of = append(of, fmt.Sprint(item.Reading))
			}
			if got := strings.Join(of, " "); got != c.of {
				t.Errorf("items are of readings %s, want %s: %+v", got, c.of, e.Items)
			}
			for i, d := range c.times {
				if len(e.Times) != len(c.times) || !e.Times[i].Equal(noon.Add(d)) {
					t.Fatalf("times %v, want %v after noon", e.Times, c.times)
				}
			}
			said := strings.Join(e.Assumed, "\n")
			if !strings.Contains(said, c.say) || c.quiet != "" && strings.Contains(said, c.quiet) {
				t.Errorf("assumed:\n%s", said)
			}
		})
	}
}

// TestRates holds counters of two readings against each other: a 32-bit counter
// that wrapped between them has gone on, and what was read once has no past.
func TestRates(t *testing.T) {
	text := func(timeouts uint64, more string) []byte {
		return fmt.Appendf(nil, "link mlx5_0/1 local_ack_timeout_err %d out_of_buffer 3 %s\n", timeouts, more)
	}
	e := Understand([]Input{
		{Name: "a", Time: noon, Text: text(4294967290, "")},
		{Name: "b", Time: noon.Add(time.Minute), Text: text(4, "packet_seq_err 7")},
	}, Options{Now: noon})
	const timeouts = "rdma_loss_events_total{device=mlx5_0,port=1,kind=ack_timeout}"
	const naks = "rdma_loss_events_total{device=mlx5_0,port=1,kind=sequence_nak}"
	first, second := values(t, e, 0), values(t, e, 1)
	if first[timeouts] != 4294967290 || second[timeouts] != 4294967300 {
		t.Errorf("timeouts %v and %v", first[timeouts], second[timeouts])
	}
	if _, ok := first[naks]; ok || second[naks] != 7 {
		t.Errorf("NAKs %v and %v", first[naks], second[naks])
	}
	if got := noon.Unix() - int64(second["rdma_device_registered_timestamp_seconds{device=mlx5_0}"]); got != 25*3600 {
		t.Errorf("device registered %d s before noon, want 25 h", got)
	}
}

// TestGone looks at a counter that a later reading does not have.
func TestGone(t *testing.T) {
	e := Understand([]Input{
		{Name: "a", Time: noon, Text: []byte("link mlx5_0/1 local_ack_timeout_err 5 packet_seq_err 7\n")},
		{Name: "b", Time: noon.Add(time.Minute), Text: []byte("link mlx5_0/1 local_ack_timeout_err 6\n")},
	}, Options{Now: noon})
	const naks = "rdma_loss_events_total{device=mlx5_0,port=1,kind=sequence_nak}"
	if v := values(t, e, 0)[naks]; v != 7 {
		t.Errorf("%v NAKs, want 7", v)
	}
	if v, ok := values(t, e, 1)[naks]; ok {
		t.Errorf("%v NAKs that were not read", v)
	}
}

// TestTimeOfName reads times from names of files.
func TestTimeOfName(t *testing.T) {
	for name, want := range map[string]string{
		"ethtool_20240501-121500.txt":             "2024-05-01T12:15:00Z",
		"2024-05-01T12:15:07/eth0":                "2024-05-01T12:15:07Z",
		"sosreport-host-2024-05-01-abcdefg":       "0001-01-01T00:00:00Z", // a day is no time
		"stats.1714565700":                        "2024-05-01T12:15:00Z",
		"eth0_2024-13-01_10-00-00.txt":            "0001-01-01T00:00:00Z",
		"0200000000000001":                        "0001-01-01T00:00:00Z",
		"ethtool-S-eth0.txt":                      "0001-01-01T00:00:00Z",
		"/tmp/run1712345678/eth0-20240501-121500": "2024-05-01T12:15:00Z", // the nearest counts
		"2024-05-01_12-15.log":                    "2024-05-01T12:15:00Z",
		"capture 2024-05-01 12:15:00 node.txt":    "2024-05-01T12:15:00Z",
	} {
		if got := timeOfName(name).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
