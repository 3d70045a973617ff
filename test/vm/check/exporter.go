package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// instance says how an exporter is started.
type instance struct {
	name  string
	port  int
	user  uint32   // 0 is root
	under []string // a program to run it under
	flags []string
}

// exporter is a running rdmawatch.
type exporter struct {
	name, binary, address, log string
	process                    *os.Process
	ended                      chan error
}

// start runs an exporter and waits until it listens; nil if it does not.
func start(r *report, binary string, i instance) *exporter {
	e := &exporter{
		name: i.name, binary: binary, address: fmt.Sprintf("127.0.0.1:%d", i.port),
		log: "/tmp/" + i.name + ".log", ended: make(chan error, 1),
	}
	log, err := os.Create(e.log)
	if err != nil {
		r.fails("starting "+i.name, err)
		return nil
	}
	defer log.Close()
	// A scrape must be a reading, as it is compared with files; and only scrapes
	// must, as what a reading does to the machine is counted.
	args := append(i.under, binary, "serve", "--web.listen-address="+e.address,
		"--collector.min-interval=0s", "--no-alerting.enabled")
	args = append(args, i.flags...)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	if i.user != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: i.user, Gid: i.user}}
	}
	if err := cmd.Start(); err != nil {
		r.fails("starting "+i.name, err)
		return nil
	}
	e.process = cmd.Process
	go func() { e.ended <- cmd.Wait() }()
	if !r.ok(eventually(e.listens), e.name+" listens", "an answer to /-/ready", "yes") {
		fmt.Print(read(e.log), "\n")
		return nil
	}
	return e
}

func (e *exporter) listens() bool {
	answer, err := http.Get("http://" + e.address + "/-/ready")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// scrape returns a page, nil after it reported that there is none.
func (e *exporter) scrape(r *report) *page {
	p, err := scrape("http://" + e.address + "/metrics")
	if err != nil {
		r.fails("scraping "+e.name, err)
		return nil
	}
	return p
}

// healthy checks that every source of the devices was read without an error.
func (e *exporter) healthy(r *report, devices ...string) {
	p := e.scrape(r)
	if p == nil {
		return
	}
	for _, d := range devices {
		var bad []string
		series := p.of(&catalog.CollectorSuccess, "device", d)
		for _, s := range series {
			if p.values[s.String()] != 1 {
				bad = append(bad, string(s["collector"]))
			}
		}
		r.ok(len(series) > 0 && len(bad) == 0, d+" read by every source",
			"success of each", fmt.Sprintf("%d sources, failed: %q", len(series), bad))
		equal(r, d+" stalled", "0", p.text(seriesOf(&catalog.DeviceStalled, d)))
	}
}

// noComplaints checks that nothing was logged as a warning or an error.
func (e *exporter) noComplaints(r *report) {
	var bad []string
	for line := range strings.Lines(read(e.log)) {
		if strings.Contains(line, "level=warn") || strings.Contains(line, "level=error") {
			bad = append(bad, strings.TrimSpace(line))
		}
	}
	r.ok(len(bad) == 0, "log of "+e.name, "no warnings", fmt.Sprintf("%d warnings and errors %s", len(bad), strings.Join(bad, "; ")))
}

// stop ends an exporter, which must go by itself and in good order.
func (e *exporter) stop(r *report) {
	if err := e.process.Signal(syscall.SIGTERM); err != nil {
		r.fails("stopping "+e.name, err)
		return
	}
	err := errors.New("still running")
	eventually(func() bool {
		select {
		case err = <-e.ended:
			return true
		default:
			return false
		}
	})
	r.ok(err == nil, e.name+" stops", "exit status 0", fmt.Sprint(err))
}
