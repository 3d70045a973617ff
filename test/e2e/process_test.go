package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patient is how long a test waits for something that must happen, on a slow
// machine as well.
const patient = 2 * time.Minute

// program is the file of a program: an environment variable names another one.
func program(variable, name string) string {
	if path := os.Getenv(variable); path != "" {
		return path
	}
	return name
}

func rdmawatch() string    { return program("RDMAWATCH", "../../build/rdmawatch") }
func prometheus() string   { return program("PROMETHEUS", "prometheus") }
func alertmanager() string { return program("ALERTMANAGER", "prometheus-alertmanager") }

// process is a program that listens on a port that it chose itself.
type process struct {
	t       *testing.T
	name    string
	cmd     *exec.Cmd
	ended   chan struct{}
	address string

	mu  sync.Mutex
	log strings.Builder
}

var listening = regexp.MustCompile(`Listening on.*address=(127\.0\.0\.1:\d+)`)

// start runs a program until the test ends, and waits until it is ready.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: name, cmd: exec.Command(name, args...), ended: make(chan struct{})}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%v; README.md says what e2e needs", err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(p.ended)
		p.read(out, found)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, p.said())
		}
	})
	select {
	case p.address = <-found:
	case <-p.ended:
		t.Fatalf("%s has ended: %s", name, p.said())
	case <-time.After(patient):
		t.Fatalf("%s does not listen", name)
	}
	eventually(t, name+" is ready", func() bool {
		status, _ := fetch("http://" + p.address + "/-/ready")
		return status == 200
	})
	return p
}

// read keeps the log and finds the address in it.
func (p *process) read(out io.Reader, found chan<- string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.mu.Lock()
		fmt.Fprintln(&p.log, lines.Text())
		p.mu.Unlock()
		if at := listening.FindStringSubmatch(lines.Text()); at != nil {
			select {
			case found <- at[1]:
			default:
			}
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// stop ends the program as a service manager does.
func (p *process) stop() { p.signal(syscall.SIGTERM) }

// kill ends it as a power cut does.
func (p *process) kill() { p.signal(syscall.SIGKILL) }

func (p *process) signal(s syscall.Signal) {
	_ = p.cmd.Process.Signal(s)
	<-p.ended
}

// hangup has the program load its configuration anew.
func (p *process) hangup() { _ = p.cmd.Process.Signal(syscall.SIGHUP) }

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patient)
	defer deadline.Stop()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline.C:
			t.Fatalf("waited %s in vain: %s", patient, what)
		}
	}
}
