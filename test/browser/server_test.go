package browser

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// patient is how long a test waits for something that must happen, on a slow
// machine as well.
const patient = 3 * time.Minute

// binary is the program under test; RDMAWATCH names another one.
func binary() string {
	if path := os.Getenv("RDMAWATCH"); path != "" {
		return path
	}
	return "../../build/rdmawatch"
}

// rules fire at once, so that no test has to wait. The summary is what a
// hostile name would make of it.
const rules = `groups:
  - name: browser
    rules:
      - alert: RDMAPortDown
        expr: rdma_port_state == 1
        labels: {severity: critical, area: link, scope: port}
        annotations:
          summary: '{{ $labels.device }} is down <script>document.title = "owned"</script><img src=x onerror="document.title = 1">'
          description: The port has lost its link.
          cause: 'Cable pulled (card).'
          verify: |
            cat /sys/class/infiniband/{{ $labels.device }}/ports/1/state
            healthy: 4: ACTIVE | sick: 1: DOWN
          runbook_url: 'javascript:document.title = 2'
`

// machine is a served node whose files a test changes.
type machine struct {
	t       *testing.T
	dir     string
	address string
}

var listening = regexp.MustCompile(`Listening on.*address=(127\.0\.0\.1:\d+)`)

// serve runs the program on a copy of a fixture and evaluates twice a second.
func serve(t *testing.T, args ...string) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir()}
	if err := os.CopyFS(m.path("node"), os.DirFS("../../fixtures/nodes/cx6dx-mlx5-roce-5.15")); err != nil {
		t.Fatal(err)
	}
	m.write("rules.yaml", rules)
	m.port("4: ACTIVE")
	cmd := exec.Command(binary(), append([]string{
		"serve", "--replay", m.path("node"), "--web.listen-address=127.0.0.1:0", "--collector.min-interval=0s",
		"--alerting.interval=500ms", "--alerting.rules", m.path("rules.yaml"), "--alerting.instance=node-7",
	}, args...)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; make build makes the program", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if at := listening.FindStringSubmatch(lines.Text()); at != nil {
				found <- at[1]
			}
		}
		_, _ = io.Copy(io.Discard, log)
	}()
	select {
	case m.address = <-found:
	case <-time.After(patient):
		t.Fatal("the program does not listen")
	}
	m.waitReady()
	return m
}

// waitReady asks until the first reading is done.
func (m *machine) waitReady() {
	m.t.Helper()
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); {
		answer, err := http.Get("http://" + m.address + "/-/ready")
		if err != nil {
			m.t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
	}
	m.t.Fatal("the program does not become ready")
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) write(name, content string) {
	m.t.Helper()
	if err := os.WriteFile(m.path(name), []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// port sets the state of port 1 of mlx5_0.
func (m *machine) port(state string) {
	m.t.Helper()
	m.write("node/sys/class/infiniband/mlx5_0/ports/1/state", state+"\n")
}
