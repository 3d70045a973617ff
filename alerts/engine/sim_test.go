package engine

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kit/log"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// sim is an engine on a clock that the test moves.
type sim struct {
	t      *testing.T
	e      *Engine
	now    time.Time
	log    bytes.Buffer
	mu     sync.Mutex
	series map[string]*node.Series
}

const step = 15 * time.Second

// newSim makes an engine with the rules of one group.
func newSim(t *testing.T, rules string, adjust ...func(*Config)) *sim {
	t.Helper()
	s := &sim{t: t, now: time.Unix(1_000_000_007, 0).UTC(), series: map[string]*node.Series{}}
	s.e = s.engine(rules, adjust...)
	return s
}

func (s *sim) engine(rules string, adjust ...func(*Config)) *Engine {
	s.t.Helper()
	c := Config{Groups: groups(s.t, rules), Instance: "node-7", Logger: log.NewLogfmtLogger(s)}
	for _, f := range adjust {
		f(&c)
	}
	return New(c)
}

// Write is for the log.
func (s *sim) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

func (s *sim) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// groups parses the rules of one group.
func groups(t *testing.T, rules string) []*Group {
	t.Helper()
	return parse(t, "groups: [{name: g, rules: ["+rules+"]}]")
}

func parse(t *testing.T, file string) []*Group {
	t.Helper()
	parsed, err := ParseRules("rules.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// values is what a reading gives: the value of "metric device port".
type values map[string]float64

// read gives the engine a reading at the present time.
func (s *sim) read(v values) {
	snapshot := &node.Snapshot{Time: s.now}
	for key, value := range v {
		if s.series[key] == nil {
			parts := strings.Fields(key)
			m := &catalog.Metric{Name: parts[0], Scope: catalog.Scope(len(parts) - 1)}
			s.series[key] = &node.Series{Metric: m, Values: parts[1:]}
		}
		snapshot.Samples = append(snapshot.Samples, node.Sample{Series: s.series[key], Value: value})
	}
	s.e.Append(snapshot)
}

// step gives a reading, evaluates and moves the clock on.
func (s *sim) step(v values) {
	s.read(v)
	s.e.Evaluate(context.Background(), s.now)
	s.now = s.now.Add(step)
}

// states tells the state of every alert, by name and device: "Down/mlx5_0=firing".
func (s *sim) states() string { return states(s.e) }

func states(e *Engine) string {
	var all []string
	for _, a := range e.Alerts() {
		name := a.Name()
		if device := a.Labels.Get("device"); device != "" {
			name += "/" + device
		}
		all = append(all, name+"="+string(a.State))
	}
	return strings.Join(all, " ")
}

// want compares the states of all alerts.
func (s *sim) want(when, want string) {
	s.t.Helper()
	if got := s.states(); got != want {
		s.t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// alert is the only alert.
func (s *sim) alert() Alert {
	s.t.Helper()
	all := s.e.Alerts()
	if len(all) != 1 {
		s.t.Fatalf("%d alerts, want one: %s", len(all), s.states())
	}
	return all[0]
}

// failure is the error of a rule's last evaluation.
func (s *sim) failure(rule string) error {
	_, status := s.e.Rules()
	for r, was := range status {
		if r.Name() == rule {
			return was.Err
		}
	}
	s.t.Fatalf("rule %s was not evaluated", rule)
	return nil
}

// present is the value that a series has in the store now, as a rule sees it.
func (s *sim) ask(query string) string {
	s.t.Helper()
	vector, err := s.e.ask(context.Background(), query, s.now.Add(-step))
	if err != nil {
		s.t.Fatal(err)
	}
	return vector.String()
}
