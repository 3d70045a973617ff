package collector

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

const (
	symbols = "ports/1/counters/symbol_error"
	oos     = "ports/1/hw_counters/out_of_sequence"
)

// symbolsOf is the series of a device's symbol_error.
func symbolsOf(device string) string {
	return `rdma_port_symbol_errors_total{device="` + device + `",port="1",kind="pma"}`
}

func stalledOf(device string) string { return `rdma_device_stalled{device="` + device + `"}` }

// classFile is the path of a file of a device.
func classFile(device, name string) string {
	return filepath.Join("sys/class/infiniband", device, name)
}

// hang makes reading a file of a device block until release is called. Then
// the file has a value.
func (m *rig) hang(device, name string) (release func(value string)) {
	m.t.Helper()
	file := m.file(classFile(device, name))
	pipe := filepath.Join(m.t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Link(pipe, file); err != nil {
		m.t.Fatal(err)
	}
	open := func() { // a writer lets the reader go
		if w, err := os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
			w.Close()
		}
	}
	m.t.Cleanup(open)
	return func(value string) {
		if err := os.Remove(file); err != nil {
			m.t.Error(err)
		}
		if err := os.WriteFile(file, []byte(value), 0o644); err != nil {
			m.t.Error(err)
		}
		open()
	}
}

// threeNICs are healthy; the first in order is Slow0.
func threeNICs() fileSet {
	return join(
		nic("Slow0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "2\n"}),
		nic("b0", "mlx5_core", "0000:02:00.0", fileSet{symbols: "3\n"}),
		nic("a0", "mlx5_core", "0000:03:00.0", fileSet{symbols: "5\n"}),
	)
}

func timeout(d time.Duration) func(*Config) { return func(c *Config) { c.Timeout = d } }

func TestDeviceThatHangsCostsOnlyItself(t *testing.T) {
	m := newRig(t, threeNICs(), only("port", "counters"), timeout(time.Second)) // enough for healthy ones on a busy machine
	release := m.hang("Slow0", symbols)

	v := m.collect()
	v.want(t, values{
		symbolsOf("a0"): 5, symbolsOf("b0"): 3, "rdma_devices": 3,
		stalledOf("Slow0"): 1, stalledOf("a0"): 0, stalledOf("b0"): 0,
	})
	v.absent(t, symbolsOf("Slow0"), `rdma_device_info{device="Slow0"`, `rdma_device_last_read_timestamp_seconds{device="Slow0"`)
	if lines := m.log.take("does not answer"); len(lines) != 1 || !strings.Contains(lines[0], "Slow0") {
		t.Errorf("log %q, want one line about Slow0", lines)
	}

	// A minute per collection would be noticed: nothing waits for it again.
	m.runner.c.Timeout = time.Hour
	goroutines := runtime.NumGoroutine()
	for range 1000 {
		m.later(time.Second)
		m.collect().want(t, values{stalledOf("Slow0"): 1, symbolsOf("a0"): 5})
	}
	if now := runtime.NumGoroutine(); now > goroutines+1 {
		t.Errorf("%d goroutines, %d before a thousand collections", now, goroutines)
	}
	if lines := m.log.take("Slow0"); len(lines) != 0 {
		t.Errorf("logged again: %q", lines)
	}

	release("7\n")
	eventually(t, func() bool {
		v := m.collect()
		return v[stalledOf("Slow0")] == 0 && v[symbolsOf("Slow0")] == 7
	})
	if lines := m.log.take("answers again"); len(lines) != 1 {
		t.Errorf("log %q, want one line", lines)
	}
}

// eventually waits for another goroutine, without a pause.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("did not come to pass in ten seconds")
		}
	}
}

// What came late is a reading of an earlier time and is thrown away.
func TestLateReadingIsNotUsed(t *testing.T) {
	m := newRig(t, threeNICs(), only("counters"), timeout(20*time.Millisecond))
	release := m.hang("Slow0", symbols)
	m.collect()
	m.runner.c.Timeout = time.Hour
	d := m.runner.devices["Slow0"]
	release("7\n")
	eventually(t, func() bool { return len(d.running) == 1 })
	m.set(classFile("Slow0", symbols), "11\n")
	m.collect().want(t, values{symbolsOf("Slow0"): 11, stalledOf("Slow0"): 0})
}

