package collector

import (
	"bytes"
	"math"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// The kept page says what the encoder would, also after the values have
// changed, whatever is in a label.
func TestPageSaysWhatTheEncoderSays(t *testing.T) {
	openMetrics, err := expfmt.NewOpenMetricsFormat(expfmt.OpenMetricsVersion_1_0_0)
	if err != nil {
		t.Fatal(err)
	}
	counter, gauge, untyped := catalog.CollectorReads, catalog.DeviceStalled, catalog.Metric{Name: "rdma_x", Type: catalog.Untyped, Scope: catalog.Device, Help: "X."}
	s := &node.Snapshot{Samples: []node.Sample{
		{Series: series(&counter, "a0", "a b 7\n"), Value: 1},
		{Series: series(&counter, "a1", `"} 8`), Value: 2},
		{Series: series(&gauge, `\ # HELP`), Value: 3},
		{Series: series(&untyped, ""), Value: 4},
	}}
	f := &families{}
	for _, values := range [][]float64{
		{0, 1, -1, 2.5}, {1 << 53, 1<<53 - 1, -1 << 53, 1e300}, {math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}, {1e-9, 123456789, 0.1, 1e21},
	} {
		for i := range s.Samples {
			s.Samples[i].Value = values[i]
		}
		f.fill(s)
		for _, format := range []expfmt.Format{textFormat, openMetrics} {
			got, err := f.text(format)
			if err != nil {
				t.Fatal(err)
			}
			if want := plain(encoded(t, f.list, format)); plain(string(got)) != want {
				t.Errorf("%s:\n%s\nwant\n%s", format, got, want)
			}
		}
	}
}

var textFormat = expfmt.NewFormat(expfmt.TypeTextPlain)

func encoded(t *testing.T, list []*dto.MetricFamily, format expfmt.Format) string {
	t.Helper()
	var b bytes.Buffer
	encoder := expfmt.NewEncoder(&b, format)
	for _, family := range list {
		if err := encoder.Encode(family); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// plain writes whole numbers as the page does: the encoder has 1.0 in
// OpenMetrics and 1.23456789e+08 in both.
func plain(text string) string {
	for _, number := range [][2]string{
		{" 9.007199254740992e+15\n", " BIG\n"}, {" -9.007199254740992e+15\n", " -BIG\n"},
		{" 9.007199254740991e+15\n", " 9007199254740991\n"}, {" 1.23456789e+08\n", " 123456789\n"},
		{" 0.0\n", " 0\n"}, {" 1.0\n", " 1\n"}, {" -1.0\n", " -1\n"}, {" -0.0\n", " 0\n"}, {" -0\n", " 0\n"},
	} {
		text = strings.ReplaceAll(text, number[0], number[1])
	}
	return text
}

// Who asks for ever other formats makes no pages pile up.
func TestPagesAreBounded(t *testing.T) {
	f := &families{}
	f.fill(&node.Snapshot{Samples: []node.Sample{{Series: series(&catalog.Devices), Value: 1}}})
	for _, suffix := range []string{"", "; a=1", "; a=2", "; a=3", "; a=4", "; a=5"} {
		if _, err := f.text(textFormat + expfmt.Format(suffix)); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.pages) > maxFormats {
		t.Errorf("%d pages, want at most %d", len(f.pages), maxFormats)
	}
}
