// Package collector reads the RDMA NICs of a node: it finds the devices, asks
// every source about each of them in parallel, and makes a node.Snapshot of
// the answers. It also turns a snapshot into Prometheus metrics.
package collector

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Source is one way of asking about a device, or about the node around them.
// The list is in sources.go.
type Source struct {
	Name      string
	Default   bool   // read unless switched off
	What      string // what it reads, in one clause
	Privilege string // what it needs beyond an ordinary user
	Cost      string // what one reading costs the machine
	// Every is how old a reading may be, 0 if each collection makes its own.
	// In between its samples are repeated; when it was made is
	// rdma_collector_last_success_timestamp_seconds.
	Every time.Duration

	// One of the two prepares the reading, of one device or of what belongs to
	// none of them; nil if the source has nothing to read there.
	open     func(*target, *host.Door) reader
	openNode func(*host.Door) reader
}

// reader reads one subsystem of one device or of the node, again and again.
type reader interface {
	// read adds what it finds to b. Its error joins what went wrong beyond
	// "the device does not offer this".
	read(b *batch) error
	close()
}

// batch collects the samples of one reading of one device, or of the node.
type batch struct {
	now     time.Time
	devices []string // for a source of the node: those that are there and may be read
	samples []node.Sample
}

func (b *batch) add(s *node.Series, value float64) {
	b.samples = append(b.samples, node.Sample{Series: s, Value: value})
}

func (b *batch) addBool(s *node.Series, value bool) {
	if value {
		b.add(s, 1)
	} else {
		b.add(s, 0)
	}
}

// series makes the identity of a series: the values of its labels in order.
// Names come from the machine in any bytes, and one that is no UTF-8 would cost
// the whole page.
func series(m *catalog.Metric, values ...string) *node.Series {
	s := &node.Series{Metric: m, Values: make([]string, len(values))}
	for i, value := range values {
		s.Values[i] = escaped(value)
	}
	return s
}

// escaped writes bytes that are no UTF-8 as \xff, so that two names stay two.
func escaped(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// Files that a device does not offer, or that may not be read, are tried again
// this much later; until then they are not touched, since each failing read may
// cost a firmware command and a line in the kernel log.
const reprobeAfter = time.Hour

// A file that has answered before is tried again this soon.
const retryAfter = time.Minute

// Directories are listed again this often even if nothing seems to have
// changed.
const relistAfter = 10 * time.Minute
