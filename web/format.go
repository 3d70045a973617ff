package web

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// noBreak keeps a number and its unit in one line.
const noBreak = "\u00a0"

// absent stands for what is not known. It is not zero.
const absent = "–"

// bits writes bytes per second as people speak of links: 400 Gb/s.
func bits(bytesPerSecond float64) string {
	return scaled(8*bytesPerSecond, 1000, []string{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"})
}

// flow is bits for numbers below each other that change: always three digits
// that count.
func flow(bytesPerSecond float64) string {
	text := bits(bytesPerSecond)
	number, unit, ok := strings.Cut(text, noBreak)
	if !ok || number == "0" || unit == "b/s" {
		return text
	}
	switch whole, _, fraction := strings.Cut(number, "."); {
	case !fraction && len(whole) < 3:
		number = whole + "." + "000"[:3-len(whole)]
	case fraction:
		number += "000"[:max(0, 4-len(number))]
	}
	return number + noBreak + unit
}

// scaled writes a number with three digits that count, in the unit in which it
// is at least 1.
func scaled(v, base float64, units []string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return absent
	}
	unit := 0
	for math.Abs(v) >= base && unit < len(units)-1 {
		v /= base
		unit++
	}
	if math.Abs(v) >= base-0.5 && unit < len(units)-1 { // 999.9 would be written 1000
		v /= base
		unit++
	}
	text := digits(v)
	if units[unit] != "" {
		text += noBreak + units[unit]
	}
	return text
}

// digits writes three digits that count, and no zeros behind them.
func digits(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1000 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	places := 2
	switch a := math.Abs(v); {
	case a >= 99.95:
		places = 0
	case a >= 9.995:
		places = 1
	case a < 0.01:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// share writes a ratio in percent; what is too little for that in parts per
// million or, below, as a power of ten.
func share(ratio float64) string {
	switch a := math.Abs(ratio); {
	case math.IsNaN(ratio) || math.IsInf(ratio, 0):
		return absent
	case a == 0:
		return "0" + noBreak + "%"
	case a < 0.5e-6:
		return strings.Replace(strconv.FormatFloat(ratio, 'e', 0, 64), "e-0", "e-", 1)
	case a < 0.0001:
		return digits(ratio*1e6) + noBreak + "ppm"
	}
	return digits(ratio*100) + noBreak + "%"
}

// quantity writes a value with its unit, as the catalogue names units.
func quantity(v float64, unit string) string {
	switch unit {
	case "bytes":
		return scaled(v, 1000, []string{"B", "kB", "MB", "GB", "TB", "PB"})
	case "bytes_per_second":
		return bits(v)
	case "transfers_per_second":
		return digits(v/1e9) + noBreak + "GT/s"
	case "ratio":
		return share(v)
	case "seconds":
		return seconds(v)
	case "timestamp_seconds":
		if math.IsNaN(v) || math.Abs(v) > 1e11 {
			return absent
		}
		return time.Unix(int64(v), 0).UTC().Format("2006-01-02 15:04:05 UTC")
	case "", "info":
		return count(v)
	}
	return count(v) + noBreak + unit
}

// perSecond writes how quickly a counter of a unit grows. Seconds a second are
// a share of time.
func perSecond(v float64, unit string) string {
	switch unit {
	case "bytes":
		return scaled(v, 1000, []string{"B/s", "kB/s", "MB/s", "GB/s"})
	case "seconds":
		return share(v) + " of the time"
	}
	return scaled(v, 1000, []string{"", "k", "M", "G"}) + noBreak + "/s"
}

// count writes whole numbers exactly, in groups of three.
func count(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return absent
	case v != math.Trunc(v):
		return digits(v)
	case math.Abs(v) >= 1e16:
		return strconv.FormatFloat(v, 'e', 3, 64)
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	var b strings.Builder
	if v < 0 {
		b.WriteByte('-')
	}
	for i, digit := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}

// seconds writes a duration that a counter or gauge has in seconds.
func seconds(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return absent
	case a == 0:
		return "0" + noBreak + "s"
	case a < 1e-3:
		return digits(v*1e6) + noBreak + "µs"
	case a < 1:
		return digits(v*1e3) + noBreak + "ms"
	case a < 120:
		return digits(v) + noBreak + "s"
	case a > 1e9:
		return count(math.Trunc(v)) + noBreak + "s"
	}
	return span(time.Duration(v * float64(time.Second)))
}

// span writes how long something has lasted, in the two units that count.
func span(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	s := int64(d / time.Second)
	pair := func(a int64, unit string, b int64, less string) string {
		if b == 0 {
			return fmt.Sprintf("%d%s%s", a, noBreak, unit)
		}
		return fmt.Sprintf("%d%s%s%s%d%s%s", a, noBreak, unit, noBreak, b, noBreak, less)
	}
	switch {
	case s < 60:
		return pair(s, "s", 0, "")
	case s < 3600:
		return pair(s/60, "min", s%60, "s")
	case s < 86400:
		return pair(s/3600, "h", s%3600/60, "min")
	}
	return pair(s/86400, "d", s%86400/3600, "h")
}

// clock writes a time of day, with the date if it is not that of now.
func clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// plural is "1 port", "2 ports".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
