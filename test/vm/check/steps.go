package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// command runs one of the guest's commands: `cable eth0 off`.
func command(r *report, words ...string) bool {
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if err != nil {
		r.fails(strings.Join(words, " "), fmt.Errorf("%w: %s", err, out))
	}
	return err == nil
}

// atRest: nothing happens, and the page says what the files say.
func atRest(r *report, root *exporter) {
	p := root.scrape(r)
	if p == nil {
		return
	}
	equal(r, "devices", "2", p.text(seriesOf(&catalog.Devices)))
	for _, name := range []string{"rxe0", "rxe1"} {
		d, err := look(name)
		if err != nil {
			r.fails(name, err)
			continue
		}
		equal(r, name+" is driven by", "rxe", driver(p, name))
		files := len(hwCounters(d))
		r.ok(files >= 15, name+" hw_counters", "15 files or more", fmt.Sprint(files))
		// Nothing is on the page that is not in a file either.
		errors := 0
		for _, f := range aerFacts(d) {
			errors += len(f.read())
		}
		equal(r, name+" kinds of PCIe errors", errors, len(p.of(&catalog.AERErrors, "device", name)))
		// e1000e answers EOPNOTSUPP for FEC, and has no counters of pause
		// frames. Neither is a failure, nor a value.
		equal(r, name+" FEC modes", 0, len(p.of(&catalog.FECActive, "device", name)))
		at := sources(p, name)
		for _, source := range []string{"port", "hw_counters", "link", "pcie"} {
			r.ok(slices.Contains(at, source), name+" read by "+source, "among its sources", strings.Join(at, " "))
		}
	}
	root.healthy(r, "rxe0", "rxe1")
	equal(r, "lines in the kernel log by a scrape", 0, loggedBy(r, func() { root.scrape(r) }))
	sameAsFiles(r, root, "rxe0", "rxe1")
}

// loggedBy counts what the kernel logs about the devices while f runs.
func loggedBy(r *report, f func()) int {
	count := func() int {
		out, err := exec.Command("dmesg").Output()
		if err != nil {
			r.fails("dmesg", err)
		}
		return len(ofDevices.FindAll(out, -1))
	}
	before := count()
	f()
	return count() - before
}

// ofDevices finds lines of the kernel log that are about a NIC.
var ofDevices = regexp.MustCompile(`(?m)^.*(eth\d|rxe\d|infiniband|0000:\d\d:).*$`)

func driver(p *page, device string) string {
	for _, s := range p.of(&catalog.DeviceInfo, "device", device) {
		return string(s["driver"])
	}
	return "absent"
}

// sources lists the sources that read a device.
func sources(p *page, device string) []string {
	var names []string
	for _, s := range p.of(&catalog.CollectorSuccess, "device", device) {
		names = append(names, string(s["collector"]))
	}
	return names
}

// movement is a counter that has to move, by its name on the page. The names
// are written out: here the catalogue itself is tried.
type movement struct{ what, series string }

var (
	sent     = movement{"rxe0 sent_pkts", `rdma_transmitted_packets_total{device="rxe0", port="1"}`}
	arrived  = movement{"rxe1 rcvd_pkts", `rdma_received_packets_total{device="rxe1", port="1"}`}
	sends    = movement{"rxe0 rdma_sends", `rdma_requests_sent_total{device="rxe0", operation="send", port="1"}`}
	receives = movement{"rxe1 rdma_recvs", `rdma_receive_work_requests_completed_total{device="rxe1", port="1"}`}
	gaps     = movement{"rxe1 out_of_seq_request", `rdma_out_of_sequence_packets_total{device="rxe1", port="1"}`}
	naks     = movement{"rxe0 rcvd_seq_err", `rdma_loss_events_total{device="rxe0", kind="sequence_nak", port="1"}`}
	resent   = movement{"rxe0 completer_retry_err", `rdma_retransmission_events_total{device="rxe0", port="1"}`}
	rnrSent  = movement{"rxe1 send_rnr_err", `rdma_rnr_naks_sent_total{device="rxe1", port="1"}`}
	rnrHeard = movement{"rxe0 rcvd_rnr_err", `rdma_rnr_naks_received_total{device="rxe0", port="1"}`}
)

