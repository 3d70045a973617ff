package collector

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// slots reads a table of a port that has a file for each slot, most of which
// are empty. Those in use are read again each time, and behind them as many as
// spareSlots, since a new entry takes the first slot that is free. The whole
// table is read when it is listed anew.
type slots struct {
	path   string
	empty  func(text string) bool
	names  []string // of the slots, in order
	used   map[string]string
	relist time.Time
}

const (
	// spareSlots is how many empty slots in a row are read before the rest of
	// the table is taken for empty.
	spareSlots = 4
	// maxSlots bounds what is read of a table: drivers have up to 1,024 slots.
	maxSlots = 4096
)

// read reads the table, and reports whether it differs from the last time.
func (s *slots) read(d *host.Door, now time.Time) (changed bool, err error) {
	dir, err := d.OpenDir(s.path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	whole := !now.Before(s.relist)
	if whole {
		if err := s.list(dir, d); err != nil {
			return false, err
		}
		s.relist = now.Add(relistAfter)
	}
	used, spare := map[string]string{}, 0
	for _, name := range s.names {
		if _, was := s.used[name]; !was && !whole && spare >= spareSlots {
			continue
		}
		text, err := readOnce(dir.File(name), d)
		switch {
		case err == nil && !s.empty(text):
			used[name], spare = text, 0
		case err == nil || host.NotOffered(err): // EINVAL is how some kernels say empty
			spare++
		default:
			return false, err
		}
	}
	changed = s.used != nil && !maps.Equal(s.used, used)
	s.used = used
	return changed, nil
}

// list finds out which slots there are.
func (s *slots) list(dir *host.Dir, d *host.Door) error {
	names, err := dir.List(d)
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { _, err := strconv.ParseUint(n, 10, 16); return err != nil })
	slices.SortFunc(names, func(a, b string) int { return len(a)*1000 - len(b)*1000 + strings.Compare(a, b) })
	s.names = names[:min(len(names), maxSlots)]
	return nil
}

// inUse lists the slots that have an entry, in order.
func (s *slots) inUse() []string {
	var list []string
	for _, name := range s.names {
		if _, ok := s.used[name]; ok {
			list = append(list, name)
		}
	}
	return list
}

// readOnce reads a file that is not kept open.
func readOnce(f *host.File, d *host.Door) (string, error) {
	defer f.Close()
	var buf [128]byte
	text, err := f.Read(d, buf[:])
	return strings.TrimSpace(string(text)), err
}
