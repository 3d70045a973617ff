package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/diagnose"
)

const dumps = "../../foreign/testdata/dumps"

// readTexts runs diagnose --read.
func readTexts(t *testing.T, args ...string) (*diagnose.Report, ran) {
	t.Helper()
	got := command(append([]string{"diagnose", "--format=json", "--read"}, args...)...)
	var r diagnose.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("%v: %q %q", err, got.stdout, got.stderr)
	}
	return &r, got
}

// TestReadDumps judges what people published: the right finding is first, and
// nothing else warns.
func TestReadDumps(t *testing.T) {
	// The first alert by dump; of those not named nothing warns.
	first := map[string]string{
		"021-show_gids-and-devinfo-mixed-firmware": "RDMAFirmwareMismatch",
		"038-lspci-lnk-cx5ex-stuck-gen3":           "RDMAPCIeSpeedDowngraded",
		"040-lspci-lnk-spelling-variants":          "RDMAPCIeSpeedDowngraded", // its parts: TestReadPCIe
	}
	// Of these nothing can be made.
	refused := []string{"011", "012", "013", "014", "029", "041", "043", "047", "051", "052", "060", "061", "rxe-pci-links"}
	paths, err := filepath.Glob(filepath.Join(dumps, "*.txt"))
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d dumps, %v", len(paths), err)
	}
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".txt")
		t.Run(name, func(t *testing.T) {
			r, got := readTexts(t, p)
			want, status := first[name], 0
			for _, number := range refused {
				if strings.HasPrefix(name, number) {
					status = exitUnknown
				}
			}
			if want != "" {
				status = exitWarning
				if len(r.Findings) == 0 || r.Findings[0].Alert != want {
					t.Errorf("%s is not first: %+v", want, r.Findings)
				}
			} else if worst := r.Worst(); diagnose.Rank(worst) >= diagnose.Rank(diagnose.Warning) {
				t.Errorf("%s: %+v", worst, r.Findings)
			}
			if got.status != status || got.stderr != "" {
				t.Errorf("status %d, want %d; %s", got.status, status, got.stderr)
			}
			if len(r.Read) == 0 || !r.Simulated {
				t.Errorf("does not say that and what was read: %+v", r)
			}
		})
	}
}

// TestReadPCIe judges blocks of lspci that name no card.
func TestReadPCIe(t *testing.T) {
	for _, c := range []struct{ name, text, first, severity string }{
		{"incident 25: 25 GbE card at x2 of x8", "LnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM not supported\nLnkSta:\tSpeed 8GT/s, Width x2 (downgraded)\n",
			"RDMAPCIeWidthDowngraded", diagnose.Warning},
		{"incident 22: x8 of x16", "LnkCap: Port #0, Speed 8GT/s, Width x16\nLnkSta: Speed 8GT/s, Width x8 (downgraded)\n", "RDMAPCIeWidthDowngraded", diagnose.Warning},
		{"as it should be", "LnkCap: Port #0, Speed 8GT/s, Width x16\nLnkSta: Speed 8GT/s (ok), Width x16 (ok)\n", "", ""},
		{"incident 75: only how it runs", "LnkSta: Speed 2.5GT/s (downgraded), Width x16\n", "", ""},
		{"incident 75: the GPU beside it", "41:00.0 Infiniband controller: Mellanox MT28800\n\tLnkCap: Port #0, Speed 16GT/s, Width x16\n\tLnkSta: Speed 16GT/s, Width x16\n\tKernel driver in use: mlx5_core\n42:00.0 3D controller: Some GPU\n\tLnkCap: Port #0, Speed 16GT/s, Width x16\n\tLnkSta: Speed 2.5GT/s (downgraded), Width x16\n",
			"", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "lspci.txt")
			if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, _ := readTexts(t, name)
			switch {
			case c.first == "" && len(r.Findings) > 0:
				t.Errorf("found %+v", r.Findings)
			case c.first != "" && (len(r.Findings) == 0 || r.Findings[0].Alert != c.first || r.Findings[0].Severity != c.severity):
				t.Errorf("%s is not first: %+v", c.first, r.Findings)
			}
		})
	}
}

