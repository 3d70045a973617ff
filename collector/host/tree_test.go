package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a fixture: path to content. Content that starts with "-> " makes a
// link, and a path that ends in a slash a directory.
type tree map[string]string

func (files tree) write(t testing.TB, root string) {
	t.Helper()
	for name, content := range files {
		p := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			mustDo(t, os.MkdirAll(p, 0o755))
			continue
		}
		mustDo(t, os.MkdirAll(filepath.Dir(p), 0o755))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			mustDo(t, os.Symlink(target, p))
			continue
		}
		mustDo(t, os.WriteFile(p, []byte(content), 0o644))
	}
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture opens files as a fixture and returns its directory too. Everything
// asked for is appended to traced.
func fixture(t testing.TB, files tree, traced *[]string) (*Door, string) {
	t.Helper()
	root := t.TempDir()
	tree{"sys/": ""}.write(t, root)
	files.write(t, root)
	return openHost(t, Config{Replay: root}, traced), root
}

// machine opens files as the sysfs of a machine.
func machine(t testing.TB, files tree, traced *[]string) (*Door, string) {
	t.Helper()
	root := t.TempDir()
	files.write(t, root)
	return openHost(t, Config{Sysfs: root}, traced), root
}

func openHost(t testing.TB, c Config, traced *[]string) *Door {
	t.Helper()
	if traced != nil {
		c.Trace = func(what string) { *traced = append(*traced, what) }
	}
	h, err := New(c)
	mustDo(t, err)
	d := h.Door()
	t.Cleanup(h.Close)
	t.Cleanup(d.Close)
	return d
}
