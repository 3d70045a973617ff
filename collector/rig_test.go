package collector

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-kit/log"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// fileSet is the files of a tree by their paths; see tree.
type fileSet = map[string]string

// join makes one set of files of several; of two that have one name the last
// counts.
func join(sets ...fileSet) fileSet {
	all := fileSet{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// inDir puts files into a directory.
func inDir(dir string, set fileSet) fileSet {
	all := fileSet{}
	for name, content := range set {
		all[path.Join(dir, name)] = content
	}
	return all
}

const pciRoot = "sys/devices/pci0000:00"

// nic is an RDMA device on a PCI function. Paths of its files are relative to
// its class directory. A file whose content is "gone" is left out.
func nic(name, driver, address string, set fileSet) fileSet {
	function := path.Join(pciRoot, address)
	dir := path.Join(function, "infiniband", name)
	all := join(
		fileSet{
			path.Join("sys/class/infiniband", name):          "-> ../../devices/pci0000:00/" + address + "/infiniband/" + name,
			path.Join("sys/bus/pci/drivers", driver, "bind"): "",
			path.Join(function, "driver"):                    "-> ../../../bus/pci/drivers/" + driver,
		},
		inDir(dir, fileSet{
			"device": "-> ../../../" + address, "node_type": "1: CA\n",
			"ports/1/state": "4: ACTIVE\n", "ports/1/phys_state": "5: LinkUp\n", "ports/1/link_layer": "InfiniBand\n",
		}),
		inDir(dir, set),
	)
	maps.DeleteFunc(all, func(_, content string) bool { return content == "gone" })
	return all
}

// iface is a network interface on a PCI function.
func iface(name, address string, set fileSet) fileSet {
	return join(
		fileSet{path.Join("sys/class/net", name): "-> ../../devices/pci0000:00/" + address + "/net/" + name},
		inDir(path.Join(pciRoot, address, "net", name), join(fileSet{"device": "-> ../../../" + address}, set)),
	)
}

// rig is a small node and a runner that reads it, on a clock that the test
// sets.
type rig struct {
	t      *testing.T
	dir    string
	now    time.Time
	runner *Runner
	log    lines

	mu     sync.Mutex
	traced []string
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// take returns the lines since the last take that contain what.
func (l *lines) take(what string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for line := range strings.Lines(l.buf.String()) {
		if strings.Contains(line, what) {
			found = append(found, line)
		}
	}
	l.buf.Reset()
	return found
}

// newRig makes a rig of files. Every source is on unless set says otherwise.
func newRig(t *testing.T, set fileSet, adjust ...func(*Config)) *rig {
	t.Helper()
	m := &rig{t: t, dir: tree(t, join(fileSet{"sys/devices/.keep": ""}, set)), now: time.Unix(1_000_000_000, 0)}
	h, err := host.New(host.Config{Replay: m.dir, Trace: func(what string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.traced = append(m.traced, what)
	}})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Host: h, Logger: log.NewLogfmtLogger(&m.log), Sources: Sources(), Filters: map[string]Filter{},
		Timeout: time.Minute, Now: func() time.Time { return m.now },
	}
	for _, f := range adjust {
		f(&c)
	}
	m.runner = NewRunner(c)
	t.Cleanup(func() { m.runner.Close(); h.Close() })
	return m
}

// only leaves all sources but the named ones out.
func only(names ...string) func(*Config) {
	return func(c *Config) {
		c.Sources = slices.DeleteFunc(c.Sources, func(s Source) bool { return !slices.Contains(names, s.Name) })
	}
}

// opened returns what has been opened or asked for since the last call.
func (m *rig) opened() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	traced := m.traced
	m.traced = nil
	return traced
}

func (m *rig) file(name string) string { return filepath.Join(m.dir, name) }

// set changes a file in place, as the kernel changes what an open file shows.
func (m *rig) set(name, content string) {
	m.t.Helper()
	if err := os.WriteFile(m.file(name), []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// add adds files and links.
func (m *rig) add(set fileSet) {
	m.t.Helper()
	from := tree(m.t, set)
	for name := range set {
		if err := os.MkdirAll(filepath.Dir(m.file(name)), 0o755); err != nil {
			m.t.Fatal(err)
		}
		// Renaming over an old link gives it the new one's inode.
		if err := os.Rename(filepath.Join(from, name), m.file(name)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// remove removes files, links or directories.
func (m *rig) remove(names ...string) {
	m.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(m.file(name)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *rig) later(d time.Duration) { m.now = m.now.Add(d) }

func (m *rig) collect(only ...string) values {
	m.t.Helper()
	return valuesOf(m.t, m.runner.Collect(context.Background(), only))
}

// values are samples by their series as the exposition writes it.
type values map[string]float64

// valuesOf takes the first of two samples of one series, as the exposition does.
func valuesOf(t *testing.T, s *node.Snapshot) values {
	t.Helper()
	v := values{}
	s.All(func(sample node.Sample) {
		name := seriesName(sample.Series)
		if _, twice := v[name]; !twice {
			v[name] = sample.Value
		}
	})
	return v
}

func ofBatch(b *batch) values {
	v := values{}
	for _, sample := range b.samples {
		v[seriesName(sample.Series)] = sample.Value
	}
	return v
}

func seriesName(s *node.Series) string {
	names := s.Metric.LabelNames()
	if len(names) == 0 {
		return s.Metric.Name
	}
	pairs := make([]string, len(names))
	for i, name := range names {
		pairs[i] = name + "=" + strconv.Quote(s.Values[i])
	}
	return s.Metric.Name + "{" + strings.Join(pairs, ",") + "}"
}

// want checks that each series has the value, to the last bit.
func (v values) want(t *testing.T, wanted values) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if got, ok := v[name]; !ok {
			t.Errorf("%s is absent, want %v", name, wanted[name])
		} else if got != wanted[name] {
			t.Errorf("%s is %v, want %v", name, got, wanted[name])
		}
	}
}

// absent checks that no series begins with one of the names.
func (v values) absent(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if found := v.like(name); len(found) > 0 {
			t.Errorf("%s is there: %v", name, found)
		}
	}
}

// like returns the series whose names begin so.
func (v values) like(prefix string) []string {
	var found []string
	for name := range v {
		if strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// labels returns the labels of the only series of a metric.
func (v values) labels(t *testing.T, metric string) map[string]string {
	t.Helper()
	found := v.like(metric + "{")
	if len(found) != 1 {
		t.Fatalf("%d series of %s, want one: %q", len(found), metric, found)
	}
	return labelsOf(t, found[0])
}

var labelPair = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*")`)

func labelsOf(t *testing.T, series string) map[string]string {
	t.Helper()
	labels := map[string]string{}
	for _, pair := range labelPair.FindAllStringSubmatch(series, -1) {
		value, err := strconv.Unquote(pair[2])
		if err != nil {
			t.Fatal(err)
		}
		labels[pair[1]] = value
	}
	return labels
}

// A metric of rows that tests make up.
func counterMetric(name string, labels ...string) *catalog.Metric {
	return &catalog.Metric{Name: name, Type: catalog.Counter, Scope: catalog.Port, Labels: labels, Help: "Made up."}
}
