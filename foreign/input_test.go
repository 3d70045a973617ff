package foreign

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/fixtures"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadHuge reads a file of 2 GB, most of it a hole.
func TestReadHuge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ethtool-S-eth0")
	writeFile(t, name, "NIC statistics:\n     rx_prio3_pause: 7\n"+strings.Repeat("# "+strings.Repeat("x", 1021)+"\n", 17<<10))
	if err := os.Truncate(name, 2<<30); err != nil {
		t.Fatal(err)
	}
	inputs, err := Read([]string{name})
	if err != nil || len(inputs) != 1 || len(inputs[0].Text) != 16<<20 || !inputs[0].Cut {
		t.Fatalf("%v, %d inputs", err, len(inputs))
	}
	e := Understand(inputs, Options{Now: noon})
	if got := factsOf(e)["net/eth0/@S/rx_prio3_pause"]; got != "7" {
		t.Errorf("pause is %q", got)
	}
	last := e.Items[len(e.Items)-1]
	if last.Outcome != Refused || !strings.Contains(last.Why, "16 MiB") {
		t.Errorf("nothing is said of what was left out: %+v", e.Items)
	}
}

// TestSosreport reads an unpacked one: a tree of sysfs, output of commands, and
// files that hold nothing of use.
func TestSosreport(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "sys"), os.DirFS(filepath.Join(fixtures.Node("cx6dx-mlx5-roce-5.15"), "sys"))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "sos_commands/networking/ethtool_-S_enp65s0f0np0"), "NIC statistics:\n     rx_prio3_pause: 7\n")
	writeFile(t, filepath.Join(dir, "sos_commands/kernel/dmesg"), "[    1.0] Linux version\n[    2.0] mlx5_core 0000:41:00.0: hello\n")
	writeFile(t, filepath.Join(dir, "sos_commands/block/lsblk"), "NAME SIZE\nsda 1T\n")
	writeFile(t, filepath.Join(dir, "etc/passwd"), "root:x:0:0:root:/root:/bin/bash\n")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "sos_commands/link")); err != nil {
		t.Fatal(err)
	}
	e := understood(t, dir)
	got := factsOf(e)
	for fact, want := range map[string]string{
		"dev/mlx5_0/@netdev/1":               "enp65s0f0np0",
		"net/enp65s0f0np0/@S/rx_prio3_pause": "7",
		"dev/mlx5_0/@function":               "0000:41:00.0",
		"dev/mlx5_0/@driver":                 "mlx5_core",
		"dev/mlx5_0/ports/1/link_layer":      "Ethernet",
	} {
		if got[fact] != want {
			t.Errorf("%s is %q, want %q", fact, got[fact], want)
		}
	}
	for _, item := range e.Items {
		if item.Outcome != Used {
			t.Errorf("nobody asked for this file: %+v", item)
		}
	}
}

// TestSysTree reads a tree of sysfs as the fixture that it is: the collectors
// find the same state.
func TestSysTree(t *testing.T) {
	e := understood(t, filepath.Join(fixtures.Node("cx7-ib-mlx5-6.8"), "sys"))
	got := values(t, e, 0)
	for series, want := range map[string]float64{
		"rdma_port_state{device=mlx5_7,port=1}":                 4,
		"rdma_port_rate_bytes_per_second{device=mlx5_0,port=1}": 50e9,
	} {
		if got[series] != want {
			t.Errorf("%s = %v, want %v", series, got[series], want)
		}
	}
}

// TestVirtualFunctions finds them in a tree: they leave the physical port alone.
func TestVirtualFunctions(t *testing.T) {
	e := understood(t, filepath.Join(fixtures.Node("sriov-mlx5-16vf-5.15"), "sys"))
	functions := map[string]int{}
	for series := range values(t, e, 0) {
		if strings.HasPrefix(series, "rdma_device_info{") {
			_, rest, _ := strings.Cut(series, "function=")
			functions[strings.TrimRight(strings.SplitN(rest, ",", 2)[0], "}")]++
		}
	}
	if functions["vf"] != 16 || functions["pf"] == 0 {
		t.Errorf("%v", functions)
	}
}

// TestReadErrors tells what cannot be read.
func TestReadErrors(t *testing.T) {
	if _, err := Read([]string{filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is not there was read")
	}
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "secret"), "7\n")
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "sys/class/infiniband"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sys/class/infiniband/mlx5_0")); err != nil {
		t.Fatal(err)
	}
	e := understood(t, dir)
	if len(factsOf(e)) != 0 {
		t.Errorf("a link led out of the tree: %v", factsOf(e))
	}
}

// FuzzUnderstand feeds texts of any kind: nothing fails, and what is made of
// them stays inside the directory of the fixture.
func FuzzUnderstand(f *testing.F) {
	paths, err := filepath.Glob("testdata/dumps/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 5000 {
			f.Add(text, []byte("$ ethtool -S eth0\nNIC statistics:\n     rx_prio0_pause: 7\n"))
		}
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		e := Understand([]Input{{Name: "a", Text: a}, {Name: "b", Text: b}}, Options{Now: noon})
		if len(e.steps) != len(e.Times) {
			t.Errorf("%d readings, %d times", len(e.steps), len(e.Times))
		}
		for _, item := range e.Items {
			if item.Outcome == Refused && item.Why == "" {
				t.Errorf("refused without a reason: %+v", item)
			}
			if item.Outcome == Used && (item.Reading < 1 || item.About == "") {
				t.Errorf("used for nothing: %+v", item)
			}
		}
		for _, step := range e.steps {
			for k := range step {
				if !goodName(k.name) || !goodPath(k.file) {
					t.Errorf("%q of %q is no path", k.file, k.name)
				}
			}
		}
	})
}
