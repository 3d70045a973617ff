package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A file errno:NAME in place of a directory makes all below it fail like that.
func TestFixtureRefusesDirectory(t *testing.T) {
	d, _ := fixture(t, tree{
		"sys/class/infiniband":     "errno:EACCES\n",
		"sys/class/net/eth0":       "errno:outside_tree\n",
		"sys/class/net/eth1":       "no error\n",
		"sys/devices/a/b/c/config": "errno:timeout\n",
	}, nil)
	if _, err := d.List("class/infiniband"); !errors.Is(err, unix.EACCES) {
		t.Errorf("listing: %v", err)
	}
	if _, err := d.OpenDir("class/infiniband"); !errors.Is(err, unix.EACCES) {
		t.Errorf("opening: %v", err)
	}
	if _, err := d.Read("class/net/eth0/device/vendor"); !errors.Is(err, ErrOutside) {
		t.Errorf("reading below: %v", err)
	}
	if _, err := d.Read("class/net/eth1/mtu"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("below an ordinary file: %v", err)
	}
	if _, err := d.Read("devices/a/b/c/config"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("timeout: %v", err)
	}
	if _, err := d.Read("class/net/eth9/mtu"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
}

// A read that hangs returns when the fixture has changed, and not before.
func TestFixtureHangs(t *testing.T) {
	d, root := fixture(t, tree{"sys/a": "errno:hangs\n"}, nil)
	done := make(chan string)
	go func() {
		text, err := d.Read("a")
		if err != nil {
			text = err.Error()
		}
		done <- text
	}()
	for d.host.sleeping() == 0 { // it is on its way there
		runtime.Gosched()
	}
	if d.host.Wake() {
		t.Error("it returned though nothing changed")
	}
	select {
	case text := <-done:
		t.Fatalf("it returned %q", text)
	default:
	}
	// At once, or it is read while it is empty.
	mustDo(t, os.WriteFile(filepath.Join(root, "sys/b"), []byte("7\n"), 0o644))
	mustDo(t, os.Rename(filepath.Join(root, "sys/b"), filepath.Join(root, "sys/a")))
	if !d.host.Wake() {
		t.Error("Wake does not say that it returned")
	}
	if text := <-done; text != "7" {
		t.Errorf("got %q", text)
	}
	if d.host.Wake() {
		t.Error("nobody slept")
	}
}

// Nothing hangs any longer than the host is open.
func TestFixtureHangsNoLonger(t *testing.T) {
	d, _ := fixture(t, tree{"sys/dir/a": "errno:hangs\n"}, nil)
	dir, err := d.OpenDir("dir")
	mustDo(t, err)
	defer dir.Close()
	done := make(chan error)
	go func() {
		_, err := dir.File("a").Read(d, make([]byte, 32))
		done <- err
	}()
	for d.host.sleeping() == 0 { // it is on its way there
		runtime.Gosched()
	}
	d.host.sleepers.end(true)
	if err := <-done; !errors.Is(err, unix.EINTR) {
		t.Errorf("got %v", err)
	}
}

// sleeping tells whether anything hangs.
func (h *Host) sleeping() int {
	h.sleepers.mu.Lock()
	defer h.sleepers.mu.Unlock()
	if h.sleepers.current == nil {
		return 0
	}
	return 1
}
