package collector

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

const (
	writeRequests = `rdma_requests_received_total{device="a0",port="1",operation="write"}`
	everActive    = `rdma_port_ever_active{device="a0",port="1"}`
	registered    = `rdma_device_registered_timestamp_seconds{device="a0"}`
	bootID        = "proc/sys/kernel/random/boot_id"
	writesFile    = "ports/1/hw_counters/rx_write_requests"
)

// restarted is a rig of the same machine after the program has started again.
func (m *rig) restarted(saved json.RawMessage, adjust ...func(*Config)) *rig {
	m.t.Helper()
	h, err := host.New(host.Config{Replay: m.dir})
	if err != nil {
		m.t.Fatal(err)
	}
	again := &rig{t: m.t, dir: m.dir, now: m.now}
	c := Config{Host: h, Sources: Sources(), Filters: map[string]Filter{}, Timeout: time.Minute, Now: func() time.Time { return again.now }}
	for _, f := range adjust {
		f(&c)
	}
	again.runner = NewRunner(c)
	m.t.Cleanup(func() { again.runner.Close(); h.Close() })
	if err := again.runner.Restore(saved); err != nil {
		m.t.Fatal(err)
	}
	return again
}

func (m *rig) save() json.RawMessage {
	m.t.Helper()
	saved, err := m.runner.Save()
	if err != nil {
		m.t.Fatal(err)
	}
	return saved
}

func TestMemoryOutlivesARestart(t *testing.T) {
	a0 := nic("a0", "mlx5_core", "0000:01:00.0", fileSet{writesFile: "4294967290\n", "ports/1/rate": "400 Gb/sec (4X NDR)\n"})
	const best = `rdma_port_best_rate_bytes_per_second{device="a0",port="1"}`
	begin := func(boot string) *rig {
		set := join(a0, fileSet{"proc/.keep": ""})
		if boot != "" {
			set[bootID] = boot
		}
		m := newRig(t, set)
		m.collect()
		m.set(classFile("a0", writesFile), "4\n")
		m.collect().want(t, values{writeRequests: 4294967300, everActive: 1, registered: 1e9, best: 50e9})
		m.set(classFile("a0", writesFile), "5\n")
		m.set(classFile("a0", "ports/1/rate"), "200 Gb/sec (4X HDR)\n")
		m.later(time.Minute)
		return m
	}
	t.Run("same boot", func(t *testing.T) {
		m := begin("b1\n")
		again := m.restarted(m.save())
		again.collect().want(t, values{writeRequests: 4294967301, everActive: 1, registered: 1e9, best: 50e9})
		again.set(classFile("a0", "ports/1/state"), "1: DOWN\n")
		again.collect().want(t, values{everActive: 1, portActive: 0})
		third := again.restarted(again.save())
		third.collect().want(t, values{writeRequests: 4294967301, everActive: 1, registered: 1e9})
	})
	forgotten := values{writeRequests: 5, everActive: 1, registered: 1e9 + 60, best: 25e9}
	t.Run("another boot", func(t *testing.T) {
		m := begin("b1\n")
		saved := m.save()
		m.set(bootID, "b2\n")
		m.restarted(saved).collect().want(t, forgotten)
	})
	t.Run("boot not known", func(t *testing.T) { // numbers of sysfs entries repeat from boot to boot
		m := begin("")
		m.restarted(m.save()).collect().want(t, forgotten)
	})
	t.Run("another registration", func(t *testing.T) {
		m := begin("b1\n")
		saved := m.save()
		m.add(fileSet{"sys/class/infiniband/a0": a0["sys/class/infiniband/a0"]})
		m.restarted(saved).collect().want(t, forgotten)
	})
	t.Run("from the future", func(t *testing.T) {
		m := begin("b1\n")
		saved := m.save()
		m.now = time.Unix(1e9-60, 0)
		m.restarted(saved).collect().want(t, values{writeRequests: 5, registered: 1e9 - 60})
	})
}

