package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// patient is how long a test waits for something that must happen.
const patient = time.Minute

// told is an alert as an Alertmanager or a webhook gets it.
type told struct {
	Labels      map[string]string
	Annotations map[string]string
	StartsAt    time.Time
	EndsAt      time.Time
	Status      string // of webhooks
}

func (a told) String() string {
	state := "firing"
	if a.Status != "" {
		state = a.Status
	} else if !a.EndsAt.After(time.Now()) {
		state = "resolved"
	}
	return state + " " + a.Labels["alertname"] + " " + a.Labels["device"]
}

// alertmanager takes alerts and hands them out. It answers as answer says.
type alertmanager struct {
	*httptest.Server
	got chan told

	mu     sync.Mutex
	answer int
}

func newAlertmanager(t *testing.T) *alertmanager {
	m := &alertmanager{got: make(chan told, 10_000), answer: http.StatusOK}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *alertmanager) serve(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answer != http.StatusOK {
		w.WriteHeader(m.answer)
		return
	}
	body, err := io.ReadAll(r.Body)
	var alerts []told
	if strings.HasPrefix(string(body), "{") { // a webhook's
		var message struct{ Alerts []told }
		err = json.Unmarshal(body, &message)
		alerts = message.Alerts
	} else if err == nil {
		err = json.Unmarshal(body, &alerts)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, a := range alerts {
		m.got <- a
	}
}

func (m *alertmanager) answers(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = status
}

// hears waits for an alert that is told.
func (m *alertmanager) hears(t *testing.T, want string) told {
	t.Helper()
	timeout := time.After(patient)
	for {
		select {
		case a := <-m.got:
			if a.String() == want {
				return a
			}
			t.Logf("heard %s", a)
		case <-timeout:
			t.Fatalf("did not hear %q", want)
		}
	}
}

// rest is what was heard and not asked for.
func (m *alertmanager) rest() []string {
	var all []string
	for len(m.got) > 0 {
		all = append(all, (<-m.got).String())
	}
	return all
}

// box is a directory with a node to change, a rule file and a state file.
type box struct {
	t     *testing.T
	dir   string
	rules string
	state string
}

const ownRules = `groups:
  - name: own
    rules:
      - alert: OwnDown
        expr: rdma_port_state == 1
        labels: {severity: critical}
        annotations: {summary: '{{ $labels.device }} port {{ $labels.port }} is down', runbook_url: 'http://wiki/own'}
      - alert: OwnSlow
        expr: rdma_port_state == 1
        for: 1h
        labels: {severity: warning}
`

func newBox(t *testing.T) *box {
	t.Helper()
	b := &box{t: t, dir: t.TempDir()}
	if err := os.CopyFS(filepath.Join(b.dir, "node"), os.DirFS(fixtures.Node(roce))); err != nil {
		t.Fatal(err)
	}
	b.rules, b.state = b.file("rules.yaml", ownRules), filepath.Join(b.dir, "state.json")
	return b
}

func (b *box) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// port sets the state of port 1 of mlx5_0.
func (b *box) port(state string) {
	b.file("node/sys/class/infiniband/mlx5_0/ports/1/state", state+"\n")
}

// args are those of a daemon that evaluates twenty times a second.
func (b *box) args(more ...string) []string {
	return append([]string{
		"--replay", filepath.Join(b.dir, "node"), "--collector.min-interval=0s", "--alerting.interval=50ms", "--alerting.resend=1h",
		"--alerting.instance=node-7", "--alerting.rules", b.rules,
	}, more...)
}

// alerting makes the daemon that the flags describe, without a server around
// it. The test moves it by its rounds.
func (b *box) alerting(logger log.Logger, more ...string) *daemon {
	b.t.Helper()
	d, err := b.tryAlerting(logger, more...)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *box) tryAlerting(logger log.Logger, more ...string) (*daemon, error) {
	b.t.Helper()
	app := kingpin.New("rdmawatch", "")
	f := newServeFlags(app.Command("serve", "").Default())
	if _, err := app.Parse(append([]string{"serve"}, b.args(more...)...)); err != nil {
		b.t.Fatal(err)
	}
	runner, closeRunner, err := f.runner(log.NewNopLogger())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(closeRunner)
	return f.alerting.newDaemon(runner, f.simulated(), logger)
}

// states are the own alerts of a daemon, "OwnDown=firing".
func states(d *daemon) string {
	var all []string
	for _, a := range d.engine.Alerts() {
		if strings.HasPrefix(a.Name(), "Own") {
			all = append(all, a.Name()+"="+string(a.State))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// The whole way: a file of the node changes, an Alertmanager and a webhook hear
// of it, and hear of its end.
func TestDaemonTells(t *testing.T) {
	b, am, hook := newBox(t), newAlertmanager(t), newAlertmanager(t)
	s := serve(t, b.args("--alerting.alertmanager", am.URL+"/am", "--alerting.webhook", hook.URL+"/hook",
		"--alerting.state-file", b.state, "--alerting.external-label=cluster=north", "--web.external-url=http://node-7.example:10055")...)
	b.port("1: DOWN")
	for _, receiver := range []*alertmanager{am, hook} {
		a := receiver.hears(t, "firing OwnDown mlx5_0")
		for name, want := range map[string]string{"instance": "node-7", "cluster": "north", "port": "1", "severity": "critical", "simulated": "true"} {
			if a.Labels[name] != want {
				t.Errorf("label %s is %q, want %q", name, a.Labels[name], want)
			}
		}
		if a.Annotations["summary"] != "mlx5_0 port 1 is down" {
			t.Errorf("annotations %v", a.Annotations)
		}
	}
	page := unmarked(t, s.get("/metrics"))
	for _, line := range []string{
		`rdma_alert_firing{alertname="OwnDown",device="mlx5_0",port="1",severity="critical"} 1`,
		`rdmawatch_alerts{state="firing"} 1`,
		`rdmawatch_notifications_sent_total{receiver="` + am.URL + `/am"} 1`,
		`rdmawatch_notifications_sent_total{receiver="` + webhookName(page, hook.URL) + `"} 1`,
		`rdmawatch_notifications_dropped_total{receiver="` + am.URL + `/am"} 0`,
		`rdmawatch_rule_evaluation_failures_total 0`,
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("the page lacks %s", line)
		}
	}
	b.port("4: ACTIVE")
	am.hears(t, "resolved OwnDown mlx5_0")
	hook.hears(t, "resolved OwnDown mlx5_0")
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.ended <- nil
	var saved state
	content, err := os.ReadFile(b.state)
	if err == nil {
		err = json.Unmarshal(content, &saved)
	}
	if err != nil || saved.Version != stateVersion || len(saved.Told) != 0 || len(saved.Waiting) != 0 || len(saved.Devices) == 0 {
		t.Errorf("state at the end: %v\n%s", err, content)
	}
	if left, err := filepath.Glob(b.state + "?*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// webhookName is what a page calls the webhook at an address.
func webhookName(page, address string) string {
	_, rest, _ := strings.Cut(page, `rdmawatch_notifications_sent_total{receiver="`+address+`/#`)
	sum, _, _ := strings.Cut(rest, `"`)
	return address + "/#" + sum
}

// kill copies the state file as it is at this moment: what a new daemon finds
// after SIGKILL. The old one may write on to its own.
func (b *box) kill(name string) string {
	b.t.Helper()
	content, err := os.ReadFile(b.state)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.file(name, string(content))
}

// Killed in the middle of a firing alert and started again: no resolve, no
// second page, the waiting time kept. What ended meanwhile is resolved.
func TestDaemonKilled(t *testing.T) {
	b, am, hook := newBox(t), newAlertmanager(t), newAlertmanager(t)
	receivers := []string{"--alerting.alertmanager", am.URL, "--alerting.webhook", hook.URL}
	b.port("1: DOWN")
	first := serve(t, b.args(append(receivers, "--alerting.state-file", b.state)...)...)
	am.hears(t, "firing OwnDown mlx5_0")
	hook.hears(t, "firing OwnDown mlx5_0")
	// The file says that both have been told as soon as they have.
	deadline := time.Now().Add(patient)
	var before state
	for {
		content, err := os.ReadFile(b.state)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		before = state{}
		if err == nil { // what is there is whole at any moment
			if err := json.Unmarshal(content, &before); err != nil {
				t.Fatalf("the file is not whole: %v\n%s", err, content)
			}
		}
		if len(before.Told) == 1 && len(before.Waiting) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the file still says\n%s", content)
		}
	}
	killed := b.kill("killed.json")
	first.cancel()
	<-first.ended //nolint:errcheck // how it ended is not the question here
	first.ended <- nil

	d := b.alerting(log.NewNopLogger(), append(receivers, "--alerting.state-file", killed)...)
	if got := states(d); got != "OwnDown=firing OwnSlow=pending" {
		t.Errorf("restored: %s", got)
	}
	for i, was := range before.Alerts {
		// What is pending waits for as much longer as nobody has looked.
		a := d.engine.Alerts()[i]
		if later := a.ActiveAt.After(was.ActiveAt); later != (was.State == engine.Pending) || a.ActiveAt.Before(was.ActiveAt) || !a.FiredAt.Equal(was.FiredAt) {
			t.Errorf("%s: active since %s and firing since %s, was %s and %s", a.Name(), a.ActiveAt, a.FiredAt, was.ActiveAt, was.FiredAt)
		}
	}
	for _, m := range d.mailboxes {
		go m.Run(t.Context(), d.noteSettled)
	}
	for range 3 {
		d.round(t.Context())
	}
	if got := states(d); got != "OwnDown=firing OwnSlow=pending" {
		t.Errorf("after three rounds: %s", got)
	}
	if heard := append(am.rest(), hook.rest()...); len(heard) > 0 {
		t.Errorf("told again: %v", heard)
	}

	// Away once more, and this time the port comes up meanwhile. Nobody can
	// know whether the reading is whole until a minute has passed.
	b.state = killed
	again := b.kill("again.json")
	b.port("4: ACTIVE")
	d = b.alerting(log.NewNopLogger(), append(receivers, "--alerting.state-file", again)...)
	for _, m := range d.mailboxes {
		go m.Run(t.Context(), d.noteSettled)
	}
	d.round(t.Context())
	if got := states(d); got != "OwnDown=firing OwnSlow=pending" {
		t.Errorf("right after the start: %s", got)
	}
	later := time.Now().Add(2 * time.Minute)
	d.engine.Evaluate(t.Context(), later)
	d.dispatcher.Dispatch(d.engine.Alerts(), nil, later)
	if got := states(d); got != "OwnDown=resolved" {
		t.Errorf("two minutes later: %s", got)
	}
	for _, receiver := range []*alertmanager{am, hook} {
		select {
		case a := <-receiver.got:
			if a.Labels["alertname"] != "OwnDown" || a.Status == "firing" || a.EndsAt.After(later) {
				t.Errorf("heard %+v, want the end", a)
			}
		case <-time.After(patient):
			t.Error("the end is not told")
		}
	}
}

// Killed while no receiver could be reached: they hear of it after the start.
func TestDaemonKilledBeforeItCouldTell(t *testing.T) {
	b, hook := newBox(t), newAlertmanager(t)
	hook.answers(http.StatusServiceUnavailable)
	args := []string{"--alerting.webhook", hook.URL, "--alerting.state-file"}
	b.port("1: DOWN")
	d := b.alerting(log.NewNopLogger(), append(args, b.state)...)
	d.round(t.Context())
	killed := b.kill("killed.json")
	hook.answers(http.StatusOK)
	d = b.alerting(log.NewNopLogger(), append(args, killed)...)
	d.round(t.Context())
	for _, m := range d.mailboxes {
		go m.Run(t.Context(), d.noteSettled)
	}
	hook.hears(t, "firing OwnDown mlx5_0")
	<-d.settled
	d.state.save(d, time.Now(), false)
	again := b.alerting(log.NewNopLogger(), append(args, killed)...)
	if n := len(again.mailboxes[0].Waiting()); n != 0 {
		t.Errorf("%d notices would be sent again after the next start", n)
	}
}

// A state file that is of no use is set aside and told about; the daemon runs.
func TestDamagedStateFile(t *testing.T) {
	for name, content := range map[string]string{
		"empty":                "",
		"noise":                "\x00\xff\x17",
		"cut":                  `{"version":1,"saved_at":"2026-03-01T12:00:00Z","alerts":[{"labels":{"alertname":"Own`,
		"of another time":      `{"version":99,"alerts":{}}`,
		"no version":           `{}`,
		"a list":               `[]`,
		"alerts of no form":    `{"version":1,"alerts":[{"labels":{"alertname":7}}]}`,
		"times of no form":     `{"version":1,"saved_at":"yesterday"}`,
		"devices of no form":   `{"version":1,"saved_at":"2026-03-01T12:00:00Z","devices":7}`,
		"no devices":           `{"version":1,"saved_at":"2026-03-01T12:00:00Z"}`,
		"nothing but nonsense": `{"version":1,"saved_at":"2026-03-01T12:00:00Z","alerts":[null,{}],"told":[{}],"waiting":{"x":[{}]},"devices":{"devices":{"mlx5_0":null},"inventory":{"a":null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			b.file("state.json", content)
			var lines strings.Builder
			d := b.alerting(log.NewLogfmtLogger(&lines), "--alerting.state-file", b.state)
			usable := strings.HasPrefix(content, `{"version":1,"saved_at":"2026`) && strings.HasSuffix(content, "}")
			if aside, err := os.ReadFile(b.state + ".damaged"); usable != (err != nil) || !usable && string(aside) != content {
				t.Errorf("set aside: %q, %v", aside, err)
			}
			if !usable && strings.Count(lines.String(), "state file is not usable") != 1 {
				t.Errorf("log:\n%s", &lines)
			}
			b.port("1: DOWN")
			d.round(t.Context())
			if got := states(d); got != "OwnDown=firing OwnSlow=pending" {
				t.Errorf("alerts %s", got)
			}
			var saved state
			written, err := os.ReadFile(b.state)
			if err == nil {
				err = json.Unmarshal(written, &saved)
			}
			if err != nil || len(saved.Alerts) < 2 {
				t.Errorf("the new file: %v\n%s", err, written)
			}
		})
	}
}

// A path that is no file is left alone.
func TestStateFileIsNoFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"a directory": func(path string) error { return os.Mkdir(path, 0o755) },
		"a pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t)
			if err := make(b.state); err != nil {
				t.Fatal(err)
			}
			var lines strings.Builder
			d := b.alerting(log.NewLogfmtLogger(&lines), "--alerting.state-file", b.state)
			if !strings.Contains(lines.String(), "it is not a regular file") {
				t.Errorf("log:\n%s", &lines)
			}
			if _, err := os.Lstat(b.state + ".damaged"); err == nil {
				t.Error("it was set aside")
			}
			d.round(t.Context())
		})
	}
}