// moves checks that counters move while something is done, and that all is as
// in the files afterwards.
func moves(r *report, root *exporter, do func(), counters ...movement) {
	before := root.scrape(r)
	do()
	after := root.scrape(r)
	if before == nil || after == nil {
		return
	}
	for _, c := range counters {
		was, now := before.values[c.series], after.values[c.series]
		r.ok(now > was, c.what+" moved", "more than "+before.text(c.series), before.text(c.series)+" -> "+after.text(c.series))
	}
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, "rxe0", "rxe1")
}

// traffic without loss, read while it flows as well.
func traffic(r *report, root *exporter) {
	moves(r, root, func() {
		sending := exec.Command("traffic", "send", "-D", "2", "-s", "16384")
		if err := sending.Start(); err != nil {
			r.fails("traffic send", err)
			return
		}
		duringTraffic(r, root)
		if err := sending.Wait(); err != nil {
			r.fails("traffic send", err)
		}
	}, sent, arrived, sends, receives)
}

// duringTraffic: a value that is on its way lies between two readings of its
// file. A scrape in which it did not move proves nothing, so more are made.
func duringTraffic(r *report, root *exporter) {
	counter := hwFact(r, "rxe0", "sent_pkts")
	var was, now float64
	var p *page
	if !eventually(func() bool {
		was = counter.read()[sent.series]
		p = root.scrape(r)
		now = counter.read()[sent.series]
		return p == nil || now > was
	}) || p == nil {
		r.ok(false, counter.what+" during traffic", "a moving file", "a still one")
		return
	}
	got := p.values[sent.series]
	r.ok(was <= got && got <= now, counter.what+" during traffic",
		fmt.Sprintf("between %s and %s", number(was), number(now)), p.text(sent.series))
}

func hwFact(r *report, name, file string) fact {
	d, err := look(name)
	if err != nil {
		r.fails(name, err)
	}
	for _, f := range hwCounters(d) {
		if strings.HasSuffix(f.what, "/"+file) {
			return f
		}
	}
	return fact{name + " " + file, func() map[string]float64 { return nil }}
}

// loss on the cable.
func loss(r *report, root *exporter) {
	moves(r, root, func() {
		command(r, "netem", "delay", "1ms", "loss", "1%", "reorder", "5%")
		command(r, "traffic", "write", "-n", "100", "-s", "16384")
		command(r, "netem", "off")
	}, gaps, naks, resent)
}

// notReady: one receive buffer for 64 messages in flight.
func notReady(r *report, root *exporter) {
	moves(r, root, func() {
		command(r, "traffic", "send", "-n", "100", "-s", "64", "-r", "1", "-t", "64")
	}, rnrSent, rnrHeard)
}

// pcieErrors: of the NIC and of the port above it, of both severities that the
// emulated NIC survives.
func pcieErrors(r *report, root *exporter) {
	for _, c := range []struct {
		device, severity, bits string // as the guest's command aer takes them
		file                   string // counts it, of the PCI device
		series                 string
	}{
		{"0000:01:00.0", "cor", "0x40", "aer_dev_correctable",
			`rdma_pcie_aer_errors_total{device="rxe0", end="nic", error="BadTLP", pci="0000:01:00.0", severity="correctable"}`},
		{"0000:04:00.0", "cor", "0x1", "aer_dev_correctable",
			`rdma_pcie_aer_errors_total{device="rxe1", end="nic", error="RxErr", pci="0000:04:00.0", severity="correctable"}`},
		{"0000:00:01.0", "cor", "0x80", "aer_dev_correctable",
			`rdma_pcie_aer_errors_total{device="rxe0", end="upstream", error="BadDLLP", pci="0000:01:00.0", severity="correctable"}`},
		{"0000:03:00.0", "cor", "0x1000", "aer_dev_correctable",
			`rdma_pcie_aer_errors_total{device="rxe1", end="upstream", error="Timeout", pci="0000:04:00.0", severity="correctable"}`},
		{"0000:00:01.0", "uncor", "0x4000", "aer_dev_nonfatal",
			`rdma_pcie_aer_errors_total{device="rxe0", end="upstream", error="CmpltTO", pci="0000:01:00.0", severity="nonfatal"}`},
	} {
		what := strings.Join([]string{"aer", c.device, c.severity, c.bits}, " ")
		file := "/sys/bus/pci/devices/" + c.device + "/" + c.file
		was, ups := read(file), carrierChanges("eth0")
		before := root.scrape(r)
		if before == nil || !command(r, "aer", c.device, c.severity, c.bits) {
			return
		}
		// The kernel books the error in a thread of its own, and after one that
		// was not correctable it resets the NIC below the port.
		booked := eventually(func() bool {
			return read(file) != was && (c.severity == "cor" || carrierChanges("eth0") >= ups+2)
		})
		after := root.scrape(r)
		if after == nil {
			return
		}
		r.ok(booked && after.values[c.series] == before.values[c.series]+1, what,
			c.series+" one more than "+before.text(c.series), before.text(c.series)+" -> "+after.text(c.series))
	}
	isActive(r, "rxe0")
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, "rxe0", "rxe1")
}

