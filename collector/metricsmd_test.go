package collector_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	promql "github.com/prometheus/prometheus/promql/parser"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
)

// TestGoldenMetricsMD compares METRICS.md with the catalogue that it shows.
func TestGoldenMetricsMD(t *testing.T) {
	d := document{sections: readSections(t)}
	d.write()
	compareGolden(t, "METRICS.md", d.text.Bytes())
}

// The example that everybody copies must be PromQL.
func TestMetricsMDExample(t *testing.T) {
	if _, err := promql.NewParser(promql.Options{}).ParseExpr(joinExample); err != nil {
		t.Error(err)
	}
}

// section is a group of metrics that metrics.go declares together.
type section struct {
	title, note string
	metrics     []*catalog.Metric
}

// readSections takes titles and order from the source, which has them as
// comments above the groups.
func readSections(t *testing.T) []section {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "catalog/metrics.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*catalog.Metric{}
	for _, m := range catalog.Metrics() {
		byName[m.Name] = m
	}
	var sections []section
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		title, note, _ := strings.Cut(strings.TrimSpace(group.Doc.Text()), ". ")
		s := section{title: strings.TrimSuffix(title, "."), note: note}
		for _, spec := range group.Specs {
			for _, value := range spec.(*ast.ValueSpec).Values {
				name, err := strconv.Unquote(value.(*ast.CompositeLit).Elts[0].(*ast.BasicLit).Value)
				if err != nil || byName[name] == nil {
					t.Fatalf("metric %q of metrics.go is not in Metrics()", name)
				}
				s.metrics = append(s.metrics, byName[name])
				delete(byName, name)
			}
		}
		sections = append(sections, s)
	}
	for name := range byName {
		t.Errorf("%s is in Metrics() and in no group of metrics.go", name)
	}
	return sections
}

// joinExample puts the words of the info metrics on a counter.
const joinExample = `rate(rdma_transmitted_bytes_total[5m])
  * on (instance, device, port) group_left (netdev, link_layer) rdma_port_info
  * on (instance, device) group_left (driver, pci) rdma_device_info`

const introduction = `# Metrics

Generated from ` + "`catalog/`" + ` by ` + "`make golden`" + `; not edited by hand.

Every metric that rdmawatch can export, then the files that it comes from for each
driver, then which drivers have what.

## How to read this

- Units are base units: bytes, seconds, ratios from 0 to 1. A counter ends in
  ` + "`_total`" + `. Received and transmitted are two metrics.
- What a driver does not offer is absent, never 0. A counter that cannot be read for a
  moment is absent for that moment.
- Names and labels are the same for every driver. No label says which driver, card or
  interface it is: that is on ` + "`rdma_device_info`" + ` and ` + "`rdma_port_info`" + `, whose value is
  1, so that multiplying by them adds their labels:

  ` + "```promql\n  %s\n  ```" + `

- ` + "`port`" + ` is the number of the RDMA port. It is empty where a driver counts for the whole
  device; such series have no ` + "`rdma_port_info`" + `, so leave that join out for them.
- A RoCE bond is one device with one port. RDMA counters are those of the bond; what is
  counted at the wire is under a port for each member, ` + "`1/enp1s0f0np0`" + ` for instance, of
  kind ` + "`bond_member`" + ` in ` + "`rdma_port_info`" + `.
- Counters of the physical port and of the PCIe link are shown by the function that owns
  the port: not by virtual functions, not by representors. Both functions of a card with
  two ports are owners, and share one PCIe link.
- Side tells from whose view is counted. The requester posted the request, the responder
  received it. The notification point sees ECN marks and sends CNPs, the reaction point
  receives them and slows down. Wire is the physical port, host is PCIe and the node.
`

// document is METRICS.md in the making.
type document struct {
	sections []section
	text     bytes.Buffer
}

func (d *document) printf(format string, args ...any) { fmt.Fprintf(&d.text, format, args...) }

