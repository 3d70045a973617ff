package diagnose

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func ptr(v float64) *float64 { return &v }

// sampleReport has something of everything that a report can say.
func sampleReport() *Report {
	at := time.Date(2026, 5, 1, 3, 12, 7, 0, time.UTC)
	labels := func(device string) map[string]string { return map[string]string{"device": device, "port": "1"} }
	loss := Finding{
		Alert: "RDMAX", Severity: Warning, State: firing, Device: "mlx5_0", Port: "1", Labels: labels("mlx5_0"),
		Where: []string{"switch", "peer"}, Verdict: "mlx5_0 port 1 loses packets", Explanation: "They are lost on the way.",
		Since: at.Add(-time.Second), AsksSeconds: 300,
		Evidence: []Evidence{
			{Metric: "rdma_loss_events_total", Labels: map[string]string{"device": "mlx5_0", "port": "1", "kind": "ack_timeout"}, Counter: true, Value: 2705, Increase: ptr(301), RatePerSecond: ptr(30.1)},
			{Metric: "rdma_port_symbol_errors_total", Labels: labels("mlx5_0"), Counter: true, Value: 65535, Increase: ptr(0), RatePerSecond: ptr(0), Limit: ptr(65535)},
		},
		Causes:  []Cause{{"A switch drops them.", []string{"switch", "peer"}}, {"Bad luck.", []string{}}},
		Next:    []Step{{"D=mlx5_0; cat /sys/class/infiniband/$D/ports/1/hw_counters/local_ack_timeout_err; sleep 10", "twice the same", "grows"}, {"never shown", "", ""}},
		Fix:     "Look at the switch.",
		Runbook: "https://example.org/alerts/runbooks/RDMAX.md",
	}
	same, silenced := loss, loss
	same.Device, same.Labels, same.Verdict = "mlx5_1", labels("mlx5_1"), "mlx5_1 port 1 loses packets"
	silenced.Alert, silenced.SilencedBy, silenced.Verdict = "RDMAY", "RDMAX", "mlx5_0 port 1: no answer"
	return &Report{
		Version: 1, Node: "gpu-17", Time: at, WindowSeconds: 10, Short: true, Simulated: true,
		Ports: []Port{
			{
				Device: "mlx5_0", Port: "1", Netdev: "ens1f0np0", State: "active", RateBytesPerSecond: ptr(12.5e9),
				PCIe:                   &PCIe{Text: "16 GT/s x8 of x16"},
				ReceivedBytesPerSecond: ptr(1.25e9), TransmittedBytesPerSecond: ptr(0),
				Worst:     &Worst{Warning, "RDMAX"},
				SinceBoot: []Evidence{{Metric: "rdma_port_link_downed_total", Labels: map[string]string{"device": "mlx5_0", "port": "1", "kind": "phy"}, Value: 7}},
			},
			{Device: "mlx5_1", State: "stalled"},
		},
		Findings:  []Finding{loss, same, silenced},
		NotJudged: []NotJudged{{"looks back farther than 10s", []string{"RDMALinkFlapping", "Mine"}}},
		Unseen:    []Unseen{{"mlx5_0", "ethtool", "no permission"}, {"mlx5_1", "ethtool", "no permission"}, {"mlx5_1", "", "the device does not answer"}},
	}
}

const wantWide = `gpu-17, 2026-05-01 03:12:07 UTC: rates over 10s.
SIMULATED: the values come from a file, not from this machine.
2 warning on 2 ports.

PORT     NETDEV    STATE       RATE PCIE GT/S         IN   OUT WORST
mlx5_0/1 ens1f0np0 active  100 Gb/s 16 x8 of x16 10 Gb/s 0 b/s WARNING
mlx5_1   -         stalled        - -                  -     - -

1. WARNING mlx5_0 port 1 loses packets
   the same on mlx5_1
  alert     RDMAX, judged on 10s; it alerts after 5m
  where     switch or peer
  means     They are lost on the way.
  evidence  rdma_loss_events_total kind=ack_timeout: 30.1/s, 2,705 in all
            rdma_port_symbol_errors_total: stuck at its limit of 65,535; that it
            stands still proves nothing
  causes    1. switch or peer: A switch drops them.
            2. Bad luck.
  next      D=mlx5_0; cat \
            /sys/class/infiniband/$D/ports/1/hw_counters/local_ack_timeout_err;
            sleep 10
            healthy: twice the same
            sick: grows
  fix       Look at the switch.
  runbook   rdmawatch rules runbook RDMAX

Explained by the above:
  RDMAY, by RDMAX: mlx5_0 port 1: no answer

Counted since boot, which is no finding by itself:
  mlx5_0/1: link_downed phy 7

Not judged here, 2 rules (looks back farther than 10s): LinkFlapping, Mine.

Not seen:
  ethtool: no permission: mlx5_0, mlx5_1
  the device does not answer: mlx5_1
`

