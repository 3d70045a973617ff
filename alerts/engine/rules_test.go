package engine

import (
	"strings"
	"testing"
	"time"
)

// An error of a rule file names the file, and the line where there is one.
func TestParseRulesErrors(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"a syntax error of YAML", "groups:\n  - name: g\n   rules: []", "link.yaml: yaml: line "},
		{"an unknown key", "groups:\n  - name: g\n    rules:\n      - {alert: A, expression: x}", "line 4: field expression not found"},
		{"a syntax error of PromQL", "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: rate(x[2m)", `link.yaml: 5:15: group "g", rule 1, "A": could not parse expression`},
		{"an unknown function", "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: sums(x)", `unknown function with name "sums"`},
		{"an unknown function of a template", "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: x\n        annotations:\n          summary: '{{ $value | humanise }}'", `function "humanise" not defined`},
		{"a template that does not end", "groups:\n  - name: g\n    rules:\n      - alert: A\n        expr: x\n        labels:\n          kind: '{{ $labels.kind'", "unclosed action"},
		{"neither record nor alert", "groups:\n  - name: g\n    rules:\n      - expr: x", "one of 'record' or 'alert' must be set"},
		{"both", "groups:\n  - name: g\n    rules:\n      - {alert: A, record: a, expr: x}", "only one of 'record' and 'alert' must be set"},
		{"a name that no metric can have", "groups:\n  - name: g\n    rules:\n      - {record: 'a{}', expr: x}", "braces present in the recording rule name"},
		{"for with a recording rule", "groups:\n  - name: g\n    rules:\n      - {record: a, expr: x, for: 1m}", "invalid field 'for' in recording rule"},
		{"two groups of one name", "groups:\n  - name: g\n    rules: []\n  - name: g\n    rules: []", `groupname: "g" is repeated in the same file`},
		{"two equal rules", "groups:\n  - name: g\n    rules:\n      - {alert: A, expr: x}\n      - {alert: A, expr: y}", "link.yaml"},
		{"a duration without a unit", "groups:\n  - name: g\n    rules:\n      - {alert: A, expr: x, for: 30}", "link.yaml"},
		{"no rules at all, but text", "hello", "link.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := ParseRules("link.yaml", []byte(c.file))
			if err == nil {
				err = CheckNames(parsed)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "link.yaml: ") && !strings.Contains(err.Error(), "in link.yaml") {
				t.Errorf("error %v\nwant one of link.yaml with %q", err, c.want)
			}
		})
	}
}

func TestParseRulesAllErrors(t *testing.T) {
	_, err := ParseRules("link.yaml", []byte("groups:\n  - name: g\n    rules:\n      - {alert: A, expr: 'x ='}\n      - {alert: B, expr: 'y ='}"))
	if err == nil || strings.Count(err.Error(), "could not parse expression") != 2 {
		t.Errorf("error %v, want one for each of two rules", err)
	}
}

