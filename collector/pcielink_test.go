package collector

import (
	"math"
	"testing"
)

func TestParseLinkSpeed(t *testing.T) {
	for text, want := range map[string]float64{ // 0: not a speed
		"2.5 GT/s PCIe": 2.5, "5.0 GT/s PCIe": 5, "8.0 GT/s PCIe": 8, "16.0 GT/s PCIe": 16, "32.0 GT/s PCIe": 32, "64.0 GT/s PCIe": 64,
		"2.5 GT/s": 2.5, "5 GT/s": 5, "8 GT/s": 8, "16 GT/s": 16, "32 GT/s": 32,
		" 8.0 GT/s PCIe\n": 8,
		"Unknown":          0, "Unknown speed": 0, "": 0, "GT/s": 0, " GT/s": 0, "8.0": 0, "8.0GT/s": 0, "8.0 GT/sec": 0, "8.0 GB/s": 0,
		"66 MHz PCI-X": 0, "133 MHz PCI-X 533": 0, "0 GT/s": 0, "-8 GT/s": 0, "NaN GT/s": 0, "Inf GT/s": 0, "1e300 GT/s": 0, "8,0 GT/s": 0,
	} {
		got, err := parseLinkSpeed(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseLinkWidth(t *testing.T) {
	for text, want := range map[string]int{ // 0: not a width
		"1": 1, "2": 2, "4": 4, "8": 8, "12": 12, "16": 16, "32": 32, " 16\n": 16,
		"0": 0, "33": 0, "63": 0, "255": 0, "": 0, "x16": 0, "-1": 0, "4294967312": 0, "18446744073709551615": 0, "16.0": 0,
	} {
		got, err := parseLinkWidth(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

// The table of counters as lanes and generations, in Gb/s: 8b/10b up to the
// second, 128b/130b up to the fifth generation.
func TestLinkBandwidth(t *testing.T) {
	for _, c := range []struct {
		gigatransfers float64
		lanes         int
		gigabits      float64
	}{
		{2.5, 1, 2}, {2.5, 16, 32}, {5, 1, 4}, {5, 8, 32},
		{8, 1, 7.876923}, {8, 8, 63.015385}, {16, 4, 63.015385}, {16, 16, 252.061538},
		{32, 8, 252.061538}, {32, 16, 504.123077}, {64, 1, 64}, {64, 16, 1024},
		{0, 16, 0}, {16, 0, 0}, {0, 0, 0},
	} {
		if got := linkBandwidth(c.gigatransfers, c.lanes) * 8 / 1e9; math.Abs(got-c.gigabits) > 1e-6 {
			t.Errorf("%v GT/s x%d: got %.6f Gb/s, want %.6f", c.gigatransfers, c.lanes, got, c.gigabits)
		}
	}
}

func FuzzParseLinkSpeed(f *testing.F) {
	for _, text := range []string{"2.5 GT/s PCIe", "16 GT/s", "Unknown speed", "66 MHz PCI-X", "NaN GT/s", "0x1p-3 GT/s", "1_6 GT/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseLinkSpeed(text)
		if (err == nil) != (v > 0 && v <= 1024) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	})
}

func FuzzParseLinkWidth(f *testing.F) {
	for _, text := range []string{"1", "16", "0", "63", "255", "-1", " 8 "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseLinkWidth(text)
		if (err == nil) != (v > 0 && v <= 32) {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	})
}
