package faults

import (
	"debug/buildinfo"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func document(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Each module of the binary that is shipped has its reason in CONTRIBUTING.md:
// one of ours in the table, one that these bring in the list below it.
func TestModulesHaveReasons(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(binary(t, shipped))
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 10 {
		t.Fatalf("only %d modules", len(info.Deps))
	}
	_, text, _ := strings.Cut(document(t, "CONTRIBUTING.md"), "## Dependencies")
	for _, module := range info.Deps {
		// The table has two of one owner in one line.
		name := strings.TrimPrefix(module.Path, "github.com/mdlayher/")
		if !regexp.MustCompile(`[ ,/|]` + regexp.QuoteMeta(name) + `[ ,|]`).MatchString(text) {
			t.Errorf("%s has no reason in CONTRIBUTING.md", module.Path)
		}
	}
}

// The tests that SECURITY.md names are there.
func TestSecurityNamesTests(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, found := range declared.FindAllStringSubmatch(string(content), -1) {
			there[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(document(t, "SECURITY.md")) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| who | what") {
			continue
		}
		rows++
		named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("without a test: %s", line)
		}
		for _, name := range named {
			if !there[name[1]] {
				t.Errorf("there is no %s", name[1])
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d rows", rows)
	}
}
