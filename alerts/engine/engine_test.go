package engine

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
)

// Every series has the label instance, as a Prometheus server would add it.
func TestLabels(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_down == 1, labels: {severity: critical, where: '{{ $labels.device }}/{{ $labels.port }}'}}`)
	s.step(values{"rdma_down mlx5_0 1": 1})
	want := labels.FromStrings("alertname", "Down", "device", "mlx5_0", "instance", "node-7", "port", "1", "severity", "critical", "where", "mlx5_0/1")
	if got := s.alert().Labels; !labels.Equal(got, want) {
		t.Errorf("labels %s\nwant   %s", got, want)
	}
}

// What a rule records, rules after it see in the same round, and rules before
// it in the next, in one group as across groups.
func TestRecordingOrder(t *testing.T) {
	s := newSim(t, "")
	s.e = New(Config{Groups: parse(t, `groups:
  - name: first
    rules:
      - {alert: Before, expr: twice > 5}
      - {record: twice, expr: 2 * rdma_x}
      - {alert: After, expr: twice > 5}
  - name: second
    rules:
      - {record: thrice, expr: twice + rdma_x}
      - {alert: Later, expr: thrice > 8}
`)})
	s.step(values{"rdma_x a": 3})
	s.want("first round", "After/a=firing Later/a=firing")
	s.step(values{"rdma_x a": 3})
	s.want("second round", "After/a=firing Later/a=firing Before/a=firing")
	s.step(values{"rdma_x a": 1})
	s.want("third round", "After/a=resolved Later/a=resolved Before/a=firing")
	s.step(values{})
	s.want("nothing left", "After/a=resolved Later/a=resolved Before/a=resolved")
}

// Recorded names need no colon, one name may be recorded by two rules, and the
// history of what is recorded is kept from round to round.
func TestRecordedHistory(t *testing.T) {
	s := newSim(t, `
    {record: rdma_share, labels: {half: lower}, expr: rdma_x / 2},
    {record: rdma_share, labels: {half: upper}, expr: rdma_x},
    {alert: Sum, expr: 'sum by (half) (sum_over_time(rdma_share[50s])) > 0'}`)
	for _, v := range []float64{2, 4, 6, 8} {
		s.step(values{"rdma_x a": v})
	}
	// 45 s hold four values: 1+2+3+4 and 2+4+6+8.
	if got := s.ask(`sum by (half) (sum_over_time(rdma_share[50s]))`); !strings.Contains(got, `{half="lower"} => 10 `) || !strings.Contains(got, `{half="upper"} => 20 `) {
		t.Errorf("sums over the history:\n%s", got)
	}
	s.step(values{"rdma_x b": 1})
	if got := s.ask(`rdma_share`); strings.Contains(got, `"a"`) || strings.Count(got, `"b"`) != 2 {
		t.Errorf("after the device has been replaced:\n%s", got)
	}
}

// A device that disappears takes its values along at once, not after the time
// that a value counts as present.
func TestDeviceDisappears(t *testing.T) {
	s := newSim(t, `
    {alert: Down, expr: rdma_down == 1, keep_firing_for: 15s},
    {alert: Busy, expr: 'rate(rdma_packets_total[1m]) > 0'},
    {alert: Gone, expr: 'absent(rdma_down{device="a"})'}`)
	for i := range 4 {
		s.step(values{"rdma_down a": 1, "rdma_packets_total a": float64(100 * i)})
	}
	s.want("present", "Down/a=firing Busy/a=firing")
	s.step(values{"rdma_down b": 0})
	s.want("gone", "Down/a=firing Busy/a=firing Gone/a=firing")
	s.step(values{"rdma_down b": 0})
	s.want("kept for 15s, and a rate over points that are left", "Down/a=resolved Busy/a=firing Gone/a=firing")
	s.step(values{"rdma_down b": 0})
	s.want("one point left", "Down/a=resolved Busy/a=resolved Gone/a=firing")
	s.step(values{"rdma_down a": 0, "rdma_packets_total a": 5})
	s.want("back, with counters at zero", "Down/a=resolved Busy/a=resolved Gone/a=resolved")
}

// A series that was away longer than any rule looks back is seen again though
// the reader still has it under its old identity.
func TestSeriesReturnsAfterLong(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_down == 1}`)
	s.step(values{"rdma_down a": 1})
	for range 10 {
		s.step(values{"rdma_down b": 0})
	}
	s.want("away", "Down/a=resolved")
	s.step(values{"rdma_down a": 1})
	s.want("back", "Down/a=firing")
}