// A device that has answered counts, also when one before it used the time up.
func TestAnswerCountsAfterTheDeadline(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", nil))
	late, cancel := context.WithCancel(context.Background())
	cancel()
	for range 100 {
		d := newDevice(m.runner, "a0", 1, m.now)
		d.running = make(chan []node.Sample, 1)
		d.running <- []node.Sample{{Series: series(&catalog.Devices), Value: 17}}
		if samples := d.wait(late, m.now); samples[0].Value != 17 || d.running != nil {
			t.Fatalf("the answer was not used: %v", samples)
		}
	}
}

// One scraper that goes away must not make devices look stalled to all.
func TestCallerThatGivesUpDisturbsNobody(t *testing.T) {
	m := newRig(t, threeNICs(), only("counters"))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for range 20 {
		m.later(time.Minute)
		valuesOf(t, m.runner.Collect(gone, nil)).want(t, values{stalledOf("a0"): 0, stalledOf("b0"): 0, symbolsOf("Slow0"): 2})
	}
	if lines := m.log.take("does not answer"); len(lines) != 0 {
		t.Errorf("logged %q", lines)
	}
}

func TestDeadlineOfTheCallerIsObeyed(t *testing.T) {
	m := newRig(t, threeNICs(), only("counters"), timeout(time.Hour))
	m.hang("Slow0", symbols)
	soon, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	valuesOf(t, m.runner.Collect(soon, nil)).want(t, values{stalledOf("Slow0"): 1, symbolsOf("a0"): 5})
}

// Stop ends a collection that waits for a device, gives healthy ones a moment,
// and leaves what is known of them to be saved.
func TestStopDoesNotWaitForADeviceThatHangs(t *testing.T) {
	set := join(threeNICs(), fileSet{bootID: "b1\n", pciRoot + "/0000:03:00.0/infiniband/a0/" + writesFile: "4294967290\n"})
	m := newRig(t, set, only("counters", "hw_counters"), timeout(time.Hour))
	m.collect()
	m.set(classFile("a0", writesFile), "4\n")
	m.hang("Slow0", symbols)
	for _, f := range m.runner.devices["Slow0"].readers[0].reader.(*counterReader).dirs[0].files {
		f.file.Close()
	}
	m.opened()
	m.later(time.Minute)
	done := make(chan *node.Snapshot)
	go func() { done <- m.runner.Collect(context.Background(), nil) }()
	eventually(t, func() bool { return slices.Contains(m.opened(), "class/infiniband/Slow0/"+symbols) })
	m.runner.Stop()
	v := valuesOf(t, <-done)
	v.want(t, values{symbolsOf("a0"): 5})
	v.absent(t, stalledOf("Slow0"))
	if lines := m.log.take("does not answer"); len(lines) != 0 {
		t.Errorf("the end was logged as a fault: %q", lines)
	}
	m.opened()
	if v := m.collect(); len(v) != 0 || len(m.opened()) != 0 {
		t.Errorf("a runner that was stopped read: %v", v)
	}
	again := m.restarted(m.save(), only("hw_counters"))
	again.collect().want(t, values{`rdma_requests_received_total{device="a0",port="1",operation="write"}`: 4294967300})
	m.runner.Close()
	m.runner.Close() // once more does no harm
}

func TestDevicesComeAndGo(t *testing.T) {
	nicA := nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"})
	m := newRig(t, nicA, only("port", "counters"))
	m.collect().want(t, values{"rdma_devices": 1, symbolsOf("a0"): 3})
	m.log.take("")

	m.add(nic("b0", "bnxt_en", "0000:02:00.0", fileSet{symbols: "5\n"}))
	m.later(time.Second)
	m.collect().want(t, values{"rdma_devices": 2, symbolsOf("a0"): 3, symbolsOf("b0"): 5})
	if lines := m.log.take(""); len(lines) != 1 || !strings.Contains(lines[0], "device found") || !strings.Contains(lines[0], "b0") {
		t.Errorf("log %q", lines)
	}

	m.remove("sys/class/infiniband/a0", pciRoot+"/0000:01:00.0")
	v := m.collect()
	v.want(t, values{"rdma_devices": 1, symbolsOf("b0"): 5})
	if found := v.like("rdma_port"); slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, "a0") }) {
		t.Errorf("series of a device that is gone: %q", found)
	}
	if lines := m.log.take(""); len(lines) != 1 || !strings.Contains(lines[0], "device gone") {
		t.Errorf("log %q", lines)
	}
	m.add(nicA)
	m.collect().want(t, values{"rdma_devices": 2, symbolsOf("a0"): 3})
}

