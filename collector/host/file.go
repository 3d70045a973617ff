package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Dir is a kept sysfs directory, from which files are opened without walking
// the path again.
type Dir struct {
	host *Host
	root *os.Root
	name string
}

// OpenDir opens a sysfs directory. Close it.
func (d *Door) OpenDir(name string) (*Dir, error) {
	d.host.trace(name)
	root, err := d.host.sys.OpenRoot(name)
	d.host.saw(name)
	if err != nil {
		return nil, d.count(d.host.outside(d.host.sys, name, err))
	}
	return &Dir{host: d.host, root: root, name: name}, nil
}

// List returns the names in the directory, sorted.
func (dir *Dir) List(d *Door) ([]string, error) {
	names, err := d.list(dir.root, ".", dir.name)
	d.host.listed(dir.name, names, err)
	return names, err
}

// File returns a file of the directory, not yet opened.
func (dir *Dir) File(name string) *File { return &File{dir: dir, name: name} }

// Close releases the directory. Files opened from it must be closed before.
func (dir *Dir) Close() { dir.root.Close() }

// File is an attribute file that is read again and again through one kept
// descriptor: on sysfs that costs a tenth of open, read and close. When the
// host's descriptors are used up, it is opened for each read.
type File struct {
	dir  *Dir
	name string
	kept *os.File
	fd   int    // of the kept file: asking for it costs a system call
	at   string // where the kept file is in a fixture, if that is recorded
}

// Name is the file's name in its directory.
func (f *File) Name() string { return f.name }

// Path is the file's path below the mount point of sysfs.
func (f *File) Path() string { return f.dir.name + "/" + f.name }

// Read fills buf with the file's content and returns it, without the final
// newline. A file longer than buf is cut. After an error the next Read opens
// the file anew.
func (f *File) Read(d *Door, buf []byte) ([]byte, error) {
	f.asks()
	n, err := awake(f.dir.host, func() (int, error) {
		n, err := f.read(buf)
		if err == nil {
			err = f.dir.host.fixtureError(buf[:n])
		}
		return n, err
	})
	text := buf[:n]
	f.dir.host.answered(f.at, text, err)
	if d.count(err) != nil {
		f.Close()
		return nil, fmt.Errorf("reading %s: %w", f.Path(), err)
	}
	if n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	return text, nil
}

// asks announces a read to the recorder.
func (f *File) asks() {
	switch h := f.dir.host; {
	case h.recorder == nil:
	case f.kept == nil || f.at == "":
		f.at = h.asks(f.Path())
	default:
		h.recorder.Asks(f.at)
	}
}

func (f *File) read(buf []byte) (int, error) {
	fd := f.fd
	if f.kept == nil {
		f.dir.host.trace(f.Path())
		opened, err := f.dir.root.OpenFile(f.name, os.O_RDONLY, 0)
		if err != nil {
			return 0, f.dir.host.outside(f.dir.root, f.name, err)
		}
		fd = int(opened.Fd())
		if h := f.dir.host; h.open.Add(1) <= h.maxOpen {
			f.kept, f.fd = opened, fd
		} else {
			h.open.Add(-1)
			defer opened.Close()
		}
	}
	// A kernel attribute answers whole or not at all, so one pread is enough;
	// it returns short of buf, which ReadAt reports as io.EOF after asking for
	// the rest. The system call itself is half the cost of a file, hence
	// pread(2) without that second call.
	n, err := unix.Pread(fd, buf, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Pread(fd, buf, 0)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Close releases the kept descriptor, if any. The file can be read again.
func (f *File) Close() {
	if f.kept != nil {
		f.kept.Close()
		f.kept = nil
		f.dir.host.open.Add(-1)
	}
}
