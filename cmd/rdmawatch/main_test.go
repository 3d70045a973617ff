package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rdmawatch": main})
}

// TestScript plays the sessions of testdata/script. In them $NODES is where the
// node fixtures are.
func TestScript(t *testing.T) {
	nodes, err := filepath.Abs(filepath.Dir(fixtures.Node("any")))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NODES", nodes)
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// ran is what a command gave.
type ran struct {
	status         int
	stdout, stderr string
}

func command(args ...string) ran {
	var stdout, stderr strings.Builder
	status := run(args, &stdout, &stderr)
	return ran{status, stdout.String(), stderr.String()}
}

func TestHelpListsEveryCollector(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"-h"}} {
		got := command(args...)
		if got.status != 0 || got.stderr != "" {
			t.Errorf("%q: status %d, stderr %q", args, got.status, got.stderr)
		}
		if args[0] != "serve" {
			continue
		}
		for _, s := range collector.Sources() {
			for _, flag := range []string{"collector." + s.Name, "collector." + s.Name + ".device-include=REGEXP", "collector." + s.Name + ".device-exclude=REGEXP"} {
				if !regexp.MustCompile(`--(\[no-\])?` + regexp.QuoteMeta(flag) + `\s`).MatchString(got.stdout) {
					t.Errorf("help lacks --%s", flag)
				}
			}
			if !strings.Contains(strings.Join(strings.Fields(got.stdout), " "), "Read "+s.What+".") {
				t.Errorf("help does not say that %s reads %s", s.Name, s.What)
			}
		}
	}
}

func TestSourcesAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range collector.Sources() {
		if s.Name == "" || s.What == "" || s.Cost == "" || !s.Default || seen[s.Name] {
			t.Errorf("source %+v", s)
		}
		seen[s.Name] = true
		if strings.HasSuffix(s.What, ".") {
			t.Errorf("%s: %q is no clause", s.Name, s.What)
		}
	}
	if len(seen) < 7 {
		t.Errorf("%d sources", len(seen))
	}
}

// A mistake on the command line is told, with the flag it is in, and nothing
// is served.
func TestMistakesName(t *testing.T) {
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "sys"), 0o755); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(empty, "none")
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"an unknown command", []string{"srve"}, 2, []string{"srve", "--help"}},
		{"an unknown flag", []string{"serve", "--colector.port"}, 2, []string{"--colector.port"}},
		{"no number", []string{"serve", "--web.max-requests=many"}, 2, []string{"many"}},
		{"no duration", []string{"serve", "--collector.timeout=5"}, 2, []string{"5"}},
		{"a log level", []string{"serve", "--log.level=loud"}, 2, []string{"loud"}},
		{"device include", []string{"serve", "--replay=" + empty, "--collector.device-include=mlx5["}, 1, []string{"--collector.device-include", "regexp"}},
		{"device exclude", []string{"serve", "--replay=" + empty, "--collector.device-exclude=("}, 1, []string{"--collector.device-exclude"}},
		{"brackets that only the anchor balances", []string{"serve", "--replay=" + empty, "--collector.device-exclude=a)|(b"}, 1, []string{"--collector.device-exclude"}},
		{"exclude of a collector", []string{"serve", "--replay=" + empty, "--collector.hw_counters.device-exclude=*"}, 1, []string{"--collector.hw_counters.device-exclude"}},
		{"raw names", []string{"serve", "--replay=" + empty, "--collector.ethtool.raw-include=("}, 1, []string{"--collector.ethtool.raw-include"}},
		{"a timeout of zero", []string{"serve", "--replay=" + empty, "--collector.timeout=0s"}, 1, []string{"--collector.timeout"}},
		{"an interval below zero", []string{"serve", "--replay=" + empty, "--collector.min-interval=-1s"}, 1, []string{"--collector.min-interval"}},
		{"no scrapes at all", []string{"serve", "--replay=" + empty, "--web.max-requests=0"}, 1, []string{"--web.max-requests"}},
		{"no sysfs", []string{"serve", "--path.sysfs=" + none}, 1, []string{none, "--path.sysfs", "mounted"}},
		{"no root", []string{"serve", "--path.rootfs=" + none}, 1, []string{none + "/sys", "--path.sysfs"}},
		{"no fixture", []string{"serve", "--replay=" + none}, 1, []string{none, "--replay"}},
		{"a fixture without sys", []string{"serve", "--replay=" + filepath.Join(empty, "sys")}, 1, []string{"--replay"}},
		{"an address", []string{"serve", "--replay=" + empty, "--web.listen-address=127.0.0.1:-1"}, 1, []string{"--web.listen-address"}},
		{"a path without slash", []string{"serve", "--replay=" + empty, "--web.telemetry-path=metrics"}, 1, []string{"--web.telemetry-path", `"metrics"`}},
		{"an empty path", []string{"serve", "--replay=" + empty, "--web.telemetry-path="}, 1, []string{"--web.telemetry-path"}},
		{"a path with braces", []string{"serve", "--replay=" + empty, "--web.telemetry-path=/{x}"}, 1, []string{"--web.telemetry-path"}},
		{"a path that is taken", []string{"serve", "--replay=" + empty, "--web.telemetry-path=/-/healthy"}, 1, []string{"--web.telemetry-path"}},
		{"a path that is not clean", []string{"serve", "--replay=" + empty, "--web.telemetry-path=/a/../b"}, 1, []string{"--web.telemetry-path"}},
		{"a web configuration", []string{"serve", "--replay=" + empty, "--web.listen-address=127.0.0.1:0", "--web.config.file=" + none}, 1, []string{"--web.config.file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := command(c.args...)
			if got.status != c.status {
				t.Errorf("status %d, want %d", got.status, c.status)
			}
			lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
			last := lines[len(lines)-1]
			if !strings.HasPrefix(last, "rdmawatch: ") {
				t.Errorf("stderr ends in %q", last)
			}
			for _, word := range c.says {
				if !strings.Contains(last, word) {
					t.Errorf("%q does not say %q", last, word)
				}
			}
			if strings.Contains(got.stderr, "Listening on") && c.name != "a web configuration" {
				t.Error("it listened before it looked at its flags")
			}
			if got.stdout != "" {
				t.Errorf("stdout %q", got.stdout)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	got := command("--version")
	if got.status != 0 || !strings.HasPrefix(got.stdout, "rdmawatch, version ") || got.stderr != "" {
		t.Errorf("status %d, stdout %q, stderr %q", got.status, got.stdout, got.stderr)
	}
}
