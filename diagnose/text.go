package diagnose

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Style is how a report is written for people.
type Style struct {
	Width int  // columns
	Color bool // beside the words, never instead of them
	ASCII bool // the terminal shows nothing else
}

// Write writes a report for a person at a terminal: the ports, then what was
// found, the worst first. It returns the first error of the writer.
func (r *Report) Write(w io.Writer, style Style) error {
	p := &page{w: w, style: style}
	if p.style.Width <= 0 {
		p.style.Width = 80
	}
	p.style.Width = max(p.style.Width, 20)
	p.head(r)
	p.ports(r)
	p.findings(r)
	p.sinceBoot(r.Ports)
	if len(r.Ports) > 0 {
		p.notJudged(r.NotJudged)
	}
	p.unseen(r.Unseen)
	p.read(r)
	return p.err
}

// page writes lines until the first error.
type page struct {
	w     io.Writer
	style Style
	err   error
}

// narrow pages have no room for columns.
func (p *page) narrow() bool { return p.style.Width < 60 }

func (p *page) line(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, strings.TrimRight(text, " ")+"\n")
	}
}

// text writes words into lines; the second and all others are indented.
func (p *page) text(first, rest, text string) {
	indent := first
	for _, line := range wrap(p.clean(text), p.style.Width-max(len(first), len(rest))) {
		p.line(indent + line)
		indent = rest
	}
}

// fieldWidth is where the text of a field begins.
const fieldWidth = 12

// field writes a named text below a finding.
func (p *page) field(name, text string) {
	if text == "" {
		return
	}
	if p.narrow() {
		if name != "" {
			name += ": "
		}
		p.text("  ", "    ", name+text)
		return
	}
	indent := strings.Repeat(" ", fieldWidth)
	p.text(fmt.Sprintf("  %-*s", fieldWidth-2, name), indent, text)
}

// head says of whom and of what time the report speaks, and how bad it is.
func (p *page) head(r *Report) {
	when := r.Time.UTC().Format("2006-01-02 15:04:05 UTC")
	p.text("", "  ", fmt.Sprintf("%s, %s: %s", r.Node, when, r.sampled()))
	if r.Read != nil {
		p.text("", "  ", fmt.Sprintf("Of attached texts, not of this machine: %s.", r.readSummary()))
	} else if r.Simulated {
		p.text("", "  ", "SIMULATED: the values come from a file, not from this machine.")
	}
	if len(r.Ports) > 0 || len(r.Findings) > 0 {
		p.text("", "  ", r.summary())
	}
}

func (r *Report) sampled() string {
	window := span(time.Duration(r.WindowSeconds * float64(time.Second)))
	switch {
	case r.WindowSeconds == 0:
		return "one sample. Rates need two: nothing that moves was judged."
	case r.Interrupted:
		return "interrupted after " + window + "."
	}
	return "rates over " + window + "."
}

func (r *Report) summary() string {
	count := map[string]int{}
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.SilencedBy != "":
		case f.State != firing:
			count["pending"]++
		default:
			count[f.Severity]++
		}
	}
	var parts []string
	for _, what := range []string{Critical, Warning, Info, "pending"} {
		if count[what] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[what], what))
		}
	}
	if len(parts) == 0 {
		parts = []string{"Nothing found"}
	}
	return strings.Join(parts, ", ") + " on " + plural(len(r.Ports), "port") + "."
}

// findings writes each kind of finding once: the first in full, of the others
// what they say. What another finding explains comes last.
func (p *page) findings(r *Report) {
	number := 0
	var explained []*Finding
	done := map[string]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.SilencedBy != "" {
			explained = append(explained, f)
			continue
		}
		kind := f.Alert + f.State
		if done[kind] {
			continue
		}
		done[kind] = true
		number++
		p.line("")
		p.finding(number, f, r)
	}
	if len(explained) > 0 {
		p.line("")
		p.line("Explained by the above:")
	}
	for _, f := range explained {
		p.text("  ", "    ", fmt.Sprintf("%s, by %s: %s", f.Alert, f.SilencedBy, f.Verdict))
	}
}

func (p *page) finding(number int, f *Finding, r *Report) {
	p.verdict(fmt.Sprintf("%d. ", number), f)
	p.others(f, r.Findings)
	p.field("alert", f.Alert+f.timing(r))
	p.field("where", or(strings.Join(f.Where, " or "), "not known"))
	p.field("means", f.Explanation)
	name := "evidence"
	for _, e := range f.Evidence {
		p.field(name, e.text(f.Device, f.Port))
		name = ""
	}
	p.causes(f.Causes)
	if len(f.Next) > 0 {
		p.step(f.Next[0])
	}
	p.field("fix", f.Fix)
	p.field("runbook", or(f.runbook(), f.Runbook))
}

// others writes of which ports else the same is found: their names, where the
// sentence is the same but for these.
func (p *page) others(f *Finding, findings []Finding) {
	var names []string
	for i := range findings {
		o := &findings[i]
		if o == f || o.Alert != f.Alert || o.State != f.State || o.SilencedBy != "" {
			continue
		}
		if f.Device != "" && f.Port == o.Port && strings.ReplaceAll(f.Verdict, f.Device, o.Device) == o.Verdict {
			names = append(names, o.Device)
		} else {
			p.text("   ", "     ", "also: "+o.Verdict)
		}
	}
	if len(names) > 0 {
		p.text("   ", "     ", "the same on "+strings.Join(names, ", "))
	}
}

