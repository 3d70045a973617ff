package collector_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// page is what /metrics shows of a fixture.
type page []*dto.MetricFamily

// TestLaws holds what is true of every page, whatever the card.
func TestLaws(t *testing.T) {
	pages := map[string]page{}
	for _, fixture := range fixtures.Nodes() {
		pages[fixture] = expose(t, fixture).gather(t)
	}
	for name, law := range map[string]func(*testing.T, page){
		"promlint":    promlintClean,
		"parses":      parses,
		"asCatalogue": asCatalogued,
		"oneOwner":    sharedCountersHaveOneOwner,
	} {
		for fixture, page := range pages {
			t.Run(name+"/"+fixture, func(t *testing.T) { law(t, page) })
		}
	}
	t.Run("share", func(t *testing.T) { unmappedShare(t, pages) })
	t.Run("everyMetric", func(t *testing.T) { everyMetricOccurs(t, pages) })
}

// Forward error correction works on bits, and a bit error ratio is per bit:
// there promlint's wish for bytes is not heeded. It judges by names and help,
// so one series of each metric is enough.
func promlintClean(t *testing.T, page page) {
	var first []*dto.MetricFamily
	for _, f := range page {
		first = append(first, &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type, Metric: f.Metric[:1]})
	}
	problems, err := promlint.New(bytes.NewReader(encode(t, first, textFormat))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.Contains(p.Metric, "_bits_") || p.Text != `use base unit "bytes" instead of "bits"` {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Prometheus' own parser has the last word on both formats, as it reads a
// scrape: it must find every series of the page, once.
func parses(t *testing.T, page page) {
	want := 0
	for _, f := range page {
		want += len(f.Metric)
	}
	openMetrics, err := expfmt.NewOpenMetricsFormat(expfmt.OpenMetricsVersion_1_0_0)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []expfmt.Format{textFormat, openMetrics} {
		if got := countSeries(t, encode(t, page, format), string(format)); got != want {
			t.Errorf("%s: %d series parsed of %d", format, got, want)
		}
	}
}

func countSeries(t *testing.T, text []byte, contentType string) int {
	t.Helper()
	parser, err := textparse.New(text, contentType, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for {
		entry, err := parser.Next()
		switch {
		case errors.Is(err, io.EOF):
			return len(seen)
		case err != nil:
			t.Fatalf("%s: %v", contentType, err)
		case entry != textparse.EntrySeries:
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		if key := series.String(); seen[key] {
			t.Errorf("%s: %s is there twice", contentType, key)
		} else {
			seen[key] = true
		}
	}
}

// A metric has the type, the help and the labels that the catalogue gives it,
// on every driver: joins and recording rules can rely on them.
func asCatalogued(t *testing.T, page page) {
	known := map[string]*catalog.Metric{}
	for _, m := range catalog.Metrics() {
		known[m.Name] = m
	}
	for _, f := range page {
		m := known[f.GetName()]
		if m == nil {
			t.Errorf("%s is not in the catalogue", f.GetName())
			continue
		}
		if got := strings.ToLower(f.GetType().String()); got != m.Type.String() || f.GetHelp() != m.Help {
			t.Errorf("%s: %s, %q", m.Name, got, f.GetHelp())
		}
		for _, series := range f.Metric {
			var got []string
			for _, l := range series.Label {
				got = append(got, l.GetName())
			}
			if !slices.Equal(got, m.LabelNames()) {
				t.Errorf("%s has labels %q, want %q", m.Name, got, m.LabelNames())
				break
			}
		}
	}
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// What is counted at the physical port or at the PCIe link is shown by its
// owner alone: a sum over a node counts it once.
func sharedCountersHaveOneOwner(t *testing.T, page page) {
	physical := map[string]bool{}
	for _, m := range catalog.Metrics() {
		physical[m.Name] = m.Physical
	}
	guests := map[string]string{} // kind by device and port
	for _, f := range page {
		for _, m := range f.Metric {
			if kind := label(m, "kind"); f.GetName() == "rdma_port_info" && slices.Contains([]string{"vf", "sf", "representor", "plane"}, kind) {
				guests[label(m, "device")+"/"+label(m, "port")] = kind
			}
		}
	}
	for _, f := range page {
		for _, m := range f.Metric {
			if kind := guests[label(m, "device")+"/"+label(m, "port")]; kind != "" && physical[f.GetName()] {
				t.Errorf("%s of a %s: %v", f.GetName(), kind, m.Label)
			}
		}
	}
}

// share bounds how much of a page is series without a row of the catalogue
// (rdma_hw_counter, rdma_port_counter), in percent. Where nothing is listed,
// there are none. All are on purpose: the driver's page says why.
var share = map[string]float64{
	"bad-everything":              2,
	"cx3-mlx4-3.10":               1,
	"hfi1-opa-4.18":               80, // several hundred registers of the chip
	"hns-kunpeng-6.6":             7,
	"mana-azure-6.14":             1,
	"pollara-ionic-6.14":          2,
	"rxe-debian12-6.1":            1,
	"thor2-bnxt_re-upstream-6.12": 1.5,
	"thor2-bnxt_re-vendor-5.14":   1,
}

// The card of the README must be covered well.
const (
	shown        = "cx6dx-mlx5-roce-5.15"
	shownSeries  = 150 // per port, at least
	shownPercent = 15  // unmapped, at most
)

func unmappedShare(t *testing.T, pages map[string]page) {
	for _, fixture := range slices.Sorted(maps.Keys(pages)) {
		total, unmapped, byPort := 0, 0, map[string]int{}
		for _, f := range pages[fixture] {
			total += len(f.Metric)
			if f.GetName() == "rdma_hw_counter" || f.GetName() == "rdma_port_counter" {
				unmapped += len(f.Metric)
			}
			for _, m := range f.Metric {
				if port := label(m, "port"); port != "" {
					byPort[label(m, "device")+"/"+port]++
				}
			}
		}
		percent := 100 * float64(unmapped) / float64(total)
		t.Logf("%s: %d series, %d (%.1f %%) unmapped; by port: %v", fixture, total, unmapped, percent, byPort)
		if percent > share[fixture] {
			t.Errorf("%s: %.1f %% unmapped, expected at most %v %%", fixture, percent, share[fixture])
		}
		if fixture != shown {
			continue
		}
		if percent > shownPercent {
			t.Errorf("%s: %.1f %% unmapped, want at most %d %%", fixture, percent, shownPercent)
		}
		for port, series := range byPort {
			if series < shownSeries {
				t.Errorf("%s: %s has %d series, want at least %d", fixture, port, series, shownSeries)
			}
		}
	}
}

// metricsNowhere are the metrics that no page has, and why.
var metricsNowhere = map[string]string{
	"rdma_collector_duration_seconds":                "differs from run to run, so the pages here are without it",
	"rdma_collection_duration_seconds":               "differs from run to run, so the pages here are without it",
	"rdma_ethtool_counter":                           "only with --collector.ethtool.raw-include",
	"rdma_port_operation_counters_unchanged_seconds": "only once the counters have moved, which those of a fixture do not",
	"rdma_ena_srd_packets_total":                     "an ENA interface belongs to no RDMA device",
	"rdma_ena_srd_resource_utilization_ratio":        "an ENA interface belongs to no RDMA device",
	"rdma_instance_allowance_exceeded_packets_total": "an ENA interface belongs to no RDMA device",
	"rdma_instance_trackable_connections":            "an ENA interface belongs to no RDMA device",
}

func everyMetricOccurs(t *testing.T, pages map[string]page) {
	seen := map[string]bool{} // names, and names with fixed labels
	for _, page := range pages {
		for _, f := range page {
			seen[f.GetName()] = true
			for _, m := range f.Metric {
				for _, l := range m.Label {
					seen[f.GetName()+" "+l.GetName()+"="+l.GetValue()] = true
				}
			}
		}
	}
	for _, m := range catalog.Metrics() {
		switch reason := metricsNowhere[m.Name]; {
		case !seen[m.Name] && reason == "":
			t.Errorf("%s is on no page", m.Name)
		case seen[m.Name] && reason != "":
			t.Errorf("%s is on a page, so it is no exception", m.Name)
		}
	}
	// The tables whose rows are no names of files (see TestEveryRowOccurs).
	for _, row := range slices.Concat(catalog.Netdev(), catalog.EthtoolNetlink(), catalog.DCQCN()) {
		if row.Labels != "" && !seen[row.Metric.Name+" "+row.Labels] {
			t.Errorf("%s: %s{%s} is on no page", row.Name, row.Metric.Name, row.Labels)
		}
	}
}
