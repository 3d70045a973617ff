// Command rdmawatch watches the RDMA NICs of one node: it exports what they
// count to Prometheus.
package main

import (
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
	addReplay(app, commands)
	addRules(app, commands)

	command, err := app.Parse(args)
	switch {
	case status >= 0:
		return status
	case err != nil:
		fmt.Fprintf(stderr, "rdmawatch: %v; see rdmawatch --help\n", err)
		return 2
	}
	if err := commands[command](stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "rdmawatch: %v\n", err)
		return 1
	}
	return 0
}
