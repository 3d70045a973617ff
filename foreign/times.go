package foreign

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultApart is the time between two readings that nothing tells.
const DefaultApart = time.Minute

// setTimes sets the times of the readings, and says what follows from gaps.
func (e *Evidence) setTimes(line *timeline, inputs []Input, o Options, n int) {
	e.findTimes(line, inputs, o, n)
	for i := range e.Times[1:] {
		if e.Times[i+1].Sub(e.Times[i]) > 2*fillStep {
			e.Assumed = append(e.Assumed, evenly)
			return
		}
	}
}

// findTimes finds when the readings were made: from the names of the files,
// else from when they were written, else at intervals that are assumed.
func (e *Evidence) findTimes(line *timeline, inputs []Input, o Options, n int) {
	if o.Apart <= 0 {
		o.Apart = DefaultApart
	}
	inputOf := make([]map[int]bool, n) // inputs by reading
	readingsOf := map[int]map[int]bool{}
	for i := range inputOf {
		inputOf[i] = map[int]bool{}
	}
	for _, p := range line.pieces {
		inputOf[p.reading][p.input] = true
		if readingsOf[p.input] == nil {
			readingsOf[p.input] = map[int]bool{}
		}
		readingsOf[p.input][p.reading] = true
	}
	for _, source := range []func(*Input) time.Time{
		func(in *Input) time.Time { return timeOfName(in.Name) },
		func(in *Input) time.Time { return in.Time },
	} {
		if times := tell(inputs, inputOf, readingsOf, source); times != nil {
			e.Times = times
			return
		}
	}
	last := tellOne(inputs)
	if last.IsZero() {
		last = o.Now
	}
	for i := range n {
		e.Times = append(e.Times, last.Add(-o.Apart*time.Duration(n-1-i)))
	}
	if n == 1 {
		return
	}
	e.Assumed = append(e.Assumed, fmt.Sprintf(
		"nothing tells how much time lies between the %d readings; %g s are assumed, and every rate is as right as that", n, o.Apart.Seconds()))
}

// tell returns the times of the readings if a source knows them all and they
// follow each other.
func tell(inputs []Input, inputOf []map[int]bool, readingsOf map[int]map[int]bool, source func(*Input) time.Time) []time.Time {
	var times []time.Time
	for i, of := range inputOf {
		var at time.Time
		for input := range of {
			if t := source(&inputs[input]); len(readingsOf[input]) == 1 && !t.IsZero() && (at.IsZero() || t.Before(at)) {
				at = t
			}
		}
		if at.IsZero() || i > 0 && at.Sub(times[i-1]) < time.Second {
			return nil
		}
		times = append(times, at)
	}
	return times
}

// tellOne finds the time of the last reading, or one near to it.
func tellOne(inputs []Input) time.Time {
	for i := range slices.Backward(inputs) {
		if t := timeOfName(inputs[i].Name); !t.IsZero() {
			return t
		}
	}
	for i := range slices.Backward(inputs) {
		if t := inputs[i].Time; !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

var (
	stampName = regexp.MustCompile(`(20\d\d)-?([01]\d)-?([0-3]\d)[T_. -]?([0-2]\d)[:h_-]?([0-5]\d)(?:[:m_-]?([0-5]\d))?`)
	epochName = regexp.MustCompile(`(?:^|\D)(1[5-9]\d{8}|2\d{9})(?:\D|$)`)
)

// timeOfName reads a time in the path of a file, in the last part that has one:
// 20240501-101500, 2024-05-01T10:15:00, or seconds since 1970.
func timeOfName(name string) time.Time {
	for _, part := range slices.Backward(strings.Split(name, "/")) {
		if t := timeOfPart(part); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

func timeOfPart(name string) time.Time {
	if m := stampName.FindStringSubmatch(name); m != nil {
		if m[6] == "" {
			m[6] = "00"
		}
		if t, err := time.Parse("20060102150405", strings.Join(m[1:], "")); err == nil {
			return t
		}
	}
	if m := epochName.FindStringSubmatch(name); m != nil {
		if seconds, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			return time.Unix(seconds, 0).UTC()
		}
	}
	return time.Time{}
}
