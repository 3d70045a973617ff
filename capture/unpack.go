package capture

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// unpacked is a directory into which an archive is unpacked. Nothing is ever
// written through a link.
type unpacked struct {
	root  *os.Root
	dirs  map[string]bool // known to be directories and not below a link
	files int
	bytes int64
}

func newUnpacked(dir string) (*unpacked, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &unpacked{root: root, dirs: map[string]bool{".": true}}, nil
}

// unpack puts an entry where it belongs, in place of what is there.
func (u *unpacked) unpack(e entry, content io.Reader) error {
	if e.Typeflag == tar.TypeDir {
		return u.makeDir(e.name)
	}
	if err := u.makeDir(path.Dir(e.name)); err != nil {
		return err
	}
	old, err := u.root.Lstat(e.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.IsDir():
		return fmt.Errorf("%q is a directory and something else: refused", e.name)
	}
	if err := u.grow(e, old); err != nil {
		return err
	}
	if e.Typeflag == tar.TypeSymlink {
		return u.link(e.name, e.Linkname)
	}
	if old != nil && !old.Mode().IsRegular() {
		if err := u.root.Remove(e.name); err != nil {
			return err
		}
	}
	return u.write(e, content)
}

// grow counts what takes more room than before.
func (u *unpacked) grow(e entry, old fs.FileInfo) error {
	if old == nil {
		u.files++
		u.bytes += e.Size
	} else {
		u.bytes += max(0, e.Size-old.Size())
	}
	switch {
	case u.files > maxNodeFiles:
		return fmt.Errorf("it has more than %d files", maxNodeFiles)
	case u.bytes > maxNodeBytes:
		return fmt.Errorf("its files have more than %d MiB", maxNodeBytes>>20)
	}
	return nil
}

// makeDir makes a directory and those above it.
func (u *unpacked) makeDir(name string) error {
	if name == "" || u.dirs[name] {
		return nil
	}
	if err := u.makeDir(path.Dir(name)); err != nil {
		return err
	}
	info, err := u.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if u.files++; u.files > maxNodeFiles {
			return fmt.Errorf("it has more than %d files", maxNodeFiles)
		}
		err = u.root.Mkdir(name, 0o700)
	case err == nil && !info.IsDir():
		err = fmt.Errorf("%q is below a file or a link: refused", name)
	}
	if err == nil {
		u.dirs[name] = true
	}
	return err
}

// link makes a link. It takes the place of an old one only when it is there: so
// it has another number, by which a device is known to be registered anew.
func (u *unpacked) link(name, target string) error {
	const fresh = ".link"
	if err := u.root.Symlink(target, fresh); err != nil {
		return err
	}
	return u.root.Rename(fresh, name)
}

// write changes a file in place: whoever keeps it open sees what it has now, as
// in sysfs.
func (u *unpacked) write(e entry, content io.Reader) error {
	f, err := u.root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// removeAll removes what a list names, a path to the line.
func (u *unpacked) removeAll(list io.Reader) error {
	text, err := io.ReadAll(list)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		name, err := cleanName(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return err
		}
		if name == "" {
			return fmt.Errorf("%s names no file: refused", goneFile)
		}
		// Only what makeDir made leads there: os.Root would follow a link, though
		// not out of the directory.
		if !u.dirs[path.Dir(name)] {
			continue
		}
		if err := u.root.RemoveAll(name); err != nil {
			return err
		}
		for dir := range u.dirs {
			if dir == name || strings.HasPrefix(dir, name+"/") {
				delete(u.dirs, dir)
			}
		}
	}
	return nil
}
