package host

import (
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParsePause(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Pause
	}{
		// e1000e on Linux 6.1, which counts nothing.
		{"no counts", "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n\n\n", Pause{RX: true}},
		{"counts", "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\toff\nTX:\t\ton\nStatistics:\n  tx_pause_frames: 7919\n  rx_pause_frames: 104729\n\n",
			Pause{TX: true, TXFrames: ptr(7919), RXFrames: ptr(104729)}},
		{"negotiated lines are others", "RX:\t\ton\nTX:\t\ton\nRX negotiated: off\nTX negotiated: off\n", Pause{RX: true, TX: true}},
		{"storms", "RX:\t\toff\nTX:\t\toff\nStatistics:\n  tx_pause_storm_events: 3\n", Pause{StormEvents: ptr(3)}},
		{"zero is a count", "RX: off\nTX: off\n  rx_pause_frames: 0\n", Pause{RXFrames: ptr(0)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := parsePause(c.text); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for _, text := range []string{"", "TX: on\n", "netlink error: Operation not supported\n", "RX: yes\nTX: on\n", "RX: on\nTX: on\n  rx_pause_frames: x\n"} {
		if got, err := parsePause(text); err == nil || got != (Pause{}) {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
	}
}

// The texts are as ethtool 6.1 prints them (netlink/fec.c).
func TestParseFEC(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       FEC
	}{
		{"no counts", "FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto Off RS BaseR\nActive FEC encoding: RS\n", FEC{Active: []string{"rs"}}},
		{"totals and lanes", "FEC parameters for eth0:\nSupported/Configured FEC encodings: RS\nActive FEC encoding: RS\nStatistics:\n" +
			"  corrected_blocks: 101\n    Lane 0: 2\n    Lane 1: 3\n    Lane 2: 5\n    Lane 3: 7\n    Lane 4: 11\n    Lane 5: 13\n    Lane 6: 17\n    Lane 7: 19\n" +
			"  uncorrectable_blocks: 23\n  corrected_bits: 29\n    Lane 0: 31\n",
			FEC{Active: []string{"rs"}, CorrectedBlocks: []uint64{101, 2, 3, 5, 7, 11, 13, 17, 19},
				UncorrectableBlocks: []uint64{23}, CorrectedBits: []uint64{29, 31}}},
		{"switched off", "Active FEC encoding: Off\n", FEC{Active: []string{"none"}}},
		{"not said", "Active FEC encoding: None\n", FEC{}},
		{"base-R", "Active FEC encoding: BaseR\n", FEC{Active: []string{"baser"}}},
		{"low latency", "Active FEC encoding: LLRS\n", FEC{Active: []string{"llrs"}}},
		{"a mode of tomorrow", "Active FEC encoding: BIT99\n", FEC{Active: []string{"bit99"}}},
		{"of the ioctl", "Configured FEC encodings: Auto\nActive FEC encodings: RS BaseR\n", FEC{Active: []string{"rs", "baser"}}},
		{"lanes of what is not known", "Active FEC encoding: RS\n  corrected_blocks: 3\n  new_blocks: 5\n    Lane 0: 7\n", FEC{Active: []string{"rs"}, CorrectedBlocks: []uint64{3}}},
		{"lanes of nothing", "Active FEC encoding: RS\n    Lane 0: 7\n", FEC{Active: []string{"rs"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := parseFEC(c.text); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for _, text := range []string{"", "corrected_blocks: 3\n", "Active FEC encoding: RS\n corrected_bits: x\n", "Active FEC encoding: RS\n corrected_bits: 3\n Lane 0: -1\n"} {
		if got, err := parseFEC(text); err == nil || !reflect.DeepEqual(got, FEC{}) {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
	}
}

func TestParseLinkState(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       LinkState
	}{
		// e1000e on Linux 6.1, shortened.
		{"settings before it", "Settings for eth0:\n\tSupported ports: [ TP ]\n\tSpeed: 1000Mb/s\n        Current message level: 0x00000007 (7)\n                               drv probe link\n\tLink detected: yes\n", LinkState{Up: true}},
		{"count", "\tLink detected: yes\n\tLink Down Events: 47\n", LinkState{Up: true, DownCount: ptr(47)}},
		{"never down", "\tLink detected: yes\n\tLink Down Events: 0\n", LinkState{Up: true, DownCount: ptr(0)}},
		{"down", "\tLink detected: no\n", LinkState{}},
		{"reason", "\tLink detected: no (No cable)\n", LinkState{DownReason: "no_cable"}},
		{"reason in other words than the kernel's", "\tLink detected: no (Logical mismatch)\n", LinkState{DownReason: "link_logical_mismatch"}},
		{"reason and more", "\tLink detected: no (Bad signal integrity, Large number of physical errors)\n", LinkState{DownReason: "bad_signal_integrity"}},
		{"number that ethtool did not know", "\tLink detected: no (11, 3)\n", LinkState{DownReason: "state_11"}},
		{"words of tomorrow", "\tLink detected: no (Laser safety)\n", LinkState{DownReason: "laser_safety"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := parseLinkState(c.text); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	for _, text := range []string{"", "Link detected: unknown\n", "Settings for eth0:\n\tLink Down Events: 3\n", "Link detected: yes\nLink Down Events: many\n"} {
		if got, err := parseLinkState(text); err == nil || got != (LinkState{}) {
			t.Errorf("%q gives %+v, %v", text, got, err)
		}
	}
	for i, r := range downReasons {
		if got := parseDownReason("(" + r.printed + ")"); got != downReason(uint8(i)) {
			t.Errorf("%s is %s, by number %s", r.printed, got, downReason(uint8(i)))
		}
	}
}

func TestEthtoolOfAFixture(t *testing.T) {
	var traced []string
	d, root := fixture(t, tree{
		"ethtool/eth0/a":    "RX: on\nTX: off\n",
		"ethtool/eth0/fec":  "Active FEC encoding: RS\n",
		"ethtool/eth0/link": "Link detected: no (Overheat)\n",
		"ethtool/eth1/a":    "errno:EOPNOTSUPP\n",
		"ethtool/eth1/fec":  "FEC parameters for eth1:\n",
	}, &traced)
	pause, err := d.Pause("eth0")
	if err != nil || !pause.RX || pause.TX {
		t.Errorf("%+v, %v", pause, err)
	}
	fec, err := d.FEC("eth0")
	if err != nil || !reflect.DeepEqual(fec.Active, []string{"rs"}) {
		t.Errorf("%+v, %v", fec, err)
	}
	link, err := d.LinkState("eth0")
	if err != nil || link.Up || link.DownReason != "overheat" {
		t.Errorf("%+v, %v", link, err)
	}
	if _, err := d.Pause("eth1"); !errors.Is(err, unix.EOPNOTSUPP) || !strings.Contains(err.Error(), "flow control of eth1") {
		t.Errorf("%v", err)
	}
	if _, err := d.FEC("eth1"); err == nil || !strings.Contains(err.Error(), "error correction of eth1") {
		t.Errorf("%v", err)
	}
	if _, err := d.LinkState("eth1"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "link state of eth1") {
		t.Errorf("%v", err)
	}
	tree{"ethtool/eth0/link": "Link detected: yes\n"}.write(t, root)
	if link, err := d.LinkState("eth0"); err != nil || !link.Up {
		t.Errorf("a changed text: %+v, %v", link, err)
	}
	if d.Reads != 7 || len(traced) != 7 || traced[1] != "ethtool/eth0/fec" {
		t.Errorf("%d reads, traced %q", d.Reads, traced)
	}
	if d.ethtool != nil || d.stats != nil {
		t.Error("a fixture led to the machine")
	}
}

func FuzzLinkTexts(f *testing.F) {
	for _, seed := range []string{
		"RX:\t\ton\nTX:\t\toff\nStatistics:\n  tx_pause_frames: 1\n  rx_pause_frames: 2\n",
		"Active FEC encoding: RS\nStatistics:\n  corrected_blocks: 1\n    Lane 0: 2\n",
		"\tLink detected: no (Cable issue, Unsupported cable)\n\tLink Down Events: 3\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := parsePause(text); err != nil && p != (Pause{}) {
			t.Fatalf("%q gives %+v and %v", text, p, err)
		}
		if v, err := parseFEC(text); err != nil && !reflect.DeepEqual(v, FEC{}) {
			t.Fatalf("%q gives %+v and %v", text, v, err)
		}
		l, err := parseLinkState(text)
		if err != nil && l != (LinkState{}) || strings.ContainsAny(l.DownReason, " \n") {
			t.Fatalf("%q gives %+v and %v", text, l, err)
		}
	})
}