// TestReadRates judges two readings of a port whose sender waits for pauses:
// between them 30 s of 60 s were pause, and the peer's counters are not there.
func TestReadRates(t *testing.T) {
	dir := t.TempDir()
	text := func(name string, pauses, microseconds, received int) string {
		name = filepath.Join(dir, name)
		content := fmt.Sprintf("$ rdma link\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0 \n$ ethtool -S eth0\nNIC statistics:\n     rx_prio3_pause: %d\n     rx_prio3_pause_duration: %d\n     tx_prio3_bytes: %d\n     tx_prio3_packets: %d\n",
			pauses, microseconds, received, received/1000)
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	a := text("eth0-20240501-120000.txt", 1000, 5_000_000, 7_000_000)
	b := text("eth0-20240501-120100.txt", 9_001_000, 35_000_000, 600_007_000_000)
	r, got := readTexts(t, a, b)
	if r.WindowSeconds != 60 || len(r.Assumed) != 0 || got.status != exitWarning {
		t.Errorf("%v s, assumed %q, status %d", r.WindowSeconds, r.Assumed, got.status)
	}
	if len(r.Findings) == 0 || r.Findings[0].Alert != "RDMAPFCBackPressureReceived" || !strings.Contains(r.Findings[0].Verdict, "50%") {
		t.Errorf("%+v", r.Findings)
	}
	// One alone has no rates.
	if r, got := readTexts(t, b); len(r.Findings) != 0 || got.status != 0 || r.WindowSeconds != 0 {
		t.Errorf("status %d, %+v", got.status, r.Findings)
	}
}

// TestReadFarApart judges readings that lie farther apart than rules look back:
// 4,900 timeouts in 5 minutes are 16.33 a second.
func TestReadFarApart(t *testing.T) {
	dir := t.TempDir()
	for name, n := range map[string]int{"20240501-120000/rdma.txt": 100, "20240501-120500/rdma.txt": 5000} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, fmt.Appendf(nil, "link mlx5_0/1 local_ack_timeout_err %d rx_write_requests %d\n", n, n*1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, got := readTexts(t, filepath.Join(dir, "20240501-120000"), filepath.Join(dir, "20240501-120500"))
	if got.status != exitWarning || len(r.Findings) == 0 || r.Findings[0].Alert != "RDMAAckTimeouts" || !strings.Contains(r.Findings[0].Verdict, "16.33") {
		t.Errorf("status %d, %+v", got.status, r.Findings)
	}
	if len(r.Assumed) != 1 || !strings.Contains(r.Assumed[0], "evenly") {
		t.Errorf("assumed %q", r.Assumed)
	}
}

func TestReadMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"diagnose", "x.txt"}, "--read"},
		{[]string{"diagnose", "--read", "nowhere.txt"}, "nowhere.txt"},
		{[]string{"diagnose", "--read", "x", "--from", "http://localhost"}, "excludes"},
		{[]string{"diagnose", "--read", "x", "--read-apart", "0s"}, "--read-apart"},
	} {
		if got := command(c.args...); got.status != exitUnknown || !strings.Contains(got.stderr, c.say) {
			t.Errorf("%q: status %d, %q", c.args, got.status, got.stderr)
		}
	}
}

// TestReadText looks at what a person sees.
func TestReadText(t *testing.T) {
	got := command("diagnose", "--read", filepath.Join(dumps, "036-ibstatus-hdr-active-down-and-odd-rates.txt"))
	for _, want := range []string{
		"Of attached texts, not of this machine: 1 used, 1 refused.",
		"    line 4: ibstatus of mlx5_0, mlx5_1, mlx5_3\n",
		"read one machine at a time",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("lacks %q:\n%s", want, got.stdout)
		}
	}
	got = command("diagnose", "--read", filepath.Join(dumps, "052-log-lines-nccl-ucx-older-spellings.txt"))
	if got.status != exitUnknown || !strings.Contains(got.stdout, "None of the texts tells of an RDMA device.") {
		t.Errorf("status %d:\n%s", got.status, got.stdout)
	}
	for line := range strings.Lines(got.stdout) {
		if len(line) > 81 {
			t.Errorf("too wide: %q", line)
		}
	}
}
