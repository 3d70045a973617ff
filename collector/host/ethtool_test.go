package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// fakeDriver answers as a kernel does for a driver whose statistics are sets,
// of which the next one is taken after each call that changes says.
type fakeDriver struct {
	sets    []map[string]uint64 // names are given in alphabetical order
	changes func(call int) bool
	strict  bool // of a kernel that compares counts: 6.19
	calls   []uint32
	errs    map[int]error // by call
	buffer  []byte        // every answer is in the same memory
}

func (k *fakeDriver) ask(command uint32, n int) (int, []byte, error) {
	call := len(k.calls)
	k.calls = append(k.calls, command)
	if err := k.errs[call]; err != nil {
		return 0, nil, err
	}
	set := k.sets[0]
	if k.changes != nil && k.changes(call) && len(k.sets) > 1 {
		k.sets = k.sets[1:]
	}
	if command == unix.ETHTOOL_GSSET_INFO {
		return len(set), nil, nil
	}
	if k.strict && n != len(set) {
		return 0, nil, nil
	}
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	b := k.buffer[:0]
	for _, name := range names {
		if command == unix.ETHTOOL_GSTRINGS {
			b = append(b, append([]byte(name), make([]byte, nameSize-len(name))...)...)
		} else {
			b = binary.NativeEndian.AppendUint64(b, set[name])
		}
	}
	k.buffer = b
	return len(names), b, nil
}

func after(calls ...int) func(int) bool {
	return func(call int) bool { return slices.Contains(calls, call) }
}

const (
	count = unix.ETHTOOL_GSSET_INFO
	names = unix.ETHTOOL_GSTRINGS
	stats = unix.ETHTOOL_GSTATS
)

// The sets as mlx5 has them while flow control moves from priority 3 to 5, is
// switched on for both, and off.
var (
	prio3 = map[string]uint64{"rx_bytes": 101, "rx_prio3_pause": 103, "tx_bytes": 107}
	prio5 = map[string]uint64{"rx_bytes": 109, "rx_prio5_pause": 113, "tx_bytes": 127}
	both  = map[string]uint64{"rx_bytes": 131, "rx_prio3_pause": 137, "rx_prio5_pause": 139, "tx_bytes": 149}
	off   = map[string]uint64{"rx_bytes": 151, "tx_bytes": 157}
)

func TestStatsWhoseNamesChange(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  []uint32 // the calls of a first reading, if any
		sets    []map[string]uint64
		changes func(int) bool
		want    map[string]uint64
		calls   []uint32
	}{
		{"the first reading checks the names it got", nil,
			[]map[string]uint64{prio3}, nil, prio3, []uint32{count, stats, names, stats, names}},
		{"more after counting", nil,
			[]map[string]uint64{prio3, both}, after(0), both, []uint32{count, stats, count, stats, names, stats, names}},
		{"fewer after counting", nil,
			[]map[string]uint64{prio3, off}, after(0), off, []uint32{count, stats, count, stats, names, stats, names}},
		{"others between values and names", nil,
			[]map[string]uint64{prio3, prio5}, after(1), prio5, []uint32{count, stats, names, stats, names}},
		{"others after the first names", nil,
			[]map[string]uint64{prio3, prio5}, after(2), prio5, []uint32{count, stats, names, stats, names, stats, names}},
		{"more between values and names", nil,
			[]map[string]uint64{prio3, both}, after(3), both, []uint32{count, stats, names, stats, names, count, stats, names, stats, names}},
	} {
		for _, strict := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, strict %v", c.name, strict), func(t *testing.T) {
				k := &fakeDriver{sets: c.sets, changes: c.changes, strict: strict}
				s := &EthtoolStats{changed: true}
				mustDo(t, s.read(k.ask))
				wantStats(t, s, c.want)
				if !slices.Equal(k.calls, c.calls) {
					t.Errorf("calls %#x, want %#x", k.calls, c.calls)
				}
			})
		}
	}
}

func wantStats(t *testing.T, s *EthtoolStats, want map[string]uint64) {
	t.Helper()
	if len(s.names) != len(want) || len(s.values) != len(want) {
		t.Fatalf("%q and %d do not have %d each", s.names, s.values, len(want))
	}
	for i, name := range s.names {
		if v, ok := want[name]; !ok || v != s.values[i] {
			t.Errorf("%s is %d, want %d", name, s.values[i], v)
		}
	}
}

