package capture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/rdmawatch/rdmawatch/capture"
	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// goldenTime is the moment at which every fixture's metrics.prom was read.
var goldenTime = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// machine is a fixture that is read on a clock of the test.
type machine struct {
	now    time.Time
	host   *host.Host
	runner *collector.Runner
}

// start opens a fixture with every source on.
func start(t testing.TB, dir string, recorder host.Recorder) *machine {
	t.Helper()
	h, err := host.New(host.Config{Replay: dir, Recorder: recorder})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{now: goldenTime, host: h}
	m.runner = collector.NewRunner(collector.Config{
		Host: h, Sources: collector.Sources(), Timeout: time.Minute, Now: func() time.Time { return m.now },
	})
	t.Cleanup(func() { m.runner.Close(); h.Close() })
	return m
}

// page reads the machine once. What differs from run to run is left out: how
// long the reading took.
func (m *machine) page(t testing.TB) string {
	t.Helper()
	all, err := collector.NewExposition(m.runner, nil).Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	encoder := expfmt.NewEncoder(&b, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range all {
		if strings.HasSuffix(f.GetName(), "_duration_seconds") {
			continue
		}
		if err := encoder.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// pack takes one reading of a fixture.
func pack(t testing.TB, dir string, c capture.Config) (archive []byte, s capture.Summary) {
	t.Helper()
	rec := capture.NewRecording()
	m := start(t, dir, rec)
	m.page(t)
	var b bytes.Buffer
	w := capture.NewWriter(&b, rec, c)
	if err := w.Add(m.now); err != nil {
		t.Fatal(err)
	}
	s, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), s
}

// unpack opens an archive.
func unpack(t testing.TB, archive []byte) *capture.Capture {
	t.Helper()
	file := filepath.Join(t.TempDir(), "capture.tar.gz")
	if err := os.WriteFile(file, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := capture.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// A capture of every fixture, read again, gives the fixture's own page.
func TestRoundTrip(t *testing.T) {
	for _, node := range fixtures.Nodes() {
		t.Run(node, func(t *testing.T) {
			archive, _ := pack(t, fixtures.Node(node), capture.Config{Raw: true})
			c := unpack(t, archive)
			compare(t, golden(t, node), start(t, c.Dir(), nil).page(t))
		})
	}
}

// golden is a fixture's own page.
func golden(t *testing.T, node string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(fixtures.Node(node), "metrics.prom"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// So does an anonymised one, but for the labels that identify; and of those none
// is left that the fixture has.
func TestRoundTripAnonymised(t *testing.T) {
	for _, node := range fixtures.Nodes() {
		t.Run(node, func(t *testing.T) {
			archive, _ := pack(t, fixtures.Node(node), capture.Config{})
			want := golden(t, node)
			got := start(t, unpack(t, archive).Dir(), nil).page(t)
			compare(t, identity.ReplaceAllString(want, "$1"), identity.ReplaceAllString(got, "$1"))
			if strings.Contains(got, `node_desc="node-`) {
				t.Error("the name of the host is left")
			}
		})
	}
}

// identity matches the labels that identify a machine or its cards.
var identity = regexp.MustCompile(`((?:node_guid|sys_image_guid|node_desc)=)"(?:[^"\\]|\\.)*"`)

// compare compares two pages, a line each.
func compare(t *testing.T, want, got string) {
	t.Helper()
	lines := func(page string) []string { return slices.Sorted(strings.Lines(page)) }
	for _, line := range without(lines(want), lines(got)) {
		t.Errorf("missing: %s", line)
	}
	for _, line := range without(lines(got), lines(want)) {
		t.Errorf("not expected: %s", line)
	}
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(line string) bool { _, found := slices.BinarySearch(b, line); return found })
}