func TestRuleFailures(t *testing.T) {
	s := newSim(t, `
    {record: both, expr: 'rdma_x * on () rdma_y'},
    {record: same, expr: 'rdma_x', labels: {device: all}},
    {alert: Same, expr: 'rdma_x > 0', labels: {device: all}},
    {alert: Good, expr: 'sum(rdma_x) > 0'}`)
	two := values{"rdma_x a": 1, "rdma_x b": 1, "rdma_y a": 1, "rdma_y b": 1}
	s.step(values{"rdma_x a": 1, "rdma_y a": 1})
	s.want("all go well", "Good=firing Same/all=firing")
	s.step(two)
	s.step(two)
	for rule, want := range map[string]string{
		"both": "many-to-many matching not allowed", "same": "two results have the same labels", "Same": "two results have the same labels",
	} {
		if err := s.failure(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", rule, err, want)
		}
		if n := strings.Count(s.logged(), "rule="+rule+" "); n != 1 {
			t.Errorf("%s: %d log lines for one failure that goes on, want 1", rule, n)
		}
	}
	s.want("a rule that fails leaves its alerts, others go on", "Good=firing Same/all=firing")
	if got := s.ask(`same`); strings.Count(got, "=>") != 1 {
		t.Errorf("what had been recorded is touched by a failure:\n%s", got)
	}
	if stats := s.e.Stats(); stats.Rounds != 3 || stats.Evaluations != 12 || stats.Failures != 6 {
		t.Errorf("counted %+v", stats)
	}
	s.step(values{"rdma_x a": 1})
	if err := s.failure("Same"); err != nil {
		t.Errorf("still failing: %v", err)
	}
}

// More results than the limit are an error of the rule; the others go on.
func TestLimits(t *testing.T) {
	many := values{}
	for i := range maxResults {
		many[fmt.Sprintf("rdma_x d%05d", i)] = 1
	}
	s := newSim(t, "")
	s.e = New(Config{Groups: parse(t, `groups:
  - name: free
    rules:
      - {alert: All, expr: rdma_x > 0}
      - {alert: Double, expr: 'rdma_x > 0 or label_replace(rdma_x, "more", "1", "", "")'}
      - {record: copies, expr: 'rdma_x or label_replace(rdma_x, "more", "1", "", "")'}
      - {alert: Count, expr: 'count(rdma_x) == 10000'}
  - name: limited
    limit: 3
    rules:
      - {alert: Few, expr: 'topk(3, rdma_x)'}
      - {alert: TooMany, expr: 'topk(4, rdma_x)'}
      - {record: too_many, expr: 'topk(4, rdma_x)'}
`)})
	s.step(many)
	count := map[string]int{}
	for _, a := range s.e.Alerts() {
		count[a.Name()]++
	}
	if want := map[string]int{"All": 10_000, "Count": 1, "Few": 3}; !maps.Equal(count, want) {
		t.Errorf("alerts %v, want %v", count, want)
	}
	for rule, want := range map[string]string{
		"Double": "20000 results exceed the limit of 10000", "copies": "20000 results exceed the limit of 10000",
		"TooMany": "4 results exceed the limit of 3", "too_many": "4 results exceed the limit of 3",
	} {
		if err := s.failure(rule); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", rule, err, want)
		}
	}
}

