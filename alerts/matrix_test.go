package alerts_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// TestGoldenMatrix compares MATRIX.md with the rules that it shows.
func TestGoldenMatrix(t *testing.T) {
	m := matrix{t: t}
	m.write()
	const path = "MATRIX.md"
	if *update {
		if err := os.WriteFile(path, m.text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; `make golden` writes it", err)
	}
	got, wanted := strings.Split(m.text.String(), "\n"), strings.Split(string(want), "\n")
	for i, line := range got {
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("%s differs from the rules from line %d on, which ought to be\n%s\nIf the change is right, `make golden`", path, i+1, line)
		}
	}
	if len(wanted) > len(got) {
		t.Errorf("%s has %d lines too many; `make golden`", path, len(wanted)-len(got))
	}
}

// matrix is MATRIX.md in the making.
type matrix struct {
	t    *testing.T
	text bytes.Buffer
}

func (m *matrix) printf(format string, args ...any) { fmt.Fprintf(&m.text, format, args...) }

const matrixIntroduction = `# Diagnosis matrix

Generated from ` + "`rules/`, `thresholds.yaml` and `inhibit.yaml`" + ` by ` + "`make golden`" + `; not edited by
hand.

Every alert: the words an operator would say, what it is called, what it may come
from, how to find out which. Severity critical is to be looked at now, warning in the
course of the day; info is shown and never sent. Scope is what one alert is about: a
port, a device, a node; fleet rules compare nodes and need a central Prometheus.

Commands are written for port 1 of mlx5_0; an alert itself has the names of its own
device in them. Causes begin with the likely ones, and say on which side to look.
`

func (m *matrix) write() {
	m.t.Helper()
	groups, err := alerts.Groups(nil)
	if err != nil {
		m.t.Fatal(err)
	}
	m.printf("%s", matrixIntroduction)
	m.thresholds()
	areas := byArea(groups)
	m.printf("\n## Index\n\n| Symptom | Alert | Severity | Scope |\n|---|---|---|---|\n")
	for _, a := range areas {
		m.printf("| **%s** | | | |\n", title(a.name))
		for _, r := range a.rules {
			m.printf("| %s | [%s](#%s) | %s | %s |\n", cell(m.expand(r, "symptom")), r.Alert, strings.ToLower(r.Alert), r.Severity(), r.Labels.Get("scope"))
		}
	}
	silenced := m.silencedBy(areas)
	for _, a := range areas {
		m.printf("\n## %s\n", title(a.name))
		for _, r := range a.rules {
			m.alert(r, silenced[r.Alert])
		}
	}
}

// thresholds lists the numbers that a site may want to change.
func (m *matrix) thresholds() {
	m.t.Helper()
	list, err := alerts.Thresholds()
	if err != nil {
		m.t.Fatal(err)
	}
	m.printf("\n## Thresholds\n\n")
	m.printf("The numbers that a site is most likely to change. `rdmawatch serve --alerting.set NAME=VALUE`\n")
	m.printf("evaluates the rules with another one, `rdmawatch rules print --set NAME=VALUE` prints them for\na Prometheus server.\n\n")
	m.printf("| Name | Value | Unit | Alerts | Why change it |\n|---|---|---|---|---|\n")
	for _, t := range list {
		var links []string
		for _, name := range t.Alerts {
			links = append(links, fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name)))
		}
		m.printf("| `%s` | %g | %s | %s | %s |\n", t.Name, t.Value, cell(t.Unit), strings.Join(links, ", "), cell(t.Why))
	}
}

func (m *matrix) alert(r *engine.Rule, silencedBy []string) {
	m.printf("\n### %s\n\n%s\n\n", r.Alert, text(m.expand(r, "symptom")))
	when := "at once"
	if r.For > 0 {
		when = "after " + model.Duration(r.For).String()
	}
	kept := ""
	if r.KeepFiringFor > 0 {
		kept = ", kept for " + model.Duration(r.KeepFiringFor).String()
	}
	m.printf("%s, %s, %s%s. [Runbook](runbooks/%s.md).\n", title(r.Severity()), r.Labels.Get("scope"), when, kept, r.Alert)
	if len(silencedBy) > 0 {
		m.printf("Silenced by %s.\n", strings.Join(silencedBy, ", "))
	}
	m.printf("\nCauses:\n\n")
	for line := range strings.Lines(m.expand(r, "cause")) {
		m.printf("- %s\n", text(line))
	}
	m.printf("\nVerify:\n\n```text\n%s\n```\n", strings.TrimSpace(m.expand(r, "verify")))
	m.printf("\nFirst step: %s\n", text(m.expand(r, "fix")))
}

// expand fills in an annotation for a device that serves as the example.
func (m *matrix) expand(r *engine.Rule, annotation string) string {
	m.t.Helper()
	example := map[string]string{
		"instance": "node-7", "device": "mlx5_0", "port": "1", "pci": "0000:41:00.0", "priority": "3", "lane": "0", "kind": "received",
		"side": "requester", "end": "nic", "hop": "0000:40:01.0", "collector": "port", "direction": "received", "role": "compute", "counter": "symbol_error",
	}
	const defs = "{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}"
	nothing := func(context.Context, string, time.Time) (promql.Vector, error) { return nil, nil }
	data := template.AlertTemplateData(example, nil, "", promql.Sample{F: 1})
	expanded, err := template.NewTemplateExpander(m.t.Context(), defs+r.Annotations.Get(annotation), r.Alert, data, 0, nothing, &url.URL{}, nil).Expand()
	if err != nil {
		m.t.Errorf("%s: %s: %v", r.Alert, annotation, err)
	}
	return strings.TrimSpace(expanded)
}

// silencedBy tells for each alert which others silence it.
func (m *matrix) silencedBy(areas []area) map[string][]string {
	m.t.Helper()
	inhibitions, err := alerts.Inhibitions()
	if err != nil {
		m.t.Fatal(err)
	}
	silenced := map[string][]string{}
	for _, of := range areas {
		for _, target := range of.rules {
			for _, by := range areas {
				for _, source := range by.rules {
					pair := []engine.Alert{example(source), example(target)}
					if source != target && engine.Inhibit(inhibitions, pair)[1] != nil {
						silenced[target.Alert] = append(silenced[target.Alert], fmt.Sprintf("[%s](#%s)", source.Alert, strings.ToLower(source.Alert)))
					}
				}
			}
		}
	}
	return silenced
}

// area is a part of the matrix.
type area struct {
	name  string
	rules []*engine.Rule
}

// byArea sorts the alerts from the wire upwards; areas nobody thought of come
// last.
func byArea(groups []*engine.Group) []area {
	order := []string{"link", "pcie", "congestion", "transport", "config", "host", "exporter", "fleet"}
	found := map[string]*area{}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			name := r.Labels.Get("area")
			if found[name] == nil {
				found[name] = &area{name: name}
			}
			found[name].rules = append(found[name].rules, r)
		}
	}
	var areas []area
	for _, a := range found {
		areas = append(areas, *a)
	}
	place := func(a area) int {
		if i := slices.Index(order, a.name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(areas, func(a, b area) int { return cmp.Or(place(a)-place(b), cmp.Compare(a.name, b.name)) })
	return areas
}

// title writes the name of an area, or a severity, as a heading has it.
func title(name string) string {
	if name == "pcie" {
		return "PCIe"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// text is for running text, where Markdown must not take stars and the like for
// its own.
func text(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`).Replace(strings.Join(strings.Fields(s), " "))
}

// cell is for a table.
func cell(s string) string { return strings.ReplaceAll(text(s), "|", `\|`) }
