package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// modelDevice is the NIC of the demo that nothing happens to. All NICs of the
// fleet are like it.
const modelDevice = "mlx5_0"

// line is a sample of the page, or a comment.
type line struct {
	series string // with its labels; of a comment all of it
	name   string
	value  float64
	rate   float64 // a second; 0: the value stays
	whole  bool    // counts things: without a fraction
}

// model is the page of a node in lines, and how fast each of them grows.
type model []line

// newModel compares two readings of the same page, some time apart. What grows
// with time is a counter or the time of something that happens again and again.
func newModel(before, after string, apart time.Duration) (model, error) {
	early, _, err := parse(before)
	if err != nil {
		return nil, err
	}
	was := map[string]float64{}
	for _, l := range early {
		was[l.series] = l.value
	}
	m, types, err := parse(after)
	if err != nil {
		return nil, err
	}
	for i := range m {
		l := &m[i]
		grows := types[l.name] == "counter" || strings.HasSuffix(l.name, "_last_timestamp_seconds")
		if v, known := was[l.series]; known && grows && l.value > v {
			l.rate = (l.value - v) / apart.Seconds()
		}
		l.whole = l.value == math.Trunc(l.value)
	}
	return m.widen()
}

func parse(text string) (model, map[string]string, error) {
	var m model
	types := map[string]string{}
	for s := range strings.Lines(text) {
		s = strings.TrimSuffix(s, "\n")
		if strings.HasPrefix(s, "#") {
			if f := strings.Fields(s); len(f) == 4 && f[1] == "TYPE" {
				types[f[2]] = f[3]
			}
			m = append(m, line{series: s})
			continue
		}
		space := strings.LastIndexByte(s, ' ')
		if space < 0 {
			return nil, nil, fmt.Errorf("no value in %q", s)
		}
		v, err := strconv.ParseFloat(s[space+1:], 64)
		if err != nil {
			return nil, nil, fmt.Errorf("%q: %w", s, err)
		}
		name, _, _ := strings.Cut(s[:space], "{")
		m = append(m, line{series: s[:space], name: name, value: v})
	}
	return m, types, nil
}

// nics of a node.
const nics = 8

// widen gives the node eight NICs like the model's. Those of the demo that have
// faults are left out.
func (m model) widen() (model, error) {
	var wide model
	found := false
	for _, l := range m {
		switch {
		case strings.Contains(l.series, `device="`+modelDevice+`"`):
			found = true
			for n := range nics {
				c := l
				c.series = strings.NewReplacer(modelDevice, fmt.Sprintf("mlx5_%d", n), "enp22s0np0", fmt.Sprintf("enp%ds0np0", 22+16*n),
					"0000:16:", fmt.Sprintf("0000:%02x:", 22+16*n), "0000:15:", fmt.Sprintf("0000:%02x:", 21+16*n)).Replace(l.series)
				wide = append(wide, c)
			}
		case !strings.Contains(l.series, `device="mlx5_`):
			wide = append(wide, l)
		}
	}
	if !found {
		return nil, errors.New("the demo has no " + modelDevice)
	}
	return wide, nil
}

// write appends the page of a node that has run for a while.
func (m model) write(b []byte, n node, age time.Duration) []byte {
	for _, l := range m {
		if l.name == "" {
			b = append(append(b, l.series...), '\n')
			continue
		}
		series, v := n.change(l, age)
		b = append(append(b, series...), ' ')
		b = append(strconv.AppendFloat(b, v, 'g', -1, 64), '\n')
	}
	return b
}