// A file that cannot be written is told about once, and again after it could.
func TestUnwritableStateFile(t *testing.T) {
	b := newBox(t)
	dir := filepath.Join(b.dir, "later")
	var lines strings.Builder
	d := b.alerting(log.NewLogfmtLogger(&lines), "--alerting.state-file", filepath.Join(dir, "state.json"))
	told := func() int { return strings.Count(lines.String(), "cannot write the state file") }
	for range 3 {
		d.round(t.Context())
	}
	if told() != 1 {
		t.Errorf("told %d times, want once:\n%s", told(), &lines)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	d.round(t.Context())
	if _, err := os.Stat(filepath.Join(dir, "state.json")); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	b.port("1: DOWN")
	d.round(t.Context())
	d.round(t.Context())
	if told() != 2 {
		t.Errorf("told %d times, want twice:\n%s", told(), &lines)
	}
}

// The file is written when an alert changes, not at every evaluation.
func TestStateFileIsLeftAlone(t *testing.T) {
	b := newBox(t)
	b.file("rules.yaml", `groups: [{name: own, rules: [{alert: OwnMoves, expr: 'rdma_port_state + time() > 1', annotations: {summary: '{{ $value }}'}}]}]`)
	d := b.alerting(log.NewNopLogger(), "--alerting.state-file", b.state)
	d.round(t.Context())
	was, err := os.Stat(b.state)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d.round(t.Context())
	}
	is, err := os.Stat(b.state)
	if err != nil || !os.SameFile(was, is) {
		t.Errorf("written again though only values changed: %v", err)
	}
	b.port("1: DOWN")
	b.file("rules.yaml", ownRules)
	if err := d.reloadRules(); err != nil {
		t.Fatal(err)
	}
	d.round(t.Context())
	if is, err = os.Stat(b.state); err != nil || os.SameFile(was, is) {
		t.Errorf("not written though an alert changed: %v", err)
	}
}