// verdict writes the sentence that a tired person reads.
func (p *page) verdict(number string, f *Finding) {
	severity := strings.ToUpper(f.Severity)
	if f.State != firing {
		severity += ", " + f.State
	}
	rest := strings.Repeat(" ", len(number))
	lines := wrap(p.clean(severity+" "+f.Verdict), p.style.Width-len(number))
	lines[0] = p.paint(f.Severity, severity, lines[0])
	for _, line := range lines {
		p.line(number + line)
		number = rest
	}
}

// timing tells since when, or that the alert itself would wait.
func (f *Finding) timing(r *Report) string {
	asks := time.Duration(f.AsksSeconds * float64(time.Second))
	held := r.Time.Sub(f.Since)
	switch {
	case f.State != firing:
		return fmt.Sprintf(", not sent yet: held for %s of %s", span(held), span(asks))
	case !r.Short:
		text := fmt.Sprintf(", since %s (%s)", f.Since.UTC().Format("15:04:05"), span(held))
		if f.QuietSince != nil {
			text += fmt.Sprintf("; quiet since %s (%s)", f.QuietSince.UTC().Format("15:04:05"), span(r.Time.Sub(*f.QuietSince)))
		}
		return text
	case f.AsksSeconds > r.WindowSeconds && r.WindowSeconds > 0:
		return fmt.Sprintf(", judged on %s; it alerts after %s", span(time.Duration(r.WindowSeconds*float64(time.Second))), span(asks))
	}
	return ""
}

// runbook is how to read the page of a bundled alert without a network.
func (f *Finding) runbook() string {
	if strings.HasSuffix(f.Runbook, "/alerts/runbooks/"+f.Alert+".md") {
		return "rdmawatch rules runbook " + f.Alert
	}
	return ""
}

func (p *page) causes(causes []Cause) {
	name := "causes"
	for i, c := range causes {
		text := fmt.Sprintf("%d. %s", i+1, c.Text)
		if len(c.Sides) > 0 {
			text = fmt.Sprintf("%d. %s: %s", i+1, strings.Join(c.Sides, " or "), c.Text)
		}
		p.field(name, text)
		name = ""
	}
}

// step writes a check. The command is not wrapped as text is: what is pasted
// must still work.
func (p *page) step(s Step) {
	indent, first := strings.Repeat(" ", fieldWidth), fmt.Sprintf("  %-*s", fieldWidth-2, "next")
	if p.narrow() {
		indent, first = "    ", "    "
		p.line("  next:")
	}
	broken := wrapCommand
	if strings.Contains(s.Do, "`") { // a sentence that quotes commands
		broken = wrap
	}
	for line := range strings.Lines(s.Do) {
		for _, part := range broken(p.clean(strings.TrimRight(line, "\n")), p.style.Width-len(indent)) {
			p.line(first + part)
			first = indent
		}
	}
	if s.Healthy != "" {
		p.field("", "healthy: "+s.Healthy)
	}
	if s.Sick != "" {
		p.field("", "sick: "+s.Sick)
	}
}

// sinceBoot writes what has counted on the ports, without any judgement.
func (p *page) sinceBoot(ports []Port) {
	begun := false
	for i := range ports {
		port := &ports[i]
		if len(port.SinceBoot) == 0 {
			continue
		}
		if !begun {
			p.line("")
			p.text("", "  ", "Counted since boot, which is no finding by itself:")
			begun = true
		}
		var parts []string
		for _, e := range port.SinceBoot {
			parts = append(parts, e.brief())
		}
		p.text("  ", "    ", port.name()+": "+strings.Join(parts, ", "))
	}
}

// notJudged writes which rules were not judged. The prefix that all bundled
// alerts share is left out, as there may be many.
func (p *page) notJudged(list []NotJudged) {
	for _, n := range list {
		var names []string
		for _, alert := range n.Alerts {
			names = append(names, strings.TrimPrefix(alert, "RDMA"))
		}
		p.line("")
		p.text("", "  ", fmt.Sprintf("Not judged here, %s (%s): %s.", plural(len(names), "rule"), n.Why, strings.Join(names, ", ")))
	}
}

// unseen writes what could not be read, devices of one reason together.
func (p *page) unseen(list []Unseen) {
	var reasons []Unseen
	devices := map[Unseen][]string{}
	for _, u := range list {
		reason := Unseen{Collector: u.Collector, Why: u.Why}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		devices[reason] = append(devices[reason], or(u.Device, "node"))
	}
	if len(reasons) > 0 {
		p.line("")
		p.line("Not seen:")
	}
	for _, reason := range reasons {
		what := reason.Why
		if reason.Collector != "" {
			what = reason.Collector + ": " + what
		}
		p.text("  ", "    ", what+": "+strings.Join(devices[reason], ", "))
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