func TestDeviceRenamed(t *testing.T) {
	m := newRig(t, nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}), only("port", "counters"))
	m.collect().want(t, values{symbolsOf("mlx5_0"): 3})
	m.remove("sys/class/infiniband/mlx5_0", pciRoot+"/0000:01:00.0")
	m.add(nic("rocep1s0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "5\n"}))
	v := m.collect()
	v.want(t, values{"rdma_devices": 1, symbolsOf("rocep1s0"): 5})
	v.absent(t, symbolsOf("mlx5_0"), stalledOf("mlx5_0"))
	if got := v.labels(t, "rdma_device_info")["driver"]; got != "mlx5" {
		t.Errorf("driver %q", got)
	}
}

// A registration is known by its entry in sysfs: what is remembered of a
// device ends with it.
func TestMemoryEndsWithTheRegistration(t *testing.T) {
	const writes = `rdma_requests_received_total{device="mlx5_0",port="1",operation="write"}`
	const file = "ports/1/hw_counters/rx_write_requests"
	set := join(
		nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{file: "4294967290\n", "ports/1/link_layer": "Ethernet\n"}),
		netdev0("eth0"),
	)
	m := newRig(t, set, only("port", "hw_counters", "ethtool"))
	oob := func(n string) fileSet {
		return fileSet{"ethtool/eth0/S": "NIC statistics:\n     rx_out_of_buffer: " + n + "\n"}
	}
	const noDescriptor = `rdma_port_no_host_descriptor_packets_total{device="mlx5_0",port="1"}`
	m.add(oob("4294967290"))
	m.collect().want(t, values{writes: 4294967290})
	found := slices.Collect(maps.Keys(m.collect()))
	if !slices.Contains(found, noDescriptor) {
		slices.Sort(found)
		t.Fatalf("%s is not among %q", noDescriptor, found)
	}
	m.set(classFile("mlx5_0", file), "4\n")
	m.add(oob("5"))
	m.collect().want(t, values{writes: 4294967300, noDescriptor: 4294967301})

	// The interface is renamed: the device is looked at anew, and still known.
	m.remove("sys/class/net/eth0", pciRoot+"/0000:01:00.0/net", "ethtool/eth0")
	m.add(join(netdev0("enp1s0"), fileSet{"ethtool/enp1s0/S": "NIC statistics:\n     rx_out_of_buffer: 6\n"}))
	m.later(rediscoverAfter)
	v := m.collect()
	v.want(t, values{writes: 4294967300, noDescriptor: 4294967302})
	if got := v.labels(t, "rdma_port_info")["netdev"]; got != "enp1s0" {
		t.Errorf("netdev %q", got)
	}

	// Registered again: a new link under the old name.
	m.add(fileSet{"sys/class/infiniband/mlx5_0": set["sys/class/infiniband/mlx5_0"]})
	m.collect().want(t, values{writes: 4, noDescriptor: 6})
	if lines := m.log.take("device found"); len(lines) != 2 {
		t.Errorf("%d lines of a device found, want 2: %q", len(lines), lines)
	}
}

// netdev0 is an interface of the function 0000:01:00.0.
func netdev0(name string) fileSet {
	return iface(name, "0000:01:00.0", fileSet{"flags": "0x1003\n", "mtu": "9000\n"})
}

func filter(t *testing.T, include, exclude string) Filter {
	t.Helper()
	in, err := Anchor(include)
	if err != nil {
		t.Fatal(err)
	}
	ex, err := Anchor(exclude)
	if err != nil {
		t.Fatal(err)
	}
	return Filter{in, ex}
}