// An expression that would take the node's memory is stopped.
func TestTooManySamples(t *testing.T) {
	s := newSim(t, `{record: wide, expr: 'max_over_time(rdma_x[1m:1s])'}, {alert: Good, expr: vector(1)}`)
	s.e.query = newQueryEngine(newParser(), 50)
	s.read(values{"rdma_x a": 1, "rdma_x b": 1})
	s.now = s.now.Add(30 * time.Second)
	s.step(values{"rdma_x a": 1, "rdma_x b": 1}) // two series at 31 seconds
	if err := s.failure("wide"); err == nil || !strings.Contains(err.Error(), "too many samples") {
		t.Errorf("error %v", err)
	}
	s.want("the next rule", "Good=firing")
}

// Expressions that have a result without any series.
func TestResultsWithoutSeries(t *testing.T) {
	for _, expr := range []string{
		"vector(1)", "absent(rdma_x)", "absent_over_time(rdma_x[5m])", "1", "2 > bool 1", "time() > bool 0", "hour() >= 0",
		"vector(time()) > 0", "vector(scalar(rdma_x)) or vector(1)", "rdma_x or vector(1)", "vector(1) unless rdma_x", "pi()",
	} {
		t.Run(expr, func(t *testing.T) {
			s := newSim(t, "{alert: Always, expr: '"+expr+"'}")
			s.step(values{})
			s.want("no series", "Always=firing")
		})
	}
}

// Rules may select by a pattern of names or by no name at all.
func TestSelectorsWithoutName(t *testing.T) {
	s := newSim(t, `
    {alert: Pattern, expr: 'sum({__name__=~"rdma_(a|b)", __name__!="rdma_b"}) > 0'},
    {alert: Quoted, expr: 'sum({"rdma_c"}) > 0'},
    {alert: Minutes, expr: 'max({__name__=~"rdma_d.*"} offset 1m) > 0'}`)
	for range 6 {
		s.step(values{"rdma_a x": 1, "rdma_b x": 1, "rdma_c x": 1, "rdma_d_total x": 1, "rdma_e x": 1})
	}
	s.want("all", "Pattern=firing Quoted=firing Minutes=firing")
	if got := s.e.Stats().Series; got != 3 {
		t.Errorf("%d series kept, want the three that are asked for", got)
	}

	s = newSim(t, `{alert: Any, expr: 'count({device="x"}) == 2'}`)
	s.step(values{"rdma_a x": 1, "rdma_b x": 1, "rdma_b y": 1})
	s.want("selected by a label only", "Any=firing")
}

// Rules may ask for the alerts of rules.
func TestAlertsAsSeries(t *testing.T) {
	s := newSim(t, `
    {alert: Down, expr: rdma_down == 1, for: 15s},
    {alert: Follows, expr: 'ALERTS{alertname="Down", alertstate="firing"}'}`)
	s.step(values{"rdma_down a": 1})
	s.want("pending", "Down/a=pending")
	s.step(values{"rdma_down a": 1})
	s.want("firing", "Down/a=firing Follows/a=firing")
	s.step(values{"rdma_down a": 0})
	s.want("over", "Down/a=resolved Follows/a=resolved")
}

