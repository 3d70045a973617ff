package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

var (
	metricName = regexp.MustCompile(`^rdma(_[a-z0-9]+)+$`)
	labelName  = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
)

func TestMetricNames(t *testing.T) {
	var words []string
	for _, u := range units {
		if u.base != Count {
			words = append(words, string(u.base))
		}
	}
	seen := map[string]bool{}
	for _, m := range Metrics() {
		if seen[m.Name] {
			t.Errorf("%s is listed twice", m.Name)
		}
		seen[m.Name] = true
		if !metricName.MatchString(m.Name) {
			t.Errorf("name %q", m.Name)
		}
		stem, total := strings.CutSuffix(m.Name, "_total")
		if total != (m.Type == Counter) {
			t.Errorf("%s is a %s", m.Name, m.Type)
		}
		if m.Unit != Count && !strings.HasSuffix(stem, "_"+string(m.Unit)) {
			t.Errorf("%s is in %s", m.Name, m.Unit)
		}
		if last := stem[strings.LastIndex(stem, "_")+1:]; m.Unit == Count && slices.Contains(words, last) {
			t.Errorf("%s ends in a unit and has none", m.Name)
		}
		names := m.LabelNames()
		for i, l := range names {
			if !labelName.MatchString(l) || slices.Contains(names[:i], l) || l == "driver" && m != &DeviceInfo {
				t.Errorf("%s: label %q", m.Name, l)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	seen := map[string]string{}
	for _, m := range Metrics() {
		if !strings.HasSuffix(m.Help, ".") || strings.Contains(m.Help, "  ") || strings.TrimSpace(m.Help) != m.Help ||
			strings.ContainsAny(m.Help, "\n\t") {
			t.Errorf("%s: help %q", m.Name, m.Help)
		}
		if other := seen[m.Help]; other != "" {
			t.Errorf("%s and %s have the same help", m.Name, other)
		}
		seen[m.Help] = m.Name
	}
}

func TestMetricsListsWhatRowsUse(t *testing.T) {
	listed := Metrics()
	eachRow(t, func(t *testing.T, _ table, r *Row) {
		if !slices.Contains(listed, r.Metric) {
			t.Errorf("%s is not in Metrics()", r.Metric.Name)
		}
	})
}

// Forward error correction works on bits, and a bit error ratio is per bit:
// there promlint's wish for bytes is not heeded.
func TestPromlint(t *testing.T) {
	var page strings.Builder
	for _, m := range Metrics() {
		var labels []string
		for _, l := range m.LabelNames() {
			labels = append(labels, l+`="x"`)
		}
		fmt.Fprintf(&page, "# HELP %s %s\n# TYPE %s %s\n%s{%s} 1\n", m.Name, m.Help, m.Name, m.Type, m.Name, strings.Join(labels, ","))
	}
	problems, err := promlint.New(strings.NewReader(page.String())).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.Contains(p.Metric, "_bits_") && p.Text == `use base unit "bytes" instead of "bits"` {
			continue
		}
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// declaration finds the variables of metrics.go.
var declaration = regexp.MustCompile(`(?m)^\t(\w+) += Metric\{"(rdma_\w+)"`)

// awaited metrics were listed before the collector that exports them. One that
// is exported fails the test too, so that the list empties itself.
var awaited = []string{}

// A metric that nothing exports would be a promise in METRICS.md that no
// machine keeps.
func TestEveryMetricIsExported(t *testing.T) {
	text, err := os.ReadFile("metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, in := range tables() {
		for _, r := range in.rows {
			used[r.Metric.Name] = true
		}
	}
	var sources strings.Builder
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	found := declaration.FindAllStringSubmatch(string(text), -1)
	if len(found) != len(Metrics()) {
		t.Errorf("%d metrics declared, %d listed", len(found), len(Metrics()))
	}
	for _, m := range found {
		exported := used[m[2]] || regexp.MustCompile(`\bcatalog\.`+m[1]+`\b`).MatchString(sources.String())
		switch waiting := slices.Contains(awaited, m[2]); {
		case !exported && !waiting:
			t.Errorf("no row and no collector exports %s (%s)", m[2], m[1])
		case exported && waiting:
			t.Errorf("%s is exported: take it from the awaited ones", m[2])
		}
	}
}
