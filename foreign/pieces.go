package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// piece is what one section of a text says, and of which moment.
type piece struct {
	item    *Item
	format  *format
	title   string // tells apart what one format prints in several ways
	input   int
	facts   sketch
	reading int  // 0 is the first one
	once    bool // other things were read more often
}

// timeline sorts pieces into readings of the machine. A second text of the same
// kind that gives the same values again is a later reading.
type timeline struct {
	pieces  []*piece
	seen    map[occurrence]*piece // the last one that has it
	all     sketch
	unnamed int
	known   map[subject]bool
	count   [len(maxOfKind)]int // of subjects
}

type occurrence struct {
	format *format
	title  string
	key    key
}

func newTimeline() *timeline {
	return &timeline{seen: map[occurrence]*piece{}, all: sketch{}, known: map[subject]bool{}}
}

// add places a piece. Its error says why it cannot be used.
func (t *timeline) add(p *piece) error {
	for _, k := range []kind{rdmaDevice, netInterface, pciFunction} {
		if p.facts.subjects(k)[""] {
			if t.unnamed >= maxUnnamed {
				return errors.New("is one too many that does not say what it is of")
			}
			t.name(p, k)
		}
	}
	if err := t.otherMachine(p.facts); err != nil {
		return err
	}
	if err := t.tooMuch(p.facts); err != nil {
		return err
	}
	p.reading = t.next(p)
	for k, v := range p.facts {
		t.seen[occurrence{p.format, p.title, k}] = p
		t.all.merge(k, v)
	}
	t.pieces = append(t.pieces, p)
	return nil
}

// The bounds of what one machine may have.
const (
	maxPieces  = 20_000
	maxFacts   = 200_000
	maxUnnamed = 32
)

var maxOfKind = [...]int{rdmaDevice: 512, netInterface: 1024, pciFunction: 4096}

// tooMuch refuses what no machine has.
func (t *timeline) tooMuch(s sketch) error {
	if len(t.pieces) >= maxPieces || len(t.all)+len(s) > maxFacts {
		return errors.New("is too much: no machine has so many values")
	}
	var more [len(maxOfKind)]int
	for _, k := range []kind{rdmaDevice, netInterface, pciFunction} {
		for name := range s.subjects(k) {
			if !t.known[subject{k, name}] {
				more[k]++
			}
		}
		if t.count[k]+more[k] > maxOfKind[k] {
			return errors.New("is too much: no machine has so many devices")
		}
	}
	for k, n := range more {
		t.count[k] += n
	}
	for k := range s {
		t.known[k.subject] = true
	}
	return nil
}

// next is the reading that a piece belongs to: one later than what it tells
// again. The very same once more in one file is the same reading.
func (t *timeline) next(p *piece) int {
	reading, same := 0, true
	for k, v := range p.facts {
		if last := t.seen[occurrence{p.format, p.title, k}]; last != nil {
			reading = max(reading, last.reading+1)
			same = same && last.input == p.input && last.facts[k] == v
		}
	}
	if same && reading > 0 {
		reading--
	}
	return reading
}

// merge puts a fact. An address is not lost to a stand-in for one.
func (s sketch) merge(k key, value string) {
	if k.file == factFunction && strings.HasPrefix(value, "?") && s[k] != "" {
		return
	}
	s[k] = value
}

// name gives what a piece does not name a stand-in, the one of an earlier piece
// if this can be a later reading of the same thing or another part of it.
func (t *timeline) name(p *piece, k kind) {
	before := -1
	for i, old := range t.pieces {
		if old.format == p.format && old.stand(k) != "" {
			before = i
		}
	}
	if before >= 0 {
		old := t.pieces[before]
		stand := old.stand(k)
		trial := p.facts.clone()
		trial.rename(k, "", stand)
		if t.continues(trial, stand, k) {
			p.facts = trial
			return
		}
	}
	t.unnamed++
	p.facts.rename(k, "", "?"+strconv.Itoa(t.unnamed))
}

// stand is the stand-in that a piece uses.
func (p *piece) stand(k kind) string {
	for name := range p.facts.subjects(k) {
		if strings.HasPrefix(name, "?") && isNumber(name[1:]) {
			return name
		}
	}
	return ""
}

// continues reports whether facts can be of the same thing as those before: new
// ones, or counters that went on. What describes and is told twice is told of
// two things.
func (t *timeline) continues(s sketch, name string, k kind) bool {
	for key, value := range s {
		old, again := t.all[key]
		if key.kind != k || key.name != name || !again {
			continue
		}
		a, errA := strconv.ParseUint(old, 10, 64)
		b, errB := strconv.ParseUint(value, 10, 64)
		if !key.isCounter() || errA != nil || errB != nil || b < a {
			return false
		}
	}
	return true
}

func (s sketch) clone() sketch {
	c := make(sketch, len(s))
	for k, v := range s {
		c[k] = v
	}
	return c
}

// identities do not change as long as a device is the same.
var identities = []string{"node_guid", "sys_image_guid", "board_id", "hca_type", "ports/1/gids/0"}

// otherMachine refuses a device that goes by the name of another one.
func (t *timeline) otherMachine(s sketch) error {
	names := make([]string, 0, 8)
	for name := range s.subjects(rdmaDevice) {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, file := range identities {
			k := key{subject{rdmaDevice, name}, file}
			if a, b := t.all[k], s[k]; a != "" && b != "" && a != b {
				return fmt.Errorf("is of another machine: its %s has %s %s, one above has %s; read one machine at a time", name, lastPart(file), b, a)
			}
		}
	}
	return nil
}

func lastPart(file string) string {
	switch file {
	case "ports/1/gids/0":
		return "GID"
	default:
		return file
	}
}

// readings is how many there are.
func (t *timeline) readings() int {
	n := 1
	for _, p := range t.pieces {
		n = max(n, p.reading+1)
	}
	return n
}

// align moves what was read less often than other things to the end: of what
// was read once the last reading alone is known.
func (t *timeline) align() {
	last := t.readings() - 1
	moves := make([]int, len(t.pieces))
	for i, p := range t.pieces {
		newest := 0
		for k := range p.facts {
			newest = max(newest, t.seen[occurrence{p.format, p.title, k}].reading)
		}
		moves[i] = last - newest
	}
	for i, p := range t.pieces {
		p.reading += moves[i]
		p.once = moves[i] > 0 && moves[i] == last
	}
}

// at is what is known at a reading: all that describes, the newest first, and
// what was counted just then.
func (t *timeline) at(reading int) sketch {
	s := sketch{}
	for _, later := range []bool{true, false} { // what comes later holds if nothing was said before
		for _, p := range t.pieces {
			if (p.reading > reading) != later {
				continue
			}
			for k, v := range p.facts {
				if k.isCounter() && p.reading != reading {
					continue
				}
				if _, known := s[k]; later && known {
					continue
				}
				s.merge(k, v)
			}
		}
	}
	return s
}
