package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// EthtoolStats reads the driver's own statistics of one network interface
// (`ethtool -S`) again and again. Reading them needs no privilege. The kernel
// holds a lock for it that all interfaces share, and some drivers ask their
// firmware: one reading each time.
type EthtoolStats struct {
	netdev  string
	names   []string
	values  []uint64
	raw     []byte // the names as the kernel gave them, nil if unknown
	changed bool
}

// EthtoolStats returns the reader of an interface's statistics. It asks
// nothing yet.
func (d *Door) EthtoolStats(netdev string) *EthtoolStats {
	return &EthtoolStats{netdev: netdev, changed: true}
}

// Names are the statistics' names in the driver's order, without blanks around
// them. A name may be empty or occur twice.
func (s *EthtoolStats) Names() []string { return s.names }

// Read returns the values, in the order of Names and good until the next Read.
// changed reports that the names are others than those of the previous Read
// that gave values; at first it is true.
func (s *EthtoolStats) Read(d *Door) (values []uint64, changed bool, err error) {
	if err = checkNetdev(s.netdev); err == nil {
		at, text := "ethtool/"+s.netdev+"/S", ""
		d.host.asksText(at)
		if d.Replay() {
			text, err = s.readText(d)
		} else {
			d.host.trace(at)
			err = s.read(func(command uint32, n int) (int, []byte, error) { return d.askStats(s.netdev, command, n) })
			if errors.Is(err, errTooManyStats) || errors.Is(err, errStatsUnstable) {
				text = undecodable
			}
		}
		d.host.answeredText(at, text, err, func() string { return printStats(s.names, s.values) })
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading statistics of %s: %w", s.netdev, err)
	}
	changed, s.changed = s.changed, false
	return s.values, changed, nil
}

// statsAttempts bounds how often a reading starts again because the names
// changed under it.
const statsAttempts = 4

var errStatsUnstable = errors.New("the names kept changing while they were read")

// read asks the kernel. Names and values are two calls, and between them the
// set can change, even without changing its size: mlx5 has names only for the
// priorities that have flow control, and two of those can swap. So the names
// are read after each reading of the values, and values count only if the names
// have stayed.
func (s *EthtoolStats) read(ask func(command uint32, n int) (int, []byte, error)) error {
	for range statsAttempts {
		if s.raw == nil {
			n, _, err := ask(unix.ETHTOOL_GSSET_INFO, 0)
			if err != nil {
				return err
			}
			s.setNames(make([]byte, n*nameSize))
		}
		n := len(s.names)
		if n == 0 {
			s.raw, s.values = nil, nil
			return nil
		}
		got, values, err := ask(unix.ETHTOOL_GSTATS, n)
		if err != nil {
			return err
		}
		if got == n {
			s.setValues(values)
			var names []byte
			if got, names, err = ask(unix.ETHTOOL_GSTRINGS, n); err != nil {
				return err
			}
			if got == n && bytes.Equal(names, s.raw) {
				return nil
			}
			s.setNames(names)
		}
		if got != n {
			s.raw = nil
		}
	}
	s.raw = nil
	return errStatsUnstable
}

func (s *EthtoolStats) setValues(b []byte) {
	s.values = s.values[:0]
	for ; len(b) >= 8; b = b[8:] {
		s.values = append(s.values, binary.NativeEndian.Uint64(b))
	}
}

func (s *EthtoolStats) setNames(raw []byte) {
	s.raw, s.names, s.changed = bytes.Clone(raw), make([]string, 0, len(raw)/nameSize), true
	for ; len(raw) >= nameSize; raw = raw[nameSize:] {
		s.names = append(s.names, statName(raw[:nameSize]))
	}
}

// statName cuts a name at its zero byte, which some drivers leave no room for,
// and takes off the blanks with which cxgb4 fills it up.
func statName(b []byte) string {
	b = b[:min(len(b), nameSize-1)]
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(b)), "?")
}

// readText answers from a fixture, whose file may change between readings.
func (s *EthtoolStats) readText(d *Door) (string, error) {
	text, err := d.ethtoolText(s.netdev, "S")
	if err != nil {
		return "", err
	}
	names, values, err := parseStats(text)
	if err != nil {
		return text, err
	}
	s.changed = s.changed || !slices.Equal(names, s.names)
	s.names, s.values = names, values
	return text, nil
}

// maxText bounds a text of a fixture. The longest are the statistics of an
// interface with many queues.
const maxText = 4 << 20

// parseStats reads what `ethtool -S` prints: a title, then lines of a name, a
// colon and a value. Names may themselves have colons ("[0]: rx_bytes").
func parseStats(text string) (names []string, values []uint64, err error) {
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line == "NIC statistics:" || line[0] == '#' {
			continue
		}
		colon := strings.LastIndexByte(line, ':')
		if colon < 0 {
			return nil, nil, fmt.Errorf("line %d is no name and value: %q", i+1, line)
		}
		value, err := strconv.ParseUint(strings.TrimSpace(line[colon+1:]), 10, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d is no name and value: %q", i+1, line)
		}
		if len(names) == maxStats {
			return nil, nil, errTooManyStats
		}
		names = append(names, statName([]byte(line[:colon])))
		values = append(values, value)
	}
	return names, values, nil
}

// checkNetdev refuses what cannot be the name of a network interface, as the
// kernel's dev_valid_name does. Names become parts of paths.
func checkNetdev(name string) error {
	if name == "" || name == "." || name == ".." || len(name) >= unix.IFNAMSIZ || strings.ContainsAny(name, "/: \t\n\r\v\f\x00") {
		return fmt.Errorf("%q cannot be the name of a network interface", name)
	}
	return nil
}
