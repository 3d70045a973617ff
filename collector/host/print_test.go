package host

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Printed text is what the tool prints, as far as it is known, and gives the
// same answer when it is parsed.
func TestPrint(t *testing.T) {
	check := func(name, got, want string, parsed, original any, err error) {
		t.Helper()
		if got != want {
			t.Errorf("%s: printed\n%q, want\n%q", name, got, want)
		}
		if err != nil || !reflect.DeepEqual(parsed, original) {
			t.Errorf("%s: parsed %+v, %v, want %+v", name, parsed, err, original)
		}
	}
	for name, c := range map[string]struct {
		value Pause
		want  string
	}{
		"nothing counted": {Pause{RX: true}, "Pause parameters for eth0:\nRX:\t\ton\nTX:\t\toff\n"},
		"counted": {Pause{TX: true, RXFrames: ptr(104729), TXFrames: ptr(0), StormEvents: ptr(3)},
			"Pause parameters for eth0:\nRX:\t\toff\nTX:\t\ton\nStatistics:\n  tx_pause_frames: 0\n  rx_pause_frames: 104729\n  tx_pause_storm_events: 3\n"},
	} {
		text := printPause("eth0", c.value)
		parsed, err := parsePause(text)
		check(name, text, c.want, parsed, c.value, err)
	}
	for name, c := range map[string]struct {
		value FEC
		want  string
	}{
		"not said":        {FEC{}, "FEC parameters for eth0:\nActive FEC encoding: None\n"},
		"switched off":    {FEC{Active: []string{"none"}}, "FEC parameters for eth0:\nActive FEC encoding: Off\n"},
		"several":         {FEC{Active: []string{"rs", "baser", "llrs"}}, "FEC parameters for eth0:\nActive FEC encoding: RS BaseR LLRS\n"},
		"one of tomorrow": {FEC{Active: []string{"bit99"}}, "FEC parameters for eth0:\nActive FEC encoding: BIT99\n"},
		"lanes": {FEC{Active: []string{"rs"}, CorrectedBlocks: []uint64{101, 2, 3}, UncorrectableBlocks: []uint64{0}},
			"FEC parameters for eth0:\nActive FEC encoding: RS\nStatistics:\n  corrected_blocks: 101\n    Lane 0: 2\n    Lane 1: 3\n  uncorrectable_blocks: 0\n"},
	} {
		text := printFEC("eth0", c.value)
		parsed, err := parseFEC(text)
		check(name, text, c.want, parsed, c.value, err)
	}
	for name, c := range map[string]struct {
		value LinkState
		want  string
	}{
		"up":          {LinkState{Up: true, DownCount: ptr(0)}, "Settings for eth0:\n\tLink detected: yes\n\tLink Down Events: 0\n"},
		"no cable":    {LinkState{DownReason: "no_cable"}, "Settings for eth0:\n\tLink detected: no (No cable)\n"},
		"logical":     {LinkState{DownReason: "link_logical_mismatch"}, "Settings for eth0:\n\tLink detected: no (Logical mismatch)\n"},
		"of tomorrow": {LinkState{DownReason: "state_17"}, "Settings for eth0:\n\tLink detected: no (17)\n"},
	} {
		text := printLinkState("eth0", c.value)
		parsed, err := parseLinkState(text)
		check(name, text, c.want, parsed, c.value, err)
	}
	links := []RDMALink{{Port: 1, Netdev: "eth0"}, {Port: 2}}
	text := printRDMALinks("mlx5_0", links)
	parsedLinks, err := parseRDMALinks(text, "mlx5_0")
	check("links", text, "link mlx5_0/1 netdev eth0\nlink mlx5_0/2\n", parsedLinks, links, err)
	plane := RDMADevice{Type: "smi", Parent: "mlx5_0", Protocol: "ib"}
	text = printRDMADevice("smi1", plane)
	parsedPlane, err := parseRDMADevice(text, "smi1")
	check("device", text, "0: smi1: protocol ib type smi parent mlx5_0\n", parsedPlane, plane, err)
}

func TestPrintStats(t *testing.T) {
	names, values := []string{"rx_packets", "[0]: rx_bytes", "", "two words", "rx_packets"}, []uint64{7, 1<<64 - 1, 11, 13, 17}
	text := printStats(names, values)
	want := "NIC statistics:\n     rx_packets: 7\n     [0]: rx_bytes: 18446744073709551615\n     : 11\n     two words: 13\n     rx_packets: 17\n"
	if text != want {
		t.Errorf("printed\n%q, want\n%q", text, want)
	}
	gotNames, gotValues, err := parseStats(text)
	if err != nil || !slices.Equal(gotNames, names) || !slices.Equal(gotValues, values) {
		t.Errorf("parsed %q %d, %v", gotNames, gotValues, err)
	}
	if got, want := printStats([]string{"a\nb: 3"}, []uint64{5}), "NIC statistics:\n     a?b: 3: 5\n"; got != want {
		t.Errorf("a name of two lines: %q, want %q", got, want)
	}
}

// What was parsed, printed and parsed again, is the same.
func FuzzPrintFEC(f *testing.F) {
	f.Add("Active FEC encoding: RS BaseR\n  corrected_blocks: 3\n    Lane 0: 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		want, err := parseFEC(text)
		if err != nil || strings.IndexFunc(text, func(r rune) bool { return r > 0x7f }) >= 0 {
			return // ethtool writes ASCII; the case of other letters is not reversible
		}
		got, err := parseFEC(printFEC("eth0", want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, then %+v, %v", text, want, got, err)
		}
	})
}

func FuzzPrintStats(f *testing.F) {
	f.Add("NIC statistics:\n     [0]: rx_bytes: 7\n")
	f.Fuzz(func(t *testing.T, text string) {
		names, values, err := parseStats(text)
		if err != nil {
			return
		}
		gotNames, gotValues, err := parseStats(printStats(names, values))
		if err != nil || !slices.Equal(gotValues, values) || len(gotNames) != len(names) {
			t.Errorf("%q: %q %d, then %q %d, %v", text, names, values, gotNames, gotValues, err)
		}
	})
}
