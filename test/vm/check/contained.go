package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// confinement is what a container engine gives a process, without an engine: a
// root of its own that holds the program and what is mounted here, nothing to
// write, no capability but those named, and no way to any more.
type confinement struct {
	name         string
	ownNetwork   bool // as a container has without --network host
	machinesSys  bool // the machine's /sys, mounted as /host/sys
	capabilities []uintptr
	kernelLog    bool // the device /dev/kmsg
	// Metrics that are not on the page though they are on that of an exporter
	// without limits, and some that are. Without a network of its own nothing is
	// lost.
	lost, kept []string
}

func confinements() []confinement {
	ethtool := []string{catalog.UnmappedEthtool.Name, "rdma_port_pause_enabled"}
	return []confinement{
		{name: "host-network"},
		{name: "host-network-and-sys", machinesSys: true},
		{name: "root-with-one-capability", capabilities: []uintptr{unix.CAP_NET_ADMIN}},
		{name: "root-with-the-kernel-log", capabilities: []uintptr{unix.CAP_SYSLOG}, kernelLog: true},
		{name: "own-network-and-sys", machinesSys: true, ownNetwork: true, lost: ethtool,
			kept: []string{catalog.PortInfo.Name, "rdma_received_packets_total", catalog.PCIeWidth.Name}},
		// The kernel shows another network namespace a copy of the device that
		// has no counters and no link to its PCI function (add_one_compat_dev in
		// drivers/infiniband/core/device.c).
		{name: "own-network", ownNetwork: true, lost: append(ethtool, "rdma_received_packets_total", catalog.PCIeWidth.Name),
			kept: []string{catalog.DeviceInfo.Name}},
	}
}

// contained runs the exporter as a container would and compares its page with
// that of an exporter without any limits.
func contained(r *report, root *exporter) {
	raw := "--collector.ethtool.raw-include=.+"
	free := start(r, root.binary, instance{name: "uncontained", port: 10069, user: nobody, flags: []string{raw}})
	if free == nil {
		return
	}
	defer free.stop(r)
	for i, c := range confinements() {
		flags := []string{raw, "--web.systemd-socket"}
		if c.machinesSys {
			flags = append(flags, "--path.sysfs=/host/sys")
		}
		e := start(r, root.binary, instance{name: c.name, port: 10070 + i, flags: flags,
			under: []string{"/proc/self/exe", fmt.Sprintf("-confinement=%d", i), fmt.Sprintf("-listen=127.0.0.1:%d", 10070+i)}})
		if e == nil {
			continue
		}
		if all, some := free.scrape(r), e.scrape(r); all != nil && some != nil {
			compareConfined(r, c, all, some)
		}
		e.mayDoNothingElse(r, c)
		e.stop(r)
	}
}

func compareConfined(r *report, c confinement, all, some *page) {
	if !c.ownNetwork {
		lost := missing(all, some)
		read := len(some.of(&catalog.CollectorSkipped, "collector", "kmsg")) == 0
		equal(r, c.name+": the kernel's log is read", c.kernelLog, read)
		r.ok(len(lost) == 0, c.name+": series lost", "none", fmt.Sprintf("%d of %d %s", len(lost), len(all.series), strings.Join(lost, " ")))
		return
	}
	for _, metric := range c.lost {
		equal(r, c.name+": "+metric, 0, some.count(metric))
		r.ok(all.count(metric) > 0, "uncontained: "+metric, "some", fmt.Sprint(all.count(metric)))
	}
	for _, metric := range c.kept {
		equal(r, c.name+": "+metric, all.count(metric), some.count(metric))
	}
}

// count is how many series a metric has.
func (p *page) count(metric string) int {
	n := 0
	for _, s := range p.series {
		if string(s["__name__"]) == metric {
			n++
		}
	}
	return n
}