func written(t *testing.T, r *Report, s Style) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWrite(t *testing.T) {
	if got := written(t, sampleReport(), Style{Width: 80}); got != wantWide {
		t.Errorf("got\n%s\nwant\n%s", got, wantWide)
	}
}

const wantNarrow = `gpu-17, 2026-05-01 03:12:07 UTC: rates
  over 10s.
SIMULATED: the values come from a
  file, not from this machine.
2 warning on 2 ports.

mlx5_0/1 ens1f0np0 active WARNING
  rate 100 Gb/s, in 10 Gb/s, out 0
    b/s, PCIe 16 x8 of x16
mlx5_1 stalled
  rate -, in -, out -, PCIe -

1. WARNING mlx5_0 port 1 loses packets
   the same on mlx5_1
  alert: RDMAX, judged on 10s; it
    alerts after 5m
`

func TestWriteNarrow(t *testing.T) {
	got := written(t, sampleReport(), Style{Width: 40})
	if !strings.HasPrefix(got, wantNarrow) {
		t.Errorf("got\n%s\nwant\n%s", got, wantNarrow)
	}
	for line := range strings.Lines(got) {
		// A path in a command cannot be broken.
		if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > 40 && !strings.Contains(line, "/sys/") {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
}

// Colour adds to the words: without it the same is left.
func TestWriteInColor(t *testing.T) {
	for _, width := range []int{80, 40} {
		plain, colored := written(t, sampleReport(), Style{Width: width}), written(t, sampleReport(), Style{Width: width, Color: true})
		if n := strings.Count(colored, "\x1b[1;33mWARNING\x1b[0m"); n != 2 {
			t.Errorf("%d columns: %d coloured words, want one in the table and one above the finding:\n%s", width, n, colored)
		}
		if got := strings.NewReplacer("\x1b[1;33m", "", "\x1b[0m", "").Replace(colored); got != plain {
			t.Errorf("without colours\n%s\nwant\n%s", got, plain)
		}
	}
}

// Nothing that the machine calls itself reaches the terminal as it is.
func TestWriteEscapes(t *testing.T) {
	r := sampleReport()
	evil := "e\x1b[2J\xff\r\u202e\u00e9"
	r.Node, r.Ports[0].Netdev, r.Findings[0].Verdict = evil, evil, evil
	r.Findings[0].Evidence[0].Labels["kind"] = evil
	r.Findings[0].Next[0].Do = evil
	r.Unseen[0].Device = evil
	for _, c := range []struct {
		name, want string
		style      Style
	}{
		{"UTF-8", `e\x1b[2J\xff\x0d\u202eé`, Style{Width: 200}},
		{"ASCII", `e\x1b[2J\xff\x0d\u202e\u00e9`, Style{Width: 200, ASCII: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := written(t, r, c.style)
			if n := strings.Count(got, c.want); n != 6 {
				t.Errorf("%d times %s, want 6:\n%s", n, c.want, got)
			}
			if strings.ContainsAny(got, "\x1b\r\u202e") || !utf8.ValidString(got) {
				t.Errorf("there are control characters:\n%q", got)
			}
		})
	}
}

func TestWriteOtherWords(t *testing.T) {
	quiet := time.Date(2026, 5, 1, 3, 11, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(*Report)
		want   string
	}{
		{"nothing was found", func(r *Report) { r.Findings = nil }, "\nNothing found on 2 ports.\n"},
		{"one sample", func(r *Report) { r.WindowSeconds = 0 }, "UTC: one sample. Rates need two: nothing that\n  moves was judged.\n"},
		{"cut short", func(r *Report) { r.Interrupted = true }, "UTC: interrupted after 10s.\n"},
		{"no device", func(r *Report) { r.Ports, r.Findings = nil, nil }, "this machine.\n\nNo RDMA device was found. Is its driver loaded?"},
		{"of a daemon", func(r *Report) { r.Short = false }, "  alert     RDMAX, since 03:12:06 (1s)\n"},
		{"over, but kept", func(r *Report) { r.Short = false; r.Findings[0].QuietSince = &quiet }, "  alert     RDMAX, since 03:12:06 (1s); quiet since 03:11:00 (1m7s)\n"},
		{"not firing yet", func(r *Report) { r.Findings[0].State = "pending" }, "1. WARNING, pending mlx5_0 port 1 loses packets\n  alert     RDMAX, not sent yet: held for 1s of 5m\n"},
		{"a rule of one's own", func(r *Report) { r.Findings[0].Runbook = "https://wiki.example.org/x" }, "  runbook   https://wiki.example.org/x\n"},
		{"another sentence", func(r *Report) { r.Findings[1].Verdict = "mlx5_1 port 1 loses more" }, "   also: mlx5_1 port 1 loses more\n"},
		{"a sentence to do", func(r *Report) { r.Findings[0].Next[0].Do = strings.Repeat("type `ls` and wait ", 5) }, "  next      type `ls` and wait type `ls` and wait type `ls` and wait type `ls`\n            and wait"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sampleReport()
			c.change(r)
			if got := written(t, r, Style{Width: 80}); !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant in it\n%s", got, c.want)
			}
		})
	}
}

