package web

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ what, got, want string }{
		{"an idle port", bits(0), "0 b/s"},
		{"400G", bits(50e9), "400 Gb/s"},
		{"three digits", bits(1234567890 / 8), "1.23 Gb/s"},
		{"just below the next unit", bits(999.6e6 / 8), "1.00 Gb/s"},
		{"no number", bits(math.NaN()), "–"},
		{"a column keeps its digits", flow(9e9), "72.0 Gb/s"},
		{"one digit gets two more", flow(1e9 / 8), "1.00 Gb/s"},
		{"three digits stay", flow(50e9), "400 Gb/s"},
		{"nothing stays nothing", flow(0), "0 b/s"},
		{"no loss", share(0), "0 %"},
		{"a third", share(1.0 / 3), "33.3 %"},
		{"all", share(1), "100 %"},
		{"little", share(0.0002), "0.02 %"},
		{"too little for percent", share(12e-6), "12 ppm"},
		{"bit errors", share(3e-9), "3e-9"},
		{"a count", count(132000017), "132,000,017"},
		{"a negative count", count(-1234), "-1,234"},
		{"a small count", count(19), "19"},
		{"bytes", quantity(1.5e12, "bytes"), "1.50 TB"},
		{"packets", quantity(1e6, "packets"), "1,000,000 packets"},
		{"lanes", quantity(16, "lanes"), "16 lanes"},
		{"speed", quantity(32e9, "transfers_per_second"), "32 GT/s"},
		{"a time", quantity(0, "timestamp_seconds"), "1970-01-01 00:00:00 UTC"},
		{"pause", perSecond(0.312, "seconds"), "31.2 % of the time"},
		{"bytes a second", perSecond(1e9, "bytes"), "1 GB/s"},
		{"packets a second", perSecond(25300, "packets"), "25.3 k /s"},
		{"slow", perSecond(0.2, ""), "0.20 /s"},
		{"microseconds", seconds(153e-6), "153 µs"},
		{"milliseconds", seconds(0.0121), "12.1 ms"},
		{"hours", seconds(9241.7), "2 h 34 min"},
		{"a span of seconds", span(7 * time.Second), "7 s"},
		{"of minutes", span(3*time.Minute + 7*time.Second), "3 min 7 s"},
		{"of days", span(50 * time.Hour), "2 d 2 h"},
		{"a clock that went back", span(-time.Hour), "0 s"},
		{"today", clock(began, began.Add(time.Hour)), "02:20:00"},
		{"yesterday", clock(began, began.Add(24*time.Hour)), "2026-03-04 02:20:00"},
	} {
		if got := strings.ReplaceAll(c.got, noBreak, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// Two steps, one at half and one at full height: the middle is 15, the top 1,
// and a step is 132 * 15 s / 30 min = 1.1 wide.
func TestSpark(t *testing.T) {
	now := began.Add(30 * time.Second)
	s := newSpark([]traffic{{began, 5, 10, 1}, {began.Add(step), 10, 0, 1}}, now, 10)
	if want := "M129.8 15V8H130.9V1H132V15Z"; s.Received != want {
		t.Errorf("received %s, want %s", s.Received, want)
	}
	if want := "M129.8 15V29H130.9V15H132V15Z"; s.Transmitted != want {
		t.Errorf("transmitted %s, want %s", s.Transmitted, want)
	}
	if newSpark(nil, now, 10) != nil {
		t.Error("a picture of nothing")
	}
	// After a pause of ten minutes the line begins anew.
	broken := newSpark([]traffic{{began, 5, 5, 1}, {began.Add(10 * time.Minute), 5, 5, 1}}, began.Add(10*time.Minute+step), 10)
	if n := strings.Count(broken.Received, "M"); n != 2 {
		t.Errorf("%d pieces in %s", n, broken.Received)
	}
}

// Ports of one rate have one scale, whoever carries most.
func TestTops(t *testing.T) {
	a, b, c := portKey{"a", "1"}, portKey{"b", "1"}, portKey{"c", "1"}
	past := map[portKey][]traffic{a: {{began, 7, 3, 1}}, b: {{began, 1, 11, 1}}, c: {{began, 2, 0, 1}}}
	top := tops(past, map[portKey]float64{a: 400, b: 400, c: 100})
	if top[a] != 11 || top[b] != 11 || top[c] != 2 {
		t.Errorf("tops %v", top)
	}
}
