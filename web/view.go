package web

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/diagnose"
)

// frame is what every page has around its content.
type frame struct {
	Config
	Title string
	Here  string // the entry of the navigation
	Up    string // from the page's path to the root: "" or "../"
	Style styleText
	// Script is empty on pages that do not change.
	Script scriptText
	// Worst colours the icon in the tab.
	Worst string
	Now   time.Time
}

// HomePath and MetricsPath are relative, so that the pages work behind a proxy
// that puts them below a path of its own.
func (f frame) HomePath() string {
	if f.Metrics == "/" {
		return f.Up + "status"
	}
	return cmp.Or(f.Up, "./")
}

// MetricsPath is the way to the metrics.
func (f frame) MetricsPath() string {
	return cmp.Or(f.Up+strings.TrimPrefix(f.Metrics, "/"), "./")
}

// Refresh is how often a browser asks again, in seconds.
func (f frame) Refresh() int { return int(max(5*time.Second, min(f.Interval, time.Minute)).Seconds()) }

// StaleAfter is the age in seconds from which a reading is old; 0: never.
func (f frame) StaleAfter() int {
	return int((4*f.Interval + 10*time.Second).Seconds()) * sign(f.Interval)
}

func sign(d time.Duration) int {
	if d > 0 {
		return 1
	}
	return 0
}

// statusView is the content of the status page.
type statusView struct {
	frame
	reading
	Verdict   verdict
	Ports     []portRow
	Findings  []diagnose.Finding // that fire
	Explained []diagnose.Finding // by another one
	Pending   []diagnose.Finding
	SinceBoot []sinceBoot
	Events    []Event
	Receivers []Receiver
	NotJudged []diagnose.NotJudged
	Unseen    []diagnose.Unseen
}

// verdict is the answer to the first question: is something wrong?
type verdict struct {
	Severity string // "" for nothing
	Head     string
	Text     string
}

// portRow is a port with its picture.
type portRow struct {
	diagnose.Port
	ID     string
	Spark  *spark
	Anchor string // of the worst finding
	// WorstMark is its severity, or that it is pending.
	WorstMark string
}

type sinceBoot struct {
	Device, Port string
	diagnose.Evidence
}

func (s *Site) frame(title, here, up string, now time.Time) frame {
	return frame{Config: s.c, Title: title, Here: here, Up: up, Style: style, Now: now}
}

func (s *Site) statusView(r Round, past map[portKey][]traffic, events []Event) statusView {
	report := r.Report
	v := statusView{
		frame:   s.frame("", "status", "", report.Time),
		reading: readingOf(r.Snapshot),
		Events:  events, Receivers: r.Receivers,
		NotJudged: report.NotJudged, Unseen: report.Unseen,
	}
	v.Script, v.Worst, v.Node = script, report.Worst(), cmp.Or(report.Node, s.c.Node)
	v.Simulated = v.Simulated || report.Simulated
	for _, f := range report.Findings {
		switch {
		case f.SilencedBy != "":
			v.Explained = append(v.Explained, f)
		case f.State == "pending":
			v.Pending = append(v.Pending, f)
		default:
			v.Findings = append(v.Findings, f)
		}
	}
	v.Ports = portRows(report, past)
	for i := range report.Ports {
		p := &report.Ports[i]
		for _, e := range p.SinceBoot {
			v.SinceBoot = append(v.SinceBoot, sinceBoot{p.Device, p.Port, e})
		}
	}
	v.Verdict = s.verdict(&v, r)
	v.Title = v.Verdict.Head + " · " + v.Node
	return v
}

func portRows(report *diagnose.Report, past map[portKey][]traffic) []portRow {
	rates := map[portKey]float64{}
	for i := range report.Ports {
		p := &report.Ports[i]
		if p.RateBytesPerSecond != nil {
			rates[portKey{p.Device, p.Port}] = *p.RateBytesPerSecond
		}
	}
	top := tops(past, rates)
	var rows []portRow
	for _, p := range report.Ports {
		key := portKey{p.Device, p.Port}
		row := portRow{Port: p, ID: plain.ReplaceAllString("port-"+p.Device+"-"+p.Port, "_"), Spark: newSpark(past[key], report.Time, top[key])}
		row.worst(report.Findings)
		rows = append(rows, row)
	}
	return rows
}

// worst finds the finding that the port's worst is.
func (row *portRow) worst(findings []diagnose.Finding) {
	if row.Worst == nil {
		return
	}
	row.WorstMark = row.Worst.Severity
	for _, f := range findings {
		if f.Alert != row.Worst.Alert || f.Device != row.Device || f.Port != "" && f.Port != row.Port.Port {
			continue
		}
		row.Anchor = anchor(f)
		if f.State == "pending" {
			row.WorstMark = f.State
		}
		return
	}
}

// anchor names a finding within the page: the same one every round.
func anchor(f diagnose.Finding) string {
	parts := []string{"finding", f.Alert, f.Device, f.Port}
	var more []string
	for name, value := range f.Labels {
		switch name {
		case "alertname", "device", "port", "instance", "severity", "area", "scope":
		default:
			more = append(more, name+"-"+value)
		}
	}
	slices.Sort(more)
	return plain.ReplaceAllString(strings.Join(append(parts, more...), "-"), "_")
}

// plain keeps of a name what may be part of an address.
var plain = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// verdict says in a line how things stand.
func (s *Site) verdict(v *statusView, r Round) verdict {
	critical, warning, info := 0, 0, 0
	for _, f := range v.Findings {
		switch f.Severity {
		case diagnose.Critical:
			critical++
		case diagnose.Warning:
			warning++
		default:
			info++
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{critical, "critical"}, {warning, "warning"}, {info, "info"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	switch ports := plural(len(v.Ports), "port"); {
	case len(parts) > 0:
		return verdict{v.Worst, strings.Join(parts, ", "), v.Findings[0].Verdict}
	case !s.c.Alerting:
		return verdict{"", "Not judged", "Alerting is switched off: the values are shown, no rule looks at them. They are as new as the last scrape."}
	case len(v.Ports) == 0 && len(v.Stalled) == 0:
		return verdict{"", "No RDMA device", "The kernel shows none on this node."}
	case len(v.Pending) > 0:
		return verdict{"pending", "Nothing yet", fmt.Sprintf("%s. %s of trouble, each of which becomes a finding if it lasts.", ports, plural(len(v.Pending), "sign"))}
	default:
		return verdict{"ok", "Nothing found", fmt.Sprintf("%s, judged by %d rules.", ports, countAlerts(r))}
	}
}

func countAlerts(r Round) int {
	n := 0
	for _, g := range r.Groups {
		for _, rule := range g.Rules {
			if rule.Alert != "" {
				n++
			}
		}
	}
	return n
}