func carrierChanges(netdev string) int {
	n, err := strconv.Atoi(read("/sys/class/net/" + netdev + "/carrier_changes"))
	if err != nil {
		return 0
	}
	return n
}

// isActive waits until a device is active and its interface knows its speed,
// which comes a moment later.
func isActive(r *report, name string) {
	state := func() string {
		d, err := look(name)
		if err != nil {
			return err.Error()
		}
		return read(d.dir("ports/1/state")) + ", Mb/s: " + read("/sys/class/net/"+d.netdev+"/speed")
	}
	const wanted = "4: ACTIVE, Mb/s: 1000"
	r.ok(eventually(func() bool { return state() == wanted }), name+" active again", wanted, state())
}

// pcieMaximum: QEMU's slots show links that do not exist. A NIC there may seem
// to run below its maximum: that is shown and not called degraded. The files
// are laid over the kernel's, so an exporter has to start after that: another
// one holds the kernel's own open.
func pcieMaximum(r *report, root *exporter) {
	const address = "0000:01:00.0"
	if !command(r, "pcie-max", address, "16.0 GT/s PCIe", "16") {
		return
	}
	defer func() {
		for _, name := range []string{"max_link_speed", "max_link_width"} {
			command(r, "umount", "/sys/bus/pci/devices/"+address+"/"+name)
		}
	}()
	e := start(r, root.binary, instance{name: "pcie", port: 10056})
	if e == nil {
		return
	}
	defer e.stop(r)
	p := e.scrape(r)
	if p == nil {
		return
	}
	for _, c := range []struct {
		metric *catalog.Metric
		wanted string
	}{
		{&catalog.PCIeSpeed, "2500000000"},
		{&catalog.PCIeWidth, "1"},
		{&catalog.PCIeMaxSpeed, "16000000000"},
		{&catalog.PCIeMaxWidth, "16"},
		{&catalog.PCIeBandwidth, "250000000"},
		{&catalog.PCIeDegraded, "absent"},
		{&catalog.PCIeSlotLimited, "absent"},
		{&catalog.PCIeExpectedSpeed, "absent"},
		{&catalog.PCIeExpectedWidth, "absent"},
	} {
		equal(r, c.metric.Name, c.wanted, p.text(seriesOf(c.metric, "rxe0", address)))
	}
	equal(r, "rxe0 slot is virtual", 1, len(p.of(&catalog.PCIeInfo, "device", "rxe0", "virtual", "true")))
}

// ethtool: the catalogue maps nothing of e1000e, so its statistics are asked
// for by flag. They need no privilege.
func ethtool(r *report, root *exporter) {
	e := start(r, root.binary, instance{name: "ethtool", port: 10060, user: nobody, flags: []string{"--collector.ethtool.raw-include=.+"}})
	if e == nil {
		return
	}
	defer e.stop(r)
	for _, name := range []string{"rxe0", "rxe1"} {
		if d, err := look(name); err != nil {
			r.fails(name, err)
		} else {
			same(r, e, ethtoolFacts(d))
		}
	}
	e.healthy(r, "rxe0", "rxe1")
}

