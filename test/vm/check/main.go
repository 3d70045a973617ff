// Command check tries rdmawatch on the machine it runs on, the soft-RoCE guest
// of test/vm: it starts the exporter, makes things happen to the NICs, and
// compares every value on /metrics with the file it came from.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	binary := flag.String("exporter", "./rdmawatch", "the binary to try")
	number := flag.Int("confinement", -1, "become the command given, in this one of the confinements")
	listen := flag.String("listen", "", "address whose socket a confined command gets")
	flag.Parse()
	if *number >= 0 {
		fmt.Fprintln(os.Stderr, confine(confinements()[*number], *listen, flag.Args()))
		os.Exit(1)
	}
	os.Exit(run(*binary))
}

// run tries everything and returns the exit status.
func run(binary string) int {
	r := &report{begin: time.Now()}
	root := start(r, binary, instance{name: "root", port: 10055})
	if root == nil {
		return r.end()
	}
	for _, step := range []struct {
		what string
		do   func(*report, *exporter)
	}{
		{"at rest", atRest},
		{"traffic", traffic},
		{"loss", loss},
		{"receiver not ready", notReady},
		{"ethtool", ethtool},
		{"a capture", captured},
		{"findings live and in a capture", sameFindings},
		{"PCIe errors", pcieErrors},
		{"PCIe link below its maximum", pcieMaximum},
		{"an ordinary user", ordinaryUser},
		{"files closed to an ordinary user", closedFiles},
		{"contained", contained},
		{"an excluded device", excluded},
		{"a device removed and added", removed},
		{"a device renamed", renamed},
		{"names exchanged", exchanged},
		{"a cable pulled", cable},
		{"an interface switched off", switchedOff},
	} {
		r.step(step.what)
		step.do(r, root)
	}
	r.step("the end")
	root.noComplaints(r)
	root.stop(r)
	return r.end()
}

// report counts checks and prints them.
type report struct {
	begin          time.Time
	passed, failed int
}

// step begins a group of checks.
func (r *report) step(what string) {
	fmt.Printf("== %s (%.0f s)\n", what, time.Since(r.begin).Seconds())
}

// ok reports a check of which wanted and got are words already.
func (r *report) ok(pass bool, what, wanted, got string) bool {
	if pass {
		r.passed++
		fmt.Printf("ok    %s: %s\n", what, got)
	} else {
		r.failed++
		fmt.Printf("FAIL  %s: wanted %s, got %s\n", what, wanted, got)
	}
	return pass
}

// equal reports whether got is what was wanted.
func equal[T comparable](r *report, what string, wanted, got T) bool {
	return r.ok(wanted == got, what, fmt.Sprint(wanted), fmt.Sprint(got))
}

// fails reports that a check could not be made.
func (r *report) fails(what string, err error) {
	r.ok(false, what, "no error", err.Error())
}

// end prints the sum and returns the exit status.
func (r *report) end() int {
	fmt.Printf("%d passed, %d failed\n", r.passed, r.failed)
	if r.failed > 0 {
		return 1
	}
	return 0
}

// patience is how long anything may take in the guest, which runs without the
// host's processor and beside other work.
const patience = 30 * time.Second

// eventually waits until a condition holds.
func eventually(holds func() bool) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}
