package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// device is an RDMA device of this machine, with the interface it runs on and
// that interface's PCI function, as the checks find them for themselves.
type device struct {
	name, netdev string
	pci          string // path of the PCI function, all links followed
}

// look finds out about a device.
func look(name string) (device, error) {
	d := device{name: name}
	netdev, err := os.ReadFile(d.dir("parent"))
	if err != nil {
		return d, err
	}
	d.netdev = strings.TrimSpace(string(netdev))
	d.pci, err = filepath.EvalSymlinks("/sys/class/net/" + d.netdev + "/device")
	return d, err
}

func (d device) dir(below string) string { return "/sys/class/infiniband/" + d.name + "/" + below }

func (d device) address() string { return filepath.Base(d.pci) }

// read returns the text of a file, "" if it cannot be read.
func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// fact is something that the machine's files say: read tells it as the series
// that must show it. A file that gives nothing gives no series.
type fact struct {
	what string
	read func() map[string]float64
}

// scaled is the fact that a file holds a number, which a series shows in the
// unit that the catalogue says.
func scaled(what, path, series string, unit catalog.Unit) fact {
	return fact{what, func() map[string]float64 {
		// The number is the first word: "4: ACTIVE", "2.5 GT/s PCIe", "1000".
		word, _, _ := strings.Cut(read(path), " ")
		v, err := strconv.ParseFloat(strings.TrimSuffix(word, ":"), 64)
		if err != nil {
			return nil
		}
		return map[string]float64{series: unit.ToBase(v)}
	}}
}

// facts lists what the machine says of a device.
func facts(d device) []fact {
	return slices.Concat(hwCounters(d), portFacts(d), pcieFacts(d), aerFacts(d))
}

// hwCounters maps each file by the catalogue, or under its own name where the
// catalogue has no row for it.
func hwCounters(d device) []fact {
	entries, _ := os.ReadDir(d.dir("ports/1/hw_counters"))
	names := map[string]bool{}
	for _, e := range entries {
		if e.Name() != "lifespan" { // a setting
			names[e.Name()] = true
		}
	}
	matcher := catalog.NewMatcher(catalog.ForDriver("rxe").HW)
	var found []fact
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path := d.dir("ports/1/hw_counters/" + name)
		what := fmt.Sprintf("%s hw_counters/%s", d.name, name)
		matches := matcher.Find(name, func(other string) bool { return names[other] })
		if len(matches) == 0 {
			found = append(found, scaled(what, path, seriesOf(&catalog.UnmappedHW, d.name, "1", name), catalog.Events))
		}
		for _, m := range matches {
			series := seriesOf(m.Row.Metric, append([]string{d.name, "1"}, m.Values...)...)
			found = append(found, scaled(what, path, series, m.Row.Unit))
		}
	}
	return found
}

func portFacts(d device) []fact {
	net := "/sys/class/net/" + d.netdev + "/"
	found := []fact{
		scaled(d.name+" state", d.dir("ports/1/state"), seriesOf(&catalog.PortState, d.name, "1"), catalog.Events),
		scaled(d.name+" phys_state", d.dir("ports/1/phys_state"), seriesOf(&catalog.PortPhysicalState, d.name, "1"), catalog.Events),
		scaled(d.name+" speed of "+d.netdev, net+"speed", seriesOf(&catalog.PortRate, d.name, "1"), catalog.MegabitsPerSecond),
	}
	for _, row := range catalog.Netdev() {
		series := seriesOf(row.Metric, append([]string{d.name, "1"}, row.LabelValues(nil)...)...)
		found = append(found, scaled(d.name+" "+row.Name+" of "+d.netdev, net+row.Name, series, row.Unit))
	}
	return found
}

func pcieFacts(d device) []fact {
	var found []fact
	for _, f := range []struct {
		name   string
		metric *catalog.Metric
		unit   catalog.Unit
	}{
		{"current_link_speed", &catalog.PCIeSpeed, catalog.GigatransfersPerSecond},
		{"current_link_width", &catalog.PCIeWidth, catalog.LaneCount},
		{"max_link_speed", &catalog.PCIeMaxSpeed, catalog.GigatransfersPerSecond},
		{"max_link_width", &catalog.PCIeMaxWidth, catalog.LaneCount},
	} {
		found = append(found, scaled(d.name+" "+f.name, d.pci+"/"+f.name, seriesOf(f.metric, d.name, d.address()), f.unit))
	}
	return found
}