func (d *document) write() {
	d.printf(introduction, strings.ReplaceAll(joinExample, "\n", "\n  "))
	d.printf("\n## The metrics\n")
	for _, s := range d.sections {
		d.section(s)
	}
	d.printf("\n## Where they come from\n\n")
	d.printf("Each file, or string of `ethtool -S`, and the metric that it feeds. `{priority}` stands\n")
	d.printf("for a number, which becomes the label. Several names that feed one series are added;\n")
	d.printf("one name may feed two metrics, a part and the whole. Names without a row are exported\n")
	d.printf("raw, as `rdma_hw_counter` or `rdma_port_counter`; the driver's page in `catalog/` says why.\n")
	for _, o := range common() {
		d.origin("### "+o.title, o.note, o)
	}
	for _, page := range catalog.Pages() {
		d.printf("\n### Driver %s\n", page.Driver)
		if len(page.Bound) > 0 {
			d.printf("\nFor PCI functions bound to %s.\n", codes(page.Bound))
		}
		if len(page.HW)+len(page.Ethtool) == 0 {
			d.printf("\nIt has no counters of its own.\n")
		}
		for _, o := range ofDriver(page) {
			d.origin("", o.note, o)
		}
	}
	d.grid()
}

func (d *document) section(s section) {
	d.printf("\n### %s\n\n", s.title)
	if s.note != "" {
		d.printf("%s\n\n", s.note)
	}
	d.printf("| metric | type | unit | labels | side | from | what |\n|---|---|---|---|---|---|---|\n")
	for _, m := range s.metrics {
		unit, side := string(m.Unit), m.Side.String()
		if m.Unit == catalog.Count {
			unit = "1"
		}
		if m.Side == catalog.AnySide && !slices.Contains(m.Labels, "side") {
			side = "either"
		}
		d.printf("| `%s` | %s | %s | %s | %s | %s | %s |\n", m.Name, m.Type, strings.ReplaceAll(unit, "_", " "),
			strings.Join(m.LabelNames(), ", "), side, madeFrom(s, m), m.Help)
	}
}

// elsewhere names the source of metrics that no row makes, by section.
var elsewhere = map[string]string{
	"PCIe link and path, from the kernel":                              "PCI function",
	"Devices and ports":                                                "port, interface, netlink",
	"DCQCN parameters of the out-of-tree driver (mlx5":                 "ecn",
	"Counters that the catalogue does not know, under their own names": "names without a row",
	"rdmawatch about itself":                                           "rdmawatch",
}

// madeFrom lists the kinds of files that feed a metric, and whose they are.
func madeFrom(s section, m *catalog.Metric) string {
	var parts []string
	for _, o := range common() {
		if o.feeds(m) {
			parts = append(parts, o.short)
		}
	}
	for _, kind := range []string{"hw_counters", "ethtool -S"} {
		var drivers []string
		for _, page := range catalog.Pages() {
			for _, o := range ofDriver(page) {
				if o.short == kind && o.feeds(m) {
					drivers = append(drivers, page.Driver)
				}
			}
		}
		if len(drivers) > 0 {
			parts = append(parts, kind+" of "+strings.Join(drivers, ", "))
		}
	}
	if len(parts) == 0 {
		for title, from := range elsewhere {
			if strings.HasPrefix(s.title, title) {
				return from
			}
		}
	}
	return strings.Join(parts, "; ")
}

// origin is a table of names in the catalogue.
type origin struct {
	short, title, note string
	rows               []catalog.Row
}

func (o origin) feeds(m *catalog.Metric) bool {
	return slices.ContainsFunc(o.rows, func(r catalog.Row) bool { return r.Metric == m })
}

// common are the tables that hold for every driver.
func common() []origin {
	return []origin{
		{"counters", "InfiniBand port counters", "`/sys/class/infiniband/*/ports/*/counters`", catalog.PortCounters()},
		{"counters_ext", "InfiniBand port counters of old kernels", "`/sys/class/infiniband/*/ports/*/counters_ext`", catalog.PortCountersExt()},
		{"interface", "Network interface", "`/sys/class/net/*`", catalog.Netdev()},
		{"ethtool netlink", "Standard statistics of ethtool netlink", "Message and attribute, as in `ethtool -I -a`, `ethtool -I --show-fec` and `ethtool -I`", catalog.EthtoolNetlink()},
		{"ecn", "DCQCN settings", "`/sys/class/net/*/ecn/roce_np` and `roce_rp` of the out-of-tree mlx5 driver", catalog.DCQCN()},
	}
}

