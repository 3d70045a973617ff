package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func openDir(t *testing.T, d *Door, name string) *Dir {
	t.Helper()
	dir, err := d.OpenDir(name)
	mustDo(t, err)
	t.Cleanup(dir.Close)
	return dir
}

func wantRead(t *testing.T, d *Door, f *File, want string) {
	t.Helper()
	got, err := f.Read(d, make([]byte, 64))
	if err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", f.Path(), got, err, want)
	}
}

func TestDir(t *testing.T) {
	var traced []string
	d, _ := machine(t, tree{"ports/1/counters/b": "2\n", "ports/1/counters/a": "3\n", "p": "-> ports"}, &traced)
	dir := openDir(t, d, "p/1/counters")
	if got, err := dir.List(d); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q, %v", got, err)
	}
	f := dir.File("b")
	if f.Name() != "b" || f.Path() != "p/1/counters/b" {
		t.Errorf("%s, %s", f.Name(), f.Path())
	}
	wantRead(t, d, f, "2")
	f.Close()
	if want := []string{"p/1/counters", "p/1/counters", "p/1/counters/b"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
	if _, err := d.OpenDir("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := d.OpenDir("ports/1/counters/a"); err == nil {
		t.Error("a file was opened as a directory")
	}
}

// One descriptor is opened for many readings, and still gives fresh values.
func TestFileKeepsItsDescriptor(t *testing.T) {
	var traced []string
	d, root := machine(t, tree{"dir/value": "2\n"}, &traced)
	f := openDir(t, d, "dir").File("value")
	for _, v := range []string{"2", "31", "5", "", "\n", "7\n\n"} {
		mustDo(t, os.WriteFile(filepath.Join(root, "dir/value"), []byte(v+"\n"), 0o644))
		wantRead(t, d, f, v)
	}
	if want := []string{"dir", "dir/value"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
	if d.Reads != 6 || len(d.Errors) != 0 || d.host.open.Load() != 1 {
		t.Errorf("%d reads, %v, %d open", d.Reads, d.Errors, d.host.open.Load())
	}
	f.Close()
	f.Close()
	if got := d.host.open.Load(); got != 0 {
		t.Errorf("%d open after closing", got)
	}
	wantRead(t, d, f, "7\n\n")
	f.Close()
}

func TestFileLongerThanTheBuffer(t *testing.T) {
	d, _ := machine(t, tree{"dir/value": "0123456789\n"}, nil)
	f := openDir(t, d, "dir").File("value")
	defer f.Close()
	for _, c := range []struct {
		size int
		want string
	}{{4, "0123"}, {10, "0123456789"}, {11, "0123456789"}, {12, "0123456789"}, {0, ""}} {
		if got, err := f.Read(d, make([]byte, c.size)); err != nil || string(got) != c.want {
			t.Errorf("buffer of %d: %q, %v", c.size, got, err)
		}
	}
}

// The answer of an attribute that fails must not stick to the descriptor.
func TestFileReopensAfterAnError(t *testing.T) {
	var traced []string
	d, root := fixture(t, tree{"sys/dir/value": "3\n"}, &traced)
	f := openDir(t, d, "dir").File("value")
	wantRead(t, d, f, "3")
	tree{"sys/dir/value": "errno:EIO\n"}.write(t, root)
	_, err := f.Read(d, make([]byte, 64))
	if !errors.Is(err, unix.EIO) || !strings.Contains(err.Error(), "dir/value") {
		t.Errorf("%v", err)
	}
	if f.kept != nil || d.host.open.Load() != 0 {
		t.Error("the descriptor is still there after an error")
	}
	tree{"sys/dir/value": "5\n"}.write(t, root)
	wantRead(t, d, f, "5")
	f.kept.Close() // as if the kernel refused: EBADF
	if _, err := f.Read(d, make([]byte, 64)); !errors.Is(err, unix.EBADF) {
		t.Errorf("%v", err)
	}
	wantRead(t, d, f, "5")
	f.Close()
	if want := []string{"dir", "dir/value", "dir/value", "dir/value"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
	if d.Reads != 5 || d.Errors["EIO"] != 1 || d.Errors["EBADF"] != 1 {
		t.Errorf("%d reads, %v", d.Reads, d.Errors)
	}
}

func TestFileOfVanishedDirectory(t *testing.T) {
	d, root := machine(t, tree{"dir/value": "3\n", "dir/other": "5\n"}, nil)
	dir := openDir(t, d, "dir")
	f := dir.File("value")
	mustDo(t, os.RemoveAll(filepath.Join(root, "dir")))
	if _, err := f.Read(d, make([]byte, 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// A new directory of the old name is another one.
	tree{"dir/value": "7\n"}.write(t, root)
	if _, err := f.Read(d, make([]byte, 64)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	f = openDir(t, d, "dir").File("value")
	wantRead(t, d, f, "7")
	f.Close()
}

func TestFileBeyondTheLimitOfDescriptors(t *testing.T) {
	root := t.TempDir()
	tree{"dir/a": "2\n", "dir/b": "3\n"}.write(t, root)
	var traced []string
	d := openHost(t, Config{Sysfs: root, MaxOpen: 1}, &traced)
	dir := openDir(t, d, "dir")
	a, b := dir.File("a"), dir.File("b")
	wantRead(t, d, a, "2")
	wantRead(t, d, b, "3")
	tree{"dir/a": "5\n", "dir/b": "7\n"}.write(t, root)
	wantRead(t, d, a, "5")
	wantRead(t, d, b, "7")
	if got := d.host.open.Load(); got != 1 {
		t.Errorf("%d are kept open", got)
	}
	if want := []string{"dir", "dir/a", "dir/b", "dir/b"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
	a.Close()
	wantRead(t, d, b, "7")
	if b.kept == nil {
		t.Error("the place that became free is not used")
	}
	b.Close()
	if got := d.host.open.Load(); got != 0 {
		t.Errorf("%d are kept open at the end", got)
	}
}
