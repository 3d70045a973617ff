package faults

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// answers scrapes a few times and wants the counters of both devices, as a
// process without limits has them.
func (p *process) answers(r *rig) page {
	p.t.Helper()
	var got page
	for range 5 {
		got = p.scrape()
		got.want(p.t, map[string]float64{"rdma_devices": 2, stalled0: 0, stalled1: 0})
		for _, series := range []string{sequence0, sequence1} {
			if _, ok := got[series]; !ok {
				p.t.Errorf("%s is missing", series)
			}
		}
	}
	return got
}

// 64 descriptors are for the machine's files and for who scrapes: counters are
// read all the same, and a crowd that takes all connections is only refused.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := start(t, confined(t, "descriptors", r.sysfs(), "--collector.min-interval=0s"))
	p.answers(r)
	var crowd []net.Conn
	for range 100 {
		if conn, err := net.Dial("tcp", p.address); err == nil {
			crowd = append(crowd, conn)
		}
	}
	for _, conn := range crowd {
		_ = conn.Close()
	}
	whole := 0 // pages in a row; the last of the crowd are still in the queue
	eventually(t, "all counters are there again", func() bool {
		status, body, err := p.try("/metrics")
		if whole++; err != nil || status != 200 || !strings.Contains(body, "\n"+sequence0+" ") || !strings.Contains(body, "\n"+sequence1+" ") {
			whole = 0
		}
		return whole == 5
	})
	p.terminate()
}

// With the rules, 32 MiB for Go's memory.
func TestLittleMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	cmd := exec.Command(binary(t, shipped), serveArgs([]string{r.sysfs(), "--collector.min-interval=0s", "--alerting.interval=1s"})...)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=32MiB")
	p := start(t, cmd)
	for range 200 {
		p.scrape()
	}
	p.answers(r)
	t.Logf("%d MiB resident after 200 scrapes", p.resident()>>20)
	if n := p.resident(); n > 64<<20 {
		t.Errorf("%d MiB resident", n>>20)
	}
	p.terminate()
}

// memoryGroup makes a cgroup with a limit of memory, of version 2 or 1.
func memoryGroup(t *testing.T, limit int) string {
	t.Helper()
	for parent, file := range map[string]string{"/sys/fs/cgroup": "memory.max", "/sys/fs/cgroup/memory": "memory.limit_in_bytes"} {
		dir := filepath.Join(parent, fmt.Sprintf("rdmawatch-faults-%d", os.Getpid()))
		if _, err := os.Stat(filepath.Join(parent, "cgroup.procs")); err != nil {
			continue
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, file), []byte(fmt.Sprint(limit)), 0) == nil {
			t.Logf("limited by %s", filepath.Join(parent, file))
			return dir
		}
	}
	t.Skip("left out: no cgroup here can limit memory")
	return ""
}

func TestMemoryOfACgroup(t *testing.T) {
	needsRoot(t)
	r := newRig(t)
	group := memoryGroup(t, 32<<20)
	cmd := confined(t, "memory", r.sysfs(), "--collector.min-interval=0s", "--alerting.interval=1s")
	cmd.Env = append(cmd.Env, cgroupVariable+"="+group, "GOMEMLIMIT=24MiB")
	p := start(t, cmd)
	for range 200 {
		p.scrape()
	}
	p.answers(r)
	p.terminate()
}

// Nothing can be written anywhere: no state is kept, and that is told once.
func TestReadOnlyRoot(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	r := newRig(t)
	cmd := confined(t, "root", r.sysfs(), "--alerting.interval=1s", "--alerting.state-file="+filepath.Join(t.TempDir(), "state.json"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	p := start(t, cmd)
	p.answers(r)
	p.terminate()
	if n := strings.Count(p.said(), "cannot write the state file"); n != 1 || !strings.Contains(p.said(), "read-only file system") {
		t.Errorf("told %d times", n)
	}
}

func TestNoProc(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	r := newRig(t)
	cmd := confined(t, "proc", r.sysfs())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	p := start(t, cmd)
	p.answers(r)
	p.terminate()
}

// What needs netlink is left out and says why; the rest is there.
func TestNetlinkDenied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := start(t, confined(t, "netlink", r.sysfs()))
	got := p.answers(r)
	for _, collector := range []string{"link", "qos"} {
		skipped := false
		for series, value := range got {
			skipped = skipped || value == 1 && strings.HasPrefix(series, `rdma_collector_skipped{device="mlx5_0",`) && strings.Contains(series, `collector="`+collector+`"`)
		}
		if !skipped {
			t.Errorf("rdma_collector_skipped does not tell of %s", collector)
		}
	}
	p.terminate()
}

// A user who owns nothing gets the counters; a state file where only root may
// write is told once.
func TestUnprivilegedUser(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	r := newRig(t)
	for dir := filepath.Dir(r.dir); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t, shipped), serveArgs([]string{r.sysfs(), "--collector.min-interval=0s", "--alerting.interval=1s", "--alerting.state-file=" + filepath.Join(closed, "state.json")})...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}}
	p := start(t, cmd)
	p.answers(r)
	// Files that this user may not read any more are absent, not zero.
	dir := r.file("mlx5_0", "ports/1/hw_counters")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	// Who holds the files open still reads them, as on sysfs.
	p.scrape().want(t, map[string]float64{stalled0: 0, stalled1: 0})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.answers(r)
	p.terminate()
	if n := strings.Count(p.said(), "cannot write the state file"); n != 1 || !strings.Contains(p.said(), "permission denied") {
		t.Errorf("told %d times", n)
	}
}

// In a network namespace of its own, as in a container, sysfs shows devices
// whose interfaces do not answer: what is in files is there all the same. The
// socket is of the namespace of this test, handed over as systemd does.
func TestOwnNetworkNamespace(t *testing.T) {
	needsRoot(t)
	t.Parallel()
	r := newRig(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd := confined(t, "network", r.sysfs(), "--web.systemd-socket")
	cmd.Env = append(cmd.Env, "LISTEN_FDS=1")
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET}
	p := start(t, cmd)
	p.answers(r)
	p.terminate()
}
