// Package host is the one door to the machine: sysfs, procfs, ethtool and
// netlink. Everything else asks it. It reads only, bounds every read in size,
// and never leaves the trees it was given: a link that points outside is
// refused. Time limits are the caller's, since a read that hangs in the kernel
// cannot be broken off.
//
// The same door opens on a fixture: a directory that holds what a machine
// answered (see fixtures/README.md).
package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// MaxValue bounds what is read of one attribute file. The kernel gives at most
// a page; only AER statistics and long strings come near a kilobyte.
const MaxValue = 4096

// Config says where the machine is.
type Config struct {
	// Sysfs is the mount point of sysfs, "/sys" on the machine itself.
	Sysfs string
	// Procfs is the mount point of procfs, "/proc" on the machine itself.
	Procfs string
	// Kmsg is the device of the kernel's log, "/dev/kmsg" on the machine itself.
	// "" is a machine without one.
	Kmsg string
	// Replay is a fixture directory to read instead of the machine. Nothing of
	// the real machine is then touched: sysfs, ethtool and netlink all come
	// from below it.
	Replay string
	// MaxOpen limits the files kept open between readings. 0 means half of what
	// the process may open, and where that is many all but 4096.
	MaxOpen int
	// Trace, if set, is told of everything that is opened or asked for, before
	// it happens.
	Trace func(what string)
	// Recorder, if set, is given everything that is read, as a fixture has it.
	Recorder Recorder
}

// Host is an open machine or fixture. Its methods may be used concurrently.
type Host struct {
	sys      *os.Root
	sysPath  string
	procPath string
	kmsg     string
	replay   *os.Root // nil on a real machine
	escape   error    // see escapeError
	trace    func(string)
	open     atomic.Int64
	maxOpen  int64

	socket            ethtoolSocket
	noEthtool, noRDMA outage
	noRoute           outage

	recorder Recorder // nil if nothing is recorded
	book     rdmaBook
	sleepers sleepers // of a fixture
}

// New opens a machine or a fixture. Its error tells which directory is missing
// and which flag sets it.
func New(c Config) (*Host, error) {
	h := &Host{trace: c.Trace, recorder: c.Recorder, maxOpen: int64(c.MaxOpen), sysPath: c.Sysfs, procPath: c.Procfs, kmsg: c.Kmsg}
	if h.trace == nil {
		h.trace = func(string) {}
	}
	if h.maxOpen == 0 {
		h.maxOpen = keptOf(descriptorLimit())
	}
	var err error
	if c.Replay != "" {
		h.sysPath = path.Join(c.Replay, "sys")
		if h.replay, err = os.OpenRoot(c.Replay); err != nil {
			return nil, fmt.Errorf("opening the fixture given by --replay: %w", err)
		}
		// Not by its path: a link could lead to the real sysfs.
		if h.sys, err = h.replay.OpenRoot("sys"); err != nil {
			h.replay.Close()
			return nil, fmt.Errorf("opening sys in the fixture given by --replay: %w", err)
		}
	} else if h.sys, err = os.OpenRoot(h.sysPath); err != nil {
		return nil, fmt.Errorf("opening sysfs (is it mounted there? see --path.sysfs): %w", err)
	}
	h.escape = escapeError(h.sys)
	return h, nil
}

// escapeError returns the error by which os.Root refuses to leave its tree. It
// has no name, so the root is asked to.
func escapeError(root *os.Root) error {
	_, err := root.Stat("..")
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return ErrOutside
}

// outside turns that error of opening name in root into ErrOutside.
func (h *Host) outside(root *os.Root, name string, err error) error {
	if errors.Is(err, h.escape) {
		return fmt.Errorf("%s: %w", name, ErrOutside)
	}
	return h.fixtureRefusal(root, name, err)
}

// Close releases the machine. Files and directories opened through it stay
// usable until they are closed themselves.
func (h *Host) Close() {
	h.sleepers.end(true)
	h.socket.close()
	h.sys.Close()
	if h.replay != nil {
		h.replay.Close()
	}
}

// Replay reports whether this is a fixture.
func (h *Host) Replay() bool { return h.replay != nil }

// BootID identifies this boot of the machine; "" if procfs does not tell.
func (h *Host) BootID() string {
	proc, err := h.openProc()
	if err != nil {
		return ""
	}
	defer proc.Close()
	const name = "sys/kernel/random/boot_id"
	h.trace("proc/" + name)
	f, err := proc.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	id, err := io.ReadAll(io.LimitReader(f, MaxValue))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// openProc opens procfs. That of a fixture is not opened by its path: a link
// could lead to the real one.
func (h *Host) openProc() (*os.Root, error) {
	if h.replay != nil {
		return h.replay.OpenRoot("proc")
	}
	return os.OpenRoot(h.procPath)
}

// Kernel is the release of the kernel that runs here; "unknown" if it does not
// say.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// keptOf is how many of so many descriptors are for kept files. The rest is for
// directories, netlink and those who scrape: 4096 is enough for 256 devices.
func keptOf(limit int64) int64 { return limit - min(limit/2, 4096) }

func descriptorLimit() int64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil || r.Cur > 1<<20 {
		return 1 << 20
	}
	return int64(r.Cur)
}

// Door is one reader's way into the host: it counts what the reader asked for.
// A Door belongs to one goroutine. Its netlink connections are its own, so that
// a driver which does not answer one door holds up no other. Close it.
type Door struct {
	host   *Host
	Reads  uint64            // files read, ioctls and netlink requests made
	Errors map[string]uint64 // failed ones, by ErrorName

	ethtool      *ethtoolConn // nil if not open
	rdma         rdmaConn
	route        rdmaConn
	stats        []byte // see statsBuffer
	statsCleanup runtime.Cleanup
}

