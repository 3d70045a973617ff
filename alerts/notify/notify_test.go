package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kit/log"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// alert makes an alert from "Name device severity".
func alert(text string, state engine.State) engine.Alert {
	parts := strings.Fields(text)
	return engine.Alert{
		Labels:      labels.FromStrings("alertname", parts[0], "device", parts[1], "severity", parts[2]),
		Annotations: labels.FromStrings("summary", "what "+parts[1]+" has"),
		State:       state, ActiveAt: epoch.Add(-time.Minute), FiredAt: epoch,
	}
}

func firing(texts ...string) []engine.Alert {
	var all []engine.Alert
	for _, text := range texts {
		all = append(all, alert(text, engine.Firing))
	}
	return all
}

// recorder is a receiver that notes what it is told: "firing Down a",
// "resolved Down a", "firing Down a again".
type recorder struct {
	heard   []string
	notices []Notice
}

func (r *recorder) Offer(n Notice) {
	r.heard = append(r.heard, what(n))
	r.notices = append(r.notices, n)
}

func what(n Notice) string {
	text := fmt.Sprint(n.Status, " ", n.Labels.Get("alertname"), " ", n.Labels.Get("device"))
	if n.Repeated {
		text += " again"
	}
	return text
}

// take returns what was heard since the last take.
func (r *recorder) take() string {
	heard := r.heard
	r.heard = nil
	slices.Sort(heard)
	return strings.Join(heard, ", ")
}

// desk is a dispatcher with a recorder.
type desk struct {
	*Dispatcher
	heard *recorder
}

func newDesk(adjust ...func(*Config)) desk {
	r := &recorder{}
	c := Config{Receivers: []Receiver{r}, MinSeverity: "warning", Interval: 15 * time.Second, Resend: time.Minute}
	for _, f := range adjust {
		f(&c)
	}
	return desk{NewDispatcher(c), r}
}