type closed struct{ lines int }

var errClosed = errors.New("closed")

func (c *closed) Write(p []byte) (int, error) {
	if c.lines--; c.lines < 0 {
		return 0, errClosed
	}
	return len(p), nil
}

// Whoever reads may have seen enough.
func TestWriteStops(t *testing.T) {
	for lines := range 5 {
		w := &closed{lines}
		if err := sampleReport().Write(w, Style{}); !errors.Is(err, errClosed) || w.lines != -1 {
			t.Errorf("error %v after %d lines, and %d more tried", err, lines, -1-w.lines)
		}
	}
}

func TestWrapCommand(t *testing.T) {
	for _, c := range []struct {
		name, command string
		width         int
		want          string
	}{
		{"it fits", "ls -l", 5, "ls -l"},
		{"after a semicolon", "cd /a; ls -l", 8, "cd /a;\nls -l"},
		{"after a pipe", "cat f | sort", 8, "cat f |\nsort"},
		{"at a space", "grep -e abc file", 12, "grep -e \\\nabc file"},
		{"not inside quotes", "grep 'a b c d' f", 8, "grep \\\n'a b c d' \\\nf"},
		{"not behind a backslash", `ls a\ b c`, 5, "ls \\\na\\ b \\\nc"},
		{"nowhere", "/sys/class/infiniband/mlx5_0", 10, "/sys/class/infiniband/mlx5_0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(wrapCommand(c.command, c.width), "\n"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		name string
		e    Evidence
		want string
	}{
		{"a fast counter", Evidence{Counter: true, Unit: "packets", Value: 1234567, Increase: ptr(1), RatePerSecond: ptr(1.5e6)}, "1.5 M/s, 1,234,567 packets in all"},
		{"a slow one", Evidence{Counter: true, Value: 19, Increase: ptr(2), RatePerSecond: ptr(2. / 60)}, "2 a minute, 19 in all"},
		{"one that stands still", Evidence{Counter: true, Value: 19, Increase: ptr(0), RatePerSecond: ptr(0)}, "unchanged at 19"},
		{"one seen once", Evidence{Counter: true, Value: 19}, "19 in all"},
		{"time", Evidence{Counter: true, Unit: "seconds", Value: 7.5, Increase: ptr(6.2), RatePerSecond: ptr(0.62)}, "62 % of the time, 7.5 seconds in all"},
		{"bytes", Evidence{Counter: true, Unit: "bytes", Value: 3e9, Increase: ptr(1), RatePerSecond: ptr(12.5e9)}, "12.5 GB/s, 3 GB in all"},
		{"a rate of a link", Evidence{Unit: "bytes_per_second", Value: 12.5e9}, "100 Gb/s"},
		{"a ratio", Evidence{Unit: "ratio", Value: 0.217}, "21.7 %"},
		{"PCIe", Evidence{Unit: "transfers_per_second", Value: 16e9}, "16 GT/s"},
		{"lanes", Evidence{Unit: "lanes", Value: 8}, "8 lanes"},
		{"nothing", Evidence{Value: 0}, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.e.amount(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