// mayDoNothingElse looks at the process as the kernel sees it.
func (e *exporter) mayDoNothingElse(r *report, c confinement) {
	set := uint64(0)
	for _, number := range c.capabilities {
		set |= 1 << number
	}
	status := read(fmt.Sprintf("/proc/%d/status", e.process.Pid))
	for _, line := range []string{
		fmt.Sprintf("CapEff:\t%016x", set), fmt.Sprintf("CapBnd:\t%016x", set), "NoNewPrivs:\t1",
	} {
		r.ok(strings.Contains(status, line+"\n"), e.name+" runs with "+line, "so", fmt.Sprint(strings.Contains(status, line+"\n")))
	}
}

// confine makes this process the one of a container, and becomes the program.
func confine(c confinement, listen string, command []string) error {
	// All of this is the thread's, which exec makes the process's only one.
	runtime.LockOSThread()
	if err := passSocket(listen); err != nil {
		return err
	}
	flags := unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if c.ownNetwork {
		flags |= unix.CLONE_NEWNET
	}
	if err := unix.Unshare(flags); err != nil {
		return fmt.Errorf("unsharing: %w", err)
	}
	top, err := newRoot(c, command[0])
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Chroot(top), unix.Chdir("/")); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := dropAll(c.capabilities); err != nil {
		return err
	}
	env := []string{fmt.Sprintf("LISTEN_PID=%d", os.Getpid()), "LISTEN_FDS=1"}
	return syscall.Exec("/rdmawatch", append([]string{"rdmawatch"}, command[1:]...), env)
}

// passSocket opens the socket as systemd would hand it over, so that a page is
// reached in whatever network its program is.
func passSocket(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	return unix.Dup3(int(file.Fd()), 3, 0)
}

// newRoot mounts a root with the program in it.
func newRoot(c confinement, binary string) (string, error) {
	top, err := os.MkdirTemp("/tmp", "root")
	if err != nil {
		return "", err
	}
	source, err := filepath.Abs(binary)
	if err != nil {
		return "", err
	}
	type mount struct {
		source, target, fstype string
		flags                  uintptr
	}
	mounts := []mount{
		{"none", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"tmpfs", top, "tmpfs", 0},
		{source, top + "/rdmawatch", "", unix.MS_BIND},
		{"proc", top + "/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
		{"sysfs", top + "/sys", "sysfs", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_RDONLY},
	}
	if c.machinesSys {
		mounts = append(mounts,
			mount{"/sys", top + "/host/sys", "", unix.MS_BIND},
			mount{"", top + "/host/sys", "", unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY})
	}
	if c.kernelLog {
		mounts = append(mounts, mount{"/dev/kmsg", top + "/dev/kmsg", "", unix.MS_BIND})
	}
	mounts = append(mounts,
		mount{"tmpfs", top + "/sys/firmware", "tmpfs", unix.MS_RDONLY}, // masked, as engines do
		mount{"", top, "", unix.MS_REMOUNT | unix.MS_RDONLY})
	for _, m := range mounts {
		if err := makeTarget(m.target, m.source == source || m.source == "/dev/kmsg"); err != nil {
			return "", err
		}
		if err := unix.Mount(m.source, m.target, m.fstype, m.flags, ""); err != nil {
			return "", fmt.Errorf("mounting %s: %w", m.target, err)
		}
	}
	return top, nil
}

// makeTarget makes what is mounted over, where it is not there.
func makeTarget(path string, file bool) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if file {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, nil, 0o755)
	}
	return os.MkdirAll(path, 0o755)
}

// dropAll leaves an ordinary user without capabilities, or root with some, and
// no program that it could start would have more.
func dropAll(keep []uintptr) error {
	for number := uintptr(0); number <= unix.CAP_LAST_CAP; number++ {
		if !slices.Contains(keep, number) {
			// The guest's kernel may know fewer.
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, number, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("dropping capability %d: %w", number, err)
			}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if len(keep) > 0 {
		var set [2]unix.CapUserData
		for _, number := range keep {
			bit := uint32(1) << (number % 32)
			set[number/32].Effective |= bit
			set[number/32].Permitted |= bit
		}
		return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &set[0])
	}
	// The thread's alone, where the standard library would ask all threads.
	for _, call := range []uintptr{unix.SYS_SETGID, unix.SYS_SETUID} {
		if _, _, errno := unix.RawSyscall(call, nobody, 0, 0); errno != 0 {
			return errno
		}
	}
	return nil
}
