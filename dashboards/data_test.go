package dashboards

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/replay"
	"github.com/rdmawatch/rdmawatch/demo"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// epoch is the time at which every replay begins.
var epoch = time.Unix(1_700_000_000, 0)

// rules are the bundled ones.
func rules(t *testing.T) []*engine.Group {
	t.Helper()
	groups, err := alerts.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// beside are nodes with other cards, on which little happens, and nodes on which
// something does: for what the demo does not have.
var beside = []struct{ node, scenario, name, leaf string }{
	{node: "bad-everything"},
	{node: "cx3-mlx4-3.10"},
	{node: "cx7-ib-mlx5-6.8"},
	{node: "e810-irdma-gen2-6.5"},
	{node: "efa-p4d-5.10"},
	{node: "hns-kunpeng-6.6"},
	{node: "restricted-mlx5-b200-6.8"},
	{node: "thor2-bnxt_re-upstream-6.12"},
	{scenario: "RDMAInvalidRequests", name: "firing"},
	{scenario: "RDMAPCIeCorrectableErrors", name: "firing-64-gigatransfers"},
	{scenario: "RDMAModuleFault", name: "firing-bus"},
	{scenario: "RDMAReceiveDiscardsLossless"},
	{scenario: "RDMARetransmissionRatioHigh", name: "firing-card-that-counts-resent-packets"},
	{scenario: "RDMAPFCStorm", name: "firing-received", leaf: "leaf-3"},
	{scenario: "RDMAPFCStorm", name: "firing-received", leaf: "leaf-3"},
	{scenario: "RDMAPFCStorm", name: "firing-received", leaf: "leaf-3"},
}

// fleet is the hour of the demo, and at its end the others.
func fleet(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	story, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	hour := story.Cases[0]
	hour.Node = t.TempDir()
	if err := demo.Write(hour.Node); err != nil {
		t.Fatal(err)
	}
	w.play(&hour, map[string]string{"cluster": "alpha", "leaf": "leaf-1", "instance": "demo"}, 0)
	for i, b := range beside {
		c := &replay.Case{Node: fixtures.Node(b.node), Interval: replay.Duration(15 * time.Second), Duration: replay.Duration(10 * time.Minute)}
		if b.scenario != "" {
			c = scenarioCase(t, b.scenario, b.name)
		}
		target := map[string]string{"cluster": "beta", "leaf": cmp.Or(b.leaf, "leaf-2"), "instance": fmt.Sprint("node-", i)}
		w.play(c, target, time.Hour-time.Duration(c.Duration))
	}
	w.evaluate(rules(t), epoch.Add(22*time.Minute), epoch.Add(time.Hour), time.Minute)
	return w
}

// scenarioCase is a case of a scenario: the first, or the one of a name.
func scenarioCase(t *testing.T, scenario, name string) *replay.Case {
	t.Helper()
	s, err := replay.Load(filepath.Join("..", "fixtures", "scenarios", scenario+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Cases {
		if name == "" || s.Cases[i].Name == name {
			return &s.Cases[i]
		}
	}
	t.Fatalf("%s has no case %s", scenario, name)
	return nil
}

// Every query of every panel gives data, be it in the fleet or, of the
// diagnosis, in the scenario of the alert.
func TestQueriesGiveData(t *testing.T) {
	w := fleet(t)
	for _, p := range panels(t) {
		var missing []string
		for _, text := range p.expressions() {
			if len(w.matrix(text, epoch.Add(30*time.Minute), epoch.Add(time.Hour), 2*time.Minute)) == 0 {
				missing = append(missing, text)
			}
		}
		if len(missing) > 0 && strings.Contains(p.where, "diagnosis.json: RDMA") {
			missing = inScenario(t, *p.Title, missing)
		}
		for _, text := range missing {
			t.Errorf("%s: no data for %s", p.where, text)
		}
	}
}

// inScenario returns which queries have no data when the scenario of an alert is
// played, the case in which it fires.
func inScenario(t *testing.T, alert string, queries []string) []string {
	t.Helper()
	s, err := replay.Load(filepath.Join("..", "fixtures", "scenarios", alert+".yaml"))
	if err != nil {
		return queries
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		if len(queries) == 0 || len(c.Fire) == 0 {
			continue
		}
		w := newWorld(t)
		w.play(c, map[string]string{"instance": "node"}, 0)
		end := epoch.Add(time.Duration(c.Duration))
		w.evaluate(rules(t), epoch, end, time.Minute)
		queries = slices.DeleteFunc(queries, func(text string) bool {
			return len(w.matrix(text, epoch, end, 2*time.Minute)) > 0
		})
	}
	return queries
}
