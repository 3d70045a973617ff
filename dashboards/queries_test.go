package dashboards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// drawn is a panel as it is in a file.
type drawn struct {
	*dashboard.Panel
	where string
}

// panels are all of them, those in closed rows too.
func panels(t *testing.T) []drawn {
	t.Helper()
	var found []drawn
	for _, d := range all(t) {
		for i := range d.Model.Panels {
			p := &d.Model.Panels[i]
			if p.Panel != nil {
				found = append(found, drawn{p.Panel, d.File + ": " + *p.Panel.Title})
				continue
			}
			for j := range p.RowPanel.Panels {
				inner := &p.RowPanel.Panels[j]
				found = append(found, drawn{inner, d.File + ": " + *inner.Title})
			}
		}
	}
	return found
}

// interpolate does what Grafana does before it sends a query, with All chosen
// everywhere.
var interpolate = strings.NewReplacer(
	"$__rate_interval", "4m", "$__range", "30m",
	"$cluster", ".*", "$instance", ".*", "$device", ".*", "$port", ".*",
)

// expressions are the queries of a panel.
func (p drawn) expressions() []string {
	var found []string
	for _, target := range p.Targets {
		found = append(found, interpolate.Replace(target.(prometheus.Dataquery).Expr))
	}
	return found
}

// Of Prometheus itself, not of the exporter.
var ofPrometheus = []string{"up", "ALERTS", "ALERTS_FOR_STATE", "scrape_duration_seconds", "scrape_samples_scraped"}

// Every query is PromQL of Prometheus 2.42, and asks for nothing that does not
// exist.
func TestMetricsExist(t *testing.T) {
	exists := map[string]bool{}
	for _, m := range catalog.Metrics() {
		exists[m.Name] = true
	}
	for _, name := range slices.Concat(ofPrometheus, ofTheProgram(t)) {
		exists[name] = true
	}
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			exists[r.Record] = r.Record != ""
		}
	}
	p := parser.NewParser(parser.Options{})
	for _, panel := range panels(t) {
		for _, text := range panel.expressions() {
			expr, err := p.ParseExpr(text)
			if err != nil {
				t.Errorf("%s: %v\n%s", panel.where, err, text)
				continue
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok && !exists[s.Name] {
					t.Errorf("%s: there is no %s", panel.where, s.Name)
				}
				return nil
			})
		}
	}
}

// ofTheProgram are the metrics that cmd/rdmawatch exports beside the
// catalogue's, as its source has them.
func ofTheProgram(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "cmd", "rdmawatch", "alertmetrics.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"rdmawatch_build_info"} // prometheus/common's, by the name of the program
	for _, part := range strings.Split(string(source), `desc("`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		names = append(names, name)
	}
	if len(names) < 10 {
		t.Fatalf("only %q found", names)
	}
	return names
}

// What somebody needs who sees a panel for the first time.
func TestPanelsExplainThemselves(t *testing.T) {
	types := []string{"timeseries", "stat", "bargauge", "table", "state-timeline"}
	for _, p := range panels(t) {
		if !slices.Contains(types, p.Type) {
			t.Errorf("%s: type %s", p.where, p.Type)
		}
		if p.Description == nil || len(*p.Description) < 20 {
			t.Errorf("%s has no description", p.where)
		}
		d := p.FieldConfig.Defaults
		if d.NoValue == nil || *d.NoValue == "" {
			t.Errorf("%s does not say what it means when it is empty", p.where)
		}
		if d.Unit == nil || *d.Unit == "" && (p.Type == "timeseries" || p.Type == "stat" || p.Type == "bargauge") {
			t.Errorf("%s has no unit", p.where)
		}
		for _, expr := range p.expressions() {
			// Everything is in bytes: eight times that is drawn as bits, and only that.
			if bits := strings.Contains(expr, "8 * "); bits != (*d.Unit == "bps") && p.Type == "timeseries" {
				t.Errorf("%s: unit %s for %s", p.where, *d.Unit, expr)
			}
			if million := strings.Contains(expr, "1e6 * "); million != (*d.Unit == "ppm") && p.Type != "table" {
				t.Errorf("%s: unit %s for %s", p.where, *d.Unit, expr)
			}
		}
	}
}

// Nothing that is shown of the whole fleet may ask for the series of every port.
func TestFleetIsCheap(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	for _, panel := range panels(t) {
		if !strings.HasPrefix(panel.where, "rdmawatch-fleet.json") {
			continue
		}
		for _, text := range panel.expressions() {
			expr, err := p.ParseExpr(text)
			if err != nil {
				t.Fatal(err)
			}
			parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
				s, ok := n.(*parser.VectorSelector)
				if !ok || strings.HasPrefix(s.Name, "node:") || strings.HasPrefix(s.Name, "cluster") || slices.Contains(ofPrometheus, s.Name) {
					return nil
				}
				limited := slices.ContainsFunc(path, func(above parser.Node) bool {
					a, ok := above.(*parser.AggregateExpr)
					return ok && a.Op == parser.TOPK
				})
				if !limited || panel.Type != "table" {
					t.Errorf("%s asks for %s of all ports", panel.where, s.Name)
				}
				return nil
			})
		}
	}
}

// Each dashboard has the variables by which one chooses.
func TestVariables(t *testing.T) {
	for _, d := range all(t) {
		var names []string
		for _, v := range d.Model.Templating.List {
			names = append(names, v.Name)
			if v.Name != "datasource" && (v.IncludeAll == nil || !*v.IncludeAll) {
				t.Errorf("%s: %s has no All", d.File, v.Name)
			}
		}
		if want := []string{"datasource", "cluster", "instance", "device", "port"}; !slices.Equal(names, want) {
			t.Errorf("%s has the variables %v, want %v", d.File, names, want)
		}
	}
}
