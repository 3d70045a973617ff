package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// captured: what a capture holds, read again, is what the machine says.
func captured(r *report, root *exporter) {
	const file = "/tmp/node.tar.gz"
	before := root.scrape(r)
	said := capture(r, root, "--raw", "-o", file)
	after := root.scrape(r)
	info, err := os.Stat(file)
	if before == nil || after == nil || err != nil {
		r.fails("capture", errors.Join(err, errors.New(said)))
		return
	}
	equal(r, "mode of a capture", "-rw-------", info.Mode().String())
	again := start(r, root.binary, instance{name: "replayed", port: 10059, flags: []string{"--replay=" + file}})
	if again == nil {
		return
	}
	defer again.stop(r)
	replayed := again.scrape(r)
	if replayed == nil {
		return
	}
	samePages(r, before, after, unmarked(r, replayed))
	anonymous(r, root)
}

// unmarked is a page without the label that says that it is of no machine, which
// every series must have.
func unmarked(r *report, p *page) *page {
	const mark = "simulated"
	plain, bare := &page{values: map[string]float64{}}, 0
	for _, series := range p.series {
		value := p.values[series.String()]
		if series[mark] != "true" {
			bare++
		}
		series = series.Clone()
		delete(series, mark)
		plain.series = append(plain.series, series)
		plain.values[series.String()] = value
	}
	equal(r, "series of a capture not marked as simulated", "0", fmt.Sprint(bare))
	return plain
}

// samePages compares a page with the same page read from a capture, where the
// machine stood still meanwhile.
func samePages(r *report, before, after, replayed *page) {
	still, wrong := 0, []string(nil)
	for _, series := range before.series {
		key := series.String()
		if ofReading(string(series["__name__"])) || before.values[key] != after.values[key] {
			continue
		}
		still++
		if got, ok := replayed.values[key]; !ok || got != before.values[key] {
			wrong = append(wrong, fmt.Sprintf("%s %s, not %s", key, replayed.text(key), before.text(key)))
		}
	}
	r.ok(still > 100 && len(wrong) == 0, "series of a capture", "those of the machine", fmt.Sprintf("%d compared, wrong: %q", still, wrong))
	extra := slices.DeleteFunc(missing(replayed, after), func(s string) bool { return ofReading(s) })
	r.ok(len(extra) == 0, "series that only the capture has", "none", fmt.Sprintf("%d %q", len(extra), extra))
}

// ofReading tells series about the reading itself: how often, how long, when.
func ofReading(name string) bool {
	for _, prefix := range []string{"rdma_collector_", "rdma_collection_", "rdmawatch_", "rdma_device_last", catalog.DeviceFirstSeen.Name} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// anonymous: nothing in a capture names this machine or its cards.
func anonymous(r *report, root *exporter) {
	const dir = "/tmp/anonymous"
	said := capture(r, root, "-o", dir+".tar.gz")
	if !command(r, "mkdir", "-p", dir) || !command(r, "tar", "xzf", dir+".tar.gz", "-C", dir) {
		return
	}
	for _, name := range []string{"rxe0", "rxe1"} {
		guid := strings.TrimSpace(read("/sys/class/infiniband/" + name + "/node_guid"))
		out, err := exec.Command("grep", "-rl", guid, dir).Output() // status 1: not found
		r.ok(len(guid) == 19 && err != nil && len(out) == 0, "GUID of "+name+" in a capture", "nowhere", fmt.Sprintf("in %q", out))
	}
	r.ok(strings.Contains(said, "GUID: 2"), "what was replaced", "GUID: 2", strings.TrimSpace(said))
}

// capture runs the command, and returns what it said.
func capture(r *report, root *exporter, flags ...string) string {
	cmd := exec.Command(root.binary, append([]string{"capture", "--force"}, flags...)...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		r.fails("capture", fmt.Errorf("%w: %s", err, said.Bytes()))
	}
	return said.String()
}

// sameFindings: while packets are lost, diagnose finds the same on the machine
// and in a capture that was taken meanwhile.
func sameFindings(r *report, root *exporter) {
	command(r, "netem", "delay", "1ms", "loss", "5%")
	sending := exec.Command("traffic", "write", "-D", "25", "-s", "16384")
	if err := sending.Start(); err != nil {
		r.fails("traffic write", err)
		return
	}
	const file = "/tmp/series.tar.gz"
	done := make(chan []string)
	go func() { done <- findings(r, root, "--duration=12s") }()
	capture(r, root, "-o", file, "--duration=12s")
	live := <-done
	replayed := findings(r, root, "--replay="+file)
	r.ok(len(live) > 0, "findings while packets are lost", "some", fmt.Sprintf("%q", live))
	equal(r, "findings in a capture", fmt.Sprintf("%q", live), fmt.Sprintf("%q", replayed))
	if err := sending.Wait(); err != nil {
		r.fails("traffic write", err)
	}
	command(r, "netem", "off")
}

// findings lists what diagnose finds: alert, device and port.
func findings(r *report, root *exporter, flags ...string) []string {
	out, err := exec.Command(root.binary, append([]string{"diagnose", "--format=json", "--min-severity=warning"}, flags...)...).Output()
	var exit *exec.ExitError
	judged := errors.As(err, &exit) && exit.ExitCode() < 3 // 1 and 2 are what was found
	if err != nil && !judged {
		r.fails("diagnose", fmt.Errorf("%w: %s", err, out))
		return nil
	}
	var report struct {
		Findings []struct{ Alert, Device, Port string }
	}
	if err := json.Unmarshal(out, &report); err != nil {
		r.fails("diagnose", err)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, strings.TrimSpace(f.Alert+" "+f.Device+" "+f.Port))
	}
	slices.Sort(found)
	return found
}