// Rules are reloaded by SIGHUP and by a request. A bad file leaves the old
// rules running and is named with its line.
func TestReload(t *testing.T) {
	b, am := newBox(t), newAlertmanager(t)
	s := serve(t, b.args("--alerting.alertmanager", am.URL, "--web.enable-lifecycle")...)
	b.port("1: DOWN")
	am.hears(t, "firing OwnDown mlx5_0")

	b.file("rules.yaml", "groups:\n  - name: own\n    rules:\n      - alert: OwnDown\n        expr: rdma_port_state ==\n")
	if status, body, _ := s.request(http.MethodPost, "/-/reload"); status != http.StatusInternalServerError || !strings.Contains(body, "rules.yaml: 5:15:") || !strings.Contains(body, "the old ones stay") {
		t.Errorf("status %d: %s", status, body)
	}
	if page := unmarked(t, s.get("/metrics")); !strings.Contains(page, `rdma_alert_firing{alertname="OwnDown"`) {
		t.Error("the old rules do not stay")
	}

	b.file("rules.yaml", strings.Replace(ownRules, "OwnSlow\n        expr: rdma_port_state == 1\n        for: 1h", "OwnNew\n        expr: rdma_port_state == 1", 1))
	if status, body, _ := s.request(http.MethodPost, "/-/reload"); status != http.StatusOK || body != "rules reloaded\n" {
		t.Errorf("status %d: %s", status, body)
	}
	am.hears(t, "firing OwnNew mlx5_0")

	b.file("rules.yaml", "groups: [{name: own, rules: [{alert: OwnLast, expr: rdma_port_state == 1, labels: {severity: critical}}]}]")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	am.hears(t, "firing OwnLast mlx5_0")
	for _, heard := range am.rest() {
		if strings.HasPrefix(heard, "firing OwnDown") {
			t.Error("told again because of a reload")
		}
	}
	if status, _, _ := s.request(http.MethodGet, "/-/reload"); status == http.StatusOK {
		t.Error("a GET reloads")
	}
}