func TestCheckNames(t *testing.T) {
	one, err := ParseRules("one.yaml", []byte("groups: [{name: first, rules: [{alert: A, expr: x}, {record: r, expr: x}, {record: r, expr: y, labels: {a: b}}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := ParseRules("two.yaml", []byte("groups: [{name: second, rules: [{alert: A, expr: y}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckNames(one); err != nil {
		t.Errorf("a metric recorded twice is refused: %v", err)
	}
	const want = "alert A is defined twice: in one.yaml, group first and in two.yaml, group second"
	if err := CheckNames(append(one, two...)); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// Labels of a group go to its rules; a rule's own win.
func TestGroupLabels(t *testing.T) {
	parsed := parse(t, "groups: [{name: g, labels: {area: link, severity: info}, rules: [{alert: A, expr: x, labels: {severity: critical}}]}]")
	if got, want := parsed[0].Rules[0].Labels.String(), `{area="link", severity="critical"}`; got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		expr string
		want time.Duration
	}{
		{"x", time.Minute},
		{"1", time.Minute},
		{"rate(x[2m])", 2 * time.Minute},
		{"rate(x[30s])", time.Minute},
		{"x offset 10m", 11 * time.Minute},
		{"rate(x[2m] offset 10m)", 12 * time.Minute},
		{"x offset -10m", time.Minute},
		{"x + y offset 5m", 6 * time.Minute},
		{"max_over_time(x[10m:15s])", 11 * time.Minute},
		{"max_over_time(rate(x[2m])[10m:15s])", 12 * time.Minute},
		{"max_over_time(rate(x[2m])[10m:15s] offset 1m)", 13 * time.Minute},
		{"max_over_time(max_over_time(x[5m:])[10m:])", 16 * time.Minute},
		{"sum(rate(x[2m])) / sum(rate(y[1h]))", time.Hour},
		{"x @ 1700000000", forever},
		{"max_over_time(x[5m:] @ 1700000000)", forever},
	} {
		t.Run(c.expr, func(t *testing.T) {
			r := groups(t, "{alert: A, expr: '"+c.expr+"'}")[0].Rules[0]
			if r.Span() != c.want {
				t.Errorf("looks back %s, want %s", r.Span(), c.want)
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"x", "x"},
		{"1", ""},
		{"rate(x[2m]) > 1", "x"},
		{"-(x)", "x"},
		{"sum by (device) (x) / on (device) count(y)", "x y"},
		{"x and y unless z", "x y"},
		{"x or y", ""},
		{"(x and y) or (x * z)", "x"},
		{"x or vector(0)", ""},
		{"absent(x)", ""},
		{"absent_over_time(x[5m]) and y", "y"},
		{"x > scalar(y)", "x"},
		{"vector(scalar(x))", ""},
		{"time() - x > 600", "x"},
		{"hour() > 5 and x", "x"},
		{"max_over_time(rate(x[2m])[10m:]) > quantile(0.5, y)", "x y"},
		{"label_replace(x, \"a\", \"b\", \"\", \"\")", "x"},
		{"clamp_max(x, scalar(y))", "x"},
		{`{__name__=~"x.*"}`, ""},
		{`{__name__="x"}`, "x"},
	} {
		r := groups(t, "{alert: A, expr: '"+c.expr+"'}")[0].Rules[0]
		if got := strings.Join(r.needs, " "); got != c.want {
			t.Errorf("%s needs %q, want %q", c.expr, got, c.want)
		}
	}
}

// A metric is kept as long as the rule that looks back farthest.
func TestWanted(t *testing.T) {
	w := wants(groups(t, `{alert: A, expr: 'rate(x[10m]) > on () x'}, {record: r, expr: 'y offset 1h'}, {alert: B, expr: '{__name__=~"z.*"} > 1'}`))
	for metric, want := range map[string]time.Duration{"x": 10 * time.Minute, "y": 61 * time.Minute, "z": time.Minute, "zz": time.Minute} {
		if far, any := w.span(metric); far != want || !any {
			t.Errorf("%s is kept %s, want %s", metric, far, want)
		}
	}
	for _, metric := range []string{"r", "A", "", "az"} {
		if _, any := w.span(metric); any {
			t.Errorf("%q is kept, and no rule reads it", metric)
		}
	}
}

// What a rule sees in full it sees through all that is recorded in between.
func TestWindows(t *testing.T) {
	g := groups(t, `
    {record: a, expr: 'rate(x[10m])'},
    {record: b, expr: 'max_over_time(a[5m])'},
    {alert: C, expr: 'b > 1'},
    {record: loop, expr: 'loop + 1'},
    {record: ping, expr: 'pong offset 5m'}, {record: pong, expr: 'ping'}`)
	w := windows(g)
	for i, want := range []time.Duration{10 * time.Minute, 15 * time.Minute, 16 * time.Minute} {
		if r := g[0].Rules[i]; w[r] != want {
			t.Errorf("%s: %s, want %s", r.Name(), w[r], want)
		}
	}
}

func TestCheckSpans(t *testing.T) {
	g := groups(t, `{alert: A, expr: 'rate(x[2h])'}, {alert: B, expr: 'rate(x[3h])'}, {alert: C, expr: 'x @ 0'}, {alert: D, expr: 'rate(x[1d])', labels: {scope: fleet}}`)
	err := CheckSpans(NodeScope(g))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || lines[0] != "rules.yaml: group g: B looks back 3h0m0s, and the node keeps 2h0m0s" || !strings.Contains(lines[1], "C looks back") {
		t.Errorf("errors\n%s", err)
	}
}

func TestNodeScope(t *testing.T) {
	g := parse(t, `groups:
  - name: mixed
    limit: 5
    rules:
      - {alert: A, expr: x, labels: {scope: port}}
      - {alert: B, expr: x, labels: {scope: fleet}}
      - {record: r, expr: x}
  - name: fleet
    rules: [{alert: C, expr: x, labels: {scope: fleet}}]
`)
	node := NodeScope(g)
	if len(node) != 1 || node[0].Name != "mixed" || node[0].Limit != 5 || names(node) != "A r" {
		t.Errorf("left are %s", names(node))
	}
	if len(g[0].Rules) != 3 {
		t.Error("the groups themselves were changed")
	}
}

func names(groups []*Group) string {
	var all []string
	for _, g := range groups {
		for _, r := range g.Rules {
			all = append(all, r.Name())
		}
	}
	return strings.Join(all, " ")
}

// An own rule takes the place of the bundled one of its name.
func TestReplaceRules(t *testing.T) {
	bundled := parse(t, "groups: [{name: a, rules: [{alert: A, expr: x}, {record: r, expr: x}, {alert: B, expr: x}]}, {name: b, rules: [{alert: C, expr: x}]}]")
	own := parse(t, "groups: [{name: own, rules: [{alert: A, expr: y}, {alert: C, expr: y}, {record: r, expr: y}, {alert: D, expr: y}]}]")
	replaced := Replace(bundled, own)
	if got, want := names(replaced), "B A C r D"; got != want {
		t.Errorf("rules %s, want %s", got, want)
	}
	if err := CheckNames(replaced); err != nil {
		t.Error(err)
	}
}

func TestReplaceNumbers(t *testing.T) {
	for _, c := range []struct {
		name, expr string
		numbers    map[float64]float64
		want       string
		times      int
	}{
		{"one", "x > 10", map[float64]float64{10: 17}, "x > 17", 1},
		{"written otherwise", "x > 1e-5 and y > 0.00001", map[float64]float64{1e-5: 2e-5}, "x > 0.00002 and y > 0.00002", 2},
		{"a new number is not taken for an old one", "x > 1 and y > 2", map[float64]float64{1: 2, 2: 3}, "x > 2 and y > 3", 2},
		{"not in a name, a label or a range", `x10{port="10"} > rate(y[10m])`, map[float64]float64{10: 17}, `x10{port="10"} > rate(y[10m])`, 0},
		{"as an argument", "clamp_min(x, 10) > 5", map[float64]float64{10: 17}, "clamp_min(x, 17) > 5", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := groups(t, "{alert: A, expr: '"+c.expr+"'}")[0].Rules[0]
			if n := r.Replace(c.numbers); n != c.times || r.Query() != c.want || r.Changed() != (c.times > 0) {
				t.Errorf("%d times: %s; want %d times: %s", n, r.Query(), c.times, c.want)
			}
		})
	}
}

// A changed number is what is evaluated.
func TestReplacedNumberCounts(t *testing.T) {
	g := groups(t, "{alert: A, expr: rdma_x > 10}")
	g[0].Rules[0].Replace(map[float64]float64{10: 5})
	s := newSim(t, "")
	s.e = New(Config{Groups: g})
	s.step(values{"rdma_x a": 7})
	s.want("7 is above 5", "A/a=firing")
}

func FuzzParseRules(f *testing.F) {
	f.Add([]byte("groups: [{name: g, rules: [{alert: A, expr: 'rate(x[2m]) > 1', for: 1m}]}]"))
	f.Add([]byte("groups:\n- name: g\n  rules:\n  - record: r\n    expr: x offset -5m @ end()\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		parsed, err := ParseRules("f.yaml", content)
		if err != nil {
			return
		}
		for _, g := range NodeScope(parsed) {
			for _, r := range g.Rules {
				if r.Span() < lookback || r.Name() == "" {
					t.Errorf("rule %q looks back %s", r.Name(), r.Span())
				}
			}
		}
		windows(parsed)
		_ = CheckSpans(parsed)
	})
}
