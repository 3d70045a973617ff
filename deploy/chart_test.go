// Package deploy_test holds what is deployed to what it is made of.
package deploy_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/collector"
)

var update = flag.Bool("update", false, "write the generated files of the Helm chart anew")

const chartFiles = "helm/rdmawatch/files"

// A chart reads no file outside itself. What it needs of this repository is
// copied into it.
func TestGoldenChartFiles(t *testing.T) {
	want := map[string][]byte{
		"collectors.yaml":       collectors(t),
		"inhibit.yaml":          mustFile(t, "inhibit.yaml"),
		"inhibit-operator.yaml": inhibitForOperator(t),
	}
	for _, name := range alerts.RuleFiles() {
		want[name] = mustFile(t, name)
	}
	dashboards, err := filepath.Glob("../dashboards/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range dashboards {
		want["dashboards/"+filepath.Base(path)] = compactJSON(t, path)
	}
	if *update {
		writeTree(t, chartFiles, want)
	}
	got := readTree(t, chartFiles)
	for name, content := range want {
		if !bytes.Equal(got[name], content) {
			t.Errorf("%s/%s is not what the repository gives; `make golden` writes it", chartFiles, name)
		}
	}
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s/%s is made of nothing in the repository", chartFiles, name)
		}
	}
}

func mustFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := alerts.File(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// compactJSON is a dashboard without its indentation: kubectl keeps an applied
// object in an annotation, which may have 256 KiB.
func compactJSON(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, content); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

var (
	capability = regexp.MustCompile(`\bCAP_[A-Z_]+\b`)
	device     = regexp.MustCompile(`/dev/[a-z0-9/_]+`)
)

// collectors lists the sources with what the text of their privilege names.
func collectors(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("# Generated from collector/sources.go by `make golden`.\n")
	for _, s := range collector.Sources() {
		fmt.Fprintf(&b, "- {name: %s, default: %t, capabilities: [%s], devices: [%s]}\n", s.Name, s.Default,
			strings.ReplaceAll(named(capability, s.Privilege), "CAP_", ""), named(device, s.Privilege))
	}
	return b.Bytes()
}

// named lists what a text names, in order and once.
func named(what *regexp.Regexp, text string) string {
	names := what.FindAllString(text, -1)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// matcher is how the operator writes one.
type matcher struct {
	Name      string `yaml:"name"`
	MatchType string `yaml:"matchType"`
	Value     string `yaml:"value"`
}

var written = regexp.MustCompile(`^(\w+) (=~|!~|!=|=) "(.*)"$`)

// inhibitForOperator is inhibit.yaml in the words of an AlertmanagerConfig.
func inhibitForOperator(t *testing.T) []byte {
	t.Helper()
	var file struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal(mustFile(t, "inhibit.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Source []matcher `yaml:"sourceMatch"`
		Target []matcher `yaml:"targetMatch"`
		Equal  []string  `yaml:"equal,flow"`
	}
	var out struct {
		Rules []rule `yaml:"inhibitRules"`
	}
	for _, r := range file.Rules {
		out.Rules = append(out.Rules, rule{matchers(t, r.Source), matchers(t, r.Target), r.Equal})
	}
	content, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("# Generated from alerts/inhibit.yaml by `make golden`.\n"), content...)
}

func matchers(t *testing.T, texts []string) []matcher {
	t.Helper()
	var out []matcher
	for _, text := range texts {
		m := written.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("inhibit.yaml: %q is not NAME OPERATOR \"VALUE\"", text)
		}
		out = append(out, matcher{m[1], m[2], m[3]})
	}
	return out
}

func readTree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[filepath.ToSlash(name)] = content
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// writeTree makes root hold these files and no others.
func writeTree(t *testing.T, root string, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