func TestRestoreOfDamage(t *testing.T) {
	m := newRig(t, join(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{writesFile: "5\n"}), fileSet{bootID: "b1\n"}))
	for _, damaged := range []string{"", "x", "[]", `{"devices":[]}`} {
		if err := m.runner.Restore(json.RawMessage(damaged)); err == nil {
			t.Errorf("%q is taken", damaged)
		}
	}
	instances, err := m.runner.door.Instances(class)
	if err != nil {
		t.Fatal(err)
	}
	instance := instances["a0"]
	holes, err := json.Marshal(map[string]any{
		"boot": "b1", "inventory": map[string]any{"x": nil, "y": map[string]any{}},
		"devices": map[string]any{"b0": nil, "a0": map[string]any{
			"instance": instance, "registered": m.now,
			"ports": map[string]any{"1": nil}, "wraps": map[string]any{"class/infiniband/a0/" + writesFile: nil},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	again := m.restarted(holes)
	v := again.collect()
	v.want(t, values{writeRequests: 5, everActive: 1})
	if found := v.like("rdma_device_present"); len(found) != 1 {
		t.Errorf("%q, want that of a0 only", found)
	}
}

// A device under a reading that hangs is saved as it was known before.
func TestSaveWhileADeviceHangs(t *testing.T) {
	m := newRig(t, join(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n", writesFile: "4294967290\n"}), fileSet{bootID: "b1\n"}))
	m.collect()
	m.set(classFile("a0", writesFile), "4\n")
	m.collect().want(t, values{writeRequests: 4294967300})
	again := m.restarted(m.save(), timeout(20*time.Millisecond))
	release := again.hang("a0", symbols)
	again.collect().want(t, values{stalledOf("a0"): 1})
	third := again.restarted(again.save()) // waits a minute, not 20 ms
	release("3\n")
	third.collect().want(t, values{writeRequests: 4294967300})
}

func TestPresence(t *testing.T) {
	const (
		a0 = `rdma_device_present{device="a0",pci="0000:01:00.0"}`
		b0 = `rdma_device_present{device="b0",pci="0000:02:00.0"}`
	)
	nicA, nicB := nic("a0", "mlx5_core", "0000:01:00.0", nil), nic("b0", "mlx5_core", "0000:02:00.0", nil)
	m := newRig(t, join(nicA, nicB, fileSet{bootID: "b1\n"}), only("port"))
	m.collect().want(t, values{a0: 1, b0: 1})

	unplug := func(name, address string) { m.remove("sys/class/infiniband/"+name, pciRoot+"/"+address) }
	m.later(expectAfter - time.Second)
	unplug("b0", "0000:02:00.0")
	v := m.collect()
	v.want(t, values{a0: 1})
	v.absent(t, b0) // it had been there for too short a time to be missed

	m.later(time.Second)
	unplug("a0", "0000:01:00.0")
	for range 2 {
		v = m.collect()
		v.want(t, values{a0: 0, "rdma_devices": 0})
		m.later(time.Hour)
	}
	again := m.restarted(m.save(), only("port"))
	again.collect().want(t, values{a0: 0})

	m.add(nic("renamed0", "mlx5_core", "0000:01:00.0", nil))
	v = m.collect()
	v.want(t, values{`rdma_device_present{device="renamed0",pci="0000:01:00.0"}`: 1})
	v.absent(t, a0)

	// What is there but excluded is not gone.
	excluded := m.restarted(m.save(), only("port"), func(c *Config) { c.Devices = filter(t, "", "renamed0") })
	excluded.later(time.Hour)
	excluded.collect().absent(t, "rdma_device_present")
}

// What comes and goes on purpose is not missed.
func TestPresenceIsOfHardware(t *testing.T) {
	vf := join(nic("vf0", "mlx5_core", "0000:01:00.2", nil), fileSet{pciRoot + "/0000:01:00.2/physfn/vendor": ""})
	soft := fileSet{"sys/class/infiniband/rxe0/parent": "eth0\n"}
	plane := join(nic("smi0", "mlx5_core", "0000:03:00.0", nil), fileSet{"netlink/rdma-dev": "1: smi0: node_type ca protocol ib type smi parent a0\n"})
	m := newRig(t, join(vf, soft, plane, nic("a0", "mlx5_core", "0000:03:00.0", nil)), only("port"))
	for range 2 {
		v := m.collect()
		v.want(t, values{`rdma_device_present{device="a0",pci="0000:03:00.0"}`: 1, "rdma_devices": 4})
		if found := v.like("rdma_device_present"); len(found) != 1 {
			t.Errorf("%q, want that of a0 only", found)
		}
		m.later(expectAfter)
	}
}

// A bond takes over the functions of its members, which are not missed then.
func TestPresenceOfABond(t *testing.T) {
	m := newRig(t, roceBond("1", "1"), only("port"))
	v := m.collect()
	v.want(t, values{
		`rdma_device_present{device="bond0",pci="0000:01:00.0"}`: 1,
		`rdma_device_present{device="bond0",pci="0000:01:00.1"}`: 1,
	})
	if s := m.runner.Collect(context.Background(), nil); len(s.Devices) != 1 {
		t.Errorf("%d devices", len(s.Devices))
	}
}

// Whatever is in the state file, the devices are read.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"boot":"b1","inventory":{"x":null},"devices":{"a0":{"instance":1,"ports":{"1":null},"wraps":{}},"b0":null}}`))
	f.Add([]byte(`{"boot":"b1","devices":{"a0":{"registered":"2026-03-01T12:00:00Z","wraps":{"class/infiniband/a0/ports/1/hw_counters/rx_write_requests":null}}}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		m := newRig(t, join(nic("a0", "mlx5_core", "0000:01:00.0", fileSet{symbols: "3\n"}), fileSet{bootID: "b1\n"}), only("counters"))
		_ = m.runner.Restore(content) // what it refuses it may leave out
		m.collect().want(t, values{symbolsOf("a0"): 3})
	})
}