func TestExcludedDeviceIsNotTouched(t *testing.T) {
	set := join(threeNICs(), iface("eth1", "0000:01:00.0", nil), iface("eth2", "0000:02:00.0", nil))
	every := func(f Filter) func(*Config) {
		return func(c *Config) {
			for _, s := range c.Sources {
				c.Filters[s.Name] = f
			}
		}
	}
	for name, adjust := range map[string]func(*Config){
		"by name for all":        func(c *Config) { c.Devices = filter(t, "", "Slow0") },
		"by include":             func(c *Config) { c.Devices = filter(t, "[ab]0", "") },
		"by each source":         every(filter(t, "", "Slow.*")),
		"by each source include": every(filter(t, "a0|b0", "")),
	} {
		t.Run(name, func(t *testing.T) {
			m := newRig(t, set, adjust)
			v := m.collect()
			v.want(t, values{"rdma_devices": 3, `rdma_device_skipped{device="Slow0",reason="excluded"}`: 1, symbolsOf("a0"): 5, symbolsOf("b0"): 3})
			v.absent(t, symbolsOf("Slow0"), stalledOf("Slow0"), `rdma_device_present{device="Slow0"`, `rdma_device_skipped{device="a0"`)
			for _, what := range m.opened() {
				for _, below := range []string{"Slow0", "0000:01:00.0", "eth1"} {
					if strings.Contains(what, below) {
						t.Errorf("%s was opened or looked at", what)
					}
				}
			}
			if lines := m.log.take("Slow0"); len(lines) != 0 {
				t.Errorf("logged %q", lines)
			}
		})
	}
}

func TestSourceFilterLeavesOneSourceOut(t *testing.T) {
	m := newRig(t, threeNICs(), only("port", "counters"), func(c *Config) { c.Filters["counters"] = filter(t, "", "b0") })
	v := m.collect()
	v.want(t, values{symbolsOf("a0"): 5, `rdma_port_active{device="b0",port="1"}`: 1})
	v.absent(t, symbolsOf("b0"), `rdma_collector_success{device="b0",collector="counters"`, `rdma_device_skipped`)
	for _, what := range m.opened() {
		if strings.HasPrefix(what, "class/infiniband/b0/ports/1/counters") {
			t.Errorf("%s was opened", what)
		}
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		include, exclude, device string
		want                     bool
	}{
		{"", "", "mlx5_0", true},
		{"mlx5_0", "", "mlx5_0", true},
		{"mlx5_0", "", "mlx5_01", false},
		{"mlx5_0", "", "xmlx5_0", false},
		{"lx5", "", "mlx5_0", false},
		{"a|mlx5_0", "", "a_0", false}, // anchored on both sides of the bar
		{"a|mlx5_0", "", "mlx5_0", true},
		{"mlx5_.*", "mlx5_1", "mlx5_0", true},
		{"mlx5_.*", "mlx5_1", "mlx5_1", false},
		{"mlx5_.*", "mlx5_1", "mlx5_10", true},
		{"", "mlx5", "mlx5_0", true},
		{"mlx5_0", "mlx5_0", "mlx5_0", false},
		{"(?i)MLX5_0", "", "mlx5_0", true},
		{"(?m)mlx5_0", "", "mlx5_0\nx", false},
	} {
		if got := filter(t, c.include, c.exclude).Allows(c.device); got != c.want {
			t.Errorf("include %q exclude %q: %q is %t, want %t", c.include, c.exclude, c.device, got, c.want)
		}
	}
	for _, bad := range []string{"(", "mlx5[", "a)|(b", "*"} {
		if _, err := Anchor(bad); err == nil {
			t.Errorf("%q is taken for an expression", bad)
		}
	}
}

const vpd = pciRoot + "/0000:01:00.0/vpd"

func TestRestrictedDevice(t *testing.T) {
	set := join(
		nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}),
		nic("mlx5_1", "mlx5_core", "0000:02:00.0", fileSet{symbols: "5\n"}),
		fileSet{vpd: "\x82\x10\x00card\x90SW_MNG\x00"},
	)
	const skipped = `rdma_device_skipped{device="mlx5_0",reason="restricted"}`
	m := newRig(t, set)
	for range 3 {
		v := m.collect()
		v.want(t, values{skipped: 1, symbolsOf("mlx5_1"): 5, "rdma_devices": 2})
		v.absent(t, symbolsOf("mlx5_0"), `rdma_collector_success{device="mlx5_0"`, `rdma_device_skipped{device="mlx5_1"`)
		m.later(rediscoverAfter)
	}
	for _, what := range m.opened() {
		if strings.HasPrefix(what, "class/infiniband/mlx5_0/ports/1/counters") {
			t.Errorf("%s was opened", what)
		}
	}
	if lines := m.log.take("fabric manager"); len(lines) != 1 {
		t.Errorf("log %q, want one line", lines)
	}

	m = newRig(t, set, func(c *Config) { c.ReadRestricted = true })
	v := m.collect()
	v.want(t, values{symbolsOf("mlx5_0"): 3})
	v.absent(t, "rdma_device_skipped")
}

