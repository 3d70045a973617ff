package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// exporter is a program to measure. ADDRESS in its command is where to listen;
// without it, --web.listen-address tells it.
type exporter struct {
	name    string
	command []string
}

// result is what was measured of an exporter.
type result struct {
	name          string
	series, bytes int
	cpu           []float64 // seconds a scrape, of each round
	wall          []float64 // seconds, of each scrape
	reads         float64   // read calls a scrape, sockets included
	resident      float64   // bytes
}

// running is an exporter under way.
type running struct {
	result
	cmd    *exec.Cmd
	url    string
	client *http.Client
}

// compare measures exporters in alternating rounds, so that whatever else the
// machine does meets all of them.
func compare(exporters []exporter, rounds, scrapes int, pause time.Duration) (results []result, err error) {
	var all []*running
	defer func() {
		for _, r := range all {
			r.stop()
		}
	}()
	for _, e := range exporters {
		r, err := start(e)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	for range rounds {
		for _, r := range all {
			if err := r.round(scrapes, pause); err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	for _, r := range all {
		r.resident, err = r.status("VmRSS")
		results = append(results, r.result)
	}
	return results, err
}

func start(e exporter) (*running, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := slices.Clone(e.command)
	if at := slices.Index(command, "ADDRESS"); at >= 0 {
		command[at] = address
	} else {
		command = append(command, "--web.listen-address="+address)
	}
	r := &running{result: result{name: e.name}, url: "http://" + address + "/metrics", client: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{DisableCompression: true},
	}}
	r.cmd = exec.Command(command[0], command[1:]...)
	r.cmd.Stdout, r.cmd.Stderr = os.Stderr, os.Stderr
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		body, err := r.scrape()
		if err == nil {
			r.bytes, r.series, err = measure(body)
			return r, err
		}
		if tries == 100 {
			r.stop()
			return nil, fmt.Errorf("%s does not answer: %w", e.name, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (r *running) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

func (r *running) scrape() ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return body, err
}

// measure counts the bytes that came and the series in them.
func measure(body []byte) (size, series int, err error) {
	size = len(body)
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return 0, 0, err
		}
		if body, err = io.ReadAll(z); err != nil {
			return 0, 0, err
		}
	}
	for line := range bytes.Lines(body) {
		if line[0] != '#' {
			series++
		}
	}
	return size, series, nil
}

// round scrapes several times.
func (r *running) round(scrapes int, pause time.Duration) error {
	if _, err := r.scrape(); err != nil { // warm up: the others ran meanwhile
		return err
	}
	before, err := r.cpuTime()
	if err != nil {
		return err
	}
	readsBefore, err := r.readCalls()
	if err != nil {
		return err
	}
	for range scrapes {
		time.Sleep(pause)
		begin := time.Now()
		if _, err := r.scrape(); err != nil {
			return err
		}
		r.wall = append(r.wall, time.Since(begin).Seconds())
	}
	after, err := r.cpuTime()
	if err != nil {
		return err
	}
	readsAfter, err := r.readCalls()
	r.cpu = append(r.cpu, (after-before)/float64(scrapes))
	r.reads = (readsAfter - readsBefore) / float64(scrapes)
	return err
}

// cpuTime is the processor time that the process has used, in seconds: its clock
// is that of clock_getcpuclockid(3).
func (r *running) cpuTime() (float64, error) {
	const wholeProcess = 2 // CPUCLOCK_SCHED, include/linux/posix-timers.h
	var t unix.Timespec
	err := unix.ClockGettime(int32(^r.cmd.Process.Pid<<3|wholeProcess), &t)
	return float64(t.Nano()) / 1e9, err
}

// readCalls is the number of read calls so far (proc(5), /proc/PID/io).
func (r *running) readCalls() (float64, error) { return r.proc("io", "syscr") }

// status is a size in /proc/PID/status, in bytes.
func (r *running) status(key string) (float64, error) {
	v, err := r.proc("status", key)
	return v * 1024, err
}

func (r *running) proc(file, key string) (float64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(r.cmd.Process.Pid) + "/" + file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key+":" {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, fmt.Errorf("no %s in /proc/PID/%s", key, file)
}

// without are the flags that switch off every collector but some.
func without(program string, keep []string) []string {
	help, err := exec.Command(program, "serve", "--help").CombinedOutput()
	if err != nil {
		return nil // it is said when the program is started
	}
	var flags []string
	for _, found := range regexp.MustCompile(`(?m)^\s*--\[no-\]collector\.(\w+)\s`).FindAllSubmatch(help, -1) {
		if name := string(found[1]); !slices.Contains(keep, name) {
			flags = append(flags, "--no-collector."+name)
		}
	}
	return flags
}