func TestTemplates(t *testing.T) {
	external, err := url.Parse("http://node-7:10055/rdma")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"plain, with a brace {", "plain, with a brace {"},
		{"{{ $value }}", "12345.678"},
		{"{{ $value | humanize }}", "12.35k"},
		{"{{ $value | humanize1024 }}B/s", "12.06kiB/s"},
		{"{{ $value | humanizeDuration }}", "3h 25m 45s"},
		{"{{ humanizePercentage 0.0123 }}", "1.23%"},
		{`{{ printf "%.1f" $value }}`, "12345.7"},
		{"{{ $labels.device }} {{ .Labels.port }} {{ $labels.none }}", "mlx5_0 1 "},
		{"{{ $externalLabels.cluster }}", "north"},
		{"{{ $externalURL }}", "http://node-7:10055/rdma"},
		{"{{ pathPrefix }}", "/rdma"},
		{`{{ with query "rdma_y" }}{{ . | first | value }}{{ end }}`, "7"},
		{`{{ range query "rdma_none" }}x{{ end }}`, ""},
		{`{{ query "rdma_y" | first | label "device" | toUpper }}`, "MLX5_1"},
		{`{{ $labels.device | reReplaceAll "mlx5_(.*)" "port $1" }}`, "port 0"},
	} {
		t.Run(c.text, func(t *testing.T) {
			s := newSim(t, "{alert: Say, expr: rdma_x > 0, annotations: {text: '"+c.text+"'}}, {record: y, expr: rdma_y}", func(g *Config) {
				g.External, g.ExternalURL = labels.FromStrings("cluster", "north"), external
			})
			s.step(values{"rdma_x mlx5_0 1": 12345.678, "rdma_y mlx5_1 1": 7})
			if got := s.alert().Annotations.Get("text"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// An error of a template stands in its place; the alert fires all the same.
func TestTemplateErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{{ query "rdma_x" | first | value | humanizeTimestamp | humanize }}`, "<error expanding template: "},
		{`{{ query "rdma_none" | first }}`, "first() called on vector with no elements"},
		{`{{ query "rdma_x +" }}`, "parse error"},
		{`{{ slice $labels.device 99 }}`, "index out of range"},
	} {
		t.Run(c.text, func(t *testing.T) {
			s := newSim(t, "{alert: Say, expr: rdma_x > 0, annotations: {text: '"+c.text+"'}}")
			s.step(values{"rdma_x mlx5_0": 1})
			if got := s.alert().Annotations.Get("text"); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want it to contain %q", got, c.want)
			}
		})
	}
}

func TestReload(t *testing.T) {
	s := newSim(t, `
    {record: twice, expr: 2 * rdma_x},
    {alert: Kept, expr: 'min_over_time(rdma_x[1m]) > 0', for: 45s},
    {alert: Dropped, expr: 'max_over_time(twice[1m]) > 0'},
    {alert: Resolves, expr: rdma_x > 0}`)
	for range 4 {
		s.step(values{"rdma_x a": 1})
	}
	s.want("before", "Dropped/a=firing Kept/a=firing Resolves/a=firing")
	was := s.e.Alerts()[1]
	s.e.Reload(groups(t, `
    {record: twice, expr: 2 * rdma_x},
    {alert: Kept, expr: 'min_over_time(rdma_x[1m]) > 0.5', for: 45s},
    {alert: Resolves, expr: rdma_x > 5},
    {alert: Past, expr: 'count_over_time(rdma_x[1m]) + count_over_time(twice[1m]) >= 8'}`), s.now)
	s.want("loaded, not evaluated yet", "Kept/a=firing Resolves/a=firing")
	s.step(values{"rdma_x a": 1})
	s.want("a rule that is gone takes its alerts along; the past is still known", "Kept/a=firing Resolves/a=resolved Past/a=firing")
	if a := s.e.Alerts()[0]; !a.ActiveAt.Equal(was.ActiveAt) || !a.FiredAt.Equal(was.FiredAt) {
		t.Errorf("the alert of the rule that stayed has begun anew: %+v", a)
	}
}

// A rule that asks for more past than was kept before does not resolve its
// alerts until it has it.
func TestReloadHoldsWhatCannotBeJudgedYet(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_x > 0}`)
	s.step(values{"rdma_x a": 1, "rdma_y a": 1})
	s.e.Reload(groups(t, `{alert: Down, expr: 'rdma_x > 0 and count_over_time(rdma_y[2m]) >= 8'}`), s.now)
	for i := range 12 {
		s.step(values{"rdma_x a": 1, "rdma_y a": 1})
		s.want(fmt.Sprint("step ", i), "Down/a=firing")
	}
	s.step(values{"rdma_x a": 0, "rdma_y a": 1})
	s.want("over", "Down/a=resolved")

	s = newSim(t, `{alert: Down, expr: rdma_x > 0}`)
	s.step(values{"rdma_x a": 1, "rdma_y a": 1})
	s.e.Reload(groups(t, `{alert: Down, expr: 'rdma_x > 0 and count_over_time(rdma_y[2m]) >= 99'}`), s.now)
	for range 8 {
		s.step(values{"rdma_x a": 1, "rdma_y a": 1})
		s.want("not known", "Down/a=firing")
	}
	s.step(values{"rdma_x a": 1, "rdma_y a": 1})
	s.want("known after 2 minutes", "Down/a=resolved")
}

// A longer for makes a firing alert wait, as in Prometheus.
func TestReloadWithLongerFor(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_x > 0}`)
	s.step(values{"rdma_x a": 1})
	s.step(values{"rdma_x a": 1})
	s.e.Reload(groups(t, `{alert: Down, expr: rdma_x > 0, for: 45s}`), s.now)
	s.step(values{"rdma_x a": 1})
	s.want("30s", "Down/a=pending")
	s.step(values{"rdma_x a": 1})
	s.want("45s", "Down/a=firing")
}

// The clock of the node is set while alerts are pending and firing.
func TestClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{-24 * time.Hour, -time.Minute, -step, time.Minute, 24 * time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			// As the daemon has it: the wall clock jumps, the monotonic clock
			// that time.Time carries along does not. A test cannot make such
			// times, so this one has the rule without for.
			s := newSim(t, `
    {alert: Down, expr: rdma_down == 1},
    {alert: Moves, expr: 'rate(rdma_packets_total[1m]) > 2e9'}`)
			packets := 1e12
			reading := func() values {
				packets += 15
				return values{"rdma_down a": 1, "rdma_packets_total a": packets}
			}
			for range 5 {
				s.step(reading())
			}
			s.now = s.now.Add(jump)
			for i := range 9 {
				s.step(reading())
				s.want(fmt.Sprintf("step %d after the jump", i), "Down/a=firing")
			}
			if got := s.ask(`rate(rdma_packets_total[1m])`); !strings.Contains(got, "=> 1 ") && !strings.Contains(got, "=> 0.9999999999999999 ") {
				t.Errorf("the rate is not one a second again: %s", got)
			}
			s.step(values{"rdma_down a": 0})
			s.want("over", "Down/a=resolved")
		})
	}
}

// Stopping in the middle of a round is no failure of a rule.
func TestEvaluateStops(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_down == 1}`)
	s.step(values{"rdma_down a": 1})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.e.Evaluate(ctx, s.now)
	if stats := s.e.Stats(); stats.Failures != 0 || stats.Rounds != 1 || s.logged() != "" {
		t.Errorf("counted %+v, logged %q", stats, s.logged())
	}
	if _, err := s.e.ask(ctx, `rdma_down`, s.now); err == nil {
		t.Errorf("error %v", err)
	}
}

