package collector

import (
	"slices"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// aerSeverities are the files of a function that count errors by name,
// Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats. Those of root
// ports (aer_rootport_total_err_*) count the messages of all that is below
// them and are left out.
var aerSeverities = []struct{ file, severity string }{
	{"aer_dev_correctable", "correctable"},
	{"aer_dev_nonfatal", "nonfatal"},
	{"aer_dev_fatal", "fatal"},
}

// aerFile reads the errors of one severity at one end of a link.
type aerFile struct {
	attribute             *attribute
	device, pci, end, sev string
	out                   map[string]*node.Series // by error
}

func (f *aerFile) read(r *reading, b *batch) {
	var buf [host.MaxValue]byte
	text := r.bytes(f.attribute, buf[:])
	if len(text) == len(buf) { // cut: the last number may lack digits
		text = text[:strings.LastIndexByte(string(text), '\n')+1]
	}
	for _, c := range parseAER(string(text)) {
		if f.out[c.err] == nil {
			f.out[c.err] = series(&catalog.AERErrors, f.device, f.pci, f.end, f.sev, c.err)
		}
		b.add(f.out[c.err], float64(c.count))
	}
}

// aerCount is one line of an AER file.
type aerCount struct {
	err   string
	count uint64
}

// parseAER reads lines of an error's name and its count. Older kernels have
// names with blanks, "Receiver Error 2", newer ones "RxErr 2". The last line,
// TOTAL_ERR_COR or the like, counts messages, which may name several errors
// each: it is not one more error. A line without a number costs that line
// only. Of two lines with one name the first counts.
func parseAER(text string) []aerCount {
	var counts []aerCount
	for line := range strings.Lines(text) {
		line = printable(line)
		i := strings.LastIndexByte(line, ' ')
		if i < 0 || strings.HasPrefix(line, "TOTAL_ERR_") {
			continue
		}
		name := strings.TrimSpace(line[:i])
		count, err := host.ParseCounter([]byte(line[i+1:]))
		if err != nil || slices.ContainsFunc(counts, func(c aerCount) bool { return c.err == name }) {
			continue
		}
		counts = append(counts, aerCount{name, count})
	}
	return counts
}
