package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// alertMetrics are the metrics of the daemon about itself and its alerts.
type alertMetrics struct {
	d *daemon

	evaluations, failures, duration, last, series *prometheus.Desc
	alerts, firing                                *prometheus.Desc
	sent, failed, dropped, waiting                *prometheus.Desc
}

func newAlertMetrics(d *daemon) *alertMetrics {
	desc := prometheus.NewDesc
	return &alertMetrics{
		d:           d,
		evaluations: desc("rdmawatch_rule_evaluations_total", "Evaluations of rules.", nil, nil),
		failures:    desc("rdmawatch_rule_evaluation_failures_total", "Evaluations of rules that failed.", nil, nil),
		duration:    desc("rdmawatch_rule_evaluation_duration_seconds", "How long the last evaluation of all rules took.", nil, nil),
		last:        desc("rdmawatch_rule_evaluation_last_timestamp_seconds", "When all rules were last evaluated.", nil, nil),
		series:      desc("rdmawatch_rule_series", "Series kept in memory because a rule names them.", nil, nil),
		alerts:      desc("rdmawatch_alerts", "Alerts by state.", []string{"state"}, nil),
		firing:      desc("rdma_alert_firing", "1 for every alert that fires on this node.", []string{"alertname", "severity", "device", "port"}, nil),
		sent:        desc("rdmawatch_notifications_sent_total", "Notices of alerts that a receiver took.", []string{"receiver"}, nil),
		failed:      desc("rdmawatch_notifications_failed_total", "Notices of alerts that a receiver did not take; they are tried again.", []string{"receiver"}, nil),
		dropped:     desc("rdmawatch_notifications_dropped_total", "Notices of alerts given up: refused, or pushed out of a full queue.", []string{"receiver"}, nil),
		waiting:     desc("rdmawatch_notifications_waiting", "Notices of alerts that wait for a receiver.", []string{"receiver"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *alertMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		m.evaluations, m.failures, m.duration, m.last, m.series, m.alerts, m.firing, m.sent, m.failed, m.dropped, m.waiting,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *alertMetrics) Collect(ch chan<- prometheus.Metric) {
	counter := func(d *prometheus.Desc, v uint64, values ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), values...)
	}
	gauge := func(d *prometheus.Desc, v float64, values ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, values...)
	}
	stats := m.d.engine.Stats()
	counter(m.evaluations, stats.Evaluations)
	counter(m.failures, stats.Failures)
	gauge(m.series, float64(stats.Series))
	if stats.Rounds > 0 {
		gauge(m.duration, stats.LastDuration.Seconds())
		gauge(m.last, float64(stats.LastRound.UnixMilli())/1e3)
	}
	m.collectAlerts(gauge)
	for _, box := range m.d.mailboxes {
		c := box.Counts()
		counter(m.sent, c.Sent, box.Name())
		counter(m.failed, c.Failed, box.Name())
		counter(m.dropped, c.Dropped, box.Name())
		gauge(m.waiting, float64(c.Waiting), box.Name())
	}
}

// collectAlerts counts the alerts. Several alerts of a rule may share device
// and port (two priorities, say): they are one series here.
func (m *alertMetrics) collectAlerts(gauge func(*prometheus.Desc, float64, ...string)) {
	count := map[engine.State]int{engine.Pending: 0, engine.Firing: 0, engine.Resolved: 0}
	seen := map[[4]string]bool{}
	for _, a := range m.d.engine.Alerts() {
		count[a.State]++
		key := [4]string{a.Name(), a.Labels.Get("severity"), a.Labels.Get("device"), a.Labels.Get("port")}
		if a.State == engine.Firing && !seen[key] {
			seen[key] = true
			gauge(m.firing, 1, key[:]...)
		}
	}
	for state, n := range count {
		gauge(m.alerts, float64(n), string(state))
	}
}
