package faults

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ownRules has one alert that comes and goes with every evaluation.
const ownRules = `groups: [{name: own, rules: [
  {alert: OwnFlips, expr: 'rdma_devices and on () (vector(time() * 1000 % 700) < 350)', labels: {severity: warning}, annotations: {summary: flips}},
  {alert: OwnFires, expr: 'rdma_devices > 0', labels: {severity: warning}, annotations: {summary: fires}},
]}]`

// kept is what is looked at in a state file.
type kept struct {
	Version int       `json:"version"`
	SavedAt time.Time `json:"saved_at"`
	Alerts  []struct {
		Labels map[string]string `json:"labels"`
	} `json:"alerts"`
}

func readState(t *testing.T, file string) kept {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var k kept
	if err := json.Unmarshal(content, &k); err != nil {
		t.Fatalf("state file: %v\n%s", err, content)
	}
	return k
}

func (k kept) has(alert string) bool {
	for _, a := range k.Alerts {
		if a.Labels["alertname"] == alert {
			return true
		}
	}
	return false
}

// A disk without room for the file: told once, nothing else suffers, and the
// file of before is whole.
func TestFullDisk(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=4k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	file := filepath.Join(disk, "state.json")
	const before = `{"version":1,"saved_at":"2026-03-01T12:00:00Z"}`
	write(t, file, []byte(before))
	r := newRig(t)
	p := serve(t, r.sysfs(), "--alerting.interval=1s", "--alerting.state-file="+file)
	eventually(t, "it is told", func() bool { return strings.Contains(p.said(), "no space left on device") })
	p.answers(r)
	p.terminate()
	if n := strings.Count(p.said(), "cannot write the state file"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != before {
		t.Errorf("the file of before: %q, %v", content, err)
	}
}

// deaf accepts connections and says nothing.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "http://" + l.Addr().String()
}

// SIGTERM while a device hangs, scrapes wait for it, receivers do not answer,
// half a request is there, and an alert fires: gone in 2 s, with the state saved.
func TestTerminatedInTheMiddle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := t.TempDir()
	rules, file := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state.json")
	write(t, rules, []byte(ownRules))
	release := r.block(r.file("mlx5_0", "ports/1/hw_counters/out_of_sequence"))
	defer release()
	p := serveShipped(t, r.sysfs(), "--collector.timeout=4s", "--collector.min-interval=0s", "--alerting.interval=200ms", "--alerting.rules="+rules,
		"--alerting.alertmanager="+deaf(t), "--alerting.webhook="+deaf(t), "--alerting.state-file="+file)
	eventually(t, "an alert fires", func() bool { return strings.Contains(p.said(), "OwnFires") })
	for range 20 {
		go func() { _, _, _ = p.try("/metrics") }()
	}
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /metrics HTTP/1.1\r\nHost: a\r\n")); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	p.terminate()
	if k := readState(t, file); !k.has("OwnFires") || k.SavedAt.Before(begin) {
		t.Errorf("saved at %s, terminated at %s, alerts %v", k.SavedAt, begin, k.Alerts)
	}
}

// Killed at any moment while it writes: the file is whole, and the next start
// takes it.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := t.TempDir()
	rules, file := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state.json")
	write(t, rules, []byte(ownRules))
	for range 3 {
		p := serveShipped(t, r.sysfs(), "--alerting.interval=100ms", "--collector.min-interval=0s", "--alerting.rules="+rules, "--alerting.state-file="+file)
		flips := func() int { return strings.Count(p.said(), "OwnFlips") }
		eventually(t, "alerts come and go", func() bool { return flips() >= 1 })
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.ended
		if strings.Contains(p.said(), "state file is not usable") {
			t.Error("the file of the process before was not usable")
		}
		if k := readState(t, file); k.Version != 1 || !k.has("OwnFires") {
			t.Errorf("state: %+v", k)
		}
	}
}
