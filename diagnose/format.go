package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text is evidence in one line. Labels that the finding names already are left
// out.
func (e *Evidence) text(device, port string) string {
	var b strings.Builder
	b.WriteString(e.Metric)
	for _, name := range sortedKeys(e.Labels) {
		if value := e.Labels[name]; value != "" && (name != "device" || value != device) && (name != "port" || value != port) {
			fmt.Fprintf(&b, " %s=%s", name, value)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.amount())
	return b.String()
}

// brief is the series without what all have in common, and its value.
func (e *Evidence) brief() string {
	name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(e.Metric, "rdma_"), "port_"), "_total")
	for _, label := range sortedKeys(e.Labels) {
		if value := e.Labels[label]; value != "" && label != "device" && label != "port" && label != "pci" {
			name += " " + value
		}
	}
	if e.Limit != nil {
		return name + " " + grouped(e.Value) + " (its limit)"
	}
	return name + " " + grouped(e.Value)
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// amount is the value in words: of a counter how fast it moves and how much
// there is in all.
func (e *Evidence) amount() string {
	switch {
	case e.Limit != nil:
		return fmt.Sprintf("stuck at its limit of %s; that it stands still proves nothing", grouped(*e.Limit))
	case !e.Counter:
		return quantity(e.Value, e.Unit)
	case e.RatePerSecond == nil || e.Increase == nil:
		return quantity(e.Value, e.Unit) + " in all"
	case *e.Increase == 0:
		return "unchanged at " + quantity(e.Value, e.Unit)
	case e.Unit == "seconds":
		return fmt.Sprintf("%s of the time, %s in all", percent(*e.RatePerSecond), quantity(e.Value, e.Unit))
	}
	return fmt.Sprintf("%s, %s in all", perSecond(*e.RatePerSecond, e.Unit), quantity(e.Value, e.Unit))
}

// quantity is a value with its unit.
func quantity(v float64, unit string) string {
	switch unit {
	case "ratio":
		return percent(v)
	case "bytes_per_second":
		return si(v*8, "b/s")
	case "transfers_per_second":
		return si(v, "T/s")
	case "bytes":
		return si(v, "B")
	case "timestamp_seconds":
		return time.Unix(int64(v), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	case "":
		return grouped(v)
	}
	return grouped(v) + " " + unit
}

// grouped is a number with its thousands apart: 36,071.
func grouped(v float64) string {
	if v != math.Trunc(v) || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if v < 0 {
		return "-" + digits
	}
	return digits
}

// si is a number to three digits with its unit, and a prefix of the SI before
// that: "1.25 Gb/s".
func si(v float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P"}
	i := 0
	for math.Abs(v) >= 999.5 && i < len(prefixes)-1 {
		v, i = v/1000, i+1
	}
	if prefixes[i] == "" && unit[0] == '/' {
		return threeDigits(v) + unit
	}
	return threeDigits(v) + " " + prefixes[i] + unit
}

// perSecond is the rate of a counter.
func perSecond(rate float64, unit string) string {
	switch {
	case unit == "bytes":
		return si(rate, "B/s")
	case rate < 1:
		return threeDigits(rate*60) + " a minute"
	}
	return si(rate, "/s")
}

func percent(v float64) string { return threeDigits(v*100) + " %" }

// threeDigits rounds to what can be compared at a glance.
func threeDigits(v float64) string {
	decimals := 2
	switch a := math.Abs(v); {
	case a == 0 || a >= 100:
		decimals = 0
	case a >= 10:
		decimals = 1
	case a < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
