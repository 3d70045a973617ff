package foreign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Input is a text.
type Input struct {
	Name string
	Text []byte
	Time time.Time // when it was written, if that is known
	Cut  bool      // it is longer than what was read
	// Quiet is a text that nobody pointed at: one of a directory. If nothing
	// can be made of it, that is not worth a line.
	Quiet bool
}

// The bounds of what is read.
const (
	maxFile  = 16 << 20 // of a file
	maxTotal = 128 << 20
	maxFiles = 20_000 // of a directory
)

// Read reads files and directories. What cannot be opened is an error; what is
// too long is cut.
func Read(paths []string) ([]Input, error) {
	r := &reader{left: maxTotal}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			err = r.directory(p)
		} else {
			err = r.file(p, p, false)
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", p, err)
		}
	}
	return r.inputs, nil
}

type reader struct {
	inputs []Input
	left   int64
}

var errTotal = fmt.Errorf("all files together have more than %d MiB; name those that matter", maxTotal>>20)

func (r *reader) file(path, name string, quiet bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, min(maxFile, r.left)+1))
	if err != nil {
		return err
	}
	in := Input{Name: name, Text: text, Quiet: quiet}
	if info.Mode().IsRegular() { // a pipe has no time of its own
		in.Time = info.ModTime()
	}
	if int64(len(text)) > r.left && r.left < maxFile {
		return errTotal
	}
	if len(text) > maxFile {
		in.Text, in.Cut = text[:maxFile], true
	}
	r.left -= int64(len(in.Text))
	r.inputs = append(r.inputs, in)
	return nil
}

// directory reads an unpacked sosreport or any other directory: the tree of
// sysfs, if it has one, and the files that hold output of commands.
func (r *reader) directory(dir string) error {
	if sys := sysTree(dir); sys != "" {
		listing, err := listSys(sys)
		if err != nil {
			return err
		}
		if len(listing) > 0 {
			r.inputs = append(r.inputs, Input{Name: sys, Text: listing})
		}
	}
	root := dir
	if commands := filepath.Join(dir, "sos_commands"); isDir(commands) {
		root = commands
	}
	n := 0
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return nil // an attachment that somebody else unpacked
		case err != nil:
			return err
		case entry.IsDir() && path != root && skipped(entry.Name()):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		if n++; n > maxFiles {
			return fmt.Errorf("more than %d files; name those that matter", maxFiles)
		}
		err = r.file(path, path, true)
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	})
}

// skipped are directories of an attachment that hold no output of commands.
func skipped(name string) bool {
	return name == "sys" || name == "proc" || name == "var" || name == "class" || name == "devices" || strings.HasPrefix(name, ".")
}

func sysTree(dir string) string {
	for _, sys := range []string{filepath.Join(dir, "sys"), dir} {
		if isDir(filepath.Join(sys, "class", "infiniband")) {
			return sys
		}
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
