package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Tree is a node fixture of its own whose files change as a case says.
type Tree struct {
	dir    string
	root   *os.Root
	files  map[string]*changing
	events []*event
	// blocked is how many files block just now.
	blocked int
}

// changing is a file of which values change.
type changing struct {
	name   string
	path   string   // where it is, without the links on the way
	lines  []string // nil: one value is the whole file
	values []*changingValue
	last   string
}

type changingValue struct {
	line    int // of lines; -1: the whole file
	prefix  string
	initial string
	changes []*Change
}

// event is something that happens to a whole device or file for a time.
type event struct {
	change *Change
	on     bool
	kept   string // what a link or file held before
}

// newTree copies a fixture and prepares its changes.
func newTree(node string, changes []Change) (*Tree, error) {
	dir, err := os.MkdirTemp("", "rdmawatch-replay-")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(copyTree(node, dir), oneBoot(dir)); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("copying the fixture: %w", err)
	}
	return OpenTree(dir, changes)
}

// oneBoot gives a node the identity of its boot if the fixture has none. Without
// it nothing that is known of devices outlives a restart of the program.
func oneBoot(dir string) error {
	path := filepath.Join(dir, "proc/sys/kernel/random/boot_id")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte("a replay\n"), 0o644)
}

// OpenTree makes a tree of a directory, which is the tree's from now on, and
// goes with it.
func OpenTree(dir string, changes []Change) (*Tree, error) {
	t := &Tree{dir: dir, files: map[string]*changing{}}
	var err error
	if t.root, err = os.OpenRoot(dir); err != nil {
		t.Close()
		return nil, err
	}
	for i := range changes {
		if err := t.prepare(&changes[i]); err != nil {
			t.Close()
			return nil, err
		}
	}
	return t, nil
}

// Dir is the directory of the tree.
func (t *Tree) Dir() string { return t.dir }

// Close removes the tree.
func (t *Tree) Close() {
	if t.root != nil {
		_ = t.root.Close()
	}
	_ = os.RemoveAll(t.dir)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}

func (t *Tree) prepare(c *Change) error {
	if c.Device != "" || c.Blocked != "" {
		t.events = append(t.events, &event{change: c})
		return nil
	}
	values, err := c.values()
	if err != nil {
		return err
	}
	for _, pattern := range values {
		places, err := t.places(pattern)
		if err != nil {
			return err
		}
		for _, place := range places {
			v, err := t.value(place)
			if err != nil {
				return err
			}
			v.changes = append(v.changes, c)
		}
	}
	return nil
}

// places lists what a name with * or [0-3] stands for.
func (t *Tree) places(pattern value) ([]value, error) {
	if !strings.ContainsAny(pattern.file, "*[") {
		return []value{pattern}, nil
	}
	names, err := fs.Glob(t.root.FS(), pattern.file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern.file, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("the fixture has no file %s", pattern.file)
	}
	var all []value
	for _, name := range names {
		all = append(all, value{file: name, line: pattern.line})
	}
	return all, nil
}

// value finds a value of the tree, so that its changes can be kept with it.
func (t *Tree) value(place value) (*changingValue, error) {
	f := t.files[place.file]
	if f == nil {
		content, err := t.read(place.file)
		if err != nil {
			return nil, fmt.Errorf("the fixture has no such file: %w", err)
		}
		path, err := filepath.EvalSymlinks(filepath.Join(t.dir, place.file))
		if err != nil {
			return nil, err
		}
		f = &changing{name: place.file, path: path, last: content}
		if place.line != "" {
			f.lines = strings.Split(content, "\n")
		}
		t.files[place.file] = f
	}
	index, prefix, initial := -1, "", strings.TrimSpace(f.last)
	if place.line != "" {
		if index, prefix, initial = findLine(f.lines, place.line); index < 0 {
			return nil, fmt.Errorf("%s has no line %q", place.file, place.line)
		}
	}
	for _, v := range f.values {
		if v.line == index {
			return v, nil
		}
	}
	v := &changingValue{line: index, prefix: prefix, initial: initial}
	f.values = append(f.values, v)
	return v, nil
}

