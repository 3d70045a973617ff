// Package diagnose says what is wrong with the RDMA NICs of a node, on whose
// side, on what evidence, and what to check next. It makes one Report of a
// reading and of the state of the alert rules; the command, the status page
// and its API show that.
package diagnose

import (
	"cmp"
	"slices"
	"time"
)

// Version is the version of the JSON form of a Report, described in SCHEMA.md.
// A field that is added does not change it; one that changes or goes does.
const Version = 1

// Report is what is known of a node at a time.
type Report struct {
	Version int       `json:"version"`
	Node    string    `json:"node"`
	Time    time.Time `json:"time"`
	// WindowSeconds is how far back rates look at most; 0 if there was one
	// sample only, from which no rate can be made.
	WindowSeconds float64 `json:"window_seconds"`
	// Simulated is true if the values come from a file and not from this machine.
	Simulated bool `json:"simulated"`
	// Short is true if the rules were shortened to the window, as for somebody
	// who does not want to wait for an hour.
	Short bool `json:"short"`
	// Interrupted is true if sampling ended early.
	Interrupted bool        `json:"interrupted,omitempty"`
	Ports       []Port      `json:"ports"`
	Findings    []Finding   `json:"findings"` // worst first
	NotJudged   []NotJudged `json:"not_judged"`
	Unseen      []Unseen    `json:"unseen"`
	// Read is what a report of attached texts was made of; nil if it is of a
	// machine. Assumed is what they do not tell, a sentence each.
	Read    []Read   `json:"read,omitempty"`
	Assumed []string `json:"assumed,omitempty"`
}

// Read is what was made of texts of one kind in one file.
type Read struct {
	Source  string `json:"source"`         // file
	Line    int    `json:"line,omitempty"` // where the first one begins, if the file holds others
	Kind    string `json:"kind,omitempty"` // what printed them; "" if that is not known
	About   string `json:"about,omitempty"`
	Texts   int    `json:"texts"`   // how many there were
	Outcome string `json:"outcome"` // used, noted (understood, but no rule asks for it) or refused
	Why     string `json:"why,omitempty"`
}

// Port is one port of one device. What is not known is absent: nil or "".
type Port struct {
	Device    string `json:"device"`
	Port      string `json:"port"` // "" for a device of which no port is known
	Netdev    string `json:"netdev,omitempty"`
	LinkLayer string `json:"link_layer,omitempty"`
	Driver    string `json:"driver,omitempty"`
	// State is active, down, initializing and so on; stalled for a device that
	// does not answer, skipped for one that is not read.
	State                     string   `json:"state,omitempty"`
	RateBytesPerSecond        *float64 `json:"rate_bytes_per_second,omitempty"`
	PCIe                      *PCIe    `json:"pcie,omitempty"`
	ReceivedBytesPerSecond    *float64 `json:"received_bytes_per_second,omitempty"`
	TransmittedBytesPerSecond *float64 `json:"transmitted_bytes_per_second,omitempty"`
	// LossRatio is the share of sent packets that were lost or sent again.
	LossRatio *float64 `json:"loss_ratio,omitempty"`
	// PauseShare is the share of time in which the port was told to stop, or
	// told the other end so, whichever is more.
	PauseShare *float64 `json:"pause_share,omitempty"`
	// ECNShare is the share of received packets that were marked.
	ECNShare *float64 `json:"ecn_share,omitempty"`
	Worst    *Worst   `json:"worst,omitempty"` // nil: nothing was found
	// SinceBoot are counters of trouble that stand above zero, though they may
	// not have moved for long.
	SinceBoot []Evidence `json:"since_boot,omitempty"`
}

// PCIe is the link of a device to its host.
type PCIe struct {
	Address                string  `json:"address"`
	TransfersPerSecond     float64 `json:"transfers_per_second"`
	Lanes                  int     `json:"lanes"`
	BestTransfersPerSecond float64 `json:"best_transfers_per_second,omitempty"` // that both ends can do
	BestLanes              int     `json:"best_lanes,omitempty"`
	// Text is speed and width for reading: "16 GT/s x8 of x16".
	Text string `json:"text"`
	// PathBytesPerSecond is what the slowest link up to the root port carries;
	// SlowestHop names that link.
	PathBytesPerSecond float64 `json:"path_bytes_per_second,omitempty"`
	SlowestHop         string  `json:"slowest_hop,omitempty"`
}

// Worst is the worst finding of a port.
type Worst struct {
	Severity string `json:"severity"`
	Alert    string `json:"alert"`
}

// The severities, from the best to the worst.
const (
	Info     = "info"
	Warning  = "warning"
	Critical = "critical"
)

// Rank orders severities: the higher the worse; 0 is none of them.
func Rank(severity string) int {
	return max(0, slices.Index([]string{"", Info, Warning, Critical}, severity))
}

