package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// name is what the node is called on every side.
const name = "node-7"

// stack is a node, Prometheus and Alertmanager with the configuration of
// deploy/stack, each behind a gate.
type stack struct {
	t                          *testing.T
	dir                        string
	machine                    *machine
	node, prom, am             *process
	nodeGate, amGate, nodeToAM *gate
	people                     *people
}

// newStack starts all of it. The node tells Alertmanager itself, too.
func newStack(t *testing.T) *stack {
	t.Helper()
	s := &stack{t: t, dir: t.TempDir(), machine: newMachine(t), people: newPeople(t)}
	s.write("alertmanager.yml", s.alertmanagerConfig())
	s.startAlertmanager()
	s.amGate = newGate(t, s.am.address)
	s.nodeToAM = newGate(t, s.amGate.address)
	s.write("own.yaml", "groups: []\n")
	s.node = start(t, rdmawatch(), "serve", "--replay="+s.machine.dir, "--web.listen-address=127.0.0.1:0",
		"--collector.min-interval=0s", "--alerting.interval=1s", "--alerting.instance="+name,
		"--alerting.rules="+s.path("own.yaml"), "--alerting.alertmanager=http://"+s.nodeToAM.address)
	s.nodeGate = newGate(t, s.node.address)
	s.prom = s.startPrometheus("a")
	return s
}

func (s *stack) path(file string) string { return filepath.Join(s.dir, file) }

func (s *stack) write(file, content string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(file)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(file), []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// change takes a text of deploy/stack and puts in what a test needs otherwise.
func (s *stack) change(text string, pairs ...string) string {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			s.t.Fatalf("the configuration of deploy/stack has no %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

func (s *stack) read(file string) string {
	s.t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(content)
}

// alertmanagerConfig is that of deploy/stack with short times and a receiver.
func (s *stack) alertmanagerConfig() string {
	s.t.Helper()
	return s.change(s.read("../../deploy/stack/alertmanager.yml"),
		"group_wait: 1m", "group_wait: 3s", "group_interval: 5m", "group_interval: 3s",
		"receiver: nobody", "receiver: people",
		"matchers: ['severity = \"info\"']\n      receiver: people", "matchers: ['severity = \"info\"']\n      receiver: nobody",
	) + fmt.Sprintf("  - name: people\n    webhook_configs: [{url: %s}]\n", s.people.url) + s.read("../../alerts/inhibit.yaml")
}

// startAlertmanager starts it, with what it knew if it ran before.
func (s *stack) startAlertmanager() {
	s.t.Helper()
	s.am = start(s.t, alertmanager(), "--config.file="+s.path("alertmanager.yml"), "--storage.path="+s.path("alertmanager"),
		"--web.listen-address=127.0.0.1:0", "--cluster.listen-address=")
	if s.amGate != nil {
		s.amGate.lead(s.am.address)
	}
}

// startPrometheus starts a server of a name, with the past that it has if it ran
// before. Its configuration is that of deploy/stack, but for the intervals; its
// rules are the bundled ones. An alert that it has told of holds for four times
// resend-delay, a minute here, which is longer than any `for` of these tests.
func (s *stack) startPrometheus(replica string) *process {
	s.t.Helper()
	config := s.change(s.read("../../deploy/stack/prometheus.yml"),
		"interval: 15s", "interval: 1s", "# external_labels: {replica: a}", "external_labels: {replica: "+replica+"}", "demo-node", name)
	config, _, found := strings.Cut(config, "  - job_name: prometheus")
	if !found {
		s.t.Fatal("prometheus.yml does not scrape Prometheus itself")
	}
	s.write(replica+"/prometheus.yml", config)
	s.write(replica+"/alertmanagers/one.yaml", "- targets: ['"+s.amGate.address+"']\n")
	if _, err := os.Stat(s.path(replica + "/targets")); err != nil {
		s.target(replica, name)
		s.write(replica+"/rules/rdmawatch.yaml", s.rules())
	}
	return start(s.t, prometheus(), "--config.file="+s.path(replica+"/prometheus.yml"), "--storage.tsdb.path="+s.path(replica+"/data"),
		"--web.listen-address=127.0.0.1:0", "--rules.alert.resend-delay=15s")
}

// target names the node in the targets of a server.
func (s *stack) target(replica, instance string) {
	s.t.Helper()
	s.write(replica+"/targets/node.yaml", fmt.Sprintf("- {targets: ['%s'], labels: {instance: %s}}\n", s.nodeGate.address, instance))
}

// rules are the bundled ones, unchanged.
func (s *stack) rules() string {
	s.t.Helper()
	text, err := exec.Command(rdmawatch(), "rules", "print").Output()
	if err != nil {
		s.t.Fatalf("%v; make build makes the program", err)
	}
	return string(text)
}

// shorten has Prometheus and the node hold an alert that has ended for 3 seconds
// instead of 10 minutes, for which no test waits. All else stays.
func (s *stack) shorten() {
	s.t.Helper()
	short := s.change(s.rules(), "keep_firing_for: 10m", "keep_firing_for: 3s")
	s.write("a/rules/rdmawatch.yaml", short)
	s.write("own.yaml", short)
	s.prom.hangup()
	s.node.hangup()
}

// both waits until an alert fires in Prometheus and on the node.
func (s *stack) both(alertname, device string) {
	s.t.Helper()
	eventually(s.t, alertname+" fires on the node", func() bool { return fires(s.t, s.node, alertname, device) })
	eventually(s.t, alertname+" fires in Prometheus", func() bool { return fires(s.t, s.prom, alertname, device) })
}

// scraped waits until Prometheus has read the node as often again, with success,
// and has evaluated the rules on it.
func (s *stack) scraped(prom *process, times float64) {
	s.t.Helper()
	const count = `sum_over_time(sum(up{job="rdmawatch"})[1h:1s])`
	before, _ := value(s.t, prom, count)
	eventually(s.t, "Prometheus reads the node", func() bool {
		now, _ := value(s.t, prom, count)
		return now >= before+times
	})
}
