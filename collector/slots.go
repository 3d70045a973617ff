package collector

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// slots reads a table of a port that has a file for each slot, most of which
// are empty. Those in use are read again each time, and behind each as many as
// spareSlots, since a new entry takes the first slot that is free. Now and then
// it looks further: entries that were removed leave a gap.
type slots struct {
	path  string
	empty func(text string) bool
	used  map[int]string
	end   int // how many slots there are, 0 if not known
	next  time.Time
}

const (
	// spareSlots is how many empty slots in a row are read before the rest of
	// the table is taken for empty, and spareSlotsNow how many now and then. Some
	// tables have 1,024 slots; to read them all would take 8 ms (estimated, at
	// 7.8 µs to open, read and close a file of sysfs).
	spareSlots    = 4
	spareSlotsNow = 64
)

// read reads the table, and reports whether it differs from the last time.
func (s *slots) read(d *host.Door, now time.Time) (changed bool, err error) {
	dir, err := d.OpenDir(s.path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	most := spareSlots
	if !now.Before(s.next) {
		most = spareSlotsNow
	}
	used, spare, last := map[int]string{}, 0, s.last()
	for slot := 0; s.end == 0 || slot < s.end; slot++ {
		if _, was := s.used[slot]; !was && spare >= most {
			if slot > last {
				break
			}
			continue
		}
		text, err := readOnce(dir.File(strconv.Itoa(slot)), d)
		if errors.Is(err, fs.ErrNotExist) {
			s.end = slot
			break
		}
		switch {
		case err == nil && !s.empty(text):
			used[slot], spare = text, 0
		case err == nil || host.NotOffered(err): // EINVAL is how some kernels say empty
			spare++
		default:
			return false, err
		}
	}
	if most == spareSlotsNow {
		s.next = now.Add(relistAfter)
	}
	changed = s.used != nil && !maps.Equal(s.used, used)
	s.used = used
	return changed, nil
}

// last is the last slot that had an entry, -1 if none had.
func (s *slots) last() int {
	last := -1
	for slot := range s.used {
		last = max(last, slot)
	}
	return last
}

// inUse lists the slots that have an entry, in order.
func (s *slots) inUse() []int { return slices.Sorted(maps.Keys(s.used)) }

// readOnce reads a file that is not kept open.
func readOnce(f *host.File, d *host.Door) (string, error) {
	defer f.Close()
	var buf [128]byte
	text, err := f.Read(d, buf[:])
	return strings.TrimSpace(string(text)), err
}
