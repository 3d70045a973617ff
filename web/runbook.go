package web

import (
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts"
)

// runbooks are the bundled pages of what to do.
type runbooks struct {
	texts map[string][]byte // by alert
	once  sync.Once
	index []runbookEntry
}

// runbookEntry is a line of the index.
type runbookEntry struct{ Alert, Severity, Area, Symptom string }

func newRunbooks() (*runbooks, error) {
	b := &runbooks{texts: map[string][]byte{}}
	for _, file := range alerts.Runbooks() {
		text, err := alerts.File(file)
		if err != nil {
			return nil, err
		}
		b.texts[strings.TrimSuffix(path.Base(file), ".md")] = text
	}
	return b, nil
}

// entries lists them by rule. The rules are read when first asked for: that
// takes a moment, and most starts are not for this list.
func (b *runbooks) entries() []runbookEntry {
	b.once.Do(func() {
		groups, err := alerts.Groups(nil)
		if err != nil {
			return // the bundled rules are tested
		}
		for _, g := range groups {
			for _, r := range g.Rules {
				if b.texts[r.Alert] != nil {
					b.index = append(b.index, runbookEntry{r.Alert, r.Severity(), r.Labels.Get("area"), r.Annotations.Get("symptom")})
				}
			}
		}
	})
	return b.index
}

// indexView is the content of the list of runbooks.
type indexView struct {
	frame
	Entries []runbookEntry
}

// runbookView is the content of a runbook's page.
type runbookView struct {
	frame
	runbookEntry
	Blocks []block
}

// block is a part of a runbook: a heading, a paragraph, commands, or a list or
// table that is shown as it was written.
type block struct{ Kind, Text string }

// Parts cuts a text at its backticks: every second part is code.
func (b block) Parts() []string { return strings.Split(b.Text, "`") }

func (s *Site) runbookIndex(w http.ResponseWriter, req *http.Request) {
	v := indexView{s.frame("Runbooks · rdmawatch", "runbooks", "../", time.Time{}), s.books.entries()}
	(&page{kind: htmlKind, make: func() ([]byte, error) { return render("runbooks.html", v) }}).ServeHTTP(w, req)
}

// runbook shows one runbook: to a browser as a page, to anybody else, or with
// ?text, as it was written.
func (s *Site) runbook(w http.ResponseWriter, req *http.Request) {
	name := strings.TrimSuffix(req.PathValue("alert"), ".md")
	text := s.books.texts[name]
	if text == nil {
		http.Error(w, "no runbook for an alert of this name", http.StatusNotFound)
		return
	}
	w.Header().Add("Vary", "Accept")
	if !strings.Contains(req.Header.Get("Accept"), "text/html") || req.URL.Query().Has("text") {
		(&page{kind: textKind, make: func() ([]byte, error) { return text, nil }}).ServeHTTP(w, req)
		return
	}
	v := runbookView{frame: s.frame(name+" · rdmawatch", "runbooks", "../", time.Time{}), Blocks: blocks(string(text))}
	v.Alert = name
	for _, e := range s.books.entries() {
		if e.Alert == name {
			v.runbookEntry = e
		}
	}
	(&page{kind: htmlKind, make: func() ([]byte, error) { return render("runbook.html", v) }}).ServeHTTP(w, req)
}

// blocks tells headings, commands and prose apart. It is no Markdown: what is
// not plain prose stays as it was written.
func blocks(text string) []block {
	var all []block
	for i, part := range strings.Split("\n"+text, "\n```") {
		if i%2 == 1 {
			_, code, _ := strings.Cut(part, "\n") // after the name of the language
			all = append(all, block{"code", code})
			continue
		}
		for _, paragraph := range strings.Split(part, "\n\n") {
			if paragraph = strings.Trim(paragraph, "\n"); paragraph != "" {
				all = append(all, blockOf(paragraph))
			}
		}
	}
	return all
}

func blockOf(paragraph string) block {
	for _, heading := range []struct{ mark, kind string }{{"### ", "part"}, {"## ", "heading"}, {"# ", "title"}} {
		if text, ok := strings.CutPrefix(paragraph, heading.mark); ok && !strings.Contains(text, "\n") {
			return block{heading.kind, text}
		}
	}
	if asWritten.MatchString(paragraph) {
		return block{"list", paragraph}
	}
	return block{"prose", paragraph}
}

// asWritten finds a line whose place matters: of a list, a table, a heading
// with text below it, or one that is indented.
var asWritten = regexp.MustCompile(`(?m)^(?:[-*|#>\s]|\d+\. )`)
