// Command bench compares what a scrape of rdmawatch costs with one of
// node_exporter's infiniband collector, and with a program that does nothing
// but read the files (see BENCHMARKS.md). Judge ratios of one run, never times.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if len(os.Args) == 4 && os.Args[1] == "limit" {
		log.Fatal(serveLimit(os.Args[2], os.Args[3]))
	}
	b := bench{}
	flag.StringVar(&b.ours, "rdmawatch", "build/rdmawatch", "the program that is measured")
	flag.StringVar(&b.theirs, "node-exporter", "build/node_exporter", "the program it is compared with")
	flag.IntVar(&b.rounds, "rounds", 5, "alternating rounds of each comparison")
	flag.IntVar(&b.scrapes, "scrapes", 300, "scrapes in a round, a twentieth of it with pauses")
	inside := flag.Bool("inside", false, "already in a mount namespace of its own")
	flag.Parse()
	if os.Geteuid() == 0 && !*inside {
		os.Exit(inNamespace())
	}
	if err := b.run(); err != nil {
		log.Fatal(err)
	}
}

// inNamespace runs this program once more where its mounts are its own.
func inNamespace() int {
	cmd := exec.Command("/proc/self/exe", append([]string{"-inside"}, os.Args[1:]...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Run(); err != nil {
		log.Print(err)
		return 1
	}
	return 0
}

type bench struct {
	ours, theirs    string
	rounds, scrapes int
}

// infiniband are the sources that read what node_exporter reads.
var infiniband = []string{"port", "counters", "hw_counters"}

func (b *bench) run() error {
	dir, err := os.MkdirTemp("", "rdmawatch-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	small, err := newTree(filepath.Join(dir, "16"), 16, 16)
	if err != nil {
		return err
	}
	defer small.close()
	large, err := newTree(filepath.Join(dir, "256"), 256, 16)
	if err != nil {
		return err
	}
	defer large.close()
	fmt.Printf("16 devices with %d files, 256 devices (16 with 15 VFs each) with %d; files of %s\n", small.files, large.files, small.backing)

	node := exporter{"node_exporter", []string{b.theirs, "--path.sysfs=" + small.root, "--collector.disable-defaults", "--collector.infiniband", "--log.level=error"}}
	few := exporter{"rdmawatch", b.serve(small, infiniband...)}
	limit := exporter{"pread alone", []string{"/proc/self/exe", "limit", "ADDRESS", small.root}}
	if self, err := os.Executable(); err == nil {
		limit.command[0] = self
	}
	for _, c := range []struct {
		what      string
		scrapes   int
		pause     time.Duration
		exporters []exporter
	}{
		{"back to back", b.scrapes, 0, []exporter{node, few, limit}},
		{"500 ms between scrapes", max(b.scrapes/20, 1), 500 * time.Millisecond, []exporter{node, few, limit}},
		{"all sources", b.scrapes, 0, []exporter{few, {"all sources", b.serve(small)}}},
		{"growth", b.scrapes / 4, 0, []exporter{few, {"256 devices", b.serve(large, infiniband...)}}},
	} {
		results, err := compare(c.exporters, b.rounds, c.scrapes, c.pause)
		if err != nil {
			return err
		}
		print(c.what, results)
	}
	return nil
}

// serve is the command line of rdmawatch with some sources only, or all.
func (b *bench) serve(t *tree, sources ...string) []string {
	command := []string{b.ours, "serve", "--path.sysfs=" + t.root, "--no-alerting.enabled", "--collector.min-interval=0s", "--log.level=error"}
	if len(sources) > 0 {
		command = append(command, without(b.ours, sources)...)
	}
	return command
}
