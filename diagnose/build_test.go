package diagnose

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// A consequence is behind its cause while either is still pending, and only one
// that fires silences what fires.
func TestSilencedBy(t *testing.T) {
	inhibitions, err := engine.ParseInhibitions([]byte(`
inhibit_rules:
  - source_matchers: ['alertname="Cause"']
    target_matchers: ['alertname="Effect"']
    equal: [device]
`))
	if err != nil {
		t.Fatal(err)
	}
	alert := func(name, device string, state engine.State) engine.Alert {
		return engine.Alert{Labels: labels.FromStrings("alertname", name, "device", device), State: state}
	}
	got := silencedBy(inhibitions, []engine.Alert{
		alert("Cause", "a", engine.Firing), alert("Effect", "a", engine.Firing),
		alert("Cause", "b", engine.Firing), alert("Effect", "b", engine.Pending),
		alert("Cause", "c", engine.Pending), alert("Effect", "c", engine.Pending),
		alert("Cause", "d", engine.Pending), alert("Effect", "d", engine.Firing),
		alert("Effect", "e", engine.Pending),
	})
	if want := []string{"", "Cause", "", "Cause", "", "Cause", "", "", ""}; !slices.Equal(got, want) {
		t.Errorf("silenced by %q, want %q", got, want)
	}
}