// nobody is the user of whom the kernel thinks least.
const nobody = 65534

// ordinaryUser: the kernel lets anybody read all that there is in the guest.
func ordinaryUser(r *report, root *exporter) {
	e := start(r, root.binary, instance{name: "nobody", port: 10057, user: nobody, flags: []string{"--no-collector.kmsg"}})
	if e == nil {
		return
	}
	defer e.stop(r)
	all, some := root.scrape(r), e.scrape(r)
	if all == nil || some == nil {
		return
	}
	lost := missing(all, some)
	r.ok(len(lost) == 0, "series that only root gets", "none", fmt.Sprintf("%d of %d %s", len(lost), len(all.series), strings.Join(lost, " ")))
	e.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, e, "rxe0", "rxe1")
	e.noComplaints(r)
}

// missing lists the series of all that some does not have. How often a source
// failed is not compared: that is how it says what it lacks. Nor is the kernel's
// log, which Debian shows to root only (kernel.dmesg_restrict).
func missing(all, some *page) []string {
	var lost []string
	for _, s := range all.series {
		name := string(s["__name__"])
		beside := name == catalog.CollectorReadErrors.Name || strings.HasPrefix(name, "rdma_kernel_") || s["collector"] == "kmsg"
		if _, ok := some.values[s.String()]; !ok && !beside {
			lost = append(lost, s.String())
		}
	}
	return lost
}

// closedFiles closes some files and a directory to ordinary users, as
// hardening does, and looks what an exporter without privileges makes of it:
// the rest, and word of what it lacks.
func closedFiles(r *report, root *exporter) {
	rxe0, err0 := look("rxe0")
	rxe1, err1 := look("rxe1")
	if err := errors.Join(err0, err1); err != nil {
		r.fails("devices", err)
		return
	}
	lacking := map[string]bool{}
	for _, c := range []struct {
		path  string
		facts []fact
	}{
		{rxe0.dir("ports/1/hw_counters/rcvd_pkts"), []fact{hwFact(r, "rxe0", "rcvd_pkts")}},
		{filepath.Join(rxe0.pci, "aer_dev_fatal"), aerFacts(rxe0)[2:3]},
		{rxe1.dir("ports/1/hw_counters"), hwCounters(rxe1)},
	} {
		for _, f := range c.facts {
			for series := range f.read() {
				lacking[series] = true
			}
		}
		info, err := os.Stat(c.path)
		if err == nil {
			err = os.Chmod(c.path, info.Mode()&0o700)
		}
		if err != nil {
			r.fails("closing "+c.path, err)
			return
		}
		defer os.Chmod(c.path, info.Mode())
	}
	e := start(r, root.binary, instance{name: "closed", port: 10058, user: nobody})
	if e == nil {
		return
	}
	defer e.stop(r)
	e.healthy(r, "rxe0", "rxe1")
	// What was said at the first scrape must still be said at the second.
	all, some := root.scrape(r), e.scrape(r)
	if all == nil || some == nil {
		return
	}
	lost := missing(all, some)
	other := slices.DeleteFunc(lost, func(s string) bool { return lacking[s] })
	r.ok(len(other) == 0, "series lost without need", "none", fmt.Sprintf("%d %s", len(other), strings.Join(other, " ")))
	kept := 0
	for series := range lacking {
		if _, ok := some.values[series]; ok {
			kept++
		}
	}
	equal(r, "series of closed files", 0, kept)
	for _, c := range []struct{ device, source, what string }{
		{"rxe0", "hw_counters", "a closed file"},
		{"rxe0", "pcie", "a closed file"},
		{"rxe1", "hw_counters", "a closed directory"},
	} {
		said := some.text(seriesOf(&catalog.CollectorSkipped, c.device, c.source, "permission"))
		denied := some.text(seriesOf(&catalog.CollectorReadErrors, c.device, c.source, "EACCES"))
		r.ok(said == "1" || denied != "absent", c.device+" "+c.source+" says that it lacks "+c.what,
			"skipped for want of permission, or a read error EACCES", fmt.Sprintf("skipped %s, EACCES %s", said, denied))
	}
	e.healthy(r, "rxe0", "rxe1")
}