func TestRestrictedIsAskedOfPhysicalMlx5Only(t *testing.T) {
	for name, set := range map[string]fileSet{
		"other driver": join(nic("a0", "bnxt_en", "0000:01:00.0", fileSet{symbols: "3\n"}), fileSet{vpd: "SW_MNG"}),
		"VF":           join(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{oos: "3\n"}), fileSet{vpd: "SW_MNG", pciRoot + "/0000:01:00.0/physfn/x": ""}),
	} {
		t.Run(name, func(t *testing.T) {
			m := newRig(t, set)
			m.collect().absent(t, "rdma_device_skipped")
			if slices.ContainsFunc(m.opened(), func(what string) bool { return strings.HasSuffix(what, "/vpd") }) {
				t.Error("vital product data was read")
			}
		})
	}
}

func TestNoDevices(t *testing.T) {
	m := newRig(t, nil)
	for range 3 {
		v := m.collect()
		v.want(t, values{"rdma_devices": 0})
		v.absent(t, "rdma_device_")
		m.later(time.Minute)
	}
	lines := m.log.take("")
	if len(lines) != 1 || !strings.Contains(lines[0], "level=info") || !strings.Contains(lines[0], "no RDMA devices") {
		t.Errorf("log %q, want one line of level info", lines)
	}
	m.add(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}))
	m.collect().want(t, values{"rdma_devices": 1, symbolsOf("a0"): 3})
	if lines := m.log.take(""); len(lines) != 2 || !strings.Contains(lines[0], "listed again") {
		t.Errorf("log %q, want that they can be listed and one found", lines)
	}
}

// A listing that fails says nothing about the devices.
func TestListingThatFails(t *testing.T) {
	m := newRig(t, join(threeNICs(), fileSet{"sys/class/other/.keep": ""}), only("counters"))
	m.collect()
	m.log.take("")
	if err := os.Rename(m.file("sys/class/infiniband"), m.file("sys/class/away")); err != nil {
		t.Fatal(err)
	}
	m.add(fileSet{"sys/class/infiniband": "-> ../../../outside"})
	for range 3 {
		m.later(time.Second)
		v := m.collect()
		v.want(t, values{stalledOf("a0"): 0, symbolsOf("a0"): 5}) // through files that are open
		v.absent(t, "rdma_devices")                               // how many there are is not known
	}
	if lines := m.log.take("cannot list"); len(lines) != 1 {
		t.Errorf("log %q, want one line", lines)
	}
}

func TestErrorsAreLoggedOnChange(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "errno:EIO\n", "ports/1/counters/link_downed": "7\n"}), only("counters"))
	const success = `rdma_collector_success{device="a0",collector="counters"}`
	const lastSuccess = `rdma_collector_last_success_timestamp_seconds{device="a0",collector="counters"}`
	for range 3 {
		v := m.collect()
		v.want(t, values{success: 0, `rdma_port_link_downed_total{device="a0",port="1",kind="pma"}`: 7})
		v.absent(t, lastSuccess)
		m.later(time.Second)
	}
	if lines := m.log.take("level=warn"); len(lines) != 1 || !strings.Contains(lines[0], "symbol_error") || !strings.Contains(lines[0], "device=a0") {
		t.Errorf("log %q, want one line that names file and device", lines)
	}
	m.set(classFile("a0", symbols), "3\n")
	v := m.collect()
	v.want(t, values{success: 1, lastSuccess: 1_000_000_003, symbolsOf("a0"): 3,
		`rdma_collector_read_errors_total{device="a0",collector="counters",error="EIO"}`: 3})
	if lines := m.log.take(""); len(lines) != 1 || !strings.Contains(lines[0], "works again") {
		t.Errorf("log %q, want one line", lines)
	}
	m.set(classFile("a0", symbols), "errno:EIO\n")
	m.later(time.Second)
	m.collect().want(t, values{success: 0, lastSuccess: 1_000_000_003})
}

