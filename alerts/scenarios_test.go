package alerts_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
)

const scenarioDir = "../fixtures/scenarios"

// setup is what the program itself runs with.
func setup(t *testing.T) replay.Setup {
	t.Helper()
	s, err := replay.Bundled()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func scenarioFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(scenarioDir + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios in %s: %v", scenarioDir, err)
	}
	return files
}

// Every scenario: what must fire fires in time, nothing else does, Prometheus
// sees it the same way, and a person reads of it first.
func TestScenarios(t *testing.T) {
	s, tool := setup(t), promtool(t)
	for _, file := range scenarioFiles(t) {
		scenario, err := replay.Load(file)
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var records []*record
			for i := range scenario.Cases {
				c := &scenario.Cases[i]
				t.Run(c.Name, func(t *testing.T) {
					s := s
					first := watchFirst(c, &s)
					played := play(t, c, s)
					first.check(t, name)
					records = append(records, played)
					for _, wrong := range played.result.Judge() {
						t.Error(wrong)
					}
					if t.Failed() || testing.Verbose() {
						var events strings.Builder
						played.result.Print(&events)
						t.Log("\n" + events.String())
					}
				})
			}
			if len(records) > 0 { // all may be filtered out
				t.Run("promtool", func(t *testing.T) { judgeByPromtool(t, tool, s, records) })
			}
		})
	}
}

// The bundled rules load, and every alert has what a person needs.
func TestRules(t *testing.T) {
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			for _, name := range []string{"severity", "area", "scope"} {
				if r.Labels.Get(name) == "" {
					t.Errorf("%s: %s has no label %s", g.File, r.Alert, name)
				}
			}
			for _, name := range []string{"summary", "description", "symptom", "cause", "verify", "fix", "runbook_url"} {
				if r.Annotations.Get(name) == "" {
					t.Errorf("%s: %s has no annotation %s", g.File, r.Alert, name)
				}
			}
			if want := "/alerts/runbooks/" + r.Alert + ".md"; !strings.HasSuffix(r.Annotations.Get("runbook_url"), want) {
				t.Errorf("%s: runbook_url of %s does not end in %s", g.File, r.Alert, want)
			}
			if _, err := alerts.File("runbooks/" + r.Alert + ".md"); err != nil {
				t.Errorf("%s: %s has no runbook: %v", g.File, r.Alert, err)
			}
			if r.Labels.Get("scope") != engine.FleetScope && !provenByPromtool[r.Alert] {
				checkScenario(t, r.Alert)
			}
		}
	}
}

// provenByPromtool are alerts about the reading itself, for which no file of a
// node can stand: they have tests in rules/tests.
var provenByPromtool = map[string]bool{"RDMAScrapeSlow": true, "RDMARuleEvaluationStale": true}

// checkScenario wants of an alert's scenario a case in which it fires, and two
// in which it does not: what looks alike, and an idle node.
func checkScenario(t *testing.T, alert string) {
	t.Helper()
	scenario, err := replay.Load(filepath.Join(scenarioDir, alert+".yaml"))
	if err != nil {
		t.Error(err)
		return
	}
	fires, quiet := 0, 0
	for _, c := range scenario.Cases {
		named := func(e replay.Expect) bool { return e.Alert == alert }
		if slices.ContainsFunc(c.Fire, named) || slices.ContainsFunc(c.Silenced, named) {
			fires++
		} else {
			quiet++
		}
	}
	if fires < 1 || quiet < 2 {
		t.Errorf("the scenario of %s has %d cases in which it fires and %d in which it does not, wanted 1 and 2 at least", alert, fires, quiet)
	}
}
