package dashboards

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/units"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// areas are the rows of the dashboard, in the order in which one looks.
var areas = []struct{ name, title string }{
	{"link", "Link: cables, ports, signal"},
	{"pcie", "PCIe: does it carry the card?"},
	{"congestion", "Congestion: pause, marks, drops"},
	{"transport", "Transport: loss, retries, refusals"},
	{"config", "Configuration: what ought to be alike"},
	{"exporter", "Exporter: does the monitoring see anything?"},
	{"fleet", "Fleet: what shows only when nodes are compared"},
}

// diagnosisBoard is made from the rules: a row for each area, a panel for each
// alert.
func diagnosisBoard() (board, error) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		return board{}, err
	}
	k := knownSeries(groups)
	b := board{
		uid: "rdmawatch-diagnosis", title: "RDMA / Diagnosis",
		about: "Every alert of rdmawatch with what it measures and where it begins, made from the rules themselves. A row opens with a click; choose a node at the top before you open one in a large fleet.",
		rows:  []row{{title: "What fires?", panels: diagnosisNow()}},
	}
	for _, a := range areas {
		r := row{title: a.title, collapsed: true}
		for _, rule := range ofArea(groups, a.name) {
			r.panels = append(r.panels, k.alertPanel(rule))
		}
		b.rows = append(b.rows, r)
	}
	return b, nil
}

// knownSeries are those of the exporter and those that rules record.
func knownSeries(groups []*engine.Group) known {
	k := known{metrics: map[string][]string{}, recorded: map[string]parser.Expr{}}
	for _, m := range catalog.Metrics() {
		k.metrics[m.Name] = m.LabelNames()
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				k.recorded[r.Record] = r.Expr
			}
		}
	}
	return k
}

// ofArea are the alerts of an area, the most severe first.
func ofArea(groups []*engine.Group, area string) []*engine.Rule {
	var found []*engine.Rule
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert != "" && r.Labels.Get("area") == area {
				found = append(found, r)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *engine.Rule) int {
		return slices.Index(bySeverity, a.Severity()) - slices.Index(bySeverity, b.Severity())
	})
	return found
}

var bySeverity = []string{"critical", "warning", "info"}

func diagnosisNow() []panel {
	fires := func(severity, number string) string {
		return number + ` * max by (alertname) (ALERTS{alertname=~"RDMA.+",alertstate="firing",severity="` + severity + `"}` + ` unless on (instance) up{job="rdmawatch",instance!~"$instance"} unless on (instance) up{job="rdmawatch",cluster!~"$cluster"})`
	}
	return []panel{{
		kind: states, title: "Alerts", width: 24, height: 9, values: health, none: "None firing",
		about:   "The alerts that this Prometheus finds firing on the chosen nodes, and when. Red critical, orange warning, blue info. Open the row of their area below.",
		queries: []query{ask(fires("critical", "3"), "{{alertname}}"), ask(fires("warning", "2"), "{{alertname}}"), ask(fires("info", "1"), "{{alertname}}")},
	}}
}

// alertPanel draws what an alert compares, and with what.
func (k known) alertPanel(r *engine.Rule) panel {
	color := map[string]string{"critical": red, "warning": orange, "info": blue}[r.Severity()]
	p := panel{
		kind: graph, title: r.Alert, about: aboutAlert(r), width: 8, ranked: true,
		none:  "Nothing of the kind here, so this alert does not fire",
		links: []link{{"Runbook", r.Annotations.Get("runbook_url")}},
	}
	parts := compared(r.Expr)
	for _, c := range parts {
		name := k.legend(c.left)
		if len(parts) > 1 {
			name = subject(c.left) + " " + name
		}
		p.unit = cmp.Or(p.unit, unitOf(c.left))
		expr := k.selected(c.left)
		if divides(c.left) {
			expr = "(" + expr + ") >= 0" // nothing divided by nothing is no number
		}
		p.add(query{expr: expr, legend: name, unit: unitOf(c.left)})
		if c.right != nil {
			p.add(query{expr: k.selected(c.right), legend: "limit " + k.legend(c.right), unit: unitOf(c.left)})
		}
		for _, l := range c.limits {
			if !slices.Contains(p.limits, limit{l.value, color}) {
				p.limits = append(p.limits, limit{l.value, color})
			}
		}
	}
	slices.SortFunc(p.limits, func(a, b limit) int { return cmp.Compare(a.from, b.from) })
	if p.unit == units.Short {
		p.floor = 1
	}
	if p.unit == units.PercentUnit && len(p.limits) > 0 && p.limits[0].from < 1e-3 {
		p.unit = units.ScientificNotation // too small a share to be read in percent
	}
	return p
}

