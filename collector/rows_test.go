package collector_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/fixtures"
)

// rowsNowhere are the rows that no fixture has, and why.
var rowsNowhere = map[string]string{
	"mlx5 hw_counters cc_rx_ce_pkts":  "optional counters are not in sysfs, only in netlink",
	"mlx5 hw_counters cc_rx_cnp_pkts": "optional counters are not in sysfs, only in netlink",
	"mlx5 hw_counters cc_tx_cnp_pkts": "optional counters are not in sysfs, only in netlink",
}

// A row that no fixture has is a row that nobody has seen at work.
func TestEveryRowOccurs(t *testing.T) {
	found := findNames(t)
	nowhere := map[string]bool{}
	check := func(table string, rows []catalog.Row) {
		matcher, seen := catalog.NewMatcher(rows), map[*catalog.Row]bool{}
		for _, set := range found[table] {
			for name := range set {
				for _, match := range matcher.Find(name, func(other string) bool { return set[other] }) {
					seen[match.Row] = true
				}
			}
		}
		for i := range rows {
			key := table + " " + rows[i].Name
			if seen[&rows[i]] {
				continue
			}
			if nowhere[key] = true; rowsNowhere[key] == "" {
				t.Errorf("%s (%s) is in no fixture", key, rows[i].Metric.Name)
			}
		}
	}
	check("counters", catalog.PortCounters())
	check("counters_ext", catalog.PortCountersExt())
	for _, page := range catalog.Pages() {
		check(page.Driver+" hw_counters", page.HW)
		check(page.Driver+" ethtool", page.Ethtool)
	}
	for key := range rowsNowhere {
		if !nowhere[key] {
			t.Errorf("%s is in a fixture, so it is no exception", key)
		}
	}
}

// names is what one directory, or one interface's statistics, has.
type names map[string]bool

// findNames looks through the fixtures for the names of counters, by the
// table of the catalogue that explains them.
func findNames(t *testing.T) map[string][]names {
	t.Helper()
	found := map[string][]names{}
	for _, fixture := range fixtures.Nodes() {
		for _, device := range glob(t, fixture, "sys/class/infiniband/*") {
			for _, dir := range append(glob(t, fixture, device, "hw_counters"), glob(t, fixture, device, "ports/*/*counters*")...) {
				table := filepath.Base(dir)
				if table == "hw_counters" {
					table = driver(fixture, device) + " " + table
				}
				found[table] = append(found[table], files(t, fixture, dir))
			}
		}
		for _, statistics := range glob(t, fixture, "ethtool/*/S") {
			netdev := filepath.Join("sys/class/net", filepath.Base(filepath.Dir(statistics)))
			table := driver(fixture, netdev) + " ethtool"
			found[table] = append(found[table], statisticNames(t, fixture, statistics))
		}
	}
	return found
}

// glob returns paths relative to the fixture.
func glob(t *testing.T, fixture string, pattern ...string) []string {
	t.Helper()
	root := fixtures.Node(fixture)
	paths, err := filepath.Glob(filepath.Join(root, filepath.Join(pattern...)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		if paths[i], err = filepath.Rel(root, paths[i]); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// driver is the page of the driver that a device or interface is bound to. The
// one without a PCI function is the soft RoCE device.
func driver(fixture, dir string) string {
	bound, err := filepath.EvalSymlinks(filepath.Join(fixtures.Node(fixture), dir, "device/driver"))
	if err != nil {
		return "rxe"
	}
	if page := catalog.ForDriver(filepath.Base(bound)); page != nil {
		return page.Driver
	}
	return fmt.Sprintf("unknown driver %s:", filepath.Base(bound))
}

func files(t *testing.T, fixture, dir string) names {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(fixtures.Node(fixture), dir))
	if err != nil {
		t.Fatal(err)
	}
	n := names{}
	for _, e := range entries {
		n[e.Name()] = true
	}
	return n
}

func statisticNames(t *testing.T, fixture, file string) names {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixtures.Node(fixture), file))
	if err != nil {
		t.Fatal(err)
	}
	n := names{}
	for line := range strings.Lines(string(text)) {
		if colon := strings.LastIndexByte(line, ':'); colon >= 0 {
			n[strings.TrimSpace(line[:colon])] = true
		}
	}
	return n
}