// Finding is an alert rule whose condition holds.
type Finding struct {
	Alert    string `json:"alert"`
	Severity string `json:"severity"`
	// State is firing, or pending while the condition has not held for as long
	// as the rule asks.
	State string `json:"state"`
	// SilencedBy is the alert that explains this one.
	SilencedBy  string            `json:"silenced_by,omitempty"`
	Area        string            `json:"area,omitempty"`
	Device      string            `json:"device,omitempty"`
	Port        string            `json:"port,omitempty"`
	Labels      map[string]string `json:"labels"`
	Where       []string          `json:"where"` // the sides of the likeliest cause
	Verdict     string            `json:"verdict"`
	Explanation string            `json:"explanation"`
	Since       time.Time         `json:"since"`
	// QuietSince is when the condition ended of an alert that is kept for a while.
	QuietSince *time.Time `json:"quiet_since,omitempty"`
	// AsksSeconds is how long the condition must hold before the alert fires,
	// or how far back the rule counts, whichever is more.
	AsksSeconds float64    `json:"asks_seconds"`
	Evidence    []Evidence `json:"evidence"`
	Causes      []Cause    `json:"causes"` // the likeliest first
	Next        []Step     `json:"next"`   // checks, the first one first
	Fix         string     `json:"fix,omitempty"`
	Runbook     string     `json:"runbook,omitempty"` // address
}

// Cause is something that may be behind a finding.
type Cause struct {
	Text  string   `json:"text"`
	Sides []string `json:"sides"` // of Sides()
}

// Step is a check that somebody can do now.
type Step struct {
	// Do is what to type, perhaps in several lines, or what to look at.
	Do      string `json:"do"`
	Healthy string `json:"healthy,omitempty"` // what is seen if all is well
	Sick    string `json:"sick,omitempty"`    // and what if it is not
}

// Evidence is a series that a rule looks at.
type Evidence struct {
	Metric string            `json:"metric"`
	Labels map[string]string `json:"labels"` // without instance
	// Unit is what Value is measured in, in words: bytes, packets; "" for a
	// plain number.
	Unit    string `json:"unit,omitempty"`
	Counter bool   `json:"counter"`
	// Value is the present value; of a counter all that was counted since it
	// began, which may be long ago.
	Value float64 `json:"value"`
	// Increase and RatePerSecond are what a counter gained over the window.
	Increase      *float64 `json:"increase,omitempty"`
	RatePerSecond *float64 `json:"rate_per_second,omitempty"`
	// Limit is where the counter's field sticks, if it stands there: then its
	// standing still proves nothing.
	Limit *float64 `json:"limit,omitempty"`
}

// NotJudged are rules that nothing can be said about, and why.
type NotJudged struct {
	Why    string   `json:"why"`
	Alerts []string `json:"alerts"`
}

// Unseen is what could not be read.
type Unseen struct {
	Device    string `json:"device,omitempty"` // "": the whole node
	Collector string `json:"collector,omitempty"`
	Why       string `json:"why"`
}

// Worst is the severity of the worst finding that fires, "" if none does.
func (r *Report) Worst() string {
	worst := ""
	for i := range r.Findings {
		f := &r.Findings[i]
		severity := f.Severity
		if Rank(severity) == 0 {
			severity = Warning // of a site's own scale, which is not ours to rank as nothing
		}
		if f.State == firing && Rank(severity) > Rank(worst) {
			worst = severity
		}
	}
	return worst
}

const firing = "firing"

// sortFindings puts first what to look at first: what fires before what may
// yet, causes before what they explain, the worse before the harmless, what
// still holds before what has ended, and the physical layer before what travels
// over it.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			boolean(a.SilencedBy != "")-boolean(b.SilencedBy != ""),
			boolean(a.State != firing)-boolean(b.State != firing),
			Rank(b.Severity)-Rank(a.Severity),
			boolean(a.QuietSince != nil)-boolean(b.QuietSince != nil),
			areaRank(a.Area)-areaRank(b.Area),
			a.Since.Compare(b.Since),
			cmp.Compare(a.Alert, b.Alert),
			natural(a.Device, b.Device),
			natural(a.Port, b.Port),
		)
	})
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// areaRank is how near to the hardware an area of rules is.
func areaRank(area string) int {
	areas := []string{"pcie", "link", "config", "congestion", "transport"}
	if i := slices.Index(areas, area); i >= 0 {
		return i
	}
	return len(areas)
}

// natural compares names so that mlx5_10 comes after mlx5_9.
func natural(a, b string) int {
	stem := func(s string) int {
		i := len(s)
		for i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
			i--
		}
		return i
	}
	i, j := stem(a), stem(b)
	return cmp.Or(cmp.Compare(a[:i], b[:j]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