// findLine finds the line "   name: value" or "name value".
func findLine(lines []string, name string) (index int, prefix, value string) {
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		for _, separator := range []string{":", " "} {
			if rest, ok := strings.CutPrefix(trimmed, name+separator); ok {
				value := strings.TrimSpace(rest)
				return i, line[:len(line)-len(strings.TrimLeft(rest, " \t"))], value
			}
		}
	}
	return -1, "", ""
}

func (t *Tree) read(name string) (string, error) {
	f, err := t.root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(f)
	return string(content), err
}

// write changes a file in place, so that descriptors that are kept open see it
// as they would see a new value in sysfs.
func (t *Tree) write(f *changing, content string) error {
	if t.blocked > 0 {
		if info, err := os.Stat(f.path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
			return nil // opening it would wait for a reader; it is written later
		}
	}
	if err := os.WriteFile(f.path, []byte(content), 0o644); err != nil {
		return err
	}
	f.last = content
	return nil
}

// Advance brings the tree to a time since the start, and reports whether a file
// that was blocked is so no more.
func (t *Tree) Advance(now time.Duration) (released bool, err error) {
	for _, f := range t.files {
		content, err := f.at(now)
		if err != nil {
			return false, err
		}
		if content == f.last {
			continue
		}
		if err := t.write(f, content); err != nil {
			return false, err
		}
	}
	for _, e := range t.events {
		on := e.change.on(now)
		if on == e.on {
			continue
		}
		e.on = on
		released = released || e.change.Blocked != "" && !on
		if err := t.happen(e); err != nil {
			return false, err
		}
	}
	return released, nil
}

func (t *Tree) happen(e *event) error {
	if device := e.change.Device; device != "" {
		link := filepath.Join(t.dir, "sys/class/infiniband", device)
		if !e.on {
			return os.Symlink(e.kept, link)
		}
		target, err := os.Readlink(link)
		if err != nil {
			return err
		}
		e.kept = target
		return os.Remove(link)
	}
	path, err := filepath.EvalSymlinks(filepath.Join(t.dir, e.change.Blocked))
	if err != nil {
		return err
	}
	if e.on {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		e.kept = string(content)
		if err := os.Remove(path); err != nil {
			return err
		}
		t.blocked++
		return syscall.Mkfifo(path, 0o644) // opening it for reading blocks
	}
	t.blocked--
	// A writer lets the blocked reader go; then the file is as it was.
	if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = w.Close()
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(e.kept), 0o644)
}

// at is the content of the file at a time.
func (f *changing) at(now time.Duration) (string, error) {
	lines := append([]string(nil), f.lines...)
	for _, v := range f.values {
		text, err := v.at(now)
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.name, err)
		}
		if v.line < 0 {
			return text + "\n", nil
		}
		lines[v.line] = v.prefix + text
	}
	return strings.Join(lines, "\n"), nil
}

// at is the value at a time: what was set last, and what has been added since.
func (v *changingValue) at(now time.Duration) (string, error) {
	text, since := v.initial, time.Duration(0)
	for _, c := range v.changes {
		if c.Set == nil {
			continue
		}
		if at, made := c.latest(now); made && at >= since {
			text, since = *c.Set, at
		}
	}
	adds, bits := false, 0
	for _, c := range v.changes {
		adds, bits = adds || c.Add != nil, max(bits, c.Bits)
	}
	if !adds {
		return text, nil
	}
	base, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return "", fmt.Errorf("cannot add to %q", text)
	}
	total := base + v.gained(since, now)
	if bits == 32 {
		total &= 1<<32 - 1
	}
	return strconv.FormatUint(total, 10), nil
}

// gained is what has been added between two times. The sum is exact: a counter
// whose changes cancel each other must stand still, and not go back by one.
func (v *changingValue) gained(since, now time.Duration) uint64 {
	sum := new(big.Float).SetPrec(128) // of a float64 times a time.Duration
	for _, c := range v.changes {
		if c.Add == nil {
			continue
		}
		if on := c.during(now) - c.during(since); on > 0 {
			product := new(big.Float).SetPrec(128).SetInt64(int64(on))
			sum.Add(sum, product.Mul(product, big.NewFloat(*c.Add)))
		}
	}
	const slack = 1000 // of a billion: 0.1 per second is a little less in a float64
	sum.Quo(sum.Add(sum, big.NewFloat(slack)), big.NewFloat(1e9))
	total, _ := sum.Uint64()
	return total
}
