package faults

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// scrapeTimeout is what Prometheus waits for a page unless told otherwise.
	scrapeTimeout = 10 * time.Second
	// patient is how long a test waits for what must happen, on a slow machine
	// as well.
	patient = 90 * time.Second
)

// process is a running rdmawatch.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	address string
	client  *http.Client
	ended   chan struct{}

	mu  sync.Mutex
	log strings.Builder
}

var listening = regexp.MustCompile(`Listening on.*address=(127\.0\.0\.1:\d+)`)

// serve runs `serve` with the race detector.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, exec.Command(binary(t, raced), serveArgs(args)...))
}

// serveShipped runs the binary that is shipped, for what is measured.
func serveShipped(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, exec.Command(binary(t, shipped), serveArgs(args)...))
}

func serveArgs(args []string) []string {
	return append([]string{"serve", "--web.listen-address=127.0.0.1:0", "--web.runtime-metrics"}, args...)
}

// start runs a program until the test ends, and waits until it listens.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, client: &http.Client{Timeout: patient}, ended: make(chan struct{})}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(p.ended)
		p.read(out, found)
		_ = cmd.Wait()
	}()
	t.Cleanup(p.stop)
	select {
	case p.address = <-found:
	case <-p.ended:
		t.Fatalf("has ended: %v\n%s", cmd.ProcessState, p.said())
	case <-time.After(patient):
		t.Fatalf("does not listen\n%s", p.said())
	}
	return p
}

func (p *process) read(out io.Reader, found chan<- string) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		p.mu.Lock()
		fmt.Fprintln(&p.log, lines.Text())
		p.mu.Unlock()
		if address := listening.FindStringSubmatch(lines.Text()); address != nil {
			found <- address[1]
		}
	}
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// stop ends the process and looks at what it has said.
func (p *process) stop() {
	p.client.CloseIdleConnections()
	_ = p.cmd.Process.Kill()
	<-p.ended
	said := p.said()
	for _, bad := range []string{"DATA RACE", "panic", "fatal error:", "goroutine "} {
		if strings.Contains(said, bad) {
			p.t.Errorf("the log has %q", bad)
		}
	}
	if p.t.Failed() {
		p.t.Logf("said:\n%s", said)
	}
}

// terminate sends SIGTERM and wants the process gone, with status 0, in the 2 s
// that a supervisor gives it.
func (p *process) terminate() {
	p.t.Helper()
	begin := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(patient):
		p.t.Fatal("does not end")
	}
	if took := time.Since(begin); took > 2*time.Second {
		p.t.Errorf("took %s to end", took)
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("ended with %v", p.cmd.ProcessState)
	}
}

// try asks for a page.
func (p *process) try(path string) (status int, body string, err error) {
	resp, err := p.client.Get("http://" + p.address + path)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(content), err
}

// page is a page of metrics.
type page map[string]float64

// scrape reads the metrics.
func (p *process) scrape() page {
	p.t.Helper()
	status, body, err := p.try("/metrics")
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("/metrics: status %d, %v\n%s", status, err, body)
	}
	return parse(p.t, body)
}

func parse(t *testing.T, body string) page {
	t.Helper()
	found := page{}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cut := strings.LastIndexByte(strings.TrimSpace(line), ' ')
		value, err := strconv.ParseFloat(strings.TrimSpace(line)[max(cut, 0)+1:], 64)
		if err != nil {
			t.Fatalf("no sample: %q", line)
		}
		found[line[:cut]] = value
	}
	return found
}

// want compares the values of series.
func (g page) want(t *testing.T, series map[string]float64) {
	t.Helper()
	for name, value := range series {
		if got, ok := g[name]; !ok || got != value {
			t.Errorf("%s is %v (there: %t), want %v", name, got, ok, value)
		}
	}
}

// absent wants none of the series.
func (g page) absent(t *testing.T, series ...string) {
	t.Helper()
	for _, name := range series {
		if value, ok := g[name]; ok {
			t.Errorf("%s is there, %v", name, value)
		}
	}
}

// held is what a process holds of the machine.
type held struct{ descriptors, threads, goroutines int }

func (p *process) held() held {
	p.t.Helper()
	var goroutines int
	eventually(p.t, "a page, after those of others", func() bool {
		status, body, err := p.try("/metrics")
		if err == nil && status == http.StatusOK {
			goroutines = int(parse(p.t, body)["go_goroutines"])
		}
		return goroutines > 0
	})
	return held{entries(p.t, p.cmd.Process.Pid, "fd"), entries(p.t, p.cmd.Process.Pid, "task"), goroutines}
}

func entries(t *testing.T, pid int, dir string) int {
	t.Helper()
	found, err := os.ReadDir(fmt.Sprintf("/proc/%d/%s", pid, dir))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// settles waits until no more is held than before, but for a few that the
// runtime and the connections of this test come and go with.
func (p *process) settles(before held) {
	p.t.Helper()
	const few = 8
	var now held
	eventually(p.t, fmt.Sprintf("no more is held than %+v", before), func() bool {
		now = p.held()
		return now.descriptors <= before.descriptors+few && now.threads <= before.threads+few && now.goroutines <= before.goroutines+few
	}, func() string { return fmt.Sprintf("%+v", now) })
}

// resident is the resident memory in bytes.
func (p *process) resident() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				p.t.Fatal(err)
			}
			return kib << 10
		}
	}
	p.t.Fatal("no VmRSS")
	return 0
}

// eventually asks until something holds, and tells what was instead.
func eventually(t *testing.T, what string, holds func() bool, instead ...func() string) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(patient); ; {
		if holds() {
			return
		}
		select {
		case <-ticker.C:
		case <-end:
			for _, f := range instead {
				what += ", but " + f()
			}
			t.Fatalf("not after %s: %s", patient, what)
		}
	}
}
