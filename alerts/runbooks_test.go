package alerts_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// example is an alert of a rule on the device that the matrix speaks of.
func example(r *engine.Rule) engine.Alert {
	b := labels.NewBuilder(r.Labels)
	b.Set("alertname", r.Alert)
	for _, name := range []string{"instance", "device", "port", "pci"} {
		b.Set(name, "same")
	}
	return engine.Alert{Labels: b.Labels(), State: engine.Firing}
}

// Every alert has a page and every page an alert, with the headings that a
// tired person looks for, every metric of the rule, and nothing to fill in.
func TestRunbooks(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, page := range alerts.Runbooks() {
		left[page] = true
	}
	recorded := map[string][]*engine.Rule{}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				recorded[r.Record] = append(recorded[r.Record], r)
			}
		}
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			page := "runbooks/" + r.Alert + ".md"
			delete(left, page)
			content, err := alerts.File(page)
			if err != nil {
				t.Errorf("%s: %v", r.Alert, err)
				continue
			}
			for _, wrong := range judgePage(string(content), r, recorded) {
				t.Errorf("%s: %s", page, wrong)
			}
		}
	}
	for page := range left {
		t.Errorf("%s is of no alert", page)
	}
}

// placeholders are what a reader would have to replace.
var placeholders = regexp.MustCompile(`<[A-Za-z][A-Za-z _-]*>|TODO|FIXME|XXX|\byour-|\$\{?[A-Z]+_HERE|\bfoo\b|\bexample\.com`)

// inner are the headings that may stand below Diagnosis.
var inner = []string{"On this node", "On the peer", "On the switch"}

func judgePage(page string, r *engine.Rule, recorded map[string][]*engine.Rule) []string {
	var wrong []string
	if !strings.HasPrefix(page, "# "+r.Alert+"\n") {
		wrong = append(wrong, "does not begin with the alert's name")
	}
	if found := placeholders.FindString(page); found != "" {
		wrong = append(wrong, "has a placeholder: "+found)
	}
	var headings []string
	sub := false
	code := false
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			continue
		}
		if heading, is := strings.CutPrefix(line, "## "); is {
			headings = append(headings, heading)
		}
		if heading, is := strings.CutPrefix(line, "### "); is {
			sub = sub || slices.Contains(inner, heading)
		}
	}
	if want := []string{"Meaning", "Impact", "Diagnosis", "Mitigation", "False alarms"}; !slices.Equal(headings, want) {
		wrong = append(wrong, "has the headings "+strings.Join(headings, ", ")+", want "+strings.Join(want, ", "))
	}
	if !sub {
		wrong = append(wrong, "says neither what to do on this node, nor on the peer, nor on the switch")
	}
	if code {
		wrong = append(wrong, "has a block of code without an end")
	}
	if !strings.Contains(page, "```") {
		wrong = append(wrong, "has no command")
	}
	for _, m := range missingMetrics(page, r, recorded) {
		wrong = append(wrong, "does not name "+m)
	}
	return wrong
}

// missingMetrics lists the metrics of a rule that a page does not name. One
// that rules record is named by itself or by what it is made of.
func missingMetrics(page string, r *engine.Rule, recorded map[string][]*engine.Rule) []string {
	var missing []string
	for _, m := range r.Metrics() {
		if strings.Contains(page, m) {
			continue
		}
		parts := recorded[m]
		named := len(parts) > 0
		for _, part := range parts {
			named = named && len(missingMetrics(page, part, recorded)) == 0
		}
		if !named {
			missing = append(missing, m)
		}
	}
	return missing
}

// A page links only to pages that are there.
func TestRunbookLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+\.md)`)
	alert := regexp.MustCompile(`\bRDMA[A-Z][A-Za-z]+\b`)
	pages := alerts.Runbooks()
	for _, page := range pages {
		content, err := alerts.File(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(content), -1) {
			if !slices.Contains(pages, path.Join("runbooks", found[1])) {
				t.Errorf("%s links to %s", page, found[1])
			}
		}
		for _, name := range alert.FindAllString(string(content), -1) {
			if !slices.Contains(pages, "runbooks/"+name+".md") {
				t.Errorf("%s speaks of %s, which is no alert", page, name)
			}
		}
	}
}
