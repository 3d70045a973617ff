package alerts_test

import (
	"testing"

	"github.com/rdmawatch/rdmawatch/alerts"
)

// What --alerting.set takes is a number for a threshold that there is, and the
// rules can be made with it.
func FuzzParseSettings(f *testing.F) {
	list, err := alerts.Thresholds()
	if err != nil || len(list) == 0 {
		f.Fatalf("%d thresholds, %v", len(list), err)
	}
	f.Add(list[0].Name + "=7")
	f.Add(list[0].Name + "=-1e308")
	f.Add("x=0x1p-2=")
	f.Fuzz(func(t *testing.T, pair string) {
		settings, err := alerts.ParseSettings([]string{pair})
		if err != nil {
			return
		}
		if len(settings) != 1 {
			t.Errorf("%q gives %v", pair, settings)
		}
		if _, err := alerts.Groups(settings); err != nil {
			t.Errorf("%q is taken, but %v", pair, err)
		}
	})
}
