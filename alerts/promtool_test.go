package alerts_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// promtool finds Prometheus' own tool, or builds it from the module that pins
// its version.
func promtool(t *testing.T) string {
	t.Helper()
	built, err := filepath.Abs("../build/promtool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(built); err == nil {
		return built
	}
	if path, err := exec.LookPath("promtool"); err == nil && knowsStart(t, path) {
		return path
	}
	build := exec.Command("go", "build", "-o", built, "github.com/prometheus/prometheus/cmd/promtool")
	build.Dir = "../tools/promtool"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building promtool: %v\n%s", err, out)
	}
	return built
}

// knowsStart reports whether a promtool is new enough to begin a test at a time
// of ours.
func knowsStart(t *testing.T, tool string) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "start.yaml")
	if err := os.WriteFile(path, []byte("tests: [{start_timestamp: 1700000000}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.Command(tool, "test", "rules", path).Run() == nil
}

// Prometheus takes the bundled rules as they are, and as they are printed.
func TestPromtoolCheck(t *testing.T) {
	tool := promtool(t)
	files, err := filepath.Glob("rules/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rule files: %v", err)
	}
	var printed bytes.Buffer
	if err := alerts.Print(&printed, nil, "", false); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "printed.yaml")
	if err := os.WriteFile(whole, printed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{files, {whole}} {
		if out, err := exec.Command(tool, append([]string{"check", "rules"}, args...)...).CombinedOutput(); err != nil {
			t.Errorf("promtool check rules %v: %v\n%s", args, err, out)
		}
	}
}

// Rules that compare nodes have tests in promtool's own format: no node
// evaluates them.
func TestPromtoolFleet(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("rules/tests/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tested := ""
	for _, file := range tests {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tested += string(content)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Labels.Get("scope") == engine.FleetScope && !strings.Contains(tested, r.Alert) {
				t.Errorf("%s: %s is in no test of rules/tests", g.File, r.Alert)
			}
		}
	}
	if len(tests) == 0 {
		return
	}
	if out, err := exec.Command(promtool(t), append([]string{"test", "rules"}, tests...)...).CombinedOutput(); err != nil {
		t.Errorf("promtool test rules: %v\n%s", err, out)
	}
}

// judgeByPromtool is the second judge: Prometheus evaluates the same rule files
// on what the collectors gave in every case of a scenario, and must have the
// same alerts, with the same labels, pending and firing at the same evaluations,
// as our engine. A file of promtool has one interval for all its cases.
func judgeByPromtool(t *testing.T, tool string, s replay.Setup, records []*record) {
	files, byInterval := ruleFiles(t), map[replay.Duration][]*record{}
	for _, r := range records {
		byInterval[r.c.Interval] = append(byInterval[r.c.Interval], r)
	}
	for interval, records := range byInterval {
		unit := unitTest{RuleFiles: files, EvaluationInterval: interval.String()}
		for _, g := range s.Groups {
			unit.GroupEvalOrder = append(unit.GroupEvalOrder, g.Name)
		}
		unit.judge(t, tool, records)
	}
}

func (u unitTest) judge(t *testing.T, tool string, records []*record) {
	t.Helper()
	for _, r := range records {
		u.Tests = append(u.Tests, r.group(r.sums()))
	}
	if out := u.run(t, tool); out != "" {
		// Where they differ, evaluation by evaluation; that takes longer.
		for i, r := range records {
			u.Tests[i] = r.group(r.steps())
		}
		t.Errorf("promtool sees other alerts than the engine:\n%s", shorten(cmp.Or(u.run(t, tool), out)))
	}
}