func TestTimestamps(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", nil), only("port"))
	m.now = time.UnixMilli(1_000_000_000_250)
	m.collect()
	m.later(1500 * time.Millisecond)
	m.collect().want(t, values{
		`rdma_device_last_read_timestamp_seconds{device="a0"}`:  1_000_000_001.75,
		`rdma_device_registered_timestamp_seconds{device="a0"}`: 1_000_000_000.25,
	})
}

func TestMinIntervalSharesAReading(t *testing.T) {
	m := newRig(t, threeNICs(), only("port", "counters"), func(c *Config) { c.MinInterval = time.Second })
	var wg sync.WaitGroup
	snapshots := make([]*node.Snapshot, 20)
	for i := range snapshots {
		wg.Go(func() { snapshots[i] = m.runner.Collect(context.Background(), nil) })
	}
	wg.Wait()
	for _, s := range snapshots {
		if s != snapshots[0] {
			t.Fatal("a second reading was made")
		}
	}
	first := snapshots[0]
	if s := m.runner.Collect(context.Background(), []string{"counters"}); s == first {
		t.Error("a part was answered by the whole")
	} else {
		v := valuesOf(t, s)
		v.want(t, values{symbolsOf("a0"): 5})
		v.absent(t, "rdma_port_active", `rdma_collector_success{device="a0",collector="port"`)
	}
	m.later(time.Second - time.Nanosecond)
	if m.runner.Collect(context.Background(), nil) != first {
		t.Error("a reading younger than the least interval was not used")
	}
	m.later(time.Nanosecond)
	second := m.runner.Collect(context.Background(), nil)
	if second == first {
		t.Error("a reading as old as the least interval was used")
	}
	m.later(-time.Minute) // the clock was set back
	if m.runner.Collect(context.Background(), nil) == second {
		t.Error("a reading from the future was used")
	}
}

// Twelve different parts asked for by turns do not pile up.
func TestPartsThatAreKeptAreBounded(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", nil), func(c *Config) { c.MinInterval = time.Hour })
	names := []string{"port", "counters", "hw_counters", "ethtool", "link", "dcqcn"}
	for i := range names {
		for j := i; j < len(names); j++ {
			m.collect(names[i : j+1]...)
		}
	}
	if n := len(m.runner.cached); n > 9 {
		t.Errorf("%d snapshots are kept", n)
	}
}

// descriptors counts the open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestNothingLeaks(t *testing.T) {
	runtime.GC() // files that other tests left to it
	before := descriptors(t)
	dir := tree(t, join(fileSet{"sys/devices/.keep": ""}, threeNICs(),
		iface("eth1", "0000:01:00.0", fileSet{"flags": "0x1\n", "speed": "100000\n", "carrier": "1\n"}),
		fileSet{"ethtool/eth1/S": "NIC statistics:\n     rx_bytes_phy: 5\n"}))
	h, err := host.New(host.Config{Replay: dir})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000_000_000, 0)
	r := NewRunner(Config{Host: h, Sources: Sources(), Timeout: time.Minute, Now: func() time.Time { return now }})
	r.Collect(context.Background(), nil)
	open, goroutines := descriptors(t), runtime.NumGoroutine()
	if open <= before {
		t.Errorf("%d descriptors while reading, %d before: none is kept", open, before)
	}
	for range 1000 {
		now = now.Add(7 * time.Second) // past rediscovery and listing too
		r.Collect(context.Background(), nil)
	}
	if n := descriptors(t); n > open {
		t.Errorf("%d descriptors after a thousand collections, %d after one", n, open)
	}
	if n := runtime.NumGoroutine(); n > goroutines+1 {
		t.Errorf("%d goroutines after a thousand collections, %d after one", n, goroutines)
	}
	r.Close()
	h.Close()
	if n := descriptors(t); n > before {
		t.Errorf("%d descriptors after closing, %d before", n, before)
	}
}

