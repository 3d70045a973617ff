package diagnose

import (
	"fmt"
	"slices"
	"strings"
)

// readSummary counts what became of the texts.
func (r *Report) readSummary() string {
	count := map[string]int{}
	for _, t := range r.Read {
		count[t.Outcome] += t.Texts
	}
	var parts []string
	for _, outcome := range []string{"used", "noted", "refused"} {
		if n := count[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return strings.Join(parts, ", ")
}

// read writes what was made of attached texts, the refused ones last, and what
// had to be assumed.
func (p *page) read(r *Report) {
	if len(r.Read) == 0 {
		return
	}
	p.line("")
	p.line("Read:")
	list := slices.Clone(r.Read)
	slices.SortStableFunc(list, func(a, b Read) int { return boolean(a.Outcome == "refused") - boolean(b.Outcome == "refused") })
	source := ""
	for _, t := range list {
		if t.Source != source {
			p.text("  ", "    ", t.Source)
			source = t.Source
		}
		p.text("    ", "      ", t.sentence())
	}
	if len(r.Assumed) > 0 {
		p.line("")
		p.line("Assumed, as the texts do not tell:")
	}
	for _, a := range r.Assumed {
		p.text("  - ", "    ", a)
	}
}

func (t *Read) sentence() string {
	what := or(t.Kind, "unknown")
	if t.Line > 0 {
		what = fmt.Sprintf("line %d: %s", t.Line, what)
	}
	if t.Texts > 1 {
		what += fmt.Sprintf(" (%d)", t.Texts)
	}
	if t.About != "" {
		what += " of " + t.About
	}
	switch {
	case t.Outcome == "refused":
		return what + ": refused: " + t.Why
	case t.Outcome == "noted":
		return what + ": " + t.Why + " (no rule asks for this)"
	case t.Why != "":
		return what + ": " + t.Why
	}
	return what
}
