package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is one that listens on a port that it chose itself.
type program struct {
	cmd     *exec.Cmd
	address string
}

var listening = regexp.MustCompile(`Listening on.*address=(127\.0\.0\.1:\d+)`)

// start runs a program and waits until it is ready.
func start(name string, args ...string) (*program, error) {
	p := &program{cmd: exec.Command(name, args...)}
	out, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if at := listening.FindStringSubmatch(lines.Text()); at != nil {
				found <- at[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	p.address = <-found
	for deadline := time.Now().Add(10 * time.Minute); p.address != "" && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, err := p.page("/-/ready"); err == nil {
			return p, nil
		}
	}
	p.stop()
	return nil, errors.New(name + " does not become ready")
}

func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// processorTime is what the program has used of the processor so far.
func (p *program) processorTime() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	// Behind the name, which may hold blanks, utime and stime are words 12 and 13
	// (proc(5)), in hundredths of a second on Linux.
	_, rest, _ := strings.Cut(string(stat), ") ")
	words := strings.Fields(rest)
	if len(words) < 13 {
		return 0, fmt.Errorf("/proc/.../stat is %q", stat)
	}
	user, err := strconv.Atoi(words[11])
	kernel, err2 := strconv.Atoi(words[12])
	return time.Duration(user+kernel) * 10 * time.Millisecond, errors.Join(err, err2)
}

func (p *program) page(path string) (string, error) {
	return p.text(http.Get("http://" + p.address + path))
}

func (p *program) text(answer *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return string(text), err
}

// sample is one of the answer to a query.
type sample struct {
	labels map[string]string
	value  float64
}

// query asks Prometheus.
func (p *program) query(q string) ([]sample, error) {
	text, err := p.page("/api/v1/query?query=" + url.QueryEscape(q))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string `json:"metric"`
				Value  [2]any            `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return nil, err
	}
	var samples []sample
	for _, r := range answer.Data.Result {
		number, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample{r.Metric, v})
	}
	return samples, nil
}

// number asks for one number.
func (p *program) number(q string) (float64, error) {
	s, err := p.query(q)
	if err == nil && len(s) != 1 {
		err = fmt.Errorf("%s gives %d series", q, len(s))
	}
	if err != nil {
		return 0, err
	}
	return s[0].value, nil
}