// Door opens a new way in.
func (h *Host) Door() *Door { return &Door{host: h, Errors: map[string]uint64{}} }

// Close releases what the door has opened for itself. It can be used again.
func (d *Door) Close() {
	d.closeEthtool()
	d.closeRDMA()
	d.closeRoute()
	d.freeStatsBuffer()
}

// Replay reports whether behind the door is a fixture.
func (d *Door) Replay() bool { return d.host.Replay() }

// count books a read and its outcome.
func (d *Door) count(err error) error {
	d.Reads++
	if err != nil {
		d.Errors[ErrorName(err)]++
	}
	return err
}

// Read returns the text of a small sysfs file without its final newline. The
// path is relative to the mount point of sysfs.
func (d *Door) Read(name string) (string, error) { return d.ReadLong(name, MaxValue) }

// ReadLong is Read for files of up to limit bytes; a longer file is cut.
func (d *Door) ReadLong(name string, limit int) (string, error) {
	at := d.host.asks(name)
	text, err := d.readText(d.host.sys, name, limit)
	d.host.answered(at, text, err)
	return strings.TrimSuffix(string(text), "\n"), err
}

func (d *Door) readText(root *os.Root, name string, limit int) ([]byte, error) {
	d.host.trace(name)
	text, err := awake(d.host, func() ([]byte, error) {
		f, err := root.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			return nil, d.host.outside(root, name, err)
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, int64(limit)))
		if err == nil {
			err = d.host.fixtureError(text)
		}
		return text, err
	})
	if d.count(err) != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}

// errnoName is the name that people look for: the kernel's EOPNOTSUPP is also
// called ENOTSUP, which x/sys prefers.
func errnoName(errno syscall.Errno) string {
	if errno == unix.EOPNOTSUPP {
		return "EOPNOTSUPP"
	}
	return unix.ErrnoName(errno)
}

// List returns the names in a sysfs directory, sorted. A directory that does
// not exist gives an error that errors.Is fs.ErrNotExist.
func (d *Door) List(name string) ([]string, error) {
	names, err := d.list(d.host.sys, name, name)
	d.host.listed(name, names, err)
	return names, err
}

// list returns the names in a directory of root, which is called fullName
// outside of it.
func (d *Door) list(root *os.Root, name, fullName string) ([]string, error) {
	d.host.trace(fullName)
	f, err := root.Open(name)
	if err != nil {
		return nil, d.count(fmt.Errorf("listing %s: %w", fullName, d.host.outside(root, name, err)))
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		err = d.host.fixtureRefusal(root, name, err)
	}
	if d.count(err) != nil {
		return nil, fmt.Errorf("listing %s: %w", fullName, err)
	}
	sort.Strings(names)
	return names, nil
}

// Exists reports whether a sysfs path exists, following links.
func (d *Door) Exists(name string) bool {
	d.host.trace(name)
	d.host.saw(name)
	_, err := d.host.sys.Stat(name)
	return err == nil
}

// maxLinks is how many links Resolve follows, as the kernel does.
const maxLinks = 40

// Resolve returns the path that name leads to when all links are followed,
// relative to the mount point of sysfs. A link out of sysfs is refused.
func (d *Door) Resolve(name string) (string, error) {
	d.host.trace(name)
	d.host.saw(name)
	place, err := d.host.walk(name, func(string, string) {})
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", name, err)
	}
	return place, nil
}

// walk follows the links of a sysfs path, each of which it shows to link, and
// returns where they lead. After an error that is the part of the path at which
// it had to stop.
func (h *Host) walk(name string, link func(at, target string)) (place string, err error) {
	if path.IsAbs(name) {
		return "", ErrOutside
	}
	done, last, links := "", "", 0 // last is the link being followed
	todo := strings.Split(name, "/")
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if done == "" {
				return last, ErrOutside
			}
			done = strings.TrimPrefix(path.Dir("/"+done), "/")
			continue
		}
		next := path.Join(done, part)
		target, err := h.sys.Readlink(next)
		switch {
		case errors.Is(err, unix.EINVAL): // not a link
			done = next
		case err != nil:
			return next, err
		case path.IsAbs(target):
			return next, ErrOutside
		default:
			if links++; links > maxLinks {
				return next, unix.ELOOP
			}
			link(next, target)
			last = next
			todo = append(strings.Split(target, "/"), todo...)
		}
	}
	return done, nil
}

// ErrOutside is the error for a link that leaves the tree.
var ErrOutside = errors.New("link points outside the tree")

// ErrorName is a short name of an error for a label: the errno's own name
// where there is one.
func ErrorName(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		if name := errnoName(errno); name != "" {
			return name
		}
		return "errno"
	case errors.Is(err, ErrNotNumber):
		return "not_a_number"
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, ErrOutside):
		return "outside_tree"
	case timedOut(err):
		return "timeout"
	}
	return "other"
}

// NotOffered reports whether err is how a kernel says that the device or
// driver does not have what was asked for. That is no fault: the value is
// absent.
func NotOffered(err error) bool {
	for _, e := range [...]error{unix.EINVAL, unix.ENOENT, unix.EOPNOTSUPP, fs.ErrNotExist, ErrNotNumber} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Gone reports whether err is how a kernel says that the device has been taken
// away while it was read.
func Gone(err error) bool {
	return errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO)
}

// Denied reports whether err is for want of a privilege.
func Denied(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}