// Readers may ask at any time. The race detector is the judge.
func TestConcurrentReaders(t *testing.T) {
	s := newSim(t, `
    {record: twice, expr: 2 * rdma_x},
    {alert: Down, expr: twice > 0, annotations: {summary: 'value {{ $value }}'}},
    {alert: Fails, expr: 'rdma_x * on () rdma_y'}`)
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				for _, a := range s.e.Alerts() {
					_ = a.Annotations.Get("summary") + string(a.State)
				}
				_, status := s.e.Rules()
				for r, was := range status {
					_ = r.Name() + fmt.Sprint(was.Err)
				}
				_ = s.e.Stats()
			}
		})
	}
	for i := range 200 {
		s.step(values{"rdma_x a": float64(i % 3), "rdma_x b": 1, "rdma_y a": 1, "rdma_y b": 1})
		if i%50 == 49 {
			s.e.Reload(slices.Clone(s.e.groups), s.now)
		}
	}
	cancel()
	readers.Wait()
}

// The map from the readers' series does not grow with every device that ever
// was.
func TestReplugging(t *testing.T) {
	s := newSim(t, `{alert: Down, expr: rdma_down == 1}`)
	for range 12_000 {
		clear(s.series) // a device that comes back has new series
		s.read(values{"rdma_down a": 0})
		s.now = s.now.Add(step)
	}
	if n := len(s.e.series); n > 11_000 {
		t.Errorf("%d series remembered", n)
	}
	if n := s.e.store.len(); n != 1 {
		t.Errorf("%d series in the store, want 1", n)
	}
}
