package catalog

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// table is one set of rows whose names live in one directory or one list.
type table struct {
	name   string
	rows   []Row
	beside []Row // rows of which Unless may speak as well
}

func tables() []table {
	all := []table{
		{"counters", PortCounters(), PortCountersExt()},
		{"counters_ext", PortCountersExt(), PortCounters()},
		{"netdev", Netdev(), nil},
		{"ethtool netlink", EthtoolNetlink(), nil},
		{"ecn", DCQCN(), nil},
	}
	for _, p := range Pages() {
		all = append(all, table{p.Driver + " hw_counters", p.HW, nil}, table{p.Driver + " ethtool", p.Ethtool, nil})
	}
	return all
}

var capture = regexp.MustCompile(`\{([a-z]+)\}`)

// captured is the label that a row takes from its name, "" if none.
func captured(name string) string {
	if m := capture.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// eachRow runs check for every row of the catalogue.
func eachRow(t *testing.T, check func(t *testing.T, in table, r *Row)) {
	t.Helper()
	for _, in := range tables() {
		for i := range in.rows {
			r := &in.rows[i]
			t.Run(in.name+"/"+r.Name, func(t *testing.T) { check(t, in, r) })
		}
	}
}

func TestEveryDriverHasAPage(t *testing.T) {
	for name, bound := range map[string]string{
		"mlx5": "mlx5_core", "mlx4": "mlx4_core", "bnxt_re": "bnxt_en", "irdma": "ice", "efa": "efa",
		"hns": "hns3", "mana": "mana", "ionic": "ionic", "erdma": "erdma", "hfi1": "hfi1",
		"cxgb4": "cxgb4", "qedr": "qede", "rxe": "rxe", "ena": "ena", "siw": "siw",
	} {
		page := ForDriver(name)
		if page == nil || page.Driver != name {
			t.Errorf("ForDriver(%q) = %v", name, page)
		}
		if got := ForDriver(bound); got != page {
			t.Errorf("ForDriver(%q) = %v, want the page of %s", bound, got, name)
		}
	}
	if got := ForDriver("e1000e"); got != nil {
		t.Errorf("ForDriver(e1000e) = %v, want nothing", got)
	}
	for _, p := range Pages() {
		for _, name := range append([]string{p.Driver}, p.Bound...) {
			if ForDriver(name) != p {
				t.Errorf("%q is a name of %s and of another page", name, p.Driver)
			}
		}
	}
}

func TestFirstReadIsARow(t *testing.T) {
	for _, p := range Pages() {
		if p.FirstRead != "" && !NewMatcher(p.HW).Knows(p.FirstRead) {
			t.Errorf("%s: FirstRead %q is no row", p.Driver, p.FirstRead)
		}
	}
}

// A row given twice would be added to itself. Unless does not help: two rows
// that are both void only where something else exists apply together elsewhere.
func TestNoRowTwice(t *testing.T) {
	for _, in := range tables() {
		seen := map[string]bool{}
		for _, r := range in.rows {
			key := fmt.Sprint(r.Name, r.Metric.Name, r.LabelValues(nil))
			if seen[key] {
				t.Errorf("%s: two rows %q for %s", in.name, r.Name, r.Metric.Name)
			}
			seen[key] = true
		}
	}
}

func TestRowNames(t *testing.T) {
	eachRow(t, func(t *testing.T, in table, r *Row) {
		plain := capture.ReplaceAllString(r.Name, "3")
		if plain == "" || strings.ContainsAny(plain, "{}\n") || len(capture.FindAllString(r.Name, -1)) > 1 {
			t.Errorf("name %q", r.Name)
		}
		if strings.Contains(plain, "/") && in.name != "ethtool netlink" {
			t.Errorf("%q is no file name", plain)
		}
		if r.Name == "lifespan" {
			t.Error("lifespan is a setting, not a counter")
		}
		// ETH_GSTRING_LEN is 32 with the closing NUL.
		if strings.HasSuffix(in.name, " ethtool") && len(plain) > 31 {
			t.Errorf("%q is longer than ethtool names can be", plain)
		}
		// A name that another row takes as well, but differently spelt, would
		// be found once or twice depending on the order of the rows.
		for _, m := range NewMatcher(in.rows).Find(plain, func(string) bool { return false }) {
			if m.Row.Name != r.Name {
				t.Errorf("%q also matches %q", plain, m.Row.Name)
			}
		}
	})
}

func TestUnlessNamesARow(t *testing.T) {
	eachRow(t, func(t *testing.T, in table, r *Row) {
		if r.Unless == "" {
			return
		}
		if r.Unless == r.Name {
			t.Error("row is void wherever it exists")
		}
		if c := captured(r.Unless); c != "" && c != captured(r.Name) {
			t.Errorf("Unless %q captures what %q does not", r.Unless, r.Name)
		}
		if !NewMatcher(append(in.rows[:len(in.rows):len(in.rows)], in.beside...)).Knows(capture.ReplaceAllString(r.Unless, "3")) {
			t.Errorf("Unless %q is no row", r.Unless)
		}
	})
}

func TestRowUnitIsThatOfItsMetric(t *testing.T) {
	eachRow(t, func(t *testing.T, _ table, r *Row) {
		if got, want := r.Unit.Base(), r.Metric.Unit; got != want {
			t.Errorf("%s counts in %q, %s is in %q", r.Name, got, r.Metric.Name, want)
		}
		if r.Metric.Type == Gauge && r.Width != Full {
			t.Errorf("gauge %s %s", r.Metric.Name, r.Width)
		}
	})
}

// What a driver's name says by itself must not be contradicted by its row.
var (
	says = func(words string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(^|_|\b)(` + words + `)(_|\b)`)
	}
	saysReceived, saysSent = says(`rx|rcv|rcvd|recv|received`), says(`tx|xmit|sent`)
	metricReceived         = regexp.MustCompile(`received?\b|received?_|direction=received`)
	metricSent             = regexp.MustCompile(`transmit|_sent_|direction=transmitted`)
	saysRequester          = regexp.MustCompile(`^(vport_)?(sq|req|requester)_`)
	saysResponder          = regexp.MustCompile(`^(vport_)?(rq|res|resp|responder)_`)
	saysBytes              = says(`bytes|octets|\w+Octets`)
	saysPackets            = says(`packets|pkts|frames|\w+Pkts`)
	saysDuration           = says(`duration|duration_us|1us_count`)
)

func TestRowSaysWhatItsNameSays(t *testing.T) {
	eachRow(t, func(t *testing.T, _ table, r *Row) {
		metric := r.Metric.Name + " " + r.Labels
		received, sent := saysReceived.MatchString(r.Name), saysSent.MatchString(r.Name)
		if received && !sent && metricSent.MatchString(metric) || sent && !received && metricReceived.MatchString(metric) {
			t.Errorf("%s goes the other way", metric)
		}
		if saysRequester.MatchString(r.Name) && (r.Metric.Side == Responder || strings.Contains(r.Labels, "side=responder")) ||
			saysResponder.MatchString(r.Name) && (r.Metric.Side == Requester || strings.Contains(r.Labels, "side=requester")) {
			t.Errorf("%s is the other side", metric)
		}
		base := r.Metric.Unit
		if saysBytes.MatchString(r.Name) && r.Unit != Bytes ||
			saysPackets.MatchString(r.Name) && base != InPackets && base != InFrames && base != Count ||
			saysDuration.MatchString(r.Name) && r.Unit != Microseconds {
			t.Errorf("counted in %s", r.Unit)
		}
	})
}

// Which fields are narrow follows from where they are kept, see the comments
// on the pages.
func TestWidths(t *testing.T) {
	cast := regexp.MustCompile(`^(uni|multi)cast_`)
	for _, r := range PortCounters() {
		if sticks := r.Width.Limit() != 0; sticks == cast.MatchString(r.Name) {
			t.Errorf("port counter %s: %q", r.Name, r.Width)
		}
	}
	for _, r := range PortCountersExt() {
		if r.Width != Full {
			t.Errorf("64-bit port counter %s: %q", r.Name, r.Width)
		}
	}
	for _, rows := range [][]Row{mlx4.HW, mlx5QueueCounters, prefixed("vport_", mlx5QueueCounters)} {
		for _, r := range rows {
			if r.Width != Wrap32 {
				t.Errorf("queue counter %s: %q", r.Name, r.Width)
			}
		}
	}
	// A wrap shows only between two readings, so no fixture would notice.
	narrow := regexp.MustCompile(`^(rx_out_of_buffer|rx_if_down_packets|dev_internal_queue_oob|dev_out_of_buffer|rx_oversize_pkts_buffer|` +
		`link_down_events_phy|total_success_recovery_phy|[rt]x_pci_signal_integrity|outbound_pci_stalled_[rw][dr]_events|` +
		`rx_crc_errors|rx_fifo_errors|rx_jabbers)$`)
	for _, r := range slices.Concat(mlx5Ethtool, mlx4.Ethtool) {
		if narrow.MatchString(r.Name) != (r.Width == Wrap32) {
			t.Errorf("ethtool %s: %q", r.Name, r.Width)
		}
	}
	for _, r := range hfi1.HW {
		if narrow := strings.HasSuffix(r.Name, ",32"); narrow != (r.Width == Wrap32) {
			t.Errorf("hfi1 %s: %q", r.Name, r.Width)
		}
	}
}

func TestWidePortCountersReplaceTheNarrowOnes(t *testing.T) {
	for _, wide := range PortCountersExt() {
		var replaced []string
		for _, r := range PortCounters() {
			if r.Unless == wide.Name && r.Metric == wide.Metric && r.Unit == wide.Unit {
				replaced = append(replaced, r.Name)
			}
		}
		if len(replaced) != 1 {
			t.Errorf("%s replaces %q, want one", wide.Name, replaced)
		}
	}
}

func TestRowGivesEveryLabelOnce(t *testing.T) {
	eachRow(t, func(t *testing.T, _ table, r *Row) {
		var given []string
		if c := captured(r.Name); c != "" {
			given = append(given, c)
		}
		if r.Labels != "" {
			for pair := range strings.SplitSeq(r.Labels, ",") {
				name, value, ok := strings.Cut(pair, "=")
				if !ok || value == "" || value != strings.ToLower(strings.TrimSpace(value)) {
					t.Errorf("label %q", pair)
				}
				given = append(given, name)
				// Help names the kinds, so that nobody has to guess them.
				if name == "kind" && !strings.Contains(r.Metric.Help, value) && !strings.Contains(r.Metric.Help, "and so on") {
					t.Errorf("help of %s does not name kind %s", r.Metric.Name, value)
				}
			}
		}
		want := slices.Clone(r.Metric.Labels)
		slices.Sort(given)
		slices.Sort(want)
		if !slices.Equal(given, want) {
			t.Errorf("%s has labels %q, the row gives %q", r.Metric.Name, want, given)
		}
	})
}

func TestLabelOrder(t *testing.T) {
	m := Metric{Scope: Port, Labels: []string{"priority", "kind"}}
	if got, want := m.LabelNames(), []string{"device", "port", "priority", "kind"}; !slices.Equal(got, want) {
		t.Errorf("LabelNames() = %q, want %q", got, want)
	}
	r := Row{Metric: &m, Labels: "kind=congestion"}
	if got, want := r.LabelValues(map[string]string{"priority": "3"}), []string{"3", "congestion"}; !slices.Equal(got, want) {
		t.Errorf("LabelValues() = %q, want %q", got, want)
	}
	if got := (&Metric{Scope: Node}).LabelNames(); len(got) != 0 {
		t.Errorf("node metric has labels %q", got)
	}
}
