// Package replay plays scenarios: a node fixture whose files change over time,
// read by the real collectors and judged by the real engine on a virtual
// clock. What must fire, by when, and what must stay quiet stands in the
// scenario itself.
package replay

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Scenario is a file of cases.
type Scenario struct {
	// About says in a sentence what the scenario is.
	About string `yaml:"about"`
	// Common changes apply to every case.
	Common []Change `yaml:"common"`
	Cases  []Case   `yaml:"cases"`
}

// Case is one course of events and what must come of it.
type Case struct {
	Name     string   `yaml:"name"`
	About    string   `yaml:"about"`
	Node     string   `yaml:"node"`     // a directory beside the scenarios: ../nodes/<node>
	Duration Duration `yaml:"duration"` // 30m if not given
	Interval Duration `yaml:"interval"` // 15s if not given
	Changes  []Change `yaml:"changes"`
	// Every, if given, begins all changes anew this often: those that have an
	// end, and what is set.
	Every Duration `yaml:"every"`
	// Fire lists the alerts that must fire and be sent, Silenced those that
	// must fire behind another alert, Allowed the names of those that may fire
	// without being asked for. No other alert may fire.
	Fire     []Expect `yaml:"fire"`
	Silenced []Expect `yaml:"silenced"`
	Allowed  []string `yaml:"allowed"`
}

// Expect is an alert that must fire.
type Expect struct {
	Alert  string            `yaml:"alert"`
	Labels map[string]string `yaml:"labels"` // at least these
	By     Duration          `yaml:"by"`     // latest time of firing; the end if not given
	NotBy  Duration          `yaml:"not_by"` // must not fire earlier than this
	Ended  Duration          `yaml:"ended"`  // must be resolved by then; need not if not given
	Until  Duration          `yaml:"until"`  // must still fire then
}

// Change is something that happens to files of the node. One of the keys of
// Target says where, one of the others what.
type Change struct {
	Target `yaml:",inline"`

	Set *string `yaml:"set"` // new content, from At on
	// Add is what a counter gains per second from From until To. What several
	// changes add to one counter is summed up, so that one below zero takes
	// away from another.
	Add  *float64 `yaml:"add"`
	Bits int      `yaml:"bits"` // the counter's field wraps at this width

	// Device is an RDMA device that is gone from From until To; Blocked is a
	// file whose reads hang for that time.
	Device  string `yaml:"device_gone"`
	Blocked string `yaml:"blocked"`
	// Restart restarts the program at At: what it holds in memory is lost,
	// what it writes to its state file is kept.
	Restart bool `yaml:"restart"`

	At   Duration `yaml:"at"`
	From Duration `yaml:"from"`
	To   Duration `yaml:"to"` // the end if not given
	// Every, if given, repeats the change this often: At, From and To are then
	// those of the first time.
	Every Duration `yaml:"every"`
}

// Target is a value of the node. Each key takes one or several names, in which
// * and [0-3] stand for every file that there is.
type Target struct {
	HW      Names `yaml:"hw"`      // <device>/<port>/<counter>: hw_counters of a port; <device>/<counter>: of the device
	PMA     Names `yaml:"pma"`     // <device>/<port>/<counter>: InfiniBand port counters
	Port    Names `yaml:"port"`    // <device>/<port>/<file>: state, rate, pkeys/0, gid_attrs/types/0 ...
	PCI     Names `yaml:"pci"`     // <address>/<file>
	AER     Names `yaml:"aer"`     // <address>/<file>/<error>: a line of an AER file
	Net     Names `yaml:"net"`     // <interface>/<file>
	Ethtool Names `yaml:"ethtool"` // <interface>/<statistic>: a line of `ethtool -S`
	FEC     Names `yaml:"fec"`     // <interface>/<key>: a line of `ethtool -I --show-fec`
	Pause   Names `yaml:"pause"`   // <interface>/<key>: a line of `ethtool -I -a`
	File    Names `yaml:"file"`    // any file, from the fixture's root
}

// Names is a name or a list of names.
type Names []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *Names) UnmarshalYAML(value *yaml.Node) error {
	if value.Kind == yaml.ScalarNode {
		*n = Names{value.Value}
		return nil
	}
	return value.Decode((*[]string)(n))
}

// Duration is a time span, or a time since the start, as Go writes it.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(value *yaml.Node) error {
	parsed, err := time.ParseDuration(value.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", value.Line, err)
	}
	*d = Duration(parsed)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// Load reads a scenario file. An error names the file and the line.
func Load(file string) (*Scenario, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a scenario: %w", err)
	}
	s, err := Parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	nodes := filepath.Join(filepath.Dir(file), "..", "nodes")
	for i := range s.Cases {
		s.Cases[i].Node = filepath.Join(nodes, s.Cases[i].Node)
	}
	return s, nil
}

// Parse reads a scenario.
func Parse(content []byte) (*Scenario, error) {
	var s Scenario
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil {
		return nil, err
	}
	if len(s.Cases) == 0 {
		return nil, fmt.Errorf("no cases")
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		c.Changes = append(append([]Change(nil), s.Common...), c.Changes...)
		if c.Name == "" || c.Node == "" {
			return nil, fmt.Errorf("case %d needs a name and a node", i+1)
		}
		if c.Interval <= 0 {
			c.Interval = Duration(15 * time.Second)
		}
		if c.Duration <= 0 {
			c.Duration = Duration(30 * time.Minute)
		}
		for j := range c.Changes {
			if err := c.Changes[j].check(c.Every); err != nil {
				return nil, fmt.Errorf("case %s, change %d: %w", c.Name, j+1, err)
			}
		}
	}
	return &s, nil
}

