package collector

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// page is the text of kept families in one format. The encoder of
// prometheus/common writes it once for each set of series; from then on only
// the values between its parts are set anew, which is a tenth of the work.
type page struct {
	parts []part
	tail  []byte // after the last value
}

// part is the text up to a value, and the value.
type part struct {
	text  []byte
	value *float64
}

// newPage encodes families. Of a sample's line the value is what follows the
// last blank: there are no timestamps and no exemplars.
func newPage(families []*dto.MetricFamily, format expfmt.Format) (*page, error) {
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	var values []*float64
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return nil, fmt.Errorf("encoding %s: %w", family.GetName(), err)
		}
		for _, m := range family.Metric {
			values = append(values, valueOf(m))
		}
	}
	p := &page{parts: make([]part, 0, len(values))}
	begin := 0
	for at := 0; at < text.Len(); {
		line := text.Bytes()[at:]
		line = line[:bytes.IndexByte(line, '\n')+1]
		if line[0] != '#' {
			end := at + bytes.LastIndexByte(line, ' ') + 1
			p.parts = append(p.parts, part{text.Bytes()[begin:end:end], values[len(p.parts)]})
			begin = at + len(line) - 1
		}
		at += len(line)
	}
	p.tail = text.Bytes()[begin:]
	return p, nil
}

// valueOf is where the value of one of our metrics is.
func valueOf(m *dto.Metric) *float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.Value
	case m.Gauge != nil:
		return m.Gauge.Value
	}
	return m.Untyped.Value
}

// appendTo appends the page with the values of now.
func (p *page) appendTo(b []byte) []byte {
	for i := range p.parts {
		b = appendValue(append(b, p.parts[i].text...), *p.parts[i].value)
	}
	return append(b, p.tail...)
}

// appendValue writes a value as both text formats have it. A whole number is
// written as such: it is shorter, quicker, and can be read.
func appendValue(b []byte, v float64) []byte {
	const exact = 1 << 53
	switch {
	case v == math.Trunc(v) && math.Abs(v) < exact:
		return strconv.AppendInt(b, int64(v), 10)
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 1):
		return append(b, "+Inf"...)
	case math.IsInf(v, -1):
		return append(b, "-Inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
