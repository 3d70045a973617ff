package collector

import (
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

const (
	max32 = 1<<32 - 1
	over  = 1 << 32
)

// Each reading of a directory of 32-bit counters, and what must be shown.
func TestUnwrap(t *testing.T) {
	type reading = map[string]uint64
	for _, c := range []struct {
		name      string
		raw, want []reading
	}{
		{
			"no wrap",
			[]reading{{"a": 5}, {"a": 7}, {"a": 7}},
			[]reading{{"a": 5}, {"a": 7}, {"a": 7}},
		},
		{
			"wrap: 4294967290 and ten more",
			[]reading{{"a": 4294967290}, {"a": 4}},
			[]reading{{"a": 4294967290}, {"a": 4294967300}},
		},
		{
			"wrap at the very end",
			[]reading{{"a": max32}, {"a": 0}},
			[]reading{{"a": max32}, {"a": over}},
		},
		{
			"two wraps, reading after reading",
			[]reading{{"a": 3000000000}, {"a": 700000000}, {"a": 2800000000}, {"a": 500000000}},
			[]reading{{"a": 3000000000}, {"a": over + 700000000}, {"a": over + 2800000000}, {"a": 2*over + 500000000}},
		},
		{
			"half the range is the largest step",
			[]reading{{"a": max32}, {"a": 1<<31 - 2}},
			[]reading{{"a": max32}, {"a": over + 1<<31 - 2}},
		},
		{
			"a larger step is a reset",
			[]reading{{"a": max32}, {"a": 1<<31 - 1}},
			[]reading{{"a": max32}, {"a": 1<<31 - 1}},
		},
		{
			"reset to a small value",
			[]reading{{"a": 1000000}, {"a": 3}},
			[]reading{{"a": 1000000}, {"a": 3}},
		},
		{
			"reset after a wrap forgets the wrap",
			[]reading{{"a": 4294967290}, {"a": 1000}, {"a": 3}, {"a": 4}},
			[]reading{{"a": 4294967290}, {"a": over + 1000}, {"a": 3}, {"a": 4}},
		},
		{
			"reset of all, which looks like a wrap on a",
			[]reading{{"a": 4294967290, "b": 1000}, {"a": 4, "b": 2}},
			[]reading{{"a": 4294967290, "b": 1000}, {"a": 4, "b": 2}},
		},
		{
			"reset shown by a 64-bit counter beside it",
			[]reading{{"a": 4294967290, "full": 1 << 40}, {"a": 4, "full": 9}},
			[]reading{{"a": 4294967290, "full": 1 << 40}, {"a": 4, "full": 9}},
		},
		{
			"a 64-bit counter that falls alone is a sum that lost a part",
			[]reading{{"a": over - 5, "full": 1100}, {"a": 1000, "full": 1100}, {"a": 2000, "full": 700}},
			[]reading{{"a": over - 5, "full": 1100}, {"a": over + 1000, "full": 1100}, {"a": over + 2000, "full": 700}},
		},
		{
			"a gauge that falls shows nothing",
			[]reading{{"a": 4294967290, "gauge": 50}, {"a": 4, "gauge": 9}},
			[]reading{{"a": 4294967290, "gauge": 50}, {"a": over + 4, "gauge": 9}},
		},
		{
			"two wraps at once, and nothing else to judge by, are taken for a reset",
			[]reading{{"a": 4294967290, "b": 4294967000}, {"a": 4, "b": 2}},
			[]reading{{"a": 4294967290, "b": 4294967000}, {"a": 4, "b": 2}},
		},
		{
			"two wraps at once while a third goes on",
			[]reading{{"a": 4294967290, "b": 4294967000, "c": over - 5}, {"a": 4294967291, "b": 4294967001, "c": 5}, {"a": 4, "b": 2, "c": 3000000000}},
			[]reading{{"a": 4294967290, "b": 4294967000, "c": over - 5}, {"a": 4294967291, "b": 4294967001, "c": over + 5}, {"a": over + 4, "b": over + 2, "c": over + 3000000000}},
		},
		{
			"one falls by itself",
			[]reading{{"a": 1000, "b": 500}, {"a": 3, "b": 501}},
			[]reading{{"a": 1000, "b": 500}, {"a": 3, "b": 501}},
		},
		{
			"one wraps, the other stands",
			[]reading{{"a": 4294967290, "b": 1000}, {"a": 4, "b": 1000}},
			[]reading{{"a": 4294967290, "b": 1000}, {"a": over + 4, "b": 1000}},
		},
		{
			"wider than thought",
			[]reading{{"a": max32}, {"a": over + 5}, {"a": over + 9}},
			[]reading{{"a": max32}, {"a": over + 5}, {"a": over + 9}},
		},
		{
			"back from above 32 bits is a reset",
			[]reading{{"a": over + 4000000000}, {"a": 100}},
			[]reading{{"a": over + 4000000000}, {"a": 100}},
		},
		{
			"a wrap while one reading failed",
			[]reading{{"a": 4294967290, "b": 7}, {"b": 8}, {"a": 4, "b": 9}},
			[]reading{{"a": 4294967290, "b": 7}, {"b": 8}, {"a": over + 4, "b": 9}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			counters := map[string]*counter{}
			gauge := &catalog.Metric{Name: "rdma_gauge", Type: catalog.Gauge, Scope: catalog.Port}
			m := newMemory(1, time.Unix(0, 0))
			var all cells
			for _, name := range []string{"a", "b", "c", "full", "gauge"} {
				s := series(counterMetric("rdma_"+name+"_total"), "nic0", "1")
				if name == "gauge" {
					s = series(gauge, "nic0", "1")
				}
				counters[name] = &counter{outs: []output{{all.of(s), catalog.Events}}}
				if len(name) == 1 {
					counters[name].wrapped = m.wrapped(name)
				}
			}
			for i, raw := range c.raw {
				all.clear()
				var together fall
				for name, counter := range counters {
					counter.miss()
					if value, ok := raw[name]; ok {
						counter.got(value)
					}
					counter.judge(&together)
				}
				for name, counter := range counters {
					counter.book(together.reset())
					cell := counter.outs[0].cell
					if want, ok := c.want[i][name]; ok && (cell.parts != 1 || cell.sum != float64(want)) {
						t.Errorf("reading %d: %s is %v of %d parts, want %d", i, name, cell.sum, cell.parts, want)
					} else if !ok && cell.parts != 0 {
						t.Errorf("reading %d: %s is %v, want none", i, name, cell.sum)
					}
				}
			}
		})
	}
}
