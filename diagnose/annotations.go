package diagnose

import (
	"regexp"
	"slices"
	"strings"
)

// sides are the places where a cause can be, as the rules name them.
var sides = []string{"this host", "card", "switch", "peer", "application", "application at the peer"}

// Sides lists the places where a cause can be.
func Sides() []string { return slices.Clone(sides) }

// sideMark is the side of a cause in brackets, and between what it stands.
var sideMark = regexp.MustCompile(`^(.*?) \(([^()]*)\)([.:].*)$`)

// ParseCauses reads the annotation `cause` of a rule: a line each, the likeliest
// first, with its side in brackets. A line without a known side has none.
func ParseCauses(annotation string) []Cause {
	causes := []Cause{}
	for line := range strings.Lines(annotation) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if c, ok := cutSide(line); ok {
			causes = append(causes, c)
		} else {
			causes = append(causes, Cause{Text: line, Sides: []string{}})
		}
	}
	return causes
}

// cutSide takes the side out of a line: what is left reads without it.
func cutSide(line string) (Cause, bool) {
	m := sideMark.FindStringSubmatch(line)
	if m == nil {
		return Cause{}, false
	}
	found := strings.Split(strings.ReplaceAll(m[2], " or ", ", "), ", ")
	for _, side := range found {
		if !slices.Contains(sides, side) {
			return Cause{}, false
		}
	}
	return Cause{Text: m[1] + m[3], Sides: found}, true
}

// ParseSteps reads the annotation `verify` of a rule: commands, each with what
// is seen on a healthy node and on a sick one, in its line or in the next.
// Commands before one outcome belong together.
func ParseSteps(annotation string) []Step {
	steps := []Step{}
	open := false // the last step has no outcome yet
	for line := range strings.Lines(annotation) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		do, outcome, judged := strings.Cut(line, "healthy: ")
		do = strings.TrimRight(do, " :;,")
		healthy, sick, _ := strings.Cut(outcome, " | sick: ")
		if do != "" && open {
			steps[len(steps)-1].Do += "\n" + do
		} else if do != "" || len(steps) == 0 {
			steps = append(steps, Step{Do: do})
		}
		last := &steps[len(steps)-1]
		if judged && last.Healthy == "" {
			last.Healthy, last.Sick = healthy, sick
		}
		open = !judged
	}
	return steps
}

// oneLine is an annotation as one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
