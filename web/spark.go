package web

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// spark is a small picture of what a port carried: received above the line in
// the middle, transmitted below it. Time goes to the right and ends now.
type spark struct {
	Width, Height, Middle float64
	Received, Transmitted string // paths of SVG
	Label                 string // the picture in words
}

const (
	sparkWidth  = 132
	sparkHeight = 30
	sparkMiddle = sparkHeight / 2
	// gap is how long nothing may be known before the line is broken.
	gap = 4 * step
)

// newSpark draws steps so that top is as high as the picture allows. It is nil
// if there is nothing to draw.
func newSpark(steps []traffic, now time.Time, top float64) *spark {
	if len(steps) == 0 {
		return nil
	}
	received := func(t traffic) float64 { return t.received }
	transmitted := func(t traffic) float64 { return t.transmitted }
	return &spark{
		Width: sparkWidth, Height: sparkHeight, Middle: sparkMiddle,
		Received:    area(steps, now, top, -1, received),
		Transmitted: area(steps, now, top, +1, transmitted),
		Label: fmt.Sprintf("Last %s: received at most %s, sent at most %s.",
			span(kept), bits(most(steps, received)), bits(most(steps, transmitted))),
	}
}

// area is the path around what lies between the line and the values, which go
// up (-1) or down (+1). Where nothing is known there is nothing.
func area(steps []traffic, now time.Time, top, direction float64, value func(traffic) float64) string {
	var b strings.Builder
	x := func(t time.Time) float64 {
		past := now.Sub(t).Seconds() / kept.Seconds()
		return round(sparkWidth * (1 - min(1, max(0, past))))
	}
	y := func(v float64) float64 {
		if top <= 0 || v <= 0 || math.IsNaN(v) {
			return sparkMiddle
		}
		return round(sparkMiddle + direction*(sparkMiddle-1)*min(1, v/top))
	}
	for i, t := range steps {
		if i == 0 || t.at.Sub(steps[i-1].at) > gap {
			fmt.Fprintf(&b, "M%g %d", x(t.at), sparkMiddle)
		}
		end := t.at.Add(step)
		if i+1 < len(steps) && steps[i+1].at.Sub(t.at) <= gap {
			end = steps[i+1].at
		}
		fmt.Fprintf(&b, "V%gH%g", y(value(t)), x(end))
		if i+1 == len(steps) || steps[i+1].at.Sub(t.at) > gap {
			fmt.Fprintf(&b, "V%dZ", sparkMiddle)
		}
	}
	return b.String()
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

func most(steps []traffic, value func(traffic) float64) float64 {
	top := 0.0
	for _, t := range steps {
		top = max(top, value(t))
	}
	return top
}

// tops tells for every port what its picture's height stands for: the most
// that any port of the same link rate carried, so that a port that carries less
// than its siblings shows.
func tops(past map[portKey][]traffic, rates map[portKey]float64) map[portKey]float64 {
	byRate := map[float64]float64{}
	for key, steps := range past {
		for _, t := range steps {
			byRate[rates[key]] = max(byRate[rates[key]], t.received, t.transmitted)
		}
	}
	top := make(map[portKey]float64, len(past))
	for key := range past {
		top[key] = byRate[rates[key]]
	}
	return top
}