// add adds a query, once.
func (p *panel) add(q query) {
	if q.unit == p.unit {
		q.unit = ""
	}
	if !slices.ContainsFunc(p.queries, func(have query) bool { return have.expr == q.expr }) {
		p.queries = append(p.queries, q)
	}
}

// subject is what the first metric of an expression is about.
func subject(e parser.Expr) (found string) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok && found == "" {
			_, name, _ := strings.Cut(s.Name, "rdma_")
			name, _, _ = strings.Cut(name, ":")
			found = strings.ReplaceAll(strings.TrimSuffix(name, "_total"), "_", " ")
		}
		return nil
	})
	return found
}

// aboutAlert is what one reads who points at the panel.
func aboutAlert(r *engine.Rule) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n%s", strings.TrimSpace(r.Annotations.Get("symptom")), r.Severity())
	if r.For > 0 {
		fmt.Fprintf(&text, ", after %s", model.Duration(r.For))
	}
	text.WriteString(condition(r) + ". Likely from:\n\n")
	for cause := range strings.Lines(r.Annotations.Get("cause")) {
		text.WriteString("- " + strings.TrimSpace(cause) + "\n")
	}
	return text.String()
}

// condition says from where on it fires. What else it asks for is in the rule.
func condition(r *engine.Rule) string {
	var all []string
	for _, c := range compared(r.Expr) {
		for _, l := range c.limits {
			all = append(all, fmt.Sprintf("`%s %g`", l.op, l.value))
		}
		if c.right != nil {
			all = append(all, "beyond its limit")
		}
	}
	return "; the dashed lines: " + strings.Join(slices.Compact(all), ", ")
}

// legend are the labels that tell the series of an expression apart.
func (k known) legend(e parser.Expr) string {
	var names []string
	for _, name := range k.labelsOf(e) {
		names = append(names, "{{"+name+"}}")
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return strings.ReplaceAll(strings.Join(slices.Compact(names), " "), "{{device}} {{port}}", "{{device}}/{{port}}")
}

// rank brings the place before what is counted there.
func rank(label string) int {
	if i := slices.Index([]string{"{{cluster}}", "{{leaf}}", "{{instance}}", "{{device}}", "{{port}}"}, label); i >= 0 {
		return i
	}
	return len(label) + 5
}

// unitOf is the unit of an expression, as far as names tell: everything is in
// base units, and a name ends in them.
func unitOf(e parser.Expr) string {
	found, bits := "", false
	parser.Inspect(e, func(n parser.Node, path []parser.Node) error {
		switch n := n.(type) {
		case *parser.BinaryExpr:
			if factor, ok := constant(n.LHS); ok && factor == 8 {
				bits = true
			}
		case *parser.VectorSelector:
			found = cmp.Or(found, unitOfMetric(n.Name, called(path)))
		}
		return nil
	})
	switch {
	case divides(e):
		return units.PercentUnit
	case bits && found == units.BytesPerSecondSI:
		return units.BitsPerSecondSI
	}
	return found
}

// divides reports whether an expression is one thing divided by another.
func divides(e parser.Expr) (found bool) {
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if b, ok := n.(*parser.BinaryExpr); ok && b.Op == parser.DIV && b.RHS.Type() == parser.ValueTypeVector {
			found = true
		}
		return nil
	})
	return found
}

// called is the function or aggregation that gives a selector its unit.
func called(path []parser.Node) string {
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *parser.Call:
			return n.Func.Name
		case *parser.AggregateExpr:
			if n.Op == parser.COUNT {
				return "count"
			}
		}
	}
	return ""
}

func unitOfMetric(name, function string) string {
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case function == "count" || function == "increase" || function == "changes" || has(":increase"):
		return units.Short
	case has(":ratio") || has(":share"):
		return units.PercentUnit
	case has("_seconds_total") && function == "rate":
		return units.PercentUnit // seconds in a second
	case (has("packets") || has("frames")) && (function == "rate" || has(":rate")):
		return units.PacketsPerSecond
	case function == "rate" || has(":rate"):
		return units.EventsPerSecond
	case has("transfers_per_second"):
		return "si:T/s"
	case has("bytes_per_second"):
		return units.BytesPerSecondSI
	case strings.HasSuffix(name, "_seconds"):
		return units.Seconds
	}
	return units.Short
}
