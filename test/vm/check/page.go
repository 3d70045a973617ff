package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// page is what one scrape gave: values by series, written as Prometheus does.
type page struct {
	values map[string]float64
	series []model.Metric
}

// seriesOf writes a series of a metric, with its label values in order.
func seriesOf(m *catalog.Metric, values ...string) string {
	labels := model.Metric{model.MetricNameLabel: model.LabelValue(m.Name)}
	for i, name := range m.LabelNames() {
		labels[model.LabelName(name)] = model.LabelValue(values[i])
	}
	return labels.String()
}

// scrape reads a page and judges its form.
func scrape(url string) (*page, error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return nil, errors.Join(fmt.Errorf("%s: %s", answer.Status, text), err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		return nil, err
	}
	p := &page{values: map[string]float64{}}
	for _, family := range families {
		samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, []*dto.MetricFamily{family}...)
		if err != nil {
			return nil, err
		}
		for _, s := range samples {
			p.values[s.Metric.String()] = float64(s.Value)
			p.series = append(p.series, s.Metric)
		}
	}
	return p, nil
}

// text is the value of a series for a line of the report.
func (p *page) text(series string) string {
	if v, ok := p.values[series]; ok {
		return number(v)
	}
	return "absent"
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// of lists the series of a metric that have all of some labels, given as names
// and values in turn.
func (p *page) of(m *catalog.Metric, labels ...string) []model.Metric {
	var found []model.Metric
	for _, s := range p.with(labels...) {
		if string(s[model.MetricNameLabel]) == m.Name {
			found = append(found, s)
		}
	}
	return found
}

// with lists the series that have all of some labels.
func (p *page) with(labels ...string) []model.Metric {
	return slices.DeleteFunc(slices.Clone(p.series), func(s model.Metric) bool {
		for i := 0; i < len(labels); i += 2 {
			if string(s[model.LabelName(labels[i])]) != labels[i+1] {
				return true
			}
		}
		return false
	})
}
