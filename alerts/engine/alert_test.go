package engine

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// courseOf turns "1x3 0 -" into one value a step; "-" is a step without a value.
func courseOf(t *testing.T, text string) []values {
	t.Helper()
	var steps []values
	for _, word := range strings.Fields(text) {
		value, times, repeated := strings.Cut(word, "x")
		n := 1
		if repeated {
			var err error
			if n, err = strconv.Atoi(times); err != nil {
				t.Fatal(err)
			}
		}
		for range n {
			v := values{"rdma_other mlx5_0": 1}
			if value != "-" {
				f, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				v["rdma_down mlx5_0"] = f
			}
			steps = append(steps, v)
		}
	}
	return steps
}

// spell repeats letters: "P2 F3" is "PPFFF".
func spell(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for _, word := range strings.Fields(text) {
		n, err := strconv.Atoi(word[1:])
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(strings.Repeat(word[:1], n))
	}
	return b.String()
}

// The steps of an alert at a reading every 15 seconds: . none, P pending,
// F firing, R resolved.
func TestAlertStates(t *testing.T) {
	for _, c := range []struct {
		name, more, course, want string
	}{
		{"without for it fires at once", "", "0x2 1x2", ".2 F2"},
		{"fires once the condition has held for 30s, not before", "for: 30s", "1x4", "P2 F2"},
		{"a for between two evaluations counts as the later one", "for: 20s", "1x3", "P2 F1"},
		{"a pending alert whose condition ends was never there", "for: 30s", "1x2 0x2", "P2 .2"},
		{"pending starts anew after a gap", "for: 30s", "1x2 0 1x3", "P2 .1 P2 F1"},
		{"resolves at once", "", "1 0x2", "F1 R2"},
		{"a value that vanishes resolves as one that is well", "", "1 -x2", "F1 R2"},
		{"pending ends when the value vanishes", "for: 30s", "1 - 1x3", "P1 .1 P2 F1"},
		{"resolved is told for 15 minutes and no longer", "", "1 0x63", "F1 R61 .2"},
		{"fires again after it was resolved", "", "1 0 1x2", "F1 R1 F2"},
		{"waits again after it was resolved", "for: 15s", "1x2 0 1x2", "P1 F1 R1 P1 F1"},
		{"pending again after resolved, and then nothing", "for: 30s", "1x3 0 1 0x2", "P2 F1 R1 P1 .2"},
		{"fires on for 30s after its end", "keep_firing_for: 30s", "1 0x4", "F3 R2"},
		{"a return while it is kept firing starts the 30s anew", "keep_firing_for: 30s", "1 0 1 0x3", "F5 R1"},
		{"pending is not kept", "for: 30s, keep_firing_for: 30s", "1 0x2", "P1 .2"},
		{"kept firing without a value as well", "keep_firing_for: 30s", "1 -x3", "F3 R1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			more := c.more
			if more != "" {
				more = ", " + more
			}
			s := newSim(t, "{alert: Down, expr: rdma_down == 1"+more+"}")
			letters := map[string]string{"": ".", "pending": "P", "firing": "F", "resolved": "R"}
			got := ""
			for _, v := range courseOf(t, c.course) {
				s.step(v)
				_, state, _ := strings.Cut(s.states(), "=")
				got += letters[state]
			}
			if want := spell(t, c.want); got != want {
				t.Errorf("course %s:\n got %s\nwant %s", c.course, got, want)
			}
		})
	}
}

func TestAlertTimes(t *testing.T) {
	s := newSim(t, "{alert: Down, expr: rdma_down == 1, for: 30s, keep_firing_for: 15s}")
	begin := s.now
	for _, v := range courseOf(t, "1x3 0x2") {
		s.step(v)
	}
	a := s.alert()
	for what, times := range map[string][2]time.Time{
		"active since": {a.ActiveAt, begin},
		"firing since": {a.FiredAt, begin.Add(30 * time.Second)},
		"resolved at":  {a.ResolvedAt, begin.Add(60 * time.Second)},
	} {
		if !times[0].Equal(times[1]) {
			t.Errorf("%s %s, want %s", what, times[0], times[1])
		}
	}
	s.step(values{"rdma_down mlx5_0": 1})
	if a = s.alert(); a.State != Pending || !a.ActiveAt.Equal(begin.Add(75*time.Second)) || !a.FiredAt.IsZero() || !a.ResolvedAt.IsZero() {
		t.Errorf("a new alert after a resolved one has times of the old: %+v", a)
	}
}

// The value and what is said of it are those of the last evaluation.
func TestAlertValueIsTheLatest(t *testing.T) {
	s := newSim(t, `{alert: Hot, expr: rdma_heat > 7, annotations: {summary: 'heat {{ $value }}'}}`)
	s.step(values{"rdma_heat mlx5_0": 11})
	s.step(values{"rdma_heat mlx5_0": 13})
	if a := s.alert(); a.Value != 13 || a.Annotations.Get("summary") != "heat 13" {
		t.Errorf("value %g, summary %q", a.Value, a.Annotations.Get("summary"))
	}
	s.step(values{"rdma_heat mlx5_0": 5})
	if a := s.alert(); a.State != Resolved || a.Value != 13 {
		t.Errorf("%s with value %g, want resolved with the last that was too high", a.State, a.Value)
	}
}

// Two alerts of one rule live apart.
func TestAlertsOfOneRule(t *testing.T) {
	s := newSim(t, "{alert: Down, expr: rdma_down == 1}")
	s.step(values{"rdma_down mlx5_0": 1, "rdma_down mlx5_1": 0})
	s.want("one down", "Down/mlx5_0=firing")
	s.step(values{"rdma_down mlx5_0": 0, "rdma_down mlx5_1": 1})
	s.want("the other", "Down/mlx5_0=resolved Down/mlx5_1=firing")
	s.step(values{"rdma_down mlx5_1": 1})
	s.want("a device gone", "Down/mlx5_0=resolved Down/mlx5_1=firing")
	s.step(values{"rdma_down mlx5_0": 0})
	s.want("the firing one gone", "Down/mlx5_0=resolved Down/mlx5_1=resolved")
}
