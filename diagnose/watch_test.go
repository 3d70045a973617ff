package diagnose

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// machine gives readings, a second apart.
type machine struct {
	t      *testing.T
	now    time.Time
	series map[string]*node.Series
}

func newMachine(t *testing.T) *machine {
	return &machine{t: t, now: time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC), series: map[string]*node.Series{}}
}

// read makes a reading of "metric value value": value.
func (m *machine) read(values map[string]float64) *node.Snapshot {
	m.t.Helper()
	s := &node.Snapshot{Time: m.now, Devices: []node.Device{{Name: "mlx5_0"}, {Name: "mlx5_1"}}}
	m.now = m.now.Add(time.Second)
	for text, v := range values {
		if m.series[text] == nil {
			words := strings.Split(text, " ")
			i := slices.IndexFunc(catalog.Metrics(), func(c *catalog.Metric) bool { return c.Name == words[0] })
			if i < 0 {
				m.t.Fatalf("no metric %s", words[0])
			}
			metric := catalog.Metrics()[i]
			values := make([]string, len(metric.LabelNames())) // those not given are empty
			copy(values, words[1:])
			m.series[text] = &node.Series{Metric: metric, Values: values}
		}
		sample := node.Sample{Series: m.series[text], Value: v}
		if d := slices.IndexFunc(s.Devices, func(d node.Device) bool { return d.Name == sample.Series.Label("device") }); d >= 0 {
			s.Devices[d].Samples = append(s.Devices[d].Samples, sample)
		} else {
			s.Samples = append(s.Samples, sample)
		}
	}
	return s
}

