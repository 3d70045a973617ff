package collector

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// tree makes a directory of files by their paths. Content that starts with
// "-> " makes a link to what follows.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(to, file)
		} else {
			err = os.WriteFile(file, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// doorTo opens a tree as a fixture; it must have a directory sys.
func doorTo(t *testing.T, dir string) *host.Door {
	t.Helper()
	h, err := host.New(host.Config{Replay: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h.Door()
}
