package catalog

import "strings"

// Match is a name found on a machine together with a row that explains it.
type Match struct {
	Row *Row
	// Values are the metric's own label values, fixed and captured.
	Values []string
}

// Matcher finds the rows for names.
type Matcher struct {
	exact    map[string][]*Row
	patterns []pattern
}

type pattern struct {
	prefix, label, suffix string
	row                   *Row
}

// NewMatcher indexes rows.
func NewMatcher(rows []Row) *Matcher {
	m := &Matcher{exact: make(map[string][]*Row, len(rows))}
	for i := range rows {
		row := &rows[i]
		prefix, rest, ok := strings.Cut(row.Name, "{")
		if !ok {
			m.exact[row.Name] = append(m.exact[row.Name], row)
			continue
		}
		label, suffix, _ := strings.Cut(rest, "}")
		m.patterns = append(m.patterns, pattern{prefix, label, suffix, row})
	}
	return m
}

// Find returns the matches for name among a set of names of which has tells
// the members. Names without a row give nothing.
func (m *Matcher) Find(name string, has func(string) bool) []Match {
	var found []Match
	for _, row := range m.exact[name] {
		if row.Unless == "" || !has(row.Unless) {
			found = append(found, Match{row, row.LabelValues(nil)})
		}
	}
	if len(m.exact[name]) > 0 {
		return found
	}
	for _, p := range m.patterns {
		if number, ok := p.capture(name); ok {
			unless := strings.ReplaceAll(p.row.Unless, "{"+p.label+"}", number)
			if unless == "" || !has(unless) {
				found = append(found, Match{p.row, p.row.LabelValues(map[string]string{p.label: number})})
			}
		}
	}
	return found
}

// Knows reports whether any row names name, whether or not it applies.
func (m *Matcher) Knows(name string) bool {
	if len(m.exact[name]) > 0 {
		return true
	}
	for _, p := range m.patterns {
		if _, ok := p.capture(name); ok {
			return true
		}
	}
	return false
}

// capture returns the decimal number between prefix and suffix of name.
func (p *pattern) capture(name string) (string, bool) {
	if len(name) <= len(p.prefix)+len(p.suffix) ||
		!strings.HasPrefix(name, p.prefix) || !strings.HasSuffix(name, p.suffix) {
		return "", false
	}
	number := name[len(p.prefix) : len(name)-len(p.suffix)]
	for _, c := range []byte(number) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return number, true
}