// excluded: of an excluded device nothing is opened and nothing asked. Its name
// is seen, as the directory is listed in which all devices are.
func excluded(r *report, root *exporter) {
	const trace = "/tmp/excluded.trace"
	e := start(r, root.binary, instance{
		// Traced, the exporter is slow.
		name: "excluded", port: 10059, flags: []string{"--collector.device-exclude=rxe1", "--collector.timeout=25s"},
		// -D leaves the exporter this process's child, -y adds the path of
		// each descriptor, and --seccomp-bpf stops it at these calls only.
		under: []string{"strace", "-D", "-f", "--seccomp-bpf", "-y", "-s", "256", "-e", "trace=%file,ioctl,sendto,sendmsg", "-o", trace},
	})
	if e == nil {
		return
	}
	p := e.scrape(r)
	e.stop(r)
	if p == nil {
		return
	}
	equal(r, "devices", "2", p.text(seriesOf(&catalog.Devices)))
	equal(r, "rxe1 skipped", "1", p.text(seriesOf(&catalog.DeviceSkipped, "rxe1", "excluded")))
	equal(r, "series of rxe1", 1, len(p.with("device", "rxe1")))
	r.ok(len(p.with("device", "rxe0")) > 50, "series of rxe0", "more than 50", fmt.Sprint(len(p.with("device", "rxe0"))))

	ended := eventually(func() bool { return strings.Contains(read(trace), "+++ exited with 0 +++") })
	r.ok(ended, "trace complete", "the exporter's end", fmt.Sprint(ended))
	lines := strings.Split(read(trace), "\n")
	for _, c := range []struct {
		word string
		seen bool // proves that the trace would show it
	}{
		{"rxe0", true}, {"sent_pkts", true}, {"eth0", true}, {"0000:01:00.0", true},
		{"rxe1", false}, {"eth1", false}, {"0000:04:00.0", false},
	} {
		n, first := 0, ""
		for _, line := range lines {
			// The flag itself is in the trace, as the program is started.
			if strings.Contains(line, c.word) && !strings.Contains(line, "execve(") {
				if n++; n == 1 {
					first = line
				}
			}
		}
		wanted := "none"
		if c.seen {
			wanted = "some"
		}
		r.ok(c.seen == (n > 0), "calls that name "+c.word, wanted, fmt.Sprintf("%d of %d %s", n, len(lines), first))
	}
}

// removed: a device goes, and another of its name comes.
func removed(r *report, root *exporter) {
	if !command(r, "rdma", "link", "del", "rxe1") {
		return
	}
	if p := root.scrape(r); p != nil {
		equal(r, "devices", "1", p.text(seriesOf(&catalog.Devices)))
		// What the kernel's log has said of it, and may still say, is kept.
		log := len(p.of(&catalog.KernelEvents, "device", "rxe1")) + len(p.of(&catalog.KernelEventLast, "device", "rxe1"))
		equal(r, "series of rxe1 beside the log", 0, len(p.with("device", "rxe1"))-log)
	}
	root.healthy(r, "rxe0")
	addRxe1(r)
	if p := root.scrape(r); p != nil {
		equal(r, "devices", "2", p.text(seriesOf(&catalog.Devices)))
		equal(r, "rxe1 driver", "rxe", driver(p, "rxe1"))
	}
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, "rxe0", "rxe1")

	// Between two scrapes the name is all that stays.
	command(r, "rdma", "link", "del", "rxe1")
	addRxe1(r)
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, "rxe1")
}

func addRxe1(r *report) {
	if command(r, "rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "eth1") {
		isActive(r, "rxe1")
	}
}

