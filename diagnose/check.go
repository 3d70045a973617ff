package diagnose

import (
	"fmt"
	"math"
)

// Check refuses a report that another program sent and that cannot be one: what
// is not understood must not be taken for "nothing found".
func (r *Report) Check() error {
	if r.Time.IsZero() {
		return fmt.Errorf("it has no time")
	}
	const longest = 366 * 24 * 3600 // a year of seconds, far above any window
	if w := r.WindowSeconds; math.IsNaN(w) || w < 0 || w > longest {
		return fmt.Errorf("its window of %g seconds is not possible", w)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Alert == "" || f.State != firing && f.State != "pending" {
			return fmt.Errorf("finding %q has state %q, which is not known", f.Alert, f.State)
		}
	}
	return nil
}
