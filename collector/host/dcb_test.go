package host

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// shorts are 16-bit numbers as the kernel writes them.
func shorts(values ...uint16) (b []byte) {
	for _, v := range values {
		b = binary.NativeEndian.AppendUint16(b, v)
	}
	return b
}

// The parts of an answer, after the structs of include/uapi/linux/dcbnl.h.
var (
	// willing, ets_cap, cbs; tc_tx_bw, tc_rx_bw, tc_tsa, prio_tc; three more
	// arrays of what the peer should have.
	etsStruct = slices.Concat([]byte{0, 8, 0},
		[]byte{41, 0, 0, 59, 0, 0, 0, 0}, []byte{1, 1, 1, 1, 1, 1, 1, 1}, []byte{2, 0, 1, 2, 0, 0, 255, 7}, []byte{0, 1, 2, 3, 4, 5, 6, 7},
		make([]byte, 24))
	pfcStruct = slices.Concat([]byte{8, 1<<3 | 1<<7, 0, 0}, make([]byte, 132))
	buffers   = slices.Concat([]byte{0, 0, 0, 1, 0, 0, 0, 2}, words(130944, 262144, 3, 0, 0, 0, 0, 0), words(393091))
	apps      = slices.Concat(
		attr(1, []byte{5, 6}, shorts(48)),     // DSCP 48
		attr(1, []byte{1, 3}, shorts(0x8906)), // an Ethernet type
		attr(1, []byte{5, 3}, shorts(26)),
		attr(1, []byte{5, 3}, shorts(64)), // no DSCP
		attr(1, []byte{5, 9}, shorts(27)), // no priority
		attr(2, []byte{255, 3}, shorts(7)),
	)
	dcbAnswer = slices.Concat(attr(1, []byte("eth0\x00")),
		attr(13|nest, attr(1, etsStruct), attr(2, pfcStruct), attr(7, longs(1, 2, 3, 4, 5, 6, 7, 8)), attr(3|nest, apps), attr(10, buffers)),
		attr(14, []byte{9}))
	dcbWanted = DCB{
		PFC: &[8]bool{3: true, 7: true},
		ETS: &ETS{
			Class: [8]uint8{0, 1, 2, 3, 4, 5, 6, 7}, Percent: [8]uint8{0: 41, 3: 59},
			Algorithm: [8]string{"ets", "strict", "cbs", "ets", "strict", "strict", "vendor", "???"},
		},
		Buffers: &Buffers{Buffer: [8]uint8{3: 1, 7: 2}, Bytes: [8]uint32{130944, 262144, 3}},
		DSCP:    []DSCPPriority{{26, 3}, {48, 6}},
	}
)