// watch looks at readings by rules of its own.
func watch(t *testing.T, rules string, window time.Duration, readings ...map[string]float64) *Report {
	t.Helper()
	groups, err := engine.ParseRules("rules.yaml", []byte("groups: [{name: g, rules: ["+rules+"]}]"))
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWatch(WatchConfig{Node: "node", Groups: groups, Window: window})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	for _, values := range readings {
		w.Add(t.Context(), m.read(values))
	}
	r, err := w.Report(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rule(name, severity, expr string) string {
	return fmt.Sprintf("{alert: %s, for: 5m, expr: %q, labels: {severity: %s, area: transport}, annotations: {summary: 'is {{ $value }}', cause: 'Bad luck (peer).', verify: 'ls: healthy: x | sick: y'}}", name, expr, severity)
}

// Two readings, ten packets a second apart, of a rule that wants two minutes.
func TestWatchJudgesTheWindow(t *testing.T) {
	before := map[string]float64{"rdma_transmitted_packets_total mlx5_0 1": 100, "rdma_loss_events_total mlx5_0 1 ack_timeout": 7, "rdma_loss_events_total mlx5_1 1 ack_timeout": 7}
	after := map[string]float64{"rdma_transmitted_packets_total mlx5_0 1": 110, "rdma_loss_events_total mlx5_0 1 ack_timeout": 9, "rdma_loss_events_total mlx5_1 1 ack_timeout": 7}
	rules := rule("Moves", Warning, "sum by (device, port) (rate(rdma_loss_events_total[2m])) > 1") + "," +
		rule("Counts", Critical, "increase(rdma_loss_events_total[5m]) > 99") + "," +
		rule("Absent", Critical, "increase(rdma_icrc_error_packets_total[5m]) > 99") + "," +
		rule("Remembers", Critical, "rdma_device_present == 0")
	after["rdma_device_present mlx5_0 0000:41:00.0"] = 1
	r := watch(t, rules, 10*time.Second, before, after)
	if r.WindowSeconds != 1 || !r.Short || len(r.Findings) != 1 {
		t.Fatalf("window %g s, short %t, findings %v", r.WindowSeconds, r.Short, r.Findings)
	}
	f := r.Findings[0]
	if f.Alert != "Moves" || f.Verdict != "is 2" || f.Device != "mlx5_0" || f.State != "firing" || f.AsksSeconds != 300 || !slices.Equal(f.Where, []string{"peer"}) {
		t.Errorf("finding %+v", f)
	}
	want := `[{"metric":"rdma_loss_events_total","labels":{"device":"mlx5_0","kind":"ack_timeout","port":"1"},"counter":true,"value":9,"increase":2,"rate_per_second":2}]`
	if got := text(t, f.Evidence); got != want {
		t.Errorf("evidence %s\nwant %s", got, want)
	}
	want = `[{"why":"looks back farther than 1s","alerts":["Counts"]},{"why":"needs the memory of a running rdmawatch","alerts":["Remembers"]}]`
	if got := text(t, r.NotJudged); got != want {
		t.Errorf("not judged %s\nwant %s", got, want)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Of one sample there is no rate; what does not move is judged.
func TestWatchOneSample(t *testing.T) {
	r := watch(t, rule("Moves", Warning, "rate(rdma_loss_events_total[2m]) > 1")+","+rule("Stands", Warning, "rdma_loss_events_total > 1"), 0,
		map[string]float64{"rdma_loss_events_total mlx5_0 1 ack_timeout": 7})
	if len(r.Findings) != 1 || r.Findings[0].Alert != "Stands" || r.WindowSeconds != 0 {
		t.Fatalf("findings %v over %g s", r.Findings, r.WindowSeconds)
	}
	if e := r.Findings[0].Evidence[0]; e.RatePerSecond != nil || e.Increase != nil || e.Value != 7 {
		t.Errorf("evidence %+v", e)
	}
	if got, want := text(t, r.NotJudged), `[{"why":"one sample, of which there is no rate","alerts":["Moves"]}]`; got != want {
		t.Errorf("not judged %s, want %s", got, want)
	}
}

// What is over at the end of the window is not found, and nothing was seen
// before the first reading.
func TestWatchEnds(t *testing.T) {
	r := watch(t, rule("Down", Critical, "rdma_port_active == 0"), 10*time.Second,
		map[string]float64{"rdma_port_active mlx5_0 1": 0}, map[string]float64{"rdma_port_active mlx5_0 1": 1})
	if len(r.Findings) != 0 {
		t.Errorf("findings %v", r.Findings)
	}
	w, err := NewWatch(WatchConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := w.Report(t.Context(), true); r != nil || err != nil {
		t.Errorf("report %v, error %v of nothing", r, err)
	}
}

// A port that has carried data was active once; another one was not.
func TestWatchRecalls(t *testing.T) {
	r := watch(t, rule("Down", Critical, "rdma_port_ever_active == 1"), 0, map[string]float64{
		"rdma_port_ever_active mlx5_0 1": 0, "rdma_received_bytes_total mlx5_0 1": 64,
		"rdma_port_ever_active mlx5_1 1": 0, "rdma_received_bytes_total mlx5_1 1": 0,
	})
	if len(r.Findings) != 1 || r.Findings[0].Device != "mlx5_0" {
		t.Errorf("findings %v, want one on mlx5_0", r.Findings)
	}
}

func TestPorts(t *testing.T) {
	before := map[string]float64{
		"rdma_port_info mlx5_0 1 InfiniBand ib0 p0 physical  role":             1,
		"rdma_device_info mlx5_0 mlx5":                                         1,
		"rdma_port_state mlx5_0 1":                                             4,
		"rdma_port_rate_bytes_per_second mlx5_0 1":                             12.5e9,
		"rdma_received_bytes_total mlx5_0 1":                                   1000,
		"rdma_transmitted_bytes_total mlx5_0 1":                                9,
		"rdma_port_counter_saturated mlx5_0 1 symbol_error":                    1,
		"rdma_port_symbol_errors_total mlx5_0 1 pma":                           65535,
		"rdma_port_symbol_errors_total mlx5_0 1 phy":                           3,
		"rdma_pcie_aer_errors_total mlx5_0 0000:41:00.0 nic correctable RxErr": 7,
		"rdma_pcie_aer_errors_total mlx5_0 0000:41:00.0 nic fatal DLP":         11,
		"rdma_pcie_link_transfers_per_second mlx5_0 0000:41:00.0":              8e9,
		"rdma_pcie_link_width_lanes mlx5_0 0000:41:00.0":                       8,
		"rdma_pcie_link_expected_transfers_per_second mlx5_0 0000:41:00.0":     16e9,
		"rdma_pcie_link_expected_width_lanes mlx5_0 0000:41:00.0":              16,
		"rdma_pcie_path_bytes_per_second mlx5_0 0000:41:00.0 0000:40:01.0":     7.877e9,
		"rdma_port_state mlx5_0 2":                                             1,
		"rdma_port_admin_up mlx5_0 2":                                          0,
		"rdma_device_stalled mlx5_1":                                           1,
		"rdma_collector_skipped mlx5_0 ethtool permission":                     1,
		"rdma_collector_skipped mlx5_0 dcqcn unsupported":                      1,
		"rdma_collector_success mlx5_0 pcie":                                   0,
		"rdma_device_skipped mlx5_2 excluded":                                  1,
	}
	after := map[string]float64{}
	for k, v := range before {
		after[k] = v
	}
	after["rdma_received_bytes_total mlx5_0 1"] = 1500
	after["rdma_transmitted_bytes_total mlx5_0 1"] = 2 // began anew
	r := watch(t, rule("Down", Warning, "rdma_port_state == 1")+","+
		rule("Reads", Info, "rdma_port_symbol_errors_total + rdma_pcie_aer_errors_total + on () rdma_port_counter_saturated > 1"), time.Second, before, after)
	want := `[{"device":"mlx5_0","port":"1","netdev":"ib0","link_layer":"InfiniBand","driver":"mlx5","state":"active","rate_bytes_per_second":12500000000,` +
		`"pcie":{"address":"0000:41:00.0","transfers_per_second":8000000000,"lanes":8,"best_transfers_per_second":16000000000,"best_lanes":16,"text":"8 of 16 GT/s x8 of x16","path_bytes_per_second":7877000000,"slowest_hop":"0000:40:01.0"},` +
		`"received_bytes_per_second":500,"since_boot":[` +
		`{"metric":"rdma_port_symbol_errors_total","labels":{"device":"mlx5_0","kind":"pma","port":"1"},"counter":true,"value":65535,"increase":0,"rate_per_second":0,"limit":65535},` +
		`{"metric":"rdma_pcie_aer_errors_total","labels":{"device":"mlx5_0","end":"nic","error":"DLP","pci":"0000:41:00.0","severity":"fatal"},"counter":true,"value":11,"increase":0,"rate_per_second":0}]}`
	got := text(t, r.Ports)
	if !strings.HasPrefix(got, want) {
		t.Errorf("ports %s\nwant to begin with %s", got, want)
	}
	for _, part := range []string{
		`{"device":"mlx5_0","port":"2","driver":"mlx5","state":"disabled","pcie":`, `"worst":{"severity":"warning","alert":"Down"}`,
		`{"device":"mlx5_1","port":"","state":"stalled"},{"device":"mlx5_2","port":"","state":"skipped"}]`,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	for _, part := range []string{
		`{"device":"mlx5_0","collector":"ethtool","why":"no permission"}`, `{"device":"mlx5_0","collector":"pcie","why":"reading failed"}`,
		`{"device":"mlx5_1","why":"the device does not answer"}`, `{"device":"mlx5_2","why":"excluded by a flag"}`,
	} {
		if unseen := text(t, r.Unseen); !strings.Contains(unseen, part) {
			t.Errorf("no %s in %s", part, unseen)
		}
	}
	if len(r.Unseen) != 4 {
		t.Errorf("unseen %v", r.Unseen)
	}
}

// What rules recorded of a port is shown beside it.
func TestPortShares(t *testing.T) {
	record := func(name, expr string) string { return fmt.Sprintf("{record: %q, expr: %q}", name, expr) }
	rules := strings.Join([]string{
		record("port:rdma_loss:ratio_rate2m", "rdma_port_rate_bytes_per_second * 0 + 0.25"),
		record("port:rdma_pause_received:ratio_rate5m", "rdma_port_rate_bytes_per_second * 0 + 0.125"),
		record("port:rdma_pause_sent:ratio_rate5m", "rdma_port_rate_bytes_per_second * 0 + 0.5"),
		record("port:rdma_ecn_marked:ratio_rate5m", "rdma_port_rate_bytes_per_second * 0 / 0"), // no traffic: not a number
		rule("Reads", Warning, "port:rdma_loss:ratio_rate2m + port:rdma_pause_received:ratio_rate5m + port:rdma_pause_sent:ratio_rate5m + port:rdma_ecn_marked:ratio_rate5m > 1"),
	}, ",")
	r := watch(t, rules, 0, map[string]float64{"rdma_port_state mlx5_0 1": 4, "rdma_port_rate_bytes_per_second mlx5_0 1": 1})
	want := `[{"device":"mlx5_0","port":"1","state":"active","rate_bytes_per_second":1,"loss_ratio":0.25,"pause_share":0.5}]`
	if got := text(t, r.Ports); got != want {
		t.Errorf("ports %s\nwant %s", got, want)
	}
}

// Evidence is of the place of the alert, and says something.
func TestEvidence(t *testing.T) {
	before, after := map[string]float64{}, map[string]float64{}
	for i, priority := range []string{"0", "1", "2", "3", "4", "5"} {
		name := "rdma_pfc_received_pause_seconds_total mlx5_0 1 " + priority
		before[name], after[name] = 7, 7+float64(i)*0.125
	}
	before["rdma_pfc_received_pause_seconds_total mlx5_1 1 3"], after["rdma_pfc_received_pause_seconds_total mlx5_1 1 3"] = 7, 7
	for _, m := range []map[string]float64{before, after} {
		m["rdma_cnp_received_packets_total mlx5_0 1"] = 13
		m["rdma_cnp_received_packets_total mlx5_1 1"] = 17
		m["rdma_device_info mlx5_0 mlx5"] = 1
		m["rdma_port_active mlx5_0 1"] = 1
	}
	r := watch(t, rule("Paused", Warning, "max by (device, port) (rate(rdma_pfc_received_pause_seconds_total[5m])) > 0.5"+
		" and on (device) rate(rdma_cnp_received_packets_total[2m]) < 1 and on (device) rdma_device_info unless on (device) rdma_port_active == 0"), time.Second, before, after)
	if len(r.Findings) != 1 {
		t.Fatalf("findings %v", r.Findings)
	}
	var got []string
	for _, e := range r.Findings[0].Evidence {
		got = append(got, e.text("mlx5_0", "1"))
	}
	// The four priorities that were paused most, the highest first, then the
	// counter that stands still; no identity, nothing that must be absent.
	want := []string{
		"rdma_pfc_received_pause_seconds_total priority=5: 62.5 % of the time, 7.625 seconds in all",
		"rdma_pfc_received_pause_seconds_total priority=4: 50 % of the time, 7.5 seconds in all",
		"rdma_pfc_received_pause_seconds_total priority=3: 37.5 % of the time, 7.375 seconds in all",
		"rdma_pfc_received_pause_seconds_total priority=2: 25 % of the time, 7.25 seconds in all",
		"rdma_cnp_received_packets_total: unchanged at 13 packets",
	}
	if !slices.Equal(got, want) {
		t.Errorf("evidence %q\nwant %q", got, want)
	}
}

// Every counter of the table exists, and a rule that matters reads it.
func TestSpeaking(t *testing.T) {
	groups, err := bundled()
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules {
			if Rank(r.Severity()) >= Rank(Warning) {
				for _, s := range engine.Selectors(r, groups) {
					read[s.Metric] = true
				}
			}
		}
	}
	for _, s := range speaking {
		known := slices.ContainsFunc(catalog.Metrics(), func(m *catalog.Metric) bool { return m.Name == s.metric && m.Type == catalog.Counter })
		if !known || !read[s.metric] {
			t.Errorf("%s: a counter %t, read by a rule of severity warning or critical %t", s.metric, known, read[s.metric])
		}
	}
}

// An alert may have labels of its own, which no series has: then device, port
// and what the rule asks for decide.
func TestEvidenceOfALabelOfItsOwn(t *testing.T) {
	values := map[string]float64{
		"rdma_pause_storm_events_total mlx5_0 1 error":   7,
		"rdma_pause_storm_events_total mlx5_0 1 warning": 11,
		"rdma_pause_storm_events_total mlx5_1 1 error":   0.25, // more than none, less than the rule asks
	}
	r := watch(t, rule("Storm", Critical, `label_replace(sum by (device, port) (rdma_pause_storm_events_total{kind="error"}) > 0.5, "kind", "detected", "", "")`), 0, values)
	want := `[{"metric":"rdma_pause_storm_events_total","labels":{"device":"mlx5_0","kind":"error","port":"1"},"counter":true,"value":7}]`
	if got := text(t, r.Findings[0].Evidence); len(r.Findings) != 1 || got != want {
		t.Errorf("evidence %s\nwant %s", got, want)
	}
}

// Of two counters of one thing that are exported alike one may be stuck.
func TestEvidenceStuck(t *testing.T) {
	r := watch(t, rule("Symbols", Warning, `max by (device, port) (rdma_port_symbol_errors_total and on (device, port) rdma_port_counter_saturated) > 1`), 0, map[string]float64{
		"rdma_port_counter_saturated mlx5_0 1 symbol_error": 1,
		"rdma_port_counter_saturated mlx5_0 1 link_downed":  0,
		"rdma_port_symbol_errors_total mlx5_0 1 pma":        65535,
		"rdma_port_symbol_errors_total mlx5_0 1 phy":        65536,
	})
	var got []string
	for _, e := range r.Findings[0].Evidence[:2] {
		got = append(got, e.text("mlx5_0", "1"))
	}
	want := []string{
		"rdma_port_symbol_errors_total kind=phy: 65,536 in all",
		"rdma_port_symbol_errors_total kind=pma: stuck at its limit of 65,535; that it stands still proves nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("evidence %q\nwant %q", got, want)
	}
}
