package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// plant makes a fixture of two ports with two counters each.
func plant(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"sys/class/infiniband/mlx5_0/ports/1/state":             "4: ACTIVE\n",
		"sys/class/infiniband/mlx5_0/ports/1/hw_counters/sent":  "100\n",
		"sys/class/infiniband/mlx5_1/ports/1/hw_counters/sent":  "7000\n",
		"sys/class/infiniband/mlx5_2/ports/1/hw_counters/other": "1\n",
		"ethtool/eth0/S": "NIC statistics:\n     rx_packets: 5\n     tx_packets: 11\n",
		"ethtool/eth1/S": "NIC statistics:\n     rx_packets: 6\n     tx_packets: 13\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scenario is a case of the changes that are given as YAML.
func scenario(t *testing.T, changes string) (*Case, error) {
	t.Helper()
	s, err := Parse([]byte("cases: [{name: a, node: b, " + changes + "}]"))
	if err != nil {
		return nil, err
	}
	return &s.Cases[0], nil
}

func at(t *testing.T, tree *Tree, after time.Duration, file string) string {
	t.Helper()
	if _, err := tree.Advance(after); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(tree.Dir(), file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

func TestChangesOverTime(t *testing.T) {
	const hw = "sys/class/infiniband/mlx5_0/ports/1/hw_counters/sent"
	const state = "sys/class/infiniband/mlx5_0/ports/1/state"
	type want struct {
		after string
		value string
	}
	for name, test := range map[string]struct {
		changes, file string
		wants         []want
	}{
		"once": {
			`changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 20s}]`, hw,
			[]want{{"10s", "100"}, {"15s", "115"}, {"20s", "130"}, {"9h", "130"}},
		},
		"again and again, counting on": {
			`changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 20s, every: 1m}]`, hw,
			// 30 each time; the second time begins at 1m10s.
			[]want{{"1m10s", "130"}, {"1m15s", "145"}, {"1m20s", "160"}, {"2m", "160"}, {"10m", "400"}},
		},
		"as often as the case": {
			`every: 1m, changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 20s}]`, hw,
			[]want{{"1m", "130"}, {"1m15s", "145"}},
		},
		"more often than the case": {
			`every: 1m, changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 20s, every: 30s}]`, hw,
			[]want{{"45s", "145"}, {"1m", "160"}},
		},
		"without an end, though the case is repeated": {
			`every: 1m, changes: [{hw: mlx5_0/1/sent, add: 3}]`, hw,
			[]want{{"1m", "280"}, {"100m", "18100"}},
		},
		"over the end of a repetition": {
			`changes: [{hw: mlx5_0/1/sent, add: 1, from: 50s, to: 1m20s, every: 1m}]`, hw,
			// 30 s each: 50s to 1m20s, 1m50s to 2m20s.
			[]want{{"1m10s", "120"}, {"1m30s", "130"}, {"2m", "140"}, {"2m20s", "160"}},
		},
		"stopped by what is taken away": {
			`changes: [{hw: mlx5_0/1/sent, add: 10}, {hw: mlx5_0/1/sent, add: -10, from: 20s, to: 30s}]`, hw,
			[]want{{"20s", "300"}, {"25s", "300"}, {"30s", "300"}, {"31s", "310"}},
		},
		"set and set back, each hour": {
			`every: 1h, changes: [{port: mlx5_0/1/state, set: "1: DOWN", at: 10m}, {port: mlx5_0/1/state, set: "4: ACTIVE", at: 12m}]`, state,
			[]want{{"9m", "4: ACTIVE"}, {"10m", "1: DOWN"}, {"12m", "4: ACTIVE"}, {"69m", "4: ACTIVE"}, {"71m", "1: DOWN"}, {"72m", "4: ACTIVE"}},
		},
		"counting on from what was set": {
			`changes: [{hw: mlx5_0/1/sent, add: 3}, {hw: mlx5_0/1/sent, set: "0", at: 10s}]`, hw,
			[]want{{"9s", "127"}, {"10s", "0"}, {"12s", "6"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := scenario(t, test.changes)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := OpenTree(plant(t), c.Changes)
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			for _, w := range test.wants {
				after, err := time.ParseDuration(w.after)
				if err != nil {
					t.Fatal(err)
				}
				if got := at(t, tree, after, test.file); got != w.value {
					t.Errorf("after %s: got %s, want %s", w.after, got, w.value)
				}
			}
		})
	}
}

// Between any two moments: not even rounding moves it.
func TestStoppedCounterStandsStill(t *testing.T) {
	c, err := scenario(t, `changes: [{hw: mlx5_0/1/sent, add: 2000000003}, {hw: mlx5_0/1/sent, add: 6500000009},
		{hw: mlx5_0/1/sent, add: -8500000012, from: 37m30s, to: 38m45s}]`)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(plant(t), c.Changes)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	// 2250 s of 8500000012 and the 100 from before.
	const want = "19125000027100"
	for i := range 200 {
		after := 37*time.Minute + 30*time.Second + time.Duration(i)*370_000_019
		if got := at(t, tree, after, "sys/class/infiniband/mlx5_0/ports/1/hw_counters/sent"); got != want {
			t.Fatalf("after %s: got %s, want %s", after, got, want)
		}
	}
}

// A name with a * or [] means every file of that name, and no other.
func TestNamesOfSeveral(t *testing.T) {
	c, err := scenario(t, `changes: [{hw: "mlx5_*/1/sent", add: 1}, {ethtool: "eth[1-9]/rx_packets", add: 2}]`)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(plant(t), c.Changes)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for file, want := range map[string]string{
		"sys/class/infiniband/mlx5_0/ports/1/hw_counters/sent":  "110",
		"sys/class/infiniband/mlx5_1/ports/1/hw_counters/sent":  "7010",
		"sys/class/infiniband/mlx5_2/ports/1/hw_counters/other": "1",
		"ethtool/eth0/S": "NIC statistics:\n     rx_packets: 5\n     tx_packets: 11",
		"ethtool/eth1/S": "NIC statistics:\n     rx_packets: 26\n     tx_packets: 13",
	} {
		if got := at(t, tree, 10*time.Second, file); got != want {
			t.Errorf("%s: got %q, want %q", file, got, want)
		}
	}
}

// What a file counts goes on behind a read that hangs.
func TestBlockedFileCountsOn(t *testing.T) {
	c, err := scenario(t, `changes: [{ethtool: eth0/rx_packets, add: 2}, {blocked: ethtool/eth0/S, from: 10s, to: 20s}]`)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(plant(t), c.Changes)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, after := range []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second} {
		if _, err := tree.Advance(after); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := at(t, tree, 21*time.Second, "ethtool/eth0/S"), "NIC statistics:\n     rx_packets: 47\n     tx_packets: 11"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChangesRefused(t *testing.T) {
	for name, test := range map[string]struct{ changes, want string }{
		"repeated without an end": {`every: 1m, changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s}]`, "needs an end"},
		"longer than a repetition": {
			`changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 2m, every: 1m}]`, "within the time of one repetition"},
		"an end before the beginning": {`changes: [{hw: mlx5_0/1/sent, add: 3, from: 10s, to: 5s}]`, "ends before it begins"},
		"set after a repetition":      {`every: 1m, changes: [{port: mlx5_0/1/state, set: x, at: 2m}]`, "first repetition"},
		"a restart again and again":   {`changes: [{restart: true, at: 10s, every: 1m}]`, "restart"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := scenario(t, test.changes); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one that says %q", err, test.want)
			}
		})
	}
	c, err := scenario(t, `changes: [{hw: "mlx9_*/1/sent", add: 1}]`)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := OpenTree(plant(t), c.Changes)
	if err == nil {
		tree.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "mlx9_*") {
		t.Errorf("a name that nothing has: got error %v", err)
	}
}
