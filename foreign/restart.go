package foreign

import (
	"fmt"
	"strconv"
	"strings"
)

// findRestarts tells a restart between two readings from counters of 32 bits
// that wrapped. The collectors do so too, but of one run of the program; here
// each reading is a run of its own.
func (e *Evidence) findRestarts() {
	e.boots = make([]int, len(e.steps))
	for i := range e.steps[1:] {
		e.boots[i+1] = e.boots[i]
		if device := restarted(e.steps[i], e.steps[i+1]); device != "" {
			e.boots[i+1]++
			e.Assumed = append(e.Assumed, fmt.Sprintf(
				"between readings %d and %d the counters of %s began anew: the machine or its driver was restarted", i+1, i+2, device))
		}
	}
}

// restarted names a device most of whose counters fell. A few of a busy one may
// overflow meanwhile, but then others go on.
func restarted(before, after sketch) string {
	fell, held := map[string]int{}, map[string]int{}
	for k, v := range before {
		now, known := after[k]
		if !known || !strings.Contains(k.file, "counters/") {
			continue
		}
		a, errA := strconv.ParseUint(v, 10, 64)
		b, errB := strconv.ParseUint(now, 10, 64)
		switch {
		case errA != nil || errB != nil || a == 0:
		case b < a:
			fell[k.name]++
		default:
			held[k.name]++
		}
	}
	first := ""
	for device, n := range fell {
		if n > 1 && 4*held[device] <= n && (first == "" || natural(device, first) < 0) {
			first = device
		}
	}
	return first
}