func TestStatsOfAStableDriverCostTwoCalls(t *testing.T) {
	k := &fakeDriver{sets: []map[string]uint64{prio3}}
	s := &EthtoolStats{}
	mustDo(t, s.read(k.ask))
	s.changed, k.calls = false, nil
	first := s.Names()
	k.sets = []map[string]uint64{{"rx_bytes": 163, "rx_prio3_pause": 167, "tx_bytes": 173}}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, k.sets[0])
	if s.changed || !slices.Equal(k.calls, []uint32{stats, names}) {
		t.Errorf("changed %v, calls %#x", s.changed, k.calls)
	}
	if &first[0] != &s.Names()[0] {
		t.Error("equal names were made anew")
	}
}

func TestStatsNoticeASwapOfEqualSize(t *testing.T) {
	k := &fakeDriver{sets: []map[string]uint64{prio3}}
	s := &EthtoolStats{}
	mustDo(t, s.read(k.ask))
	s.changed, k.calls, k.sets = false, nil, []map[string]uint64{prio5}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, prio5)
	if !s.changed || !slices.Equal(k.calls, []uint32{stats, names, stats, names}) {
		t.Errorf("changed %v, calls %#x", s.changed, k.calls)
	}
}

// After a reading that failed half way, the change is still told.
func TestStatsTellAChangeAfterAnError(t *testing.T) {
	k := &fakeDriver{sets: []map[string]uint64{prio3}}
	s := &EthtoolStats{}
	mustDo(t, s.read(k.ask))
	s.changed, k.calls, k.sets = false, nil, []map[string]uint64{prio5}
	k.errs = map[int]error{2: unix.EIO}
	if err := s.read(k.ask); !errors.Is(err, unix.EIO) {
		t.Fatalf("%v", err)
	}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, prio5)
	if !s.changed {
		t.Error("the change got lost")
	}
}

func TestStatsGiveUpOnNamesThatNeverStay(t *testing.T) {
	k := &fakeDriver{changes: func(int) bool { return true }}
	for i := range uint64(100) {
		k.sets = append(k.sets, map[string]uint64{fmt.Sprintf("rx_%d", i): i})
	}
	s := &EthtoolStats{}
	if err := s.read(k.ask); !errors.Is(err, errStatsUnstable) {
		t.Fatalf("%v", err)
	}
	if len(k.calls) > 3*statsAttempts {
		t.Errorf("%d calls", len(k.calls))
	}
	k.changes = nil
	mustDo(t, s.read(k.ask))
	wantStats(t, s, k.sets[0])
}

func TestStatsErrors(t *testing.T) {
	for call := range 5 {
		k := &fakeDriver{sets: []map[string]uint64{prio3}, errs: map[int]error{call: unix.ENODEV}}
		if err := (&EthtoolStats{}).read(k.ask); !errors.Is(err, unix.ENODEV) {
			t.Errorf("error of call %d: %v", call, err)
		}
	}
}

func TestStatsOfADriverThatHasNone(t *testing.T) {
	k := &fakeDriver{sets: []map[string]uint64{{}}}
	s := &EthtoolStats{}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, nil)
	k.sets = []map[string]uint64{prio3}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, prio3)
	// And none again, as when a driver is exchanged.
	k.sets = []map[string]uint64{{}}
	mustDo(t, s.read(k.ask))
	wantStats(t, s, nil)
}

// Whatever changes when: a value is never given under another's name. Each
// value here tells the set and the place of its name.
func TestStatsNeverMixNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	given := 0
	for range 2000 {
		k := &fakeDriver{strict: rng.IntN(2) == 0, changes: func(int) bool { return rng.IntN(3) == 0 }}
		for set := range uint64(8) {
			m := map[string]uint64{}
			for place := range 1 + rng.Uint64N(3) {
				m[fmt.Sprintf("%d_%d", set, place)] = 100*set + place
			}
			k.sets = append(k.sets, m)
		}
		s := &EthtoolStats{}
		for range 3 {
			if s.read(k.ask) != nil {
				continue
			}
			given++
			for i, name := range s.names {
				var set, place uint64
				if _, err := fmt.Sscanf(name, "%d_%d", &set, &place); err != nil {
					t.Fatal(err)
				}
				if len(s.values) != len(s.names) || s.values[i] != 100*set+place {
					t.Fatalf("names %q with values %d", s.names, s.values)
				}
			}
		}
	}
	if given < 1000 {
		t.Errorf("only %d readings gave values", given)
	}
}

