package web

import (
	"bytes"
	"embed"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

//go:embed files
var files embed.FS

// Types of text that the templates put out as it is. Both are our own files:
// nothing that came from the machine is ever of such a type.
type (
	styleText  = template.CSS
	scriptText = template.JS
)

var (
	style  = styleText(file("style.css"))
	script = scriptText(file("refresh.js"))
)

func file(name string) string {
	content, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(content)
}

var templates = template.Must(template.New("").Funcs(functions).ParseFS(files, "files/*.html"))

var functions = template.FuncMap{
	"bits": bits, "flow": flow, "share": share, "quantity": quantity, "perSecond": perSecond, "count": count,
	"seconds": seconds, "span": span, "clock": clock, "plural": plural, "anchor": anchor,
	"rfc3339": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"join":    strings.Join,
	"deref":   func(v *float64) float64 { return *v },
	"mark":    mark,
	"labels":  seriesLabels,
	"runbook": bundled,
	"odd":     func(i int) bool { return i%2 == 1 },
	"add":     func(a, b int) int { return a + b },
	"help":    help,
	"finding": func(now time.Time, f diagnose.Finding, open bool) findingView { return findingView{f, now, open} },
	"rule":    func(now time.Time, r ruleRow) ruleView { return ruleView{r, now} },
	"opens":   func(f diagnose.Finding, i int) bool { return i < opened && f.State == "firing" },
}

// findingView and ruleView are what the templates of one of them get.
type (
	findingView struct {
		Finding diagnose.Finding
		Now     time.Time
		Open    bool
	}
	ruleView struct {
		Of  ruleRow
		Now time.Time
	}
)

// opened is how many findings are unfolded when the page is first seen.
const opened = 3

// mark is the name of the sign beside a severity or a state: shape and colour
// say the same as the word.
func mark(state string) string {
	switch state {
	case "critical", "failing", "down", "stalled":
		return "critical"
	case "warning":
		return "warning"
	case "info":
		return "info"
	case "pending":
		return "pending"
	case "initializing", "armed":
		return "warning"
	case "ok", "active", "active, deferred", "resolved":
		return "ok"
	}
	return "none"
}

// seriesLabels writes the labels of a series, without those that the finding
// itself has in its head.
func seriesLabels(all map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch name {
		case "device", "port", "instance":
		default:
			parts = append(parts, name+`="`+all[name]+`"`)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// render fills in a template.
func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, data)
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), err // after the lines between the parts of the file
}

// help is what the catalogue says about a metric.
func help(metric string) string {
	for _, m := range catalog.Metrics() {
		if m.Name == metric {
			return m.Help
		}
	}
	return ""
}

// bundled reports whether there is a runbook of ours for an alert.
func bundled(alert string) bool {
	_, err := alerts.File("runbooks/" + alert + ".md")
	return err == nil
}

// pages are the answers that a round gives.
type pages struct {
	status, alerts                    *page
	apiStatus, apiFindings, apiAlerts *page
}

func (s *Site) newPages(r Round, past map[portKey][]traffic, events []Event) *pages {
	return &pages{
		status: &page{kind: htmlKind, make: func() ([]byte, error) {
			return render("status.html", s.statusView(r, past, events))
		}},
		alerts: &page{kind: htmlKind, make: func() ([]byte, error) {
			return render("alerts.html", s.rulesView(r))
		}},
		apiStatus:   asJSON(r.Report),
		apiFindings: asJSON(apiFindings(r.Report)),
		apiAlerts:   asJSON(apiAlerts(r.Alerts)),
	}
}