// Without the flag there is no such page; without alerting SIGHUP is nothing.
func TestReloadIsOff(t *testing.T) {
	b := newBox(t)
	for _, args := range [][]string{b.args(), b.args("--no-alerting.enabled", "--web.enable-lifecycle")} {
		s := serve(t, args...)
		if status, _, _ := s.request(http.MethodPost, "/-/reload"); status != http.StatusNotFound {
			t.Errorf("%v: status %d, want 404", args, status)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		s.get("/metrics")
		s.cancel()
		<-s.ended //nolint:errcheck // how it ended is not the question here
		s.ended <- nil
	}
}

// What the daemon says of itself follows the conventions.
func TestAlertMetricsLint(t *testing.T) {
	b, am := newBox(t), newAlertmanager(t)
	b.port("1: DOWN")
	d := b.alerting(log.NewNopLogger(), "--alerting.alertmanager", am.URL)
	d.round(t.Context())
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(newAlertMetrics(d))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	want := []string{
		"rdma_alert_firing", "rdmawatch_alerts", "rdmawatch_notifications_dropped_total", "rdmawatch_notifications_failed_total",
		"rdmawatch_notifications_sent_total", "rdmawatch_notifications_waiting", "rdmawatch_rule_evaluation_duration_seconds",
		"rdmawatch_rule_evaluation_failures_total", "rdmawatch_rule_evaluation_last_timestamp_seconds", "rdmawatch_rule_evaluations_total", "rdmawatch_rule_series",
	}
	if !slices.Equal(names, want) {
		t.Errorf("metrics %v\nwant %v", names, want)
	}
}

// Two receivers of one name would be one series twice.
func TestReceiverTwice(t *testing.T) {
	b := newBox(t)
	for _, args := range [][]string{
		{"--alerting.alertmanager=http://am:9093", "--alerting.alertmanager=http://am:9093"},
		{"--alerting.webhook=http://hook/x", "--alerting.webhook=http://hook/x"},
	} {
		if _, err := b.tryAlerting(log.NewNopLogger(), args...); err == nil || !strings.Contains(err.Error(), "two receivers are http://") {
			t.Errorf("%v: error %v", args, err)
		}
	}
}

// An evaluation that takes long holds up neither a scrape nor the end.
func TestSlowEvaluation(t *testing.T) {
	b := newBox(t)
	var slow strings.Builder
	for i := range 500 { // each a million additions
		fmt.Fprintf(&slow, "{record: 'slow%d', expr: 'sum_over_time(vector(1)[1000s:1ms])'},", i)
	}
	b.file("rules.yaml", "groups: [{name: own, rules: ["+slow.String()+"]}]")
	s := serve(t, b.args()...)
	for {
		page := unmarked(t, s.get("/metrics"))
		if !strings.Contains(page, "rdma_devices 2\n") {
			t.Fatal("no metrics of the node")
		}
		_, evaluations, _ := strings.Cut(page, "\nrdmawatch_rule_evaluations_total ")
		evaluations, _, _ = strings.Cut(evaluations, "\n")
		if strings.Contains(page, "rdmawatch_rule_evaluation_duration_seconds ") {
			t.Fatal("the round is over, this test is of no use")
		}
		if evaluations != "0" { // it is at it
			break
		}
	}
	begin := time.Now()
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.ended <- nil
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the end took %s", took)
	}
}