func TestDecodeDCB(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want DCB
		ok   bool
	}{
		{"all", dcbAnswer, dcbWanted, true},
		{"only PFC, nests without the flag", attr(13, attr(2, pfcStruct), attr(3, apps)), DCB{PFC: dcbWanted.PFC, DSCP: dcbWanted.DSCP}, true},
		{"short structs of another kernel", attr(13, attr(1, etsStruct[:35]), attr(2, pfcStruct[:2])), DCB{PFC: dcbWanted.PFC, ETS: dcbWanted.ETS}, true},
		{"ETS cut off", attr(13, attr(1, etsStruct[:34])), DCB{}, false},
		{"PFC cut off", attr(13, attr(2, pfcStruct[:1])), DCB{}, false},
		{"buffers cut off", attr(13, attr(2, pfcStruct), attr(10, buffers[:43])), DCB{}, false},
		{"application cut off", attr(13, attr(2, pfcStruct), attr(3, attr(1, []byte{5, 3, 1}))), DCB{}, false},
		{"an application's attribute cut off", attr(13, attr(2, pfcStruct), attr(3, []byte{9})), DCB{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeDCB(c.data)
			if (err == nil) != c.ok || c.ok && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
	// The kernel's table of applications is there for every driver.
	for _, nothing := range [][]byte{nil, attr(13), attr(13, attr(3, apps))} {
		if _, err := decodeDCB(nothing); !NotOffered(err) {
			t.Errorf("%x: %v", nothing, err)
		}
	}
}

const dcbPrinted = `willing off ets-cap 8 cbs off 
tc-bw 0:41 1:0 2:0 3:59 4:0 5:0 6:0 7:0 
pg-bw 0:1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 
tc-tsa 0:ets 1:strict 2:cbs 3:ets 4:strict 5:strict 6:vendor 7:??? 
prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 
reco-tc-bw 0:9 1:9 2:9 3:9 4:9 5:9 6:9 7:9 
pfc-cap 8 macsec-bypass off delay 0 
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:on 
prio-buffer 0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2 
buffer-size 0:130944b 1:256Kb 2:3b 3:0b 4:0b 5:0b 6:0b 7:0b 
total-size 393091b 
ethtype-prio 8906:3 
dscp-prio 48:6 26:3 
`

func TestParseDCB(t *testing.T) {
	got, err := parseDCB(dcbPrinted)
	if err != nil || !reflect.DeepEqual(got, dcbWanted) {
		t.Errorf("got %+v, %v, want %+v", got, err, dcbWanted)
	}
	again, err := parseDCB(printDCB(got))
	if err != nil || !reflect.DeepEqual(again, dcbWanted) {
		t.Errorf("printed and read again: %+v, %v", again, err)
	}
	for _, bad := range []string{
		"", "\n", "dscp-prio 26:3\n", "Error: Operation not supported",
		"prio-pfc 0:yes", "prio-pfc 8:on", "prio-pfc x:on", "prio-pfc 3",
		"prio-tc 0:8", "prio-tc -1:0", "tc-bw 0:256", "prio-buffer 0:8",
		"buffer-size 0:5Gb", "buffer-size 0:4096Mb", "buffer-size 0:", "prio-pfc 0:on\ndscp-prio 64:1", "prio-pfc 0:on\ndscp-prio 1:8", "prio-pfc 0:on\ndscp-prio CS3:3",
	} {
		if v, err := parseDCB(bad); err == nil {
			t.Errorf("%q is %+v", bad, v)
		}
	}
	if v, err := parseDCB("buffer-size 0:4095Mb"); err != nil || v.Buffers.Bytes[0] != 4293918720 {
		t.Errorf("%+v, %v", v.Buffers, err)
	}
}

// fakeRoute is a connection whose answer is given.
type fakeRoute struct {
	asked  []netlink.Message
	answer []netlink.Message
	err    error
	closed int
}

func (c *fakeRoute) Execute(m netlink.Message) ([]netlink.Message, error) {
	c.asked = append(c.asked, m)
	return c.answer, c.err
}
func (c *fakeRoute) SetReadDeadline(time.Time) error { return nil }
func (c *fakeRoute) Close() error                    { c.closed++; return nil }

func TestDCBRequest(t *testing.T) {
	answer := netlink.Message{Header: netlink.Header{Type: 78}, Data: slices.Concat([]byte{0, 21, 0, 0}, dcbAnswer)}
	c := &fakeRoute{answer: []netlink.Message{answer}}
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	d.route = c
	got, err := d.DCB("eth0")
	if err != nil || !reflect.DeepEqual(got, dcbWanted) {
		t.Errorf("got %+v, %v", got, err)
	}
	want := netlink.Message{
		Header: netlink.Header{Type: 78, Flags: netlink.Request},
		Data:   slices.Concat([]byte{0, 21, 0, 0}, attr(1, []byte("eth0\x00"))),
	}
	if len(c.asked) != 1 || !reflect.DeepEqual(c.asked[0], want) {
		t.Errorf("asked %+v, want %+v", c.asked, want)
	}
	if _, err := d.DCB("../eth0"); err == nil || len(c.asked) != 1 {
		t.Error("a name that is a path was asked for")
	}
	c.answer, c.err = nil, refusal(unix.EOPNOTSUPP)
	if _, err := d.DCB("eth0"); !NotOffered(err) || c.closed != 0 {
		t.Errorf("%v, closed %d times", err, c.closed)
	}
	// Another's answer, or none in time: the connection is given up.
	for _, c := range []*fakeRoute{
		{answer: []netlink.Message{{Header: netlink.Header{Type: 79}, Data: answer.Data}}},
		{answer: []netlink.Message{{Header: netlink.Header{Type: 78}, Data: []byte{0, 21}}}},
		{err: errors.New("too late")},
	} {
		d.route = c
		if _, err := d.DCB("eth0"); err == nil || c.closed != 1 || d.route != nil {
			t.Errorf("%v, closed %d times", err, c.closed)
		}
	}
}

func FuzzDecodeDCB(f *testing.F) {
	f.Add(dcbAnswer)
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := decodeDCB(b); err == nil {
			printDCB(v)
		}
	})
}

func FuzzParseDCB(f *testing.F) {
	f.Add(dcbPrinted)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := parseDCB(text)
		if err != nil {
			return
		}
		if again, err := parseDCB(printDCB(v)); err != nil || !reflect.DeepEqual(v, again) {
			t.Errorf("%+v\n%+v, %v", v, again, err)
		}
	})
}
