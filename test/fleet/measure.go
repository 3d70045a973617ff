package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is what a run costs.
type report struct {
	nodes                      int
	perNode, head, memory, cpu float64
	scrapeMedian, scrapeWorst  float64
	perSample, indexPerSeries  float64
	groups, rules              []cost
}

// cost is the processor's time of a rule or a group, and how many samples it reads.
type cost struct {
	name             string
	seconds, samples float64
}

func (b *bench) measure() (*report, error) {
	r := &report{nodes: b.fleet.size}
	var failed []error
	ask := func(into *float64, q string) {
		var err error
		*into, err = b.server.number(q)
		failed = append(failed, err)
	}
	ask(&r.perNode, `max(scrape_samples_scraped{job="rdmawatch"})`)
	ask(&r.scrapeMedian, `quantile(0.5, scrape_duration_seconds{job="rdmawatch"})`)
	ask(&r.scrapeWorst, `max(scrape_duration_seconds{job="rdmawatch"})`)
	own, err := b.own()
	failed = append(failed, err)
	r.head, r.memory = own["prometheus_tsdb_head_series"], own["process_resident_memory_bytes"]
	r.cpu = own["process_cpu_seconds_total"] / time.Since(b.fleet.began).Seconds()
	failed = append(failed, b.disk(r), b.ruleCosts(r))
	return r, errors.Join(failed...)
}

// own are the metrics of Prometheus itself that have no labels.
func (b *bench) own() (map[string]float64, error) {
	text, err := b.server.page("/metrics")
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for s := range strings.Lines(text) {
		if f := strings.Fields(s); len(f) == 2 {
			if v, err := strconv.ParseFloat(f[1], 64); err == nil {
				values[f[0]] = v
			}
		}
	}
	return values, nil
}

// ruleList are the rules that Prometheus evaluates.
type ruleList struct {
	Data struct {
		Groups []struct {
			Name  string
			Rules []struct{ Name, Query, Health, LastError string }
		}
	}
}

// ruleCosts starts Prometheus anew on what it stored, with nothing to scrape and
// no rules, and evaluates each rule by itself at the end of the run. What counts
// is the processor's time: how long a round takes on a machine that has other
// things to do says more of those.
func (b *bench) ruleCosts(r *report) error {
	text, err := b.server.page("/api/v1/rules")
	if err != nil {
		return err
	}
	var list ruleList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	end := time.Now()
	b.server.stop()
	if err := os.WriteFile(filepath.Join(b.dir, "prometheus.yml"), nil, 0o600); err != nil {
		return err
	}
	if b.server, err = b.startPrometheus(); err != nil {
		return err
	}
	var failed []error
	for _, g := range list.Data.Groups {
		group := cost{name: g.Name}
		for _, rule := range g.Rules {
			if rule.Health != "ok" {
				failed = append(failed, fmt.Errorf("rule %s: %s %s", rule.Name, rule.Health, rule.LastError))
			}
			c, err := b.alone(rule.Name, rule.Query, end)
			failed = append(failed, err)
			r.rules = append(r.rules, c)
			group.seconds, group.samples = group.seconds+c.seconds, group.samples+c.samples
		}
		r.groups = append(r.groups, group)
	}
	for _, list := range [][]cost{r.groups, r.rules} {
		slices.SortStableFunc(list, func(a, b cost) int { return cmp.Compare(b.seconds, a.seconds) })
	}
	return errors.Join(failed...)
}

// alone is the processor's time that a query takes, the mean of several.
func (b *bench) alone(name, query string, at time.Time) (cost, error) {
	c := cost{name: name}
	before, err := b.server.processorTime()
	if err != nil {
		return c, err
	}
	form := url.Values{"query": {query}, "stats": {"all"}, "time": {at.Format(time.RFC3339)}}
	for times := 1.0; ; times++ {
		text, err := b.server.text(http.PostForm("http://"+b.server.address+"/api/v1/query", form))
		if err != nil {
			return c, fmt.Errorf("rule %s: %w", name, err)
		}
		var answer struct {
			Data struct {
				Stats struct {
					Samples struct{ TotalQueryableSamples float64 }
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			return c, err
		}
		c.samples = answer.Data.Stats.Samples.TotalQueryableSamples
		after, err := b.server.processorTime()
		if err != nil {
			return c, err
		}
		c.seconds = (after - before).Seconds() / times
		// The kernel counts in hundredths of a second.
		if after-before > 100*time.Millisecond || times == 5 {
			return c, nil
		}
	}
}

// disk has Prometheus write all it has as a block, and weighs it.
func (b *bench) disk(r *report) error {
	if _, err := b.server.text(http.Post("http://"+b.server.address+"/api/v1/admin/tsdb/snapshot", "", nil)); err != nil {
		return err
	}
	var chunks, index, samples, series float64
	err := filepath.WalkDir(filepath.Join(b.dir, "data", "snapshots"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case filepath.Base(filepath.Dir(path)) == "chunks":
			chunks += float64(info.Size())
		case d.Name() == "index":
			index += float64(info.Size())
		case d.Name() == "meta.json":
			var meta struct {
				Stats struct{ NumSamples, NumSeries float64 }
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(content, &meta); err != nil {
				return err
			}
			samples, series = samples+meta.Stats.NumSamples, series+meta.Stats.NumSeries
		}
		return nil
	})
	r.perSample, r.indexPerSeries = chunks/samples, index/series
	return err
}

func (r *report) print(w io.Writer, interval time.Duration) {
	fmt.Fprintf(w, "\n| | %d nodes |\n|---|---|\n", r.nodes)
	row := func(what, format string, values ...any) {
		fmt.Fprintf(w, "| %s | "+format+" |\n", append([]any{what}, values...)...)
	}
	row("samples of a scrape of one node", "%.0f", r.perNode)
	row("series in the head", "%.0f", r.head)
	row("memory (resident)", "%.2f GiB", r.memory/(1<<30))
	row("processor, mean over the run", "%.2f cores", r.cpu)
	row("scrape, median", "%.0f ms", 1e3*r.scrapeMedian)
	row("scrape, slowest", "%.0f ms", 1e3*r.scrapeWorst)
	row("chunks on disk", "%.2f bytes a sample", r.perSample)
	row("index on disk", "%.0f bytes a series", r.indexPerSeries)
	all := 0.0
	for _, g := range r.groups {
		all += g.seconds
		row("rules "+g.name, "%.0f ms, %.0f samples", 1e3*g.seconds, g.samples)
	}
	row("all rules", "%.0f ms of one core, %.1f %% of the interval on two", 1e3*all, 50*all/interval.Seconds())
	fmt.Fprint(w, "\nThe dearest rules:\n")
	for _, one := range r.rules[:min(25, len(r.rules))] {
		fmt.Fprintf(w, "%8.1f ms %9.0f samples  %s\n", 1e3*one.seconds, one.samples, one.name)
	}
}