// ruleFiles writes the bundled rules without those that no node evaluates.
func ruleFiles(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for _, file := range alerts.RuleFiles() {
		content, err := alerts.File(file)
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Groups []struct {
				Name  string           `yaml:"name"`
				Rules []map[string]any `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := yaml.Unmarshal(content, &all); err != nil {
			t.Fatal(err)
		}
		for i := range all.Groups {
			g := &all.Groups[i]
			g.Rules = slices.DeleteFunc(g.Rules, func(r map[string]any) bool {
				labels, _ := r["labels"].(map[string]any)
				return labels["scope"] == engine.FleetScope
			})
		}
		if content, err = yaml.Marshal(all); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	return files
}

func shorten(out string) string {
	const enough = 5000
	if len(out) > enough {
		return out[:enough] + "\n..."
	}
	return out
}

// unitTest is promtool's test file.
type unitTest struct {
	RuleFiles          []string    `yaml:"rule_files"`
	EvaluationInterval string      `yaml:"evaluation_interval"`
	GroupEvalOrder     []string    `yaml:"group_eval_order"`
	Tests              []unitGroup `yaml:"tests"`
}

// run returns what promtool has to say against it.
func (u unitTest) run(t *testing.T, tool string) string {
	t.Helper()
	content, err := yaml.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "test", "rules", path)
	cmd.Env = append(os.Environ(), "GOGC=400") // it is short-lived: memory for time
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprint(err, "\n", string(out))
	}
	return ""
}

type unitGroup struct {
	Name        string       `yaml:"name"`
	Interval    string       `yaml:"interval"`
	Start       int64        `yaml:"start_timestamp"`
	InputSeries []unitSeries `yaml:"input_series"`
	Expressions []unitExpr   `yaml:"promql_expr_test"`
}

type unitSeries struct {
	Series string `yaml:"series"`
	Values string `yaml:"values"`
}

type unitExpr struct {
	Expr       string       `yaml:"expr"`
	EvalTime   string       `yaml:"eval_time"`
	ExpSamples []unitSample `yaml:"exp_samples"`
}

type unitSample struct {
	Labels string  `yaml:"labels"`
	Value  float64 `yaml:"value"`
}

// record is a case that was played: what the rules saw and what came of it.
type record struct {
	c       *replay.Case
	begin   time.Time
	courses map[string]*course // by series
	result  *replay.Result
}

// play plays a case and writes down what the rules saw.
func play(t *testing.T, c *replay.Case, s replay.Setup) *record {
	t.Helper()
	wanted := map[string]bool{}
	for _, g := range s.Groups {
		for _, r := range g.Rules {
			for _, m := range r.Metrics() {
				wanted[m] = true
			}
		}
	}
	rec := &record{c: c, courses: map[string]*course{}}
	bySeries := map[*node.Series]*course{}
	s.Observe = func(step int, snapshot *node.Snapshot) {
		if step == 0 {
			rec.begin = snapshot.Time
		}
		snapshot.All(func(sample node.Sample) {
			values, known := bySeries[sample.Series]
			if !known {
				if wanted[sample.Series.Metric.Name] {
					name := promSeries(sample.Series)
					if rec.courses[name] == nil {
						rec.courses[name] = &course{}
					}
					values = rec.courses[name]
				}
				bySeries[sample.Series] = values
			}
			if values != nil {
				values.set(step, sample.Value)
			}
		})
	}
	var err error
	if rec.result, err = replay.Run(t.Context(), c, s); err != nil {
		t.Fatal(err)
	}
	return rec
}

// group is the case as promtool has it, with what it must find.
func (r *record) group(expected []unitExpr) unitGroup {
	group := unitGroup{Name: r.c.Name, Interval: r.c.Interval.String(), Start: r.begin.Unix(), Expressions: expected}
	for _, name := range slices.Sorted(maps.Keys(r.courses)) {
		group.InputSeries = append(group.InputSeries, unitSeries{name, r.courses[name].text(len(r.result.Steps))})
	}
	return group
}

func promSeries(s *node.Series) string {
	b := labels.NewBuilder(labels.EmptyLabels())
	b.Set("instance", replay.Instance)
	for i, name := range s.Metric.LabelNames() {
		b.Set(name, s.Values[i])
	}
	return s.Metric.Name + b.Labels().String()
}

// steps is what the series ALERTS must be at every evaluation.
func (r *record) steps() []unitExpr {
	var all []unitExpr
	for step, active := range r.result.Steps {
		e := unitExpr{Expr: "ALERTS", EvalTime: (time.Duration(step) * time.Duration(r.c.Interval)).String()}
		for _, a := range active {
			if a.State != engine.Resolved {
				e.ExpSamples = append(e.ExpSamples, unitSample{alertSeries("ALERTS", a), 1})
			}
		}
		all = append(all, e)
	}
	return all
}

// sums is the same in two expressions, since promtool needs most of its time
// for these: of the evaluations at which an alert was in a state, the sum of
// their times and of the squares of these.
func (r *record) sums() []unitExpr {
	interval := time.Duration(r.c.Interval)
	var all []unitExpr
	for _, power := range []int{1, 2} {
		sums := map[string]float64{}
		for step, active := range r.result.Steps {
			at := (time.Duration(step+1) * interval).Seconds() // the first counts as well
			for _, a := range active {
				if a.State != engine.Resolved {
					sums[alertSeries("", a)] += math.Pow(at, float64(power))
				}
			}
		}
		length := time.Duration(len(r.result.Steps)) * interval
		ahead := r.begin.Sub(time.Unix(0, 0)) % interval // a subquery has its steps at multiples of the interval
		e := unitExpr{
			Expr: fmt.Sprintf("sum_over_time(((timestamp(ALERTS offset -%s) - %d) ^ %d)[%s:%s])",
				ahead, r.begin.Add(-interval).Unix(), power, length, interval),
			EvalTime: (length - interval).String(),
		}
		for _, series := range slices.Sorted(maps.Keys(sums)) {
			e.ExpSamples = append(e.ExpSamples, unitSample{series, sums[series]})
		}
		all = append(all, e)
	}
	return all
}

func alertSeries(name string, a engine.Alert) string {
	b := labels.NewBuilder(a.Labels)
	b.Set("alertstate", string(a.State))
	return name + b.Labels().String()
}

// course is a series over the steps; NaN where it is absent.
type course struct{ values []float64 }

func (c *course) set(step int, v float64) {
	for len(c.values) < step {
		c.values = append(c.values, math.NaN())
	}
	if len(c.values) == step { // the first of two duplicates counts
		c.values = append(c.values, v)
	}
}

// text is the course in promtool's notation: repetitions as "5x20", a step
// without a value as "_", the first one after a value as "stale".
func (c *course) text(steps int) string {
	for len(c.values) < steps {
		c.values = append(c.values, math.NaN())
	}
	var parts []string
	for i := 0; i < len(c.values); {
		n := 1
		for i+n < len(c.values) && same(c.values[i+n], c.values[i]) {
			n++
		}
		switch v := c.values[i]; {
		case math.IsNaN(v) && i > 0:
			parts = append(parts, "stale")
			if n > 1 {
				parts = append(parts, fmt.Sprintf("_x%d", n-1))
			}
		case math.IsNaN(v):
			parts = append(parts, fmt.Sprintf("_x%d", n))
		case n > 1:
			parts = append(parts, fmt.Sprintf("%sx%d", number(v), n-1))
		default:
			parts = append(parts, number(v))
		}
		i += n
	}
	return strings.Join(parts, " ")
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
