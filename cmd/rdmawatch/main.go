// Command rdmawatch watches the RDMA NICs of one node: it exports what they
// count to Prometheus.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kingpin/v2"
	"github.com/prometheus/common/version"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it. Its result is the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	app := kingpin.New("rdmawatch", "Prometheus exporter for every RDMA NIC of a node: InfiniBand, RoCE, iWARP.")
	app.Version(version.Print("rdmawatch"))
	app.HelpFlag.Short('h')
	app.UsageWriter(stdout)
	app.ErrorWriter(stderr)
	status := -1 // of kingpin's own exits: --help and --version
	app.Terminate(func(code int) {
		if status < 0 {
			status = code
		}
	})

	commands := map[string]func(stdout, stderr io.Writer) error{}
	addServe(app, commands)
	addDiagnose(app, commands)
	addCapture(app, commands)
	addDemo(app, commands)
	addReplay(app, commands)
	addRules(app, commands)

	command, err := app.Parse(args)
	switch {
	case status >= 0:
		return status
	case err != nil:
		fmt.Fprintf(stderr, "rdmawatch: %v; see rdmawatch --help\n", err)
		if len(args) > 0 && args[0] == "diagnose" {
			return exitUnknown // 2 would say that the node is in trouble
		}
		return 2
	}
	return statusOf(commands[command](stdout, stderr), stderr)
}

// statusOf tells what went wrong, if anything did.
func statusOf(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	own := &exit{status: 1, err: err}
	_ = errors.As(err, &own) // else it stays 1
	if own.err != nil {
		fmt.Fprintf(stderr, "rdmawatch: %v\n", err)
	}
	return own.status
}