// With an interface renamed again and again the sources are opened anew each
// time.
func TestOpeningAnewLeaksNothing(t *testing.T) {
	m := newRig(t, join(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n", oos: "5\n"}), netdev0("eth0")))
	m.collect()
	open := 0
	for i := range 50 {
		m.remove("sys/class/net", pciRoot+"/0000:01:00.0/net")
		m.add(netdev0(fmt.Sprintf("eth%d", i%2)))
		m.later(rediscoverAfter)
		m.collect()
		if i == 0 {
			open = descriptors(t)
		}
	}
	if n := descriptors(t); n > open {
		t.Errorf("%d descriptors, %d after the first time", n, open)
	}
}

func TestConcurrentCollectionsWhileDevicesComeAndGo(t *testing.T) {
	m := newRig(t, threeNICs(), func(c *Config) { c.Now = time.Now })
	page := NewExposition(m.runner, nil)
	stop := make(chan struct{})
	var changing, wg sync.WaitGroup
	changing.Go(func() {
		extra := nic("c0", "mlx5_core", "0000:04:00.0", fileSet{symbols: "7\n"})
		for {
			select {
			case <-stop:
				return
			default:
			}
			m.add(extra)
			m.remove("sys/class/infiniband/c0", pciRoot+"/0000:04:00.0")
		}
	})
	for i := range 50 {
		wg.Go(func() {
			for range 4 {
				if i%2 == 0 {
					if v := valuesOf(t, m.runner.Collect(context.Background(), nil)); v[symbolsOf("a0")] != 5 || v[symbolsOf("Slow0")] != 2 {
						t.Errorf("a healthy device lost its values: %v", v)
					}
					continue
				}
				families, done, err := gathering{page, context.Background(), nil}.Gather()
				if err != nil || len(families) == 0 {
					t.Errorf("%d families, error %v", len(families), err)
				}
				done()
			}
		})
	}
	wg.Wait()
	close(stop)
	changing.Wait()
}

func TestSourceWithNothingToRead(t *testing.T) {
	set := join(
		nic("a0", "bnxt_en", "0000:01:00.0", fileSet{"ports/1/hw_counters/rx_pkts": "3\n", "ports/1/link_layer": "Ethernet\n"}),
		netdev0("eth0"),
	)
	m := newRig(t, set)
	unsupported := func(collector string) string {
		return `rdma_collector_skipped{device="a0",collector="` + collector + `",reason="unsupported"}`
	}
	for range 2 {
		v := m.collect()
		v.want(t, values{
			unsupported("counters"): 1, // no such directory
			unsupported("ethtool"):  1, // the driver refuses
			unsupported("link"):     1,
			unsupported("dcqcn"):    1, // nothing is ever read
			`rdma_collector_success{device="a0",collector="counters"}`: 1,
		})
		v.absent(t, unsupported("port"), unsupported("hw_counters"), `rdma_collector_success{device="a0",collector="dcqcn"}`)
		if found := slices.DeleteFunc(v.like("rdma_collector_skipped"), func(s string) bool { return strings.Contains(s, "unsupported") }); len(found) > 0 {
			t.Errorf("skipped for another reason: %q", found)
		}
		m.later(time.Second)
	}
	if lines := m.log.take(""); len(lines) != 1 {
		t.Errorf("log %q, want the device found only", lines)
	}
	// A fault is not the same as nothing to read.
	m.set(classFile("a0", "ports/1/hw_counters/rx_pkts"), "errno:EIO\n")
	m.collect().absent(t, unsupported("hw_counters"))
}

func TestSourceWithoutPermission(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "errno:EACCES\n", "ports/1/counters/link_downed": "7\n"}), only("port", "counters"))
	const (
		denied  = `rdma_collector_skipped{device="a0",collector="counters",reason="permission"}`
		success = `rdma_collector_success{device="a0",collector="counters"}`
	)
	for range 3 {
		v := m.collect()
		v.want(t, values{denied: 1, success: 1, `rdma_port_link_downed_total{device="a0",port="1",kind="pma"}`: 7})
		v.absent(t, symbolsOf("a0"), `rdma_collector_skipped{device="a0",collector="port"`, `rdma_collector_skipped{device="a0",collector="counters",reason="unsupported"`)
		m.later(time.Minute)
	}
	lines := m.log.take("level=warn")
	if len(lines) != 1 || !strings.Contains(lines[0], "collector=counters") || !strings.Contains(lines[0], "device=a0") {
		t.Errorf("log %q, want one line of collector and device", lines)
	}
	m.later(reprobeAfter) // refused again: nothing new
	m.collect().want(t, values{denied: 1})
	if lines := m.log.take(""); len(lines) != 0 {
		t.Errorf("log %q, want nothing new", lines)
	}
	m.set(classFile("a0", symbols), "3\n")
	m.later(reprobeAfter)
	v := m.collect()
	v.want(t, values{symbolsOf("a0"): 3})
	v.absent(t, "rdma_collector_skipped")
}