// The receivers' side of http_config: TLS with an own authority, a password, a
// token from a file that may be replaced.
func TestHTTPConfig(t *testing.T) {
	b := newBox(t)
	asked := make(chan string, 10)
	am := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	defer am.Close()
	ca := b.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: am.Certificate().Raw})))
	b.file("token", "first\n")
	b.port("1: DOWN")
	for name, c := range map[string]struct{ config, want string }{
		"a password":     {"basic_auth: {username: alice, password: hunter2}\ntls_config: {ca_file: " + ca + "}", "Basic YWxpY2U6aHVudGVyMg=="},
		"a token's file": {"authorization: {credentials_file: token}\ntls_config: {ca_file: ca.pem}", "Bearer first"},
		"nothing":        {"tls_config: {ca_file: ca.pem}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := b.alerting(log.NewNopLogger(), "--alerting.alertmanager", am.URL, "--alerting.http-config", b.file("http.yaml", c.config))
			go d.mailboxes[0].Run(t.Context(), d.noteSettled)
			d.round(t.Context())
			select {
			case got := <-asked:
				if got != c.want {
					t.Errorf("authorization %q, want %q", got, c.want)
				}
			case <-time.After(patient):
				t.Error("nothing was sent")
			}
		})
	}
	for name, config := range map[string]string{
		"no such file":              "",
		"an unknown key":            "basic_authentication: {}",
		"no YAML":                   "{",
		"two at a time":             "basic_auth: {username: a}\nauthorization: {credentials: b}",
		"an authority that is none": "tls_config: {ca_file: rules.yaml}",
	} {
		path := filepath.Join(b.dir, "missing.yaml")
		if config != "" {
			path = b.file("http.yaml", config)
		}
		if _, err := b.tryAlerting(log.NewNopLogger(), "--alerting.alertmanager", am.URL, "--alerting.http-config", path); err == nil || !strings.Contains(err.Error(), "--alerting.http-config") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// An Alertmanager that does not know the server's certificate is not told.
func TestUnknownAuthority(t *testing.T) {
	b, am := newBox(t), httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("told") }))
	am.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it complains, rightly
	am.StartTLS()
	defer am.Close()
	b.port("1: DOWN")
	lines := make(chan string, 100)
	d := b.alerting(log.LoggerFunc(func(fields ...any) error { lines <- fmt.Sprint(fields...); return nil }), "--alerting.alertmanager", am.URL, "--no-alerting.log")
	go d.mailboxes[0].Run(t.Context(), d.noteSettled)
	d.round(t.Context())
	for line := range lines {
		if strings.Contains(line, "receiver does not take alerts") && strings.Contains(line, "certificate") {
			break
		}
	}
}