func ofDriver(page *catalog.Page) []origin {
	return []origin{
		{"hw_counters", "", "`/sys/class/infiniband/*/ports/*/hw_counters`, or `*/hw_counters` of the device", page.HW},
		{"ethtool -S", "", "`ethtool -S` of the interface", page.Ethtool},
	}
}

func (d *document) origin(heading, note string, o origin) {
	if len(o.rows) == 0 {
		return
	}
	if heading != "" {
		d.printf("\n%s\n", heading)
	}
	d.printf("\n%s:\n\n| name | metric | labels | counted in | |\n|---|---|---|---|---|\n", note)
	for _, row := range o.rows {
		remark := row.Width.String()
		if row.Unless != "" {
			if remark != "" {
				remark += "; "
			}
			remark += "not where there is " + code(row.Unless)
		}
		d.printf("| %s | `%s` | %s | %s | %s |\n", code(row.Name), row.Metric.Name, strings.ReplaceAll(row.Labels, ",", ", "), row.Unit, remark)
	}
}

// code keeps the blanks that some names have.
func code(s string) string { return "`" + s + "`" }

func codes(all []string) string {
	var quoted []string
	for _, s := range all {
		quoted = append(quoted, code(s))
	}
	return strings.Join(quoted, ", ")
}

// withPortCounters are the drivers that answer the InfiniBand port counters
// (drivers/infiniband/hw/*/mad.c), which the catalogue has once for all.
var withPortCounters = []string{"mlx5", "mlx4", "hfi1"}

// grid shows which driver has which concept: a metric with its fixed labels.
// What only one driver has is left to its own table.
func (d *document) grid() {
	d.printf("\n## Which driver has what\n\n")
	d.printf("Only what two drivers or more have. Drivers with neither counters nor statistics of\n")
	d.printf("their own are left out.\n")
	d.concepts("RDMA", "From `hw_counters` or the InfiniBand port counters.", func(page *catalog.Page) []catalog.Row {
		if slices.Contains(withPortCounters, page.Driver) {
			return slices.Concat(page.HW, catalog.PortCounters())
		}
		return page.HW
	})
	d.concepts("Ethernet side", "From `ethtool -S` of the port's interface.", func(page *catalog.Page) []catalog.Row { return page.Ethtool })
}

func (d *document) concepts(title, note string, rows func(*catalog.Page) []catalog.Row) {
	type concept struct {
		metric *catalog.Metric
		labels string
	}
	var order []concept
	have := map[concept]map[string]bool{}
	var drivers []string
	for _, page := range catalog.Pages() {
		for _, row := range rows(page) {
			c := concept{row.Metric, row.Labels}
			if have[c] == nil {
				have[c] = map[string]bool{}
				order = append(order, c)
			}
			have[c][page.Driver] = true
		}
		if len(rows(page)) > 0 {
			drivers = append(drivers, page.Driver)
		}
	}
	rank := map[*catalog.Metric]int{}
	for i, m := range catalog.Metrics() {
		rank[m] = i
	}
	slices.SortStableFunc(order, func(a, b concept) int { return rank[a.metric] - rank[b.metric] })
	d.printf("\n### %s\n\n%s\n\n| concept | %s |\n|---%s|\n", title, note, strings.Join(drivers, " | "), strings.Repeat("|---", len(drivers)))
	for _, c := range order {
		if len(have[c]) < 2 {
			continue
		}
		name := code(c.metric.Name)
		if c.labels != "" {
			name += " " + strings.ReplaceAll(c.labels, ",", ", ")
		}
		d.printf("| %s", name)
		for _, driver := range drivers {
			mark := ""
			if have[c][driver] {
				mark = "x"
			}
			d.printf(" | %s", mark)
		}
		d.printf(" |\n")
	}
}