// check completes a change and refuses one that says nothing or too much. It
// is repeated as its case is, unless it says otherwise or never ends.
func (c *Change) check(every Duration) error {
	if c.Every == 0 && (c.Set != nil || c.To != 0 || c.From != 0) {
		c.Every = every
	}
	if err := c.checkTimes(); err != nil {
		return err
	}
	values, err := c.values()
	if err != nil {
		return err
	}
	whats := 0
	for _, is := range []bool{c.Set != nil, c.Add != nil, c.Device != "", c.Blocked != "", c.Restart} {
		if is {
			whats++
		}
	}
	switch {
	case whats != 1:
		return fmt.Errorf("needs exactly one of set, add, device_gone, blocked, restart")
	case (c.Set != nil || c.Add != nil) && len(values) == 0:
		return fmt.Errorf("needs a target: hw, pma, port, pci, aer, net, ethtool, fec, pause or file")
	case c.Set == nil && c.Add == nil && len(values) > 0:
		return fmt.Errorf("has a target and nothing to do with it")
	case c.Bits != 0 && c.Bits != 32:
		return fmt.Errorf("bits is 32 or not given")
	}
	return nil
}

// checkTimes gives a change that has no end one that never comes.
func (c *Change) checkTimes() error {
	switch {
	case c.To != 0 && c.To < c.From:
		return fmt.Errorf("ends before it begins")
	case c.Every == 0:
	case c.Every < 0 || c.At >= c.Every:
		return fmt.Errorf("at is not before the first repetition")
	case c.Restart:
		return fmt.Errorf("a restart cannot be repeated")
	case c.Set == nil && (c.To <= c.From || c.To-c.From > c.Every):
		return fmt.Errorf("what is repeated needs an end after its beginning, and within the time of one repetition")
	}
	if c.To == 0 {
		c.To = forever
	}
	return nil
}

const forever = Duration(math.MaxInt64)

// latest is when a Set was made last, up to a time; false if not yet.
func (c *Change) latest(now time.Duration) (time.Duration, bool) {
	at, every := time.Duration(c.At), time.Duration(c.Every)
	if now < at {
		return 0, false
	}
	if every > 0 {
		at += (now - at) / every * every
	}
	return at, true
}

// on reports whether a time is between From and To.
func (c *Change) on(now time.Duration) bool {
	since := now - time.Duration(c.From)
	if c.Every > 0 && since >= 0 {
		since %= time.Duration(c.Every)
	}
	return since >= 0 && since < time.Duration(c.To-c.From)
}

// during is how long the change has been on until a time.
func (c *Change) during(now time.Duration) time.Duration {
	since, length := max(0, now-time.Duration(c.From)), time.Duration(c.To-c.From)
	if c.Every == 0 {
		return min(since, length)
	}
	every := time.Duration(c.Every)
	return since/every*length + min(since%every, length)
}

// value is a place in the fixture: a file, or a line of one.
type value struct {
	file string
	line string // "" for the whole file
}

// values lists the places a change is about.
func (t *Target) values() ([]value, error) {
	var all []value
	for _, kind := range []struct {
		names       Names
		least, most int // parts of a name
		place       func(p []string) value
	}{
		{t.HW, 2, 3, func(p []string) value {
			if len(p) == 2 {
				return value{file: "sys/class/infiniband/" + p[0] + "/hw_counters/" + p[1]}
			}
			return value{file: "sys/class/infiniband/" + p[0] + "/ports/" + p[1] + "/hw_counters/" + p[2]}
		}},
		{t.PMA, 3, 3, func(p []string) value {
			return value{file: "sys/class/infiniband/" + p[0] + "/ports/" + p[1] + "/counters/" + p[2]}
		}},
		{t.Port, 3, 5, func(p []string) value {
			return value{file: "sys/class/infiniband/" + p[0] + "/ports/" + strings.Join(p[1:], "/")}
		}},
		{t.PCI, 2, 2, func(p []string) value { return value{file: "sys/bus/pci/devices/" + p[0] + "/" + p[1]} }},
		{t.AER, 3, 3, func(p []string) value { return value{"sys/bus/pci/devices/" + p[0] + "/" + p[1], p[2]} }},
		{t.Net, 2, 2, func(p []string) value { return value{file: "sys/class/net/" + p[0] + "/" + p[1]} }},
		{t.Ethtool, 2, 2, func(p []string) value { return value{"ethtool/" + p[0] + "/S", p[1]} }},
		{t.FEC, 2, 2, func(p []string) value { return value{"ethtool/" + p[0] + "/fec", p[1]} }},
		{t.Pause, 2, 2, func(p []string) value { return value{"ethtool/" + p[0] + "/a", p[1]} }},
	} {
		for _, name := range kind.names {
			parts := strings.Split(name, "/")
			if len(parts) < kind.least || len(parts) > kind.most {
				return nil, fmt.Errorf("%q does not have the parts its key asks for", name)
			}
			all = append(all, kind.place(parts))
		}
	}
	for _, name := range t.File {
		all = append(all, value{file: name})
	}
	return all, nil
}