// Ten thousand alerts: told, saved, read back, and the page still comes.
func TestManyAlerts(t *testing.T) {
	b := newBox(t)
	b.file("rules.yaml", "groups: [{name: own, rules: [{alert: OwnMany, expr: rdma_port_state > 99, labels: {severity: warning}}]}]")
	d := b.alerting(log.NewNopLogger(), "--alerting.state-file", b.state)
	var saved []engine.SavedAlert
	now := time.Now()
	for i := range 10_000 {
		saved = append(saved, engine.SavedAlert{
			Labels: map[string]string{"alertname": "OwnMany", "device": fmt.Sprint("d", i), "severity": "warning"}, State: engine.Firing, Value: "1",
			ActiveAt: now.Add(-time.Minute), FiredAt: now, Annotations: map[string]string{"summary": strings.Repeat("what is wrong ", 10)},
		})
	}
	d.engine.Restore(saved, now, now)
	d.round(t.Context())
	info, err := os.Stat(b.state)
	if err != nil || info.Size() > maxStateSize/2 {
		t.Fatalf("the file has %d bytes: %v", info.Size(), err)
	}
	d = b.alerting(log.NewNopLogger(), "--alerting.state-file", b.state)
	if n := len(d.engine.Alerts()); n != 10_000 {
		t.Errorf("%d alerts read back", n)
	}
	d.round(t.Context())
	if n := len(d.dispatcher.Told()); n != 10_000 {
		t.Errorf("%d told", n)
	}
}
