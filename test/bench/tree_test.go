package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tree has the files that are counted, and links that lead somewhere.
func TestTree(t *testing.T) {
	made := &tree{root: t.TempDir()}
	for i := range 3 {
		if err := made.addDevice(i, i%2, i/2); err != nil {
			t.Fatal(err)
		}
	}
	counters, err := made.counters()
	if err != nil || len(counters) != 3*(21+30) || made.files != 3*(3+21+30) {
		t.Errorf("%d counters and %d files, %v; want 153 and 162", len(counters), made.files, err)
	}
	for name, want := range map[string]string{
		"class/infiniband/mlx5_2":               "0000:01:00.1/infiniband/mlx5_2",
		"class/infiniband/mlx5_2/device/physfn": "0000:00:00.0/0000:01:00.0",
		"class/infiniband/mlx5_1/device":        "0001:00:00.0/0001:01:00.0",
		"class/net/ib1/device":                  "0001:00:00.0/0001:01:00.0",
	} {
		at, err := filepath.EvalSymlinks(filepath.Join(made.root, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.HasSuffix(at, "/"+want) {
			t.Errorf("%s leads to %s, want …%s", name, at, want)
		}
	}
	if _, err := os.ReadFile(filepath.Join(made.root, "class/infiniband/mlx5_0/ports/1/state")); err != nil {
		t.Error(err)
	}
}

func TestMeasure(t *testing.T) {
	size, series, err := measure([]byte("# HELP a A.\na 1\na{b=\"c\"} 2\n"))
	if size != 27 || series != 2 || err != nil {
		t.Errorf("%d bytes, %d series, %v; want 27 and 2", size, series, err)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]uint64{"17\n": 17, "4: ACTIVE": 4, "": 0, "0x1": 0, "400 Gb/sec": 400} {
		if got := number([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{5, 1, 3}); got != 3 {
		t.Errorf("%v, want 3", got)
	}
}
