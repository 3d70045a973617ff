package collector

import (
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// counter is a number that the machine gives, and the series it feeds.
type counter struct {
	outs    []output
	wrapped *wrapped // nil unless the field is 32 bits wide and wraps
	value   uint64
	ok      bool   // value is of this reading
	last    uint64 // the value before, to notice a reset
}

type output struct {
	cell *cell
	unit catalog.Unit
}

// got takes the value of this reading, miss says that there is none.
func (c *counter) got(value uint64) { c.value, c.ok = value, true }
func (c *counter) miss()            { c.ok = false }

// judge adds what the counter did to the judgement of its place. A gauge has no
// say, nor has a number of which nothing is known.
func (c *counter) judge(f *fall) {
	if c.ok && c.outs[0].cell.series.Metric.Type == catalog.Counter {
		f.add(c.last, c.value)
	}
}

// book adds the value to the series it feeds. reset says that the device
// started anew since the reading before. A series of which a part is missing
// has no value, rather than a wrong one.
func (c *counter) book(reset bool) {
	if !c.ok {
		for _, out := range c.outs {
			out.cell.missing = true
		}
		return
	}
	value := c.value
	c.last = value
	if c.wrapped != nil {
		value = c.wrapped.total(value, reset)
	}
	for _, out := range c.outs {
		out.cell.sum += out.unit.ToBase(float64(value))
		out.cell.parts++
	}
}

// cell is a series that one or several counters feed.
type cell struct {
	series  *node.Series
	sum     float64
	parts   int
	missing bool // a part gave no value
}

// cells are the series that the counters of one place feed.
type cells struct {
	byKey map[string]*cell
	list  []*cell
}

// of returns the cell of a series.
func (c *cells) of(s *node.Series) *cell {
	if c.byKey == nil {
		c.byKey = map[string]*cell{}
	}
	key := s.Key()
	if c.byKey[key] == nil {
		c.byKey[key] = &cell{series: s}
		c.list = append(c.list, c.byKey[key])
	}
	return c.byKey[key]
}

func (c *cells) clear() {
	for _, cell := range c.list {
		cell.sum, cell.parts, cell.missing = 0, 0, false
	}
}

func (c *cells) emit(b *batch) {
	for _, cell := range c.list {
		if cell.parts > 0 && !cell.missing {
			b.add(cell.series, cell.sum)
		}
	}
}