func TestDispatch(t *testing.T) {
	type round struct {
		at       time.Duration
		alerts   []engine.Alert
		silenced []int
		want     string
	}
	for _, c := range []struct {
		name   string
		rounds []round
	}{
		{"an alert is told, told again after a minute, and resolved", []round{
			{0, firing("Down a critical"), nil, "firing Down a"},
			{15 * time.Second, firing("Down a critical"), nil, ""},
			{45 * time.Second, firing("Down a critical"), nil, ""},
			{60 * time.Second, firing("Down a critical"), nil, "firing Down a again"},
			{75 * time.Second, firing("Down a critical"), nil, ""},
			{90 * time.Second, []engine.Alert{alert("Down a critical", engine.Resolved)}, nil, "resolved Down a"},
			{105 * time.Second, []engine.Alert{alert("Down a critical", engine.Resolved)}, nil, ""},
		}},
		{"one that is gone without a trace is resolved as well", []round{
			{0, firing("Down a critical"), nil, "firing Down a"},
			{15 * time.Second, nil, nil, "resolved Down a"},
		}},
		{"it fires again", []round{
			{0, firing("Down a critical"), nil, "firing Down a"},
			{15 * time.Second, nil, nil, "resolved Down a"},
			{30 * time.Second, firing("Down a critical"), nil, "firing Down a"},
		}},
		{"pending is nobody's business", []round{
			{0, []engine.Alert{alert("Down a critical", engine.Pending)}, nil, ""},
			{15 * time.Second, nil, nil, ""},
		}},
		{"info is not told", []round{
			{0, firing("Note a info", "Slow a warning", "Down a critical"), nil, "firing Down a, firing Slow a"},
			{15 * time.Second, nil, nil, "resolved Down a, resolved Slow a"},
		}},
		{"a severity of somebody's own is told", []round{{0, firing("Own a page"), nil, "firing Own a"}}},
		{"what a cause silences from the start is not told", []round{
			{0, firing("Down a critical", "Loss a warning"), []int{1}, "firing Down a"},
			{15 * time.Second, nil, nil, "resolved Down a"},
		}},
		{"what is silenced later is withdrawn, and told again when it remains", []round{
			{0, firing("Loss a warning"), nil, "firing Loss a"},
			{15 * time.Second, firing("Loss a warning", "Down a critical"), []int{0}, "firing Down a, resolved Loss a"},
			{30 * time.Second, firing("Loss a warning", "Down a critical"), []int{0}, ""},
			{45 * time.Second, firing("Loss a warning"), nil, "firing Loss a, resolved Down a"},
		}},
		{"a clock set back tells again rather than never", []round{
			{0, firing("Down a critical"), nil, "firing Down a"},
			{-time.Hour, firing("Down a critical"), nil, "firing Down a again"},
			{-time.Hour + 15*time.Second, firing("Down a critical"), nil, ""},
		}},
		{"a clock set forward tells again", []round{
			{0, firing("Down a critical"), nil, "firing Down a"},
			{24 * time.Hour, firing("Down a critical"), nil, "firing Down a again"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk()
			for _, r := range c.rounds {
				silenced := map[int]*engine.Alert{}
				for _, i := range r.silenced {
					silenced[i] = &r.alerts[0]
				}
				d.Dispatch(r.alerts, silenced, epoch.Add(r.at))
				if got := d.heard.take(); got != r.want {
					t.Errorf("after %s heard %q, want %q", r.at, got, r.want)
				}
			}
		})
	}
}

func TestMinSeverity(t *testing.T) {
	for severity, want := range map[string]string{
		"info":     "firing Down a, firing Note a, firing Slow a",
		"warning":  "firing Down a, firing Slow a",
		"critical": "firing Down a",
	} {
		d := newDesk(func(c *Config) { c.MinSeverity = severity })
		d.Dispatch(firing("Note a info", "Slow a warning", "Down a critical"), nil, epoch)
		if got := d.heard.take(); got != want {
			t.Errorf("from %s on: heard %q, want %q", severity, got, want)
		}
	}
}

// Every receiver hears everything.
func TestAllReceivers(t *testing.T) {
	other := &recorder{}
	d := newDesk(func(c *Config) { c.Receivers = append(c.Receivers, other) })
	d.Dispatch(firing("Down a critical", "Down b critical"), nil, epoch)
	d.Dispatch(firing("Down b critical"), nil, epoch.Add(time.Minute))
	const want = "firing Down a, firing Down b, firing Down b again, resolved Down a"
	for _, r := range []*recorder{d.heard, other} {
		if got := r.take(); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}

func TestNoticeContent(t *testing.T) {
	d := newDesk(func(c *Config) {
		c.External = labels.FromStrings("cluster", "north", "severity", "never", "rack", "7")
	})
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(30*time.Second))
	n := d.heard.notices[0]
	if want := labels.FromStrings("alertname", "Down", "cluster", "north", "device", "a", "rack", "7", "severity", "critical"); !labels.Equal(n.Labels, want) {
		t.Errorf("labels %s, want %s: an external label adds and does not replace", n.Labels, want)
	}
	if !n.StartsAt.Equal(epoch) {
		t.Errorf("starts at %s, want %s, when it fired", n.StartsAt, epoch)
	}
	if want := epoch.Add(30*time.Second + 4*time.Minute); !n.EndsAt.Equal(want) {
		t.Errorf("ends at %s, want %s: four times the resend delay", n.EndsAt, want)
	}
	if n.Annotations.Get("summary") != "what a has" {
		t.Errorf("annotations %s", n.Annotations)
	}

	changed := firing("Down a critical")
	changed[0].Annotations = labels.FromStrings("summary", "what a had last")
	d.Dispatch(changed, nil, epoch.Add(45*time.Second))
	d.Dispatch(nil, nil, epoch.Add(60*time.Second))
	end := d.heard.notices[len(d.heard.notices)-1]
	if end.Status != Resolved || !end.EndsAt.Equal(epoch.Add(60*time.Second)) || !end.StartsAt.Equal(epoch) || end.Annotations.Get("summary") != "what a had last" || end.Repeated {
		t.Errorf("the end is told as %+v", end)
	}
}

// The time that an alert is taken for firing follows the interval of
// evaluation if that is longer than the resend delay.
func TestValidityOfLongIntervals(t *testing.T) {
	d := newDesk(func(c *Config) { c.Interval = 5 * time.Minute })
	d.Dispatch(firing("Down a critical"), nil, epoch)
	if got, want := d.heard.notices[0].EndsAt, epoch.Add(20*time.Minute); !got.Equal(want) {
		t.Errorf("ends at %s, want %s", got, want)
	}
}

// restart carries what has been told through its form in the state file.
func restart(t *testing.T, d desk) desk {
	t.Helper()
	content, err := json.Marshal(d.Told())
	if err != nil {
		t.Fatal(err)
	}
	var told []Told
	if err := json.Unmarshal(content, &told); err != nil {
		t.Fatal(err)
	}
	next := newDesk()
	next.Restore(told)
	return next
}

// After a restart nobody is told twice, and what ended meanwhile is resolved.
func TestRestart(t *testing.T) {
	d := newDesk()
	d.Dispatch(firing("Down a critical", "Loss b warning"), nil, epoch)
	d = restart(t, d)
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(20*time.Second))
	if got := d.heard.take(); got != "resolved Loss b" {
		t.Errorf("heard %q", got)
	}
	end := d.heard.notices[0]
	if end.Annotations.Get("summary") != "what b has" || !end.StartsAt.Equal(epoch) || !end.EndsAt.Equal(epoch.Add(20*time.Second)) {
		t.Errorf("the end is told as %+v", end)
	}
	d = restart(t, d)
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(59*time.Second))
	if got := d.heard.take(); got != "" {
		t.Errorf("before the resend delay is over: heard %q", got)
	}
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(60*time.Second))
	if got := d.heard.take(); got != "firing Down a again" {
		t.Errorf("heard %q", got)
	}
}

// The log has one line for each change, none for what is only told again.
func TestLog(t *testing.T) {
	var text strings.Builder
	d := newDesk(func(c *Config) { c.Receivers = []Receiver{Log{log.NewLogfmtLogger(&text)}} })
	d.Dispatch(firing("Down a critical"), nil, epoch)
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(time.Minute))
	d.Dispatch(nil, nil, epoch.Add(75*time.Second))
	const want = `level=warn msg=alert status=firing alertname=Down severity=critical device=a port= summary="what a has"
level=info msg=alert status=resolved alertname=Down severity=critical device=a port= summary="what a has"
`
	if text.String() != want {
		t.Errorf("log\n%s\nwant\n%s", text.String(), want)
	}
}