func TestReadsOfDiscoveryAreCounted(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"fw_ver": "errno:EIO\n"}), only("counters"))
	const reads = `rdma_collector_reads_total{device="a0",collector="discovery"}`
	v := m.collect()
	first := v[reads]
	if first < 10 {
		t.Errorf("%v reads of discovery", first)
	}
	v.want(t, values{`rdma_collector_read_errors_total{device="a0",collector="discovery",error="EIO"}`: 1})
	m.later(rediscoverAfter - 1)
	m.collect().want(t, values{reads: first})
	m.later(1)
	v = m.collect()
	if v[reads] <= first {
		t.Errorf("%v reads of discovery after the second one, %v after the first", v[reads], first)
	}
	v.want(t, values{`rdma_collector_read_errors_total{device="a0",collector="discovery",error="EIO"}`: 2})
}

// An interface that was renamed answers ENODEV by its old name.
func TestErrorMakesADeviceLookedAtAgain(t *testing.T) {
	m := newRig(t, join(
		nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}), netdev0("eth0"),
		fileSet{"ethtool/eth0/S": "NIC statistics:\n     rx_bytes_phy: 5\n"},
	), only("port", "ethtool"))
	const bytes = `rdma_port_wire_received_bytes_total{device="a0",port="1"}`
	m.collect().want(t, values{bytes: 5})
	m.remove("sys/class/net/eth0", pciRoot+"/0000:01:00.0/net")
	m.add(join(netdev0("enp1s0"), fileSet{"ethtool/enp1s0/S": "NIC statistics:\n     rx_bytes_phy: 7\n"}))
	m.set("ethtool/eth0/S", "errno:ENODEV")
	m.later(time.Second)
	m.collect().absent(t, bytes)
	m.later(time.Second)
	v := m.collect()
	v.want(t, values{bytes: 7})
	if got := v.labels(t, "rdma_port_info")["netdev"]; got != "enp1s0" {
		t.Errorf("netdev %q", got)
	}
}

// A fault that stays does not make every reading a discovery.
func TestLastingErrorMakesOneDiscovery(t *testing.T) {
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "errno:EIO\n"}), only("counters"))
	const reads = `rdma_collector_reads_total{device="a0",collector="discovery"}`
	m.collect()
	second := m.collect()[reads]
	m.collect().want(t, values{reads: second})
}

// With descriptors used up nothing is kept open, and nothing is lost.
func TestFewDescriptors(t *testing.T) {
	dir := tree(t, threeNICs())
	h, err := host.New(host.Config{Replay: dir, MaxOpen: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	r := NewRunner(Config{Host: h, Sources: Sources(), Timeout: time.Minute})
	defer r.Close()
	for i := range 3 {
		value := strconv.Itoa(10 + i)
		if err := os.WriteFile(filepath.Join(dir, classFile("a0", symbols)), []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		valuesOf(t, r.Collect(context.Background(), nil)).want(t, values{
			symbolsOf("a0"): float64(10 + i), symbolsOf("b0"): 3, symbolsOf("Slow0"): 2, `rdma_port_active{device="b0",port="1"}`: 1,
		})
	}
}

// A device that hangs while it goes away is let go of when its read returns.
func TestHangingDeviceIsLetGo(t *testing.T) {
	runtime.GC()
	before := descriptors(t)
	m := newRig(t, threeNICs(), only("port", "counters"))
	m.collect()
	m.runner.c.Timeout = 20 * time.Millisecond
	for _, f := range m.runner.devices["Slow0"].readers[1].reader.(*counterReader).dirs[0].files {
		f.file.Close()
	}
	release := m.hang("Slow0", symbols)
	m.collect().want(t, values{stalledOf("Slow0"): 1})
	m.runner.Close()
	m.runner.c.Host.Close()
	held := descriptors(t)
	if held <= before {
		t.Fatalf("%d descriptors while the device hangs, %d before: the test shows nothing", held, before)
	}
	release("2\n")
	eventually(t, func() bool { return descriptors(t) <= before })
}
