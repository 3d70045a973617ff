package collector_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// goldenTime is the moment at which every fixture is read.
var goldenTime = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// exposed is a fixture that is read, on a clock that the test sets.
type exposed struct {
	now    time.Time
	runner *collector.Runner
	page   *collector.Exposition
}

// expose opens a fixture as `serve --replay` does, with every source on.
func expose(t *testing.T, fixture string) *exposed {
	t.Helper()
	h, err := host.New(host.Config{Replay: fixtures.Node(fixture)})
	if err != nil {
		t.Fatal(err)
	}
	e := &exposed{now: goldenTime}
	e.runner = collector.NewRunner(collector.Config{
		Host: h, Sources: collector.Sources(), Timeout: time.Minute, Now: func() time.Time { return e.now },
	})
	e.page = collector.NewExposition(e.runner, nil)
	t.Cleanup(func() { e.runner.Close(); h.Close() })
	return e
}

// gather reads the fixture once. What differs from run to run is left out:
// how long the reading took.
func (e *exposed) gather(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	all, err := e.page.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return strings.HasSuffix(f.GetName(), "_duration_seconds") })
}

// encode writes families in a format of expfmt.
func encode(t *testing.T, families []*dto.MetricFamily, format expfmt.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := expfmt.NewEncoder(&b, format)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	if closer, ok := encoder.(expfmt.Closer); ok {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

var textFormat = expfmt.NewFormat(expfmt.TypeTextPlain)

// compareGolden compares got with a file, or writes the file.
func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `make golden` writes it", err)
	}
	if bytes.Equal(got, want) {
		return
	}
	missing, extra := difference(string(want), string(got)), difference(string(got), string(want))
	const most = 20
	for _, line := range missing[:min(most, len(missing))] {
		t.Errorf("missing: %s", line)
	}
	for _, line := range extra[:min(most, len(extra))] {
		t.Errorf("not expected: %s", line)
	}
	t.Errorf("%s: %d lines missing, %d not expected; if the change is right, `make golden`", path, len(missing), len(extra))
}

// difference lists the lines of a that b has not.
func difference(a, b string) []string {
	have := map[string]bool{}
	for line := range strings.Lines(b) {
		have[line] = true
	}
	var only []string
	for line := range strings.Lines(a) {
		if !have[line] {
			only = append(only, strings.TrimSuffix(line, "\n"))
		}
	}
	return only
}

// TestGolden compares the whole page of every fixture with metrics.prom in it.
func TestGolden(t *testing.T) {
	for _, fixture := range fixtures.Nodes() {
		t.Run(fixture, func(t *testing.T) {
			page := encode(t, expose(t, fixture).gather(t), textFormat)
			compareGolden(t, filepath.Join(fixtures.Node(fixture), "metrics.prom"), page)
		})
	}
}

// TestByHand compares single series of every fixture with byhand.prom in it:
// values that somebody worked out from the input, without the program. A line
// "# absent" followed by a series says that none must be there whose labels
// include those.
func TestByHand(t *testing.T) {
	for _, fixture := range fixtures.Nodes() {
		t.Run(fixture, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(fixtures.Node(fixture), "byhand.prom"))
			if err != nil {
				t.Fatal(err)
			}
			got := samples(t, encode(t, expose(t, fixture).gather(t), textFormat))
			checked := 0
			for want := range strings.Lines(string(text)) {
				want, absent := strings.CutPrefix(strings.TrimSuffix(want, "\n"), "# absent ")
				if want == "" || want[0] == '#' {
					continue
				}
				checked++
				if absent {
					checkAbsent(t, got, want)
				} else {
					checkPresent(t, got, want)
				}
			}
			if checked == 0 {
				t.Error("byhand.prom has no series")
			}
		})
	}
}

func checkPresent(t *testing.T, got model.Vector, line string) {
	t.Helper()
	want := samples(t, []byte(line+"\n"))[0]
	for _, s := range got {
		if s.Metric.Equal(want.Metric) {
			if s.Value != want.Value {
				t.Errorf("%s: got %v", line, s.Value)
			}
			return
		}
	}
	t.Errorf("%s: no such series", line)
}

func checkAbsent(t *testing.T, got model.Vector, series string) {
	t.Helper()
	want := samples(t, []byte(series+" 0\n"))[0].Metric
	for _, s := range got {
		found := true
		for name, value := range want {
			found = found && s.Metric[name] == value
		}
		if found {
			t.Errorf("absent %s: got %s", series, s)
		}
	}
}

// samples parses the text format. Values in it may be written in any way.
func samples(t *testing.T, text []byte) model.Vector {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	var all model.Vector
	for _, f := range families {
		vector, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector...)
	}
	return all
}
