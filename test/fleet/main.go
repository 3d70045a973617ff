// Fleet has a real Prometheus scrape many simulated nodes and evaluate the
// bundled rules, and measures what that costs. See README.md beside it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	nodes := flag.Int("nodes", 1000, "simulated nodes of 8 NICs; 100 at least")
	runFor := flag.Duration("for", 7*time.Minute, "how long Prometheus scrapes before it is asked")
	interval := flag.Duration("interval", 15*time.Second, "scrape and evaluation interval")
	binary := flag.String("rdmawatch", "../../build/rdmawatch", "program under test")
	prometheus := flag.String("prometheus", "prometheus", "the program")
	rules := flag.String("rules", "", "rule file to measure in place of the bundled rules; nothing is said of outliers then")
	flag.Parse()
	if *nodes < 2*perCluster {
		log.Fatalf("fleet: --nodes is %d; the outliers want %d", *nodes, 2*perCluster)
	}
	b := &bench{fleet: &fleet{size: *nodes}, interval: *interval, rdmawatch: *binary, prometheus: *prometheus, ruleFile: *rules}
	if err := b.run(*runFor); err != nil {
		log.Fatalf("fleet: %v", err)
	}
}

type bench struct {
	fleet                           *fleet
	interval                        time.Duration
	rdmawatch, prometheus, ruleFile string
	dir                             string
	server                          *program
}

// run measures, and says whether every rule fired where it must.
func (b *bench) run(runFor time.Duration) error {
	var err error
	if b.fleet.model, err = b.record(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "rdmawatch-fleet-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.fleet.serve(); err != nil {
		return err
	}
	if err := b.writeConfig(); err != nil {
		return err
	}
	b.fleet.began = time.Now()
	if b.server, err = b.startPrometheus(); err != nil {
		return err
	}
	defer func() { b.server.stop() }()
	fmt.Printf("%d nodes of %d NICs, %s apart, for %s; the first minute without faults\n", b.fleet.size, nics, b.interval, runFor)
	time.Sleep(runFor)
	var wrong error
	if b.ruleFile == "" {
		wrong = b.outliers()
	}
	r, err := b.measure()
	r.print(os.Stdout, b.interval)
	return errors.Join(wrong, err)
}

func (b *bench) startPrometheus() (*program, error) {
	return start(b.prometheus, "--config.file="+filepath.Join(b.dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(b.dir, "data"),
		"--web.listen-address=127.0.0.1:0", "--web.enable-admin-api", "--query.max-samples=500000000")
}

// record takes the page of the demo's node twice.
func (b *bench) record() (model, error) {
	demo, err := start(b.rdmawatch, "demo", "--web.listen-address=127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer demo.stop()
	const apart = 20 * time.Second
	before, err := demo.page("/metrics")
	if err != nil {
		return nil, err
	}
	time.Sleep(apart)
	after, err := demo.page("/metrics")
	if err != nil {
		return nil, err
	}
	return newModel(before, after, apart)
}

var waits = regexp.MustCompile(`(?m)^(\s+)for: \S+$`)

// quickFleet shortens the time for which a rule that compares nodes must hold to
// a minute, from as much as a day. Expressions stay, and so does what they cost.
func quickFleet(rules string) string {
	parts := strings.Split(rules, "- alert: ")
	for i, p := range parts {
		if strings.Contains(p, "scope: fleet") {
			parts[i] = waits.ReplaceAllString(p, "${1}for: 1m")
		}
	}
	return strings.Join(parts, "- alert: ")
}

func (b *bench) writeConfig() error {
	var rules []byte
	var err error
	if b.ruleFile != "" {
		rules, err = os.ReadFile(b.ruleFile)
	} else {
		rules, err = exec.Command(b.rdmawatch, "rules", "print").Output()
	}
	if err != nil {
		return fmt.Errorf("the rules: %w", err)
	}
	config := fmt.Sprintf(`global: {scrape_interval: %[1]s, evaluation_interval: %[1]s}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: rdmawatch
    http_sd_configs: [{url: 'http://%[2]s/targets'}]
`, b.interval, b.fleet.address)
	return errors.Join(
		os.WriteFile(filepath.Join(b.dir, "rules.yaml"), []byte(quickFleet(string(rules))), 0o600),
		os.WriteFile(filepath.Join(b.dir, "prometheus.yml"), []byte(config), 0o600))
}