// renamed: udev gives devices the names of other drivers.
func renamed(r *report, root *exporter) {
	if !command(r, "rdma", "dev", "set", "rxe1", "name", "mlx5_0") {
		return
	}
	if p := root.scrape(r); p != nil {
		equal(r, "devices", "2", p.text(seriesOf(&catalog.Devices)))
		equal(r, "series of rxe1", 0, len(p.with("device", "rxe1")))
		equal(r, "mlx5_0 is driven by", "rxe", driver(p, "mlx5_0"))
	}
	root.healthy(r, "rxe0", "mlx5_0")
	sameAsFiles(r, root, "mlx5_0")
	command(r, "rdma", "dev", "set", "mlx5_0", "name", "rxe1")
	sameAsFiles(r, root, "rxe1")
}

// exchanged: each of two devices gets the other's name between two scrapes.
func exchanged(r *report, root *exporter) {
	exchange := func() {
		command(r, "rdma", "dev", "set", "rxe0", "name", "other")
		command(r, "rdma", "dev", "set", "rxe1", "name", "rxe0")
		command(r, "rdma", "dev", "set", "other", "name", "rxe1")
	}
	exchange()
	if p := root.scrape(r); p != nil {
		equal(r, "interface of rxe0", 1, len(p.of(&catalog.PortInfo, "device", "rxe0", "netdev", "eth1")))
	}
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, "rxe0", "rxe1")
	exchange()
	sameAsFiles(r, root, "rxe0", "rxe1")
}

// cable pulled and put back.
func cable(r *report, root *exporter) {
	before := root.scrape(r)
	if before == nil || !command(r, "cable", "eth0", "off") {
		return
	}
	down(r, root, "rxe0", before, map[*catalog.Metric]string{
		&catalog.PortState:         "1",
		&catalog.PortPhysicalState: "2",
		&catalog.PortActive:        "0",
		&catalog.PortAdminUp:       "1",
		&catalog.PortRate:          "absent",
	})
	if command(r, "cable", "eth0", "on") {
		up(r, root, "rxe0")
	}
}

// switchedOff: the interface set down by its administrator.
func switchedOff(r *report, root *exporter) {
	before := root.scrape(r)
	if before == nil || !command(r, "/bin/ip", "link", "set", "eth1", "down") {
		return
	}
	down(r, root, "rxe1", before, map[*catalog.Metric]string{
		&catalog.PortState:         "1",
		&catalog.PortPhysicalState: "3",
		&catalog.PortActive:        "0",
		&catalog.PortAdminUp:       "0",
		&catalog.PortRate:          "absent",
	})
	if command(r, "/bin/ip", "link", "set", "eth1", "up") {
		up(r, root, "rxe1")
	}
}

// down checks what is said of a port that is down, and that this is no failure.
func down(r *report, root *exporter, device string, before *page, wanted map[*catalog.Metric]string) {
	state := "/sys/class/infiniband/" + device + "/ports/1/state"
	r.ok(eventually(func() bool { return read(state) == "1: DOWN" }), device+" down", "1: DOWN", read(state))
	p := root.scrape(r)
	if p == nil {
		return
	}
	for metric, value := range wanted {
		equal(r, device+" "+metric.Name, value, p.text(seriesOf(metric, device, "1")))
	}
	for _, kind := range []string{"driver", "carrier"} {
		series := fmt.Sprintf(`rdma_port_link_downed_total{device="%s", kind="%s", port="1"}`, device, kind)
		equal(r, device+" downs by "+kind, number(before.values[series]+1), p.text(series))
	}
	// Linux 6.1 logs "speed is unknown" whenever it is asked for the state of a
	// port without a link, here by the files state and phys_state
	// (ib_get_eth_speed in drivers/infiniband/core/verbs.c).
	lines := loggedBy(r, func() { root.scrape(r) })
	r.ok(lines <= 2, "lines in the kernel log by a scrape", "2 or fewer", fmt.Sprint(lines))
	root.healthy(r, "rxe0", "rxe1")
}

func up(r *report, root *exporter, device string) {
	isActive(r, device)
	if p := root.scrape(r); p != nil {
		equal(r, device+" active", "1", p.text(seriesOf(&catalog.PortActive, device, "1")))
	}
	root.healthy(r, "rxe0", "rxe1")
	sameAsFiles(r, root, device)
}
