package host

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func ptr(v uint64) *uint64 { return &v }

const unset = 1<<64 - 1 // the kernel's ETHTOOL_STAT_NOT_SET

// The numbers are those of the enums in include/uapi/linux/ethtool_netlink.h
// and its generated part.
func TestDecodePause(t *testing.T) {
	settings := slices.Concat(attr(1|nest, attr(1, words(2)), attr(2, []byte("eth0\x00"))), attr(2, []byte{1}))
	for _, c := range []struct {
		name string
		data []byte
		want Pause
	}{
		{"receives only, no counts", slices.Concat(settings, attr(3, []byte{1}), attr(4, []byte{0})), Pause{RX: true}},
		{"sends only", slices.Concat(settings, attr(3, []byte{0}), attr(4, []byte{1})), Pause{TX: true}},
		{"with counts", slices.Concat(settings, attr(3, []byte{1}), attr(4, []byte{1}),
			attr(5|nest, attr(2, longs(7919)), attr(3, longs(104729)))),
			Pause{RX: true, TX: true, TXFrames: ptr(7919), RXFrames: ptr(104729)}},
		{"padding before 64 bits", attr(5|nest, attr(1), attr(2, longs(11)), attr(1), attr(3, longs(13))),
			Pause{TXFrames: ptr(11), RXFrames: ptr(13)}},
		{"storms, of newer kernels", attr(5|nest, attr(4, longs(17))), Pause{StormEvents: ptr(17)}},
		{"nest without the flag", attr(5, attr(2, longs(19))), Pause{TXFrames: ptr(19)}},
		{"zero is a count, all ones are none", attr(5|nest, attr(2, longs(0)), attr(3, longs(unset))), Pause{TXFrames: ptr(0)}},
		{"empty nest", slices.Concat(attr(3, []byte{1}), attr(5|nest)), Pause{RX: true}},
		{"attributes of tomorrow", slices.Concat(attr(6, words(1)), attr(77, []byte("new")), attr(3, []byte{1})), Pause{RX: true}},
		{"nothing", nil, Pause{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := decodePause(c.data); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestDecodeFEC(t *testing.T) {
	// A total that is not the sum, and eight different lanes.
	lanes := longs(101, 2, 3, 5, 7, 11, 13, 17, 19)
	for _, c := range []struct {
		name string
		data []byte
		want FEC
	}{
		{"eight lanes", slices.Concat(attr(2|nest, attr(1)), attr(3, []byte{1}), attr(4, words(50)),
			attr(5|nest, attr(2, lanes), attr(3, longs(23)), attr(4, longs(29, 31)))),
			FEC{Active: []string{"rs"}, CorrectedBlocks: []uint64{101, 2, 3, 5, 7, 11, 13, 17, 19},
				UncorrectableBlocks: []uint64{23}, CorrectedBits: []uint64{29, 31}}},
		{"switched off", attr(4, words(49)), FEC{Active: []string{"none"}}},
		{"base-R", attr(4, words(51)), FEC{Active: []string{"baser"}}},
		{"low latency", attr(4, words(74)), FEC{Active: []string{"llrs"}}},
		{"a mode of tomorrow", attr(4, words(99)), FEC{Active: []string{"bit99"}}},
		{"not said", attr(4, words(0)), FEC{}},
		{"no counts", slices.Concat(attr(4, words(50)), attr(5|nest, attr(2), attr(3), attr(4))), FEC{Active: []string{"rs"}}},
		{"total of all ones", attr(5|nest, attr(2, longs(unset)), attr(3, longs(0))), FEC{UncorrectableBlocks: []uint64{0}}},
		{"lanes of all ones", attr(5|nest, attr(4, longs(37, 41, unset, unset))), FEC{CorrectedBits: []uint64{37, 41}}},
		{"nothing is told behind a lane of all ones", attr(5|nest, attr(4, longs(37, 41, unset, 43))), FEC{CorrectedBits: []uint64{37, 41}}},
		{"histogram of tomorrow", attr(5|nest, attr(5|nest, attr(1, words(1))), attr(2, longs(43))), FEC{CorrectedBlocks: []uint64{43}}},
		{"nothing", nil, FEC{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := decodeFEC(c.data); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	if got, err := decodeFEC(attr(5|nest, attr(2, longs(1)[:7]))); err == nil {
		t.Errorf("seven bytes of eight: %+v", got)
	}
}

func TestDecodeLinkState(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want LinkState
	}{
		{"up", attr(2, []byte{1}), LinkState{Up: true}},
		{"up, has been down", slices.Concat(attr(2, []byte{1}), attr(7, words(47))), LinkState{Up: true, DownCount: ptr(47)}},
		{"never down", slices.Concat(attr(2, []byte{1}), attr(7, words(0))), LinkState{Up: true, DownCount: ptr(0)}},
		{"down for no cable", slices.Concat(attr(1|nest, attr(1, words(3))), attr(2, []byte{0}), attr(5, []byte{4})), LinkState{DownReason: "no_cable"}},
		{"down for a cable that is not supported", slices.Concat(attr(2, []byte{0}), attr(5, []byte{5}), attr(6, []byte{1})), LinkState{DownReason: "cable_issue"}},
		{"down for autonegotiation, which is number 0", slices.Concat(attr(2, []byte{0}), attr(5, []byte{0})), LinkState{DownReason: "autoneg"}},
		{"down for its module", slices.Concat(attr(2, []byte{0}), attr(5, []byte{10})), LinkState{DownReason: "module"}},
		{"down for a reason of tomorrow", slices.Concat(attr(2, []byte{0}), attr(5, []byte{11})), LinkState{DownReason: "state_11"}},
		{"signal quality is left out", slices.Concat(attr(2, []byte{0}), attr(3, words(5)), attr(4, words(7))), LinkState{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := decodeLinkState(c.data); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	if _, err := decodeLinkState(attr(7, words(3))); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("a driver that does not say: %v", err)
	}
}

func TestDownReasons(t *testing.T) {
	want := []string{"autoneg", "link_training_failure", "link_logical_mismatch", "bad_signal_integrity", "no_cable", "cable_issue",
		"eeprom_issue", "calibration_failure", "power_budget_exceeded", "overheat", "module"}
	for i, name := range want {
		if got := downReason(uint8(i)); got != name {
			t.Errorf("%d is %s, want %s", i, got, name)
		}
	}
	if len(downReasons) != len(want) {
		t.Errorf("%d reasons", len(downReasons))
	}
}

// messages are complete ones, to be cut anywhere.
var messages = [][]byte{
	slices.Concat(attr(1|nest, attr(2, []byte("eth0\x00"))), attr(3, []byte{1}), attr(4, []byte{1}), attr(5|nest, attr(2, longs(2)), attr(3, longs(3)), attr(4, longs(5)))),
	slices.Concat(attr(4, words(50)), attr(5|nest, attr(2, longs(7, 11, 13)), attr(3, longs(17)), attr(4, longs(19)))),
	slices.Concat(attr(2, []byte{0}), attr(5, []byte{4}), attr(7, words(23))),
	slices.Concat(attr(1, words(29)), attr(2, []byte("mlx5_0\x00")), attr(3, words(1)), attr(51, []byte("eth0\x00")), attr(67, []byte("roce\x00")), attr(99, []byte{1}), attr(100, []byte("mlx5_1\x00"))),
}

// decodeAll runs every decoder and returns how many found fault.
func decodeAll(b []byte) (faults int) {
	_, pause := decodePause(b)
	_, fec := decodeFEC(b)
	_, link := decodeLinkState(b)
	_, dev := decodeRDMADevice(b)
	_, port := decodeRDMALink(b)
	for _, err := range []error{pause, fec, link, dev, port} {
		if err != nil {
			faults++
		}
	}
	return faults
}

// cutWithin reports whether the first n bytes of a message end within an
// attribute, not behind it or in its padding.
func cutWithin(m []byte, n int) bool {
	for i := 0; i < n; {
		length := int(binary.NativeEndian.Uint16(m[i:]))
		if n < i+length {
			return true
		}
		i += (length + 3) / 4 * 4
	}
	return false
}

func TestTruncatedMessages(t *testing.T) {
	for i, m := range messages {
		for n := range len(m) {
			if faults := decodeAll(m[:n]); cutWithin(m, n) && faults != 5 {
				t.Errorf("message %d cut to %d of %d bytes is accepted", i, n, len(m))
			}
		}
	}
	for _, wrong := range [][]byte{
		attr(3, []byte{1, 0}),               // RX of two bytes
		attr(5|nest, attr(2, words(1))),     // a count of 32 bits
		attr(5|nest, []byte{9, 0, 2, 0, 1}), // a nested attribute longer than its nest
	} {
		if p, err := decodePause(wrong); err == nil {
			t.Errorf("% x gives %+v", wrong, p)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range messages {
		f.Add(m)
	}
	f.Fuzz(func(_ *testing.T, b []byte) { decodeAll(b) })
}