func TestStatName(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "rx_out_of_buffer\x00\x00", "rx_out_of_buffer"},
		{"what stands behind the zero byte is rubbish", "rx\x00tx", "rx"},
		{"filled up with blanks", "tx_octets_ok        \x00", "tx_octets_ok"},
		{"blanks in front", "   queue\x00", "queue"},
		{"blanks within", "[0]: rx_bytes\x00", "[0]: rx_bytes"},
		{"no zero byte", strings.Repeat("x", nameSize), strings.Repeat("x", nameSize-1)},
		{"longest", strings.Repeat("y", nameSize-1) + "\x00", strings.Repeat("y", nameSize-1)},
		{"empty", "\x00\x00", ""},
		{"not UTF-8", "rx\xff\xfe_y\x00", "rx?_y"},
	} {
		if got := statName([]byte(c.raw)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseStats(t *testing.T) {
	for _, c := range []struct {
		name, text string
		names      []string
		values     []uint64
	}{
		{"as printed", "NIC statistics:\n     rx_packets: 2\n     tx_packets: 14\n",
			[]string{"rx_packets", "tx_packets"}, []uint64{2, 14}},
		// bnx2x and be2net, from the tests of isc-projects/ethq.
		{"colons in names", "     [0]: rx_bytes: 209487403324\n     rxq0: rx_bytes: 5\n",
			[]string{"[0]: rx_bytes", "rxq0: rx_bytes"}, []uint64{209487403324, 5}},
		{"padded", "     tx_octets_ok        : 31\n", []string{"tx_octets_ok"}, []uint64{31}},
		{"twice", "     rx: 3\n     rx: 5\n", []string{"rx", "rx"}, []uint64{3, 5}},
		{"no name", "     : 7\n", []string{""}, []uint64{7}},
		{"all bits set is a value here", "     a: 18446744073709551615\n", []string{"a"}, []uint64{1<<64 - 1}},
		{"comments, blank lines and returns", "# a note: 1\n\nNIC statistics:\r\n     a: 1\r\n", []string{"a"}, []uint64{1}},
		{"too long", "     0123456789012345678901234567890123456789: 1\n", []string{"0123456789012345678901234567890"}, []uint64{1}},
		{"none", "NIC statistics:\n", nil, nil},
		{"nothing", "", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			names, values, err := parseStats(c.text)
			if err != nil || !slices.Equal(names, c.names) || !slices.Equal(values, c.values) {
				t.Errorf("got %q, %d, %v", names, values, err)
			}
		})
	}
	for _, text := range []string{
		"no stats available\n", "     a: 1\n     b: -1\n", "a: 18446744073709551616", "a:", "a: x", "a: 1 2", "a: 0x1",
	} {
		if names, _, err := parseStats(text); err == nil {
			t.Errorf("%q gives %q", text, names)
		} else if NotOffered(err) {
			t.Errorf("%q is passed over in silence: %v", text, err)
		}
	}
	if _, _, err := parseStats("a: 1\n\nb\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("no line number: %v", err)
	}
	if _, _, err := parseStats(strings.Repeat("a: 1\n", maxStats)); err != nil {
		t.Errorf("as many as may be: %v", err)
	}
	if _, _, err := parseStats(strings.Repeat("a: 1\n", maxStats+1)); !errors.Is(err, errTooManyStats) {
		t.Errorf("one too many: %v", err)
	}
}

func TestStatsOfAFixture(t *testing.T) {
	var traced []string
	d, root := fixture(t, tree{"ethtool/eth0/S": "NIC statistics:\n     a: 2\n     b: 3\n"}, &traced)
	s := d.EthtoolStats("eth0")
	if len(traced) != 0 || s.Names() != nil {
		t.Error("something was read before it was asked for")
	}
	for _, c := range []struct {
		name, text string
		values     []uint64
		changed    bool
	}{
		{"at first", "     a: 2\n     b: 3\n", []uint64{2, 3}, true},
		{"other values", "     a: 5\n     b: 7\n", []uint64{5, 7}, false},
		{"another name", "     a: 11\n     c: 13\n", []uint64{11, 13}, true},
		{"another order", "     c: 13\n     a: 11\n", []uint64{13, 11}, true},
		{"one less", "     c: 17\n", []uint64{17}, true},
		{"the same", "     c: 17\n", []uint64{17}, false},
		{"none", "", nil, true},
		{"still none", "", nil, false},
	} {
		tree{"ethtool/eth0/S": "NIC statistics:\n" + c.text}.write(t, root)
		values, changed, err := s.Read(d)
		if err != nil || changed != c.changed || !slices.Equal(values, c.values) || len(s.Names()) != len(values) {
			t.Errorf("%s: %d of %q, %v, %v", c.name, values, s.Names(), changed, err)
		}
	}
	if _, changed, err := d.EthtoolStats("eth0").Read(d); err != nil || !changed {
		t.Errorf("none at first: %v, %v", changed, err)
	}
	tree{"ethtool/eth0/S": "errno:ENODEV\n"}.write(t, root)
	if values, _, err := s.Read(d); !errors.Is(err, unix.ENODEV) || values != nil || !strings.Contains(err.Error(), "eth0") {
		t.Errorf("%d, %v", values, err)
	}
	mustDo(t, os.Remove(filepath.Join(root, "ethtool/eth0/S")))
	if _, _, err := s.Read(d); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if traced[0] != "ethtool/eth0/S" || d.Reads != uint64(len(traced)) || d.Reads != 11 {
		t.Errorf("%d reads, traced %q", d.Reads, traced)
	}
}

// An interface of this machine: whatever its driver has, names and values
// belong together. Loopback has none.
func TestStatsOfThisMachine(t *testing.T) {
	var traced []string
	d := openHost(t, Config{Sysfs: t.TempDir()}, &traced)
	interfaces, err := net.Interfaces()
	mustDo(t, err)
	for _, i := range interfaces {
		s := d.EthtoolStats(i.Name)
		before := d.Reads
		values, changed, err := s.Read(d)
		if d.Reads == before || traced[len(traced)-1] != "ethtool/"+i.Name+"/S" {
			t.Errorf("%s: %d reads, traced %q", i.Name, d.Reads-before, traced)
		}
		if err != nil {
			if values != nil || !errors.Is(err, unix.EOPNOTSUPP) && !Denied(err) {
				t.Errorf("%s: %d, %v", i.Name, values, err)
			}
			continue
		}
		if len(values) != len(s.Names()) || !changed {
			t.Errorf("%s: %d values, %d names, changed %v", i.Name, len(values), len(s.Names()), changed)
		}
		for _, name := range s.Names() {
			if len(name) >= nameSize || strings.ContainsRune(name, 0) {
				t.Errorf("%s has a name %q", i.Name, name)
			}
		}
		if _, changed, err := s.Read(d); err != nil || changed {
			t.Errorf("%s, again: changed %v, %v", i.Name, changed, err)
		}
	}
	if _, _, err := d.EthtoolStats("rdmawatch-none0").Read(d); !Gone(err) && !Denied(err) {
		t.Errorf("an interface that does not exist: %v", err)
	}
}

func TestNetdevNames(t *testing.T) {
	for _, name := range []string{"eth0", "enp65s0f0np0", "eth0.100", "...", "a-very-long-nam"} {
		if err := checkNetdev(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	secret := tree{"sys/class/net/x/ecn/roce_np/enable/": "", "ethtool/S": "a: 1\n", "ethtool/fec": "Active FEC encoding: RS\n"}
	d, _ := fixture(t, secret, nil)
	for _, name := range []string{"", ".", "..", "../ethtool", "a/b", "/", "a b", "a:1", "a\n", "a\x00", "sixteencharacter"} {
		_, _, errStats := d.EthtoolStats(name).Read(d)
		_, errPause := d.Pause(name)
		_, errFEC := d.FEC(name)
		_, errLink := d.LinkState(name)
		_, errECN := d.ECN(name)
		for i, err := range []error{errStats, errPause, errFEC, errLink, errECN} {
			if err == nil || !strings.Contains(err.Error(), "cannot be the name") {
				t.Errorf("call %d accepts %q: %v", i, name, err)
			}
		}
	}
	if d.Reads != 0 {
		t.Errorf("%d reads", d.Reads)
	}
}

func FuzzParseStats(f *testing.F) {
	f.Add("NIC statistics:\n     [0]: rx_bytes: 5\n     tx : 7\n")
	f.Add("a:1\n# b\nc")
	f.Fuzz(func(t *testing.T, text string) {
		names, values, err := parseStats(text)
		if len(names) != len(values) || err != nil && names != nil {
			t.Fatalf("%q gives %d names, %d values, %v", text, len(names), len(values), err)
		}
		// What was read can be printed and read again.
		var b bytes.Buffer
		b.WriteString("NIC statistics:\n")
		for i, name := range names {
			if name == "" || strings.ContainsAny(name, "#\r\v\f\u0085\u00a0\u2028") {
				return
			}
			fmt.Fprintf(&b, "     %s: %d\n", name, values[i])
		}
		names2, values2, err := parseStats(b.String())
		if err != nil || !slices.Equal(names2, names) || !slices.Equal(values2, values) {
			t.Fatalf("%q, then %q: %v", names, names2, err)
		}
	})
}
