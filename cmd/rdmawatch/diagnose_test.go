package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"

	"github.com/rdmawatch/rdmawatch/diagnose"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// scenario writes a short scenario on a soft-RoCE node and returns its file.
func scenario(t *testing.T, changes string) string {
	t.Helper()
	dir := t.TempDir()
	nodes, err := filepath.Abs(filepath.Dir(fixtures.Node("any")))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nodes, filepath.Join(dir, "nodes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "scenarios"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "scenarios", "short.yaml")
	content := "cases: [{name: short, node: rxe-debian12-6.1, duration: 45s, changes: [" + changes + "]}]"
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Changes that lead to a finding: connections given up, the receiver not being
// ready; and the peer not answering.
const (
	toWarning  = "{hw: rxe0/1/retry_rnr_exceeded_err, add: 0.5}"
	toCritical = "{hw: rxe0/1/retry_exceeded_err, add: 0.5}"
)

// The status tells how bad it is, as monitoring plug-ins do, and a mistake is
// never taken for trouble of the node.
func TestDiagnoseStatus(t *testing.T) {
	empty := t.TempDir()
	if err := os.Mkdir(filepath.Join(empty, "sys"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
	}{
		{"nothing", []string{"--replay", scenario(t, "")}, 0},
		{"a warning", []string{"--replay", scenario(t, toWarning)}, 1},
		{"a critical finding", []string{"--replay", scenario(t, toCritical)}, 2},
		{"a warning that was not asked for", []string{"--replay", scenario(t, toWarning), "--min-severity=critical"}, 0},
		{"a node without devices", []string{"--replay", empty}, 3},
		{"no fixture", []string{"--replay", filepath.Join(empty, "none")}, 3},
		{"an unknown flag", []string{"--colour-blind"}, 3},
		{"a severity that does not exist", []string{"--min-severity=page"}, 3},
		{"no time", []string{"--duration=-1s", "--replay", empty}, 3},
		{"no interval", []string{"--interval=0s", "--replay", empty}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := command(append([]string{"diagnose"}, c.args...)...); got.status != c.status {
				t.Errorf("status %d, want %d\n%s%s", got.status, c.status, got.stdout, got.stderr)
			}
		})
	}
}

// diagnoseWith parses the flags of diagnose.
func diagnoseWith(t *testing.T, args ...string) *diagnoseFlags {
	t.Helper()
	app := kingpin.New("rdmawatch", "")
	f := newDiagnoseFlags(app.Command("diagnose", ""))
	if _, err := app.Parse(append([]string{"diagnose"}, args...)); err != nil {
		t.Fatal(err)
	}
	return f
}

// onWrite calls a function when something is written.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) { f(); return len(p), nil }

// Ctrl-C in the middle shows what was seen so far.
func TestDiagnoseInterrupted(t *testing.T) {
	f := diagnoseWith(t, "--replay", fixtures.Node("rxe-debian12-6.1"))
	runner, closeRunner, err := f.runner(log.NewNopLogger())
	if err != nil {
		t.Fatal(err)
	}
	defer closeRunner()
	watch, err := diagnose.NewWatch(diagnose.WatchConfig{Node: "node", Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	pressed := progress{onWrite(cancel), true} // as soon as it says how long it still takes
	if !sample(ctx, runner, watch, time.Hour, time.Hour, pressed) {
		t.Error("it was not interrupted")
	}
	report, err := watch.Report(t.Context(), true)
	if err != nil || len(report.Ports) != 2 || !report.Interrupted {
		t.Errorf("report %+v, error %v; want one of the first sample", report, err)
	}
}

// A context that has ended before anything was read gives no report.
func TestDiagnoseInterruptedAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := diagnoseWith(t, "--replay", fixtures.Node("rxe-debian12-6.1"))
	var out strings.Builder
	err := f.run(ctx, &out, &out)
	if err == nil || statusOf(err, &out) != exitUnknown || out.String() != "rdmawatch: interrupted before the first sample\n" {
		t.Errorf("error %v, said %q", err, out.String())
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Whoever reads the report may have seen enough: that is no failure.
func TestDiagnoseClosedPipe(t *testing.T) {
	var stderr strings.Builder
	status := run([]string{"diagnose", "--replay", scenario(t, toWarning)}, brokenPipe{}, &stderr)
	if status != exitWarning || stderr.String() != "" {
		t.Errorf("status %d, stderr %q", status, stderr.String())
	}
}

// The report of a running rdmawatch is shown like one's own.
func TestDiagnoseFrom(t *testing.T) {
	report := &diagnose.Report{Version: diagnose.Version, Node: "gpu-17", Time: time.Unix(1_700_000_000, 0), WindowSeconds: 300, Ports: []diagnose.Port{{Device: "mlx5_0", Port: "1"}},
		Findings: []diagnose.Finding{{Alert: "RDMAPortDown", Severity: diagnose.Critical, State: "firing", Device: "mlx5_0", Port: "1", Verdict: "mlx5_0 port 1 is down"}}}
	for _, c := range []struct {
		name         string
		handler      http.HandlerFunc
		status       int
		stdout, says string
	}{
		{"a report", func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path != "/behind/proxy/api/v1/status" {
				http.NotFound(w, req)
				return
			}
			_ = json.NewEncoder(w).Encode(report)
		}, exitCritical, "\n1. CRITICAL mlx5_0 port 1 is down\n", ""},
		{"no rdmawatch", http.NotFound, exitUnknown, "", `answers "404 Not Found"; is it an rdmawatch that has evaluated its rules?`},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, exitUnknown, "", "gave no report: invalid character"},
		{"an empty report", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"version":1}`)) }, exitUnknown, "", "gave no report: it has no time"},
		{"a later version", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"version":2}`)) }, exitUnknown, "", "gave a report of version 2, this rdmawatch knows version 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			got := command("diagnose", "--from", strings.TrimPrefix(server.URL, "http://")+"/behind/proxy/")
			if got.status != c.status || !strings.Contains(got.stdout, c.stdout) || !strings.Contains(got.stderr, c.says) {
				t.Errorf("status %d, stdout %q, stderr %q", got.status, got.stdout, got.stderr)
			}
		})
	}
}

func TestHasUTF8(t *testing.T) {
	for _, c := range []struct {
		name, all, ctype, lang string
		want                   bool
	}{
		{"a usual one", "", "", "en_US.UTF-8", true},
		{"written otherwise", "", "", "de_DE.utf8", true},
		{"none", "", "", "", false},
		{"plain C", "", "", "C", false},
		{"all wins", "C", "", "en_US.UTF-8", false},
		{"the characters win over the language", "", "C.UTF-8", "C", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("LC_ALL", c.all)
			t.Setenv("LC_CTYPE", c.ctype)
			t.Setenv("LANG", c.lang)
			if got := hasUTF8(); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
}

// A capture never takes the place of what is no plain file.
func TestCaptureOntoADevice(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	got := command("capture", "--replay", fixtures.Node(roce), "-o", pipe, "--force")
	if got.status != 1 || !strings.Contains(got.stderr, "is no plain file") {
		t.Errorf("status %d, stderr %q", got.status, got.stderr)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v", err)
	}
}
