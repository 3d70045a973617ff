package diagnose

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		report Report
		want   string // in the error; "" for none
	}{
		{"as it should be", Report{WindowSeconds: 10, Findings: []Finding{{Alert: "A", State: "pending"}}}, ""},
		{"a window of ages", Report{WindowSeconds: 1e300}, "window"},
		{"a window backwards", Report{WindowSeconds: -1}, "window"},
		{"a window of no number", Report{WindowSeconds: math.NaN()}, "window"},
		{"a state of no kind", Report{Findings: []Finding{{Alert: "A", State: "firing "}}}, `state "firing "`},
		{"a finding without a name", Report{Findings: []Finding{{State: "firing"}}}, "finding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.report.Time = time.Unix(1_700_000_000, 0)
			if err := c.report.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if err := new(Report).Check(); err == nil {
		t.Error("a report without a time passes")
	}
}

// A severity of a site's own scale is not nothing.
func TestWorstOfOwnScale(t *testing.T) {
	r := Report{Findings: []Finding{{Severity: "page", State: firing}, {Severity: Info, State: firing}}}
	if got := r.Worst(); got != Warning {
		t.Errorf("worst %q", got)
	}
}

// What another program sent reaches the terminal without what moves its cursor,
// and lacks no field that is needed.
func TestWriteOfStrangers(t *testing.T) {
	rate := 1.0
	r := Report{Version: Version, Time: time.Unix(1_700_000_000, 0), WindowSeconds: 10,
		Ports: []Port{{Device: "a\x1b[2J", Port: "1\x07", Netdev: "b\x1b", State: "c\x1b", PCIe: &PCIe{Text: "d\x1b]0;x\x07"}, Worst: &Worst{Severity: "e\x1b[2J", Alert: "f\x1b"}}},
		Findings: []Finding{{
			Alert: "g\x1b", Severity: "h\x1b", State: firing, Verdict: "i\x1b\u009b", Explanation: "j\u202e",
			Evidence: []Evidence{{Metric: "k\x1b", Counter: true, RatePerSecond: &rate, Labels: map[string]string{"l\x1b": "m\x1b"}}},
		}},
	}
	for _, width := range []int{40, 100} {
		var b bytes.Buffer
		if err := r.Write(&b, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexAny(b.String(), "\x1b\x07\u009b\u202e"); i >= 0 {
			t.Errorf("width %d: a control character reaches the terminal: %q", width, b.String()[max(0, i-30):i+5])
		}
	}
}
