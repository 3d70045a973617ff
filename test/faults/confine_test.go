package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wrapVariable makes this test program take something from itself, then become
// the program that its arguments name.
const wrapVariable = "RDMAWATCH_FAULTS_CONFINE"

// cgroupVariable is the cgroup that such a program joins.
const cgroupVariable = "RDMAWATCH_FAULTS_CGROUP"

// confinements by name; each is applied to the thread that goes on as the
// program.
var confinements = map[string]func() error{
	"descriptors": func() error { return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}) },
	"netlink":     denyNetlink,
	"root": func() error {
		return unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY, Propagation: unix.MS_PRIVATE})
	},
	"proc": func() error {
		return errors.Join(unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""), unix.Mount("none", "/proc", "tmpfs", unix.MS_RDONLY, ""))
	},
	"memory": func() error {
		return os.WriteFile(filepath.Join(os.Getenv(cgroupVariable), "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
	},
	"network": func() error { return os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid())) },
}

func confine(how string, program []string) error {
	runtime.LockOSThread()
	if err := confinements[how](); err != nil {
		return fmt.Errorf("confining %s: %w", how, err)
	}
	return syscall.Exec(program[0], program, os.Environ())
}

// denyNetlink has the kernel answer EPERM to socket(AF_NETLINK).
func denyNetlink() error {
	const number, firstArgument = 0, 16 // in struct seccomp_data, include/uapi/linux/seccomp.h
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: number},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_SOCKET, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: firstArgument},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.AF_NETLINK, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// confined is `serve` with something taken from it.
func confined(t *testing.T, how string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{binary(t, shipped)}, serveArgs(args)...)...)
	cmd.Env = append(os.Environ(), wrapVariable+"="+how)
	return cmd
}
