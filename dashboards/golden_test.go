package dashboards

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// all makes the dashboards.
func all(t *testing.T) []Dashboard {
	t.Helper()
	made, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestGoldenDashboards compares the JSON files with what they are made from.
func TestGoldenDashboards(t *testing.T) {
	for _, d := range all(t) {
		got, err := json.MarshalIndent(d.Model, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		if *update {
			if err := os.WriteFile(d.File, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(d.File); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the Go beside it (%v); if the change is right, `make golden`", d.File, err)
		}
	}
}

// The files are what Grafana's own types know, and nothing else.
func TestStrict(t *testing.T) {
	for _, d := range all(t) {
		content, err := os.ReadFile(d.File)
		if err != nil {
			t.Fatal(err)
		}
		var read dashboard.Dashboard
		var wrong cog.BuildErrors // an empty list is no error, but is not nil either
		if err := read.UnmarshalJSONStrict(content); !errors.As(err, &wrong) && err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v", d.File, err)
		}
		if read.SchemaVersion != 39 {
			t.Errorf("%s: schemaVersion %d, want 39", d.File, read.SchemaVersion)
		}
	}
}
