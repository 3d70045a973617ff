package foreign

import (
	"iter"
	"strings"
)

// format is a kind of text.
type format struct {
	name string
	// take says how many of the lines, from the first on, are a text of this
	// kind; 0 if the first one does not begin one, and less than 0 if so many
	// lines together are none, so that it need not be asked at each of them.
	take func(lines []string, around *hint) int
	// parse puts what a section says into facts. Nil if nothing is made of it:
	// then why says so.
	parse func(s *section, to *facts) error
	why   string
}

// facts is what a section says.
type facts struct {
	sketch
	note string // what a person may want to know that no rule asks for
}

// formats lists all kinds of texts, those that are sure of theirs before those
// that take what looks alike.
func formats() iter.Seq2[int, *format] {
	return func(yield func(int, *format) bool) {
		for i := range table {
			if !yield(i, &table[i]) {
				return
			}
		}
	}
}

// table is never changed.
var table = [...]format{
	{name: "rdma in JSON", take: takeRDMAJSON, parse: parseRDMAJSON},
	{name: "rdma statistic", take: takeRDMAStatistic, parse: parseRDMAStatistic},
	{name: "rdma link", take: takeRDMALink, parse: parseRDMALink},
	{name: "rdma dev", take: takeRDMADev, parse: parseRDMADev},
	{name: "sysfs", take: takeSysfs, parse: parseSysfs},
	{name: "cat of sysfs", take: takeCat, parse: parseCat},
	{name: "ibstat", take: takeIbstat, parse: parseIbstat},
	{name: "ibstatus", take: takeIbstatus, parse: parseIbstatus},
	{name: "ibv_devinfo", take: takeDevinfo, parse: parseDevinfo},
	{name: "ibdev2netdev", take: takeDev2netdev, parse: parseDev2netdev},
	{name: "show_gids", take: takeGIDs, parse: parseGIDs},
	{name: "mlnx_qos", take: takeQoS, parse: parseQoS},
	{name: "perfquery", take: takePerfquery, parse: parsePerfquery},
	{name: "lspci -vv", take: takeLspci, parse: parseLspci},
	{name: "ethtool -i", take: takeDriverInfo, parse: parseDriverInfo},
	{name: "ethtool -a", take: takePause, parse: parsePause},
	{name: "ethtool --show-fec", take: takeFEC, parse: parseFEC},
	{name: "ethtool", take: takeSettings, parse: parseSettings},
	{name: "ethtool -S", take: takeStats, parse: parseStats},

	// Known, and of no use here.
	{name: "ethtool -m", take: takeModule, why: "readings of the optical module are not judged"},
	{name: "mlxlink", take: takeMlxlink, why: "what mlxlink says is not judged; rdma statistic, ethtool -S and sysfs hold its counters"},
	{name: "kernel log", take: takeKernelLog, why: "log lines are not judged"},
	{name: "application log", take: takeApplicationLog, why: "log lines of an application are not judged; attach the counters of both hosts"},
	{name: "Prometheus page", take: takePrometheus, why: "a page of another exporter; load the rules into the Prometheus that scrapes it"},
	{name: "ACS control of PCIe switches", take: takeACS, why: "nothing looks at access control of PCIe switches"},
	{name: "perftest", take: takePerftest, why: "results of a benchmark are not judged"},
	{name: "rdma resource", take: takeResource, why: "resources of applications are not judged"},
	{name: "list of counter names", take: takeNames, why: "names without values"},

	// Lists that do not say what they are.
	{name: "list of counters", take: takeCounterList, parse: parseCounterList},
}

// run counts the lines from the first on that fit; blank ones at the end do
// not count.
func run(lines []string, fits func(line string) bool) int {
	n := 0
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !fits(line) {
			break
		}
		n = i + 1
	}
	return n
}

// first is run for a text whose first line is known by another mark.
func first(lines []string, begins, fits func(line string) bool) int {
	if !begins(lines[0]) {
		return 0
	}
	return 1 + run(lines[1:], fits)
}

// pair splits "name: value" and trims both.
func pair(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	return strings.TrimSpace(name), strings.TrimSpace(value), ok
}
