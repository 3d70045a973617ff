// Package foreign reads what people attach to tickets: the output of ethtool,
// rdma, ibstat, lspci and their like, listings of sysfs, an unpacked sosreport.
// It makes node fixtures of them (fixtures/README.md), so that the same
// collectors, catalogue and rules judge them that judge a machine, and says
// what it recognised, what it assumed, and what it could make nothing of.
package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What became of a text.
const (
	Used    = "used"    // its values are in the fixture
	Noted   = "noted"   // it was understood, and no rule asks for it
	Refused = "refused" // nothing was made of it
)

// Item is a text that was found, and what became of it.
type Item struct {
	Source  string // file
	Line    int    // where it begins, if the file holds several; else 0
	Kind    string // what printed it; "" if that is not known
	About   string // devices, interfaces, PCI functions
	Reading int    // which reading of the machine it belongs to, from 1; 0 if refused
	Outcome string
	Why     string // of a refusal; else what is worth knowing
}

// Evidence is what a set of texts says of one machine.
type Evidence struct {
	Items   []Item
	Assumed []string // what was not told and had to be assumed, a sentence each
	// Times are those of the readings, one at least if anything was used.
	Times []time.Time

	steps []sketch // what is known at each
	boots []int    // how often the machine was restarted before each
}

// Options say what the texts do not.
type Options struct {
	// Apart is the time between two readings if no text tells it.
	Apart time.Duration
	// Now is when a single text is taken to be from if it does not tell.
	Now time.Time
}

// Understand reads texts, which belong to one machine and are given in the
// order in which they were taken.
func Understand(inputs []Input, o Options) *Evidence {
	e := &Evidence{}
	line := newTimeline()
	items := []*Item{}
	for i := range inputs {
		items = append(items, understand(&inputs[i], i, line)...)
	}
	if len(line.pieces) > 0 {
		line.align()
		e.settle(line, inputs, o)
	}
	e.list(items)
	return e
}

// list takes over the items. Neighbours that were refused for one reason are
// one item.
func (e *Evidence) list(items []*Item) {
	again := 0
	for i, item := range items {
		if i > 0 && item.Outcome == Refused && item.Source == items[i-1].Source && item.Kind == items[i-1].Kind &&
			item.Why == items[i-1].Why && item.About == items[i-1].About {
			again++
			continue
		}
		e.tell(again)
		again = 0
		e.Items = append(e.Items, *item)
	}
	e.tell(again)
}

func (e *Evidence) tell(again int) {
	if again > 0 {
		e.Items[len(e.Items)-1].Why += fmt.Sprintf(" (and so %d more)", again)
	}
}

// understand takes one text apart and adds its pieces to the timeline.
func understand(in *Input, index int, line *timeline) []*Item {
	lines, err := clean(in.Text)
	if err != nil {
		if in.Quiet {
			return nil
		}
		return []*Item{{Source: in.Name, Outcome: Refused, Why: err.Error()}}
	}
	s := split(in.Name, lines)
	var items []*Item
	for _, section := range s.sections {
		item := &Item{Source: in.Name, Kind: section.format.name, Outcome: Refused}
		if len(s.sections) > 1 {
			item.Line = section.line
		}
		if in.Quiet && section.format.parse == nil {
			continue
		}
		items = append(items, item)
		use(section, item, index, line)
	}
	return append(items, rest(in, s)...)
}

// rest says what is left of a text.
func rest(in *Input, s *splitter) []*Item {
	var items []*Item
	if in.Cut || s.lines == maxLines {
		items = append(items, &Item{Source: in.Name, Outcome: Refused, Why: fmt.Sprintf("what comes after the first %d MiB or %d lines was not read; no text of use is as long", maxFile>>20, maxLines)})
	}
	switch {
	case in.Quiet:
	case len(s.sections) == 0:
		items = append(items, &Item{Source: in.Name, Outcome: Refused, Why: "is of no kind that is known here" + example(s.unread)})
	case s.stray > 0:
		items = append(items, &Item{Source: in.Name, Outcome: Refused, Why: fmt.Sprintf("%d %s between that %s no kind that is known here%s",
			s.stray, plural(s.stray, "line", "lines"), plural(s.stray, "is of", "are of"), example(s.unread))})
	}
	return items
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func example(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	text := []rune(lines[0])
	if len(text) > 50 {
		text = append(text[:47], []rune("...")...)
	}
	return fmt.Sprintf(", such as %q", string(text))
}

// use parses a section and adds it to the timeline.
func use(s *section, item *Item, index int, line *timeline) {
	if s.format.parse == nil {
		item.Why = s.format.why
		return
	}
	to := &facts{sketch: sketch{}}
	if err := s.format.parse(s, to); err != nil {
		item.Why = err.Error()
		return
	}
	item.Why = to.note
	if len(to.sketch) == 0 {
		if item.Outcome = Noted; to.note == "" {
			item.Outcome, item.Why = Refused, "has no value that is judged"
		}
		return
	}
	p := &piece{item: item, format: s.format, title: title(s), input: index, facts: to.sketch}
	if err := line.add(p); err != nil {
		item.Why = err.Error()
		return
	}
	item.Outcome = Used
}

// title tells apart what one program prints in several sets: perfquery counts
// in 32 and in 64 bits.
func title(s *section) string {
	if m := perfTitle.FindStringSubmatch(s.lines[0]); m != nil {
		return m[1]
	}
	return ""
}

// settle fills in what is not told, and finds the times.
func (e *Evidence) settle(line *timeline, inputs []Input, o Options) {
	n := line.readings()
	f := newFit(line.all)
	f.tooMany(n)
	for reading := max(0, n-maxReadings); reading < n; reading++ {
		e.steps = append(e.steps, f.apply(line.at(reading)))
	}
	e.Assumed = f.assumed
	e.findRestarts()
	e.setTimes(line, inputs, o, n)
	e.Times = e.Times[n-len(e.steps):]
	for _, p := range line.pieces {
		p.describe(f)
	}
}

// maxReadings is how many readings are looked at, the last ones.
const maxReadings = 500

func (f *fit) tooMany(readings int) {
	if readings > maxReadings {
		f.assume("of %d readings the last %d are looked at", readings, maxReadings)
	}
}

// describe completes the item of a piece.
func (p *piece) describe(f *fit) {
	p.item.Reading = p.reading + 1
	about, counts := map[string]bool{}, false
	for k := range p.facts {
		counts = counts || k.isCounter()
		shown := subject{k.kind, f.shown(k.subject)}
		about[shown.name] = true
		if why := f.useless[shown]; why != "" {
			p.item.Outcome, p.item.Why, p.item.Reading = Refused, why, 0
		}
	}
	if p.once && counts && p.item.Outcome == Used {
		p.item.Why = "read once, so its rates are not known"
	}
	names := slices.SortedFunc(maps.Keys(about), natural)
	if more := len(names) - 6; more > 0 {
		names = append(names[:6], fmt.Sprintf("%d more", more))
	}
	p.item.About = strings.Join(names, ", ")
}

// shown is the name by which a subject is known in the end.
func (f *fit) shown(s subject) string {
	for _, r := range f.renames {
		if r.kind == s.kind && r.from == s.name {
			s.name = r.to
		}
	}
	return s.name
}
