package foreign

import (
	"slices"
	"sync"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// names tells which drivers know a counter by its name.
type names struct {
	pages   []*catalog.Page
	hw, eth []*catalog.Matcher // by page
	pma     *catalog.Matcher
}

var knownNames = sync.OnceValue(func() *names {
	n := &names{pages: catalog.Pages(), pma: catalog.NewMatcher(append(catalog.PortCounters(), catalog.PortCountersExt()...))}
	for _, p := range n.pages {
		n.hw = append(n.hw, catalog.NewMatcher(p.HW))
		n.eth = append(n.eth, catalog.NewMatcher(p.Ethtool))
	}
	return n
})

// anyHW and anyEthtool report whether some driver has a counter of that name.
func (n *names) anyHW(name string) bool      { return anyKnows(n.hw, name) }
func (n *names) anyEthtool(name string) bool { return anyKnows(n.eth, name) }

func anyKnows(matchers []*catalog.Matcher, name string) bool {
	for _, m := range matchers {
		if m.Knows(name) {
			return true
		}
	}
	return false
}

// score is how well the names on a machine fit a driver's page.
type score struct {
	page         *catalog.Page
	hits, second int  // names that it knows, and that the next best one knows
	alike        bool // whoever knows as many gives them the same meaning
}

// best finds the driver that knows most of the names.
func best(pages []*catalog.Page, matchers []*catalog.Matcher, all map[string]bool) score {
	s := score{alike: true}
	var winner *catalog.Matcher
	for i, m := range matchers {
		n := 0
		for name := range all {
			if m.Knows(name) {
				n++
			}
		}
		switch {
		case n > s.hits:
			s = score{page: pages[i], hits: n, second: s.hits, alike: true}
			winner = m
		case n == s.hits && n > 0:
			s.second = n
			s.alike = s.alike && sameMeaning(winner, m, all)
		default:
			s.second = max(s.second, n)
		}
	}
	return s
}

// sameMeaning reports whether two pages make the same series of the names.
func sameMeaning(a, b *catalog.Matcher, all map[string]bool) bool {
	has := func(name string) bool { return all[name] }
	for name := range all {
		x, y := a.Find(name, has), b.Find(name, has)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if x[i].Row.Metric != y[i].Row.Metric || x[i].Row.Unit != y[i].Row.Unit || !slices.Equal(x[i].Values, y[i].Values) {
				return false
			}
		}
	}
	return true
}