// aerFacts has one fact for each file of the NIC and of the port above it.
func aerFacts(d device) []fact {
	var found []fact
	for _, end := range []struct{ name, path string }{{"nic", d.pci}, {"upstream", filepath.Dir(d.pci)}} {
		for _, severity := range []string{"correctable", "nonfatal", "fatal"} {
			path := end.path + "/aer_dev_" + severity
			found = append(found, fact{
				fmt.Sprintf("%s aer_dev_%s of %s", d.name, severity, end.name),
				func() map[string]float64 { return aerSeries(read(path), d, end.name, severity) },
			})
		}
	}
	return found
}

// aerSeries reads lines like "BadTLP 1". The last one counts messages.
func aerSeries(text string, d device, end, severity string) map[string]float64 {
	wanted := map[string]float64{}
	for line := range strings.Lines(text) {
		name, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseFloat(count, 64)
		if err == nil && !strings.HasPrefix(name, "TOTAL_") {
			wanted[seriesOf(&catalog.AERErrors, d.name, d.address(), end, severity, name)] = v
		}
	}
	return wanted
}

// ethtoolFacts is what the program ethtool says of the device's interface:
// "     rx_packets: 123" of statistics, "RX:		on" of pause frames.
func ethtoolFacts(d device) []fact {
	ask := func(flag string, series func(name, value string) (string, float64, error)) func() map[string]float64 {
		return func() map[string]float64 {
			out, err := exec.Command("ethtool", flag, d.netdev).Output()
			if err != nil {
				return nil
			}
			wanted := map[string]float64{}
			for line := range strings.Lines(string(out)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
				if s, v, err := series(name, strings.TrimSpace(value)); err == nil && s != "" {
					wanted[s] = v
				}
			}
			return wanted
		}
	}
	statistic := func(name, value string) (string, float64, error) {
		v, err := strconv.ParseFloat(value, 64)
		return seriesOf(&catalog.UnmappedEthtool, d.name, "1", name), v, err
	}
	pause := func(name, value string) (string, float64, error) {
		direction := map[string]string{"RX": "received", "TX": "sent"}[name]
		state, known := map[string]float64{"on": 1, "off": 0}[value]
		if direction == "" || !known {
			return "", 0, nil
		}
		return fmt.Sprintf(`rdma_port_pause_enabled{device="%s", direction="%s", port="1"}`, d.name, direction), state, nil
	}
	return []fact{
		{d.name + " ethtool -S " + d.netdev, ask("-S", statistic)},
		{d.name + " ethtool -a " + d.netdev, ask("-a", pause)},
	}
}

// sameAsFiles checks that the page says what the files of devices say.
func sameAsFiles(r *report, e *exporter, devices ...string) {
	for _, name := range devices {
		if d, err := look(name); err != nil {
			r.fails(name, err)
		} else {
			same(r, e, facts(d))
		}
	}
}

// same checks that the page says what the machine says. Each fact is read
// before and after the scrape: where the two differ, the machine was moving,
// and the fact is tried again.
func same(r *report, e *exporter, open []fact) {
	const tries = 10
	for range tries {
		before := readAll(open)
		p := e.scrape(r)
		if p == nil {
			return
		}
		after := readAll(open)
		var moving []fact
		for i, f := range open {
			if maps.Equal(before[i], after[i]) {
				compare(r, p, f.what, before[i])
			} else {
				moving = append(moving, f)
			}
		}
		if open = moving; len(open) == 0 {
			return
		}
	}
	for _, f := range open {
		r.ok(false, f.what, "a file that stands still", "another value each time")
	}
}

func readAll(facts []fact) []map[string]float64 {
	values := make([]map[string]float64, len(facts))
	for i, f := range facts {
		values[i] = f.read()
	}
	return values
}

// compare reports one fact in one line: its value, or how many values it has
// and the first that is wrong.
func compare(r *report, p *page, what string, wanted map[string]float64) {
	if len(wanted) == 0 {
		r.ok(false, what, "a file with a value", "none")
		return
	}
	for _, series := range slices.Sorted(maps.Keys(wanted)) {
		if got, ok := p.values[series]; !ok || got != wanted[series] {
			r.ok(false, what, series+" "+number(wanted[series]), p.text(series))
			return
		}
	}
	text := fmt.Sprintf("%d values", len(wanted))
	if len(wanted) == 1 {
		for _, v := range wanted {
			text = number(v)
		}
	}
	r.ok(true, what, "", text)
}
