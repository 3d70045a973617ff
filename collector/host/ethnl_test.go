package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// attr is a netlink attribute by hand: length and type of 16 bits, the payload,
// and zeros up to the next multiple of four.
func attr(number uint16, payload ...[]byte) []byte {
	data := slices.Concat(payload...)
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(data)))
	b = binary.NativeEndian.AppendUint16(b, number)
	b = append(b, data...)
	return append(b, make([]byte, (4-len(data)%4)%4)...)
}

const nest = 1 << 15 // NLA_F_NESTED

// refusal is an error that came in a kernel's answer.
func refusal(errno unix.Errno) error {
	return &netlink.OpError{Op: "receive", Err: errno, Sequence: 7}
}

// fakeGeneric is a connection whose answers are given.
type fakeGeneric struct {
	answer    func(genetlink.Message) ([]genetlink.Message, error)
	asked     []genetlink.Message
	deadlines []time.Time
	closed    int
}

func (c *fakeGeneric) Execute(m genetlink.Message, family uint16, flags netlink.HeaderFlags) ([]genetlink.Message, error) {
	if family != 21 || flags != netlink.Request {
		return nil, fmt.Errorf("family %d, flags %v", family, flags)
	}
	c.asked = append(c.asked, m)
	return c.answer(m)
}

func (c *fakeGeneric) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

func (c *fakeGeneric) Close() error {
	c.closed++
	return nil
}

// ethtoolDoor is a door that is connected to c.
func ethtoolDoor(t *testing.T, c *fakeGeneric) *Door {
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	d.ethtool = &ethtoolConn{conn: c, family: genetlink.Family{ID: 21}, plain: map[uint8]bool{}}
	return d
}

func TestEncodeEthtool(t *testing.T) {
	name := []byte("eth0\x00")
	for _, c := range []struct {
		flags uint32
		want  []byte
	}{
		{0, attr(1|nest, attr(2, name))},
		{4, attr(1|nest, attr(2, name), attr(3, words(4)))},
	} {
		if got, err := encodeEthtool("eth0", c.flags); err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("flags %d: % x, want % x (%v)", c.flags, got, c.want, err)
		}
	}
}

// Requests and replies are numbered differently (enums ETHTOOL_MSG_USER and
// ETHTOOL_MSG_KERNEL), and a reply of another number is none.
func TestEthtoolNumbers(t *testing.T) {
	for _, c := range []struct {
		name           string
		request, reply uint8
		data           []byte
		ask            func(*Door) (any, error)
		want           string
	}{
		{"pause", 21, 22, slices.Concat(attr(3, []byte{1}), attr(4, []byte{0})),
			func(d *Door) (any, error) { return d.Pause("eth0") }, "{true false <nil> <nil> <nil>}"},
		{"FEC", 29, 30, attr(4, words(50)),
			func(d *Door) (any, error) { return d.FEC("eth0") }, "{[rs] [] [] []}"},
		{"link state", 6, 6, attr(2, []byte{1}),
			func(d *Door) (any, error) { return d.LinkState("eth0") }, "{true  <nil>}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply := c.reply
			conn := &fakeGeneric{answer: func(m genetlink.Message) ([]genetlink.Message, error) {
				if m.Header.Command != c.request {
					return nil, refusal(unix.EOPNOTSUPP)
				}
				return []genetlink.Message{{Header: genetlink.Header{Command: reply}, Data: c.data}}, nil
			}}
			d := ethtoolDoor(t, conn)
			before := time.Now()
			got, err := c.ask(d)
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("got %v, %v, want %s", got, err, c.want)
			}
			if len(conn.deadlines) != 1 || conn.deadlines[0].Before(before) || conn.deadlines[0].After(before.Add(time.Minute)) {
				t.Errorf("deadlines %v at %v", conn.deadlines, before)
			}
			if d.Reads != 1 || len(d.Errors) != 0 || conn.closed != 0 {
				t.Errorf("%d reads, %v, closed %d times", d.Reads, d.Errors, conn.closed)
			}
			reply = c.reply + 1 // the notification
			if _, err := c.ask(d); err == nil || !strings.Contains(err.Error(), "eth0") || conn.closed != 1 || d.ethtool != nil {
				t.Errorf("another's answer: %v, closed %d times", err, conn.closed)
			}
		})
	}
}

// Linux 6.1 knows no statistics of the link state and says EINVAL to the flag.
func TestOldKernelIsAskedWithoutStatistics(t *testing.T) {
	withFlag, _ := encodeEthtool("eth0", 4)
	without, _ := encodeEthtool("eth0", 0)
	conn := &fakeGeneric{answer: func(m genetlink.Message) ([]genetlink.Message, error) {
		if m.Header.Command == 6 && bytes.Equal(m.Data, withFlag) {
			return nil, refusal(unix.EINVAL)
		}
		return []genetlink.Message{
			{Header: genetlink.Header{Command: 6}, Data: attr(2, []byte{1})},
			{Header: genetlink.Header{Command: 22}, Data: attr(3, []byte{1})},
		}, nil
	}}
	d := ethtoolDoor(t, conn)
	for range 2 {
		if l, err := d.LinkState("eth0"); err != nil || !l.Up {
			t.Errorf("%v, %v", l, err)
		}
	}
	if _, err := d.Pause("eth0"); err != nil {
		t.Error(err)
	}
	var asked [][]byte
	for _, m := range conn.asked {
		asked = append(asked, m.Data)
	}
	if want := [][]byte{withFlag, without, without, withFlag}; !slices.EqualFunc(asked, want, bytes.Equal) {
		t.Errorf("asked % x", asked)
	}
	if d.Reads != 4 || len(d.Errors) != 0 {
		t.Errorf("%d reads, %v", d.Reads, d.Errors)
	}
}

// EINVAL of one interface's driver must not cost the others their statistics.
func TestInvalidInterfaceKeepsStatistics(t *testing.T) {
	bad := true
	conn := &fakeGeneric{answer: func(genetlink.Message) ([]genetlink.Message, error) {
		if bad {
			return nil, refusal(unix.EINVAL)
		}
		return []genetlink.Message{{Header: genetlink.Header{Command: 22}, Data: attr(3, []byte{1})}}, nil
	}}
	d := ethtoolDoor(t, conn)
	if _, err := d.Pause("eth1"); !errors.Is(err, unix.EINVAL) || d.Errors["EINVAL"] != 1 {
		t.Errorf("%v, booked %v", err, d.Errors)
	}
	bad = false
	if _, err := d.Pause("eth0"); err != nil {
		t.Error(err)
	}
	if want, _ := encodeEthtool("eth0", 4); len(conn.asked) != 3 || !bytes.Equal(conn.asked[2].Data, want) {
		t.Errorf("%d requests, the last % x", len(conn.asked), conn.asked[len(conn.asked)-1].Data)
	}
}

// A kernel's refusal leaves the connection in order; after anything else a late
// answer may come.
func TestConnectionAfterErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		is   error
		kept bool
	}{
		{refusal(unix.EOPNOTSUPP), unix.EOPNOTSUPP, true},
		{refusal(unix.ENODEV), unix.ENODEV, true},
		{refusal(unix.EPERM), unix.EPERM, true},
		{&netlink.OpError{Op: "receive", Err: os.ErrDeadlineExceeded}, os.ErrDeadlineExceeded, false},
		{&netlink.OpError{Op: "receive", Err: os.NewSyscallError("recvmsg", unix.ENOBUFS)}, unix.ENOBUFS, false},
		{&netlink.OpError{Op: "validate", Err: fs.ErrInvalid}, fs.ErrInvalid, false},
	} {
		generic := &fakeGeneric{answer: func(genetlink.Message) ([]genetlink.Message, error) { return nil, c.err }}
		d := ethtoolDoor(t, generic)
		_, err := d.Pause("eth0")
		if !errors.Is(err, c.is) || (d.ethtool != nil) != c.kept || (generic.closed == 0) != c.kept {
			t.Errorf("ethtool, %v: closed %d times, %v", c.err, generic.closed, err)
		}
		rdma := &fakeRDMA{answer: func(netlink.Message) ([]netlink.Message, error) { return nil, c.err }}
		d.rdma = rdma
		_, err = d.RDMADevice("mlx5_0")
		if !errors.Is(err, c.is) || (d.rdma != nil) != c.kept || (rdma.closed == 0) != c.kept {
			t.Errorf("rdma, %v: closed %d times, %v", c.err, rdma.closed, err)
		}
		if d.Reads != 2 || d.Errors[ErrorName(c.err)] != 2 {
			t.Errorf("%d reads, %v", d.Reads, d.Errors)
		}
	}
}

func TestCloseClosesConnections(t *testing.T) {
	generic, rdma := &fakeGeneric{}, &fakeRDMA{}
	d := ethtoolDoor(t, generic)
	d.rdma = rdma
	d.Close()
	d.Close()
	if generic.closed != 1 || rdma.closed != 1 {
		t.Errorf("closed %d and %d times", generic.closed, rdma.closed)
	}
}

func TestOutage(t *testing.T) {
	start := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err  error
		none bool
	}{
		{os.NewSyscallError("socket", unix.EPROTONOSUPPORT), true}, // no ib_core
		{os.NewSyscallError("socket", unix.EAFNOSUPPORT), true},    // RestrictAddressFamilies= of systemd
		{os.NewSyscallError("socket", unix.EPERM), true},           // seccomp of a container runtime
		{os.NewSyscallError("socket", unix.EACCES), true},          // SELinux
		{refusal(unix.ENOENT), true},                               // no such family: before 5.6
		{os.NewSyscallError("socket", unix.EMFILE), false},
		{os.NewSyscallError("socket", unix.ENOMEM), false},
		{os.ErrDeadlineExceeded, false},
	} {
		var o outage
		if err := o.current(start); err != nil {
			t.Errorf("remembers %v before anything happened", err)
		}
		err := o.note(start, c.err)
		if errors.Is(err, ErrNoNetlink) != c.none || !errors.Is(err, c.err) {
			t.Errorf("%v became %v", c.err, err)
		}
		if got := o.current(start.Add(59 * time.Second)); errors.Is(got, ErrNoNetlink) != c.none {
			t.Errorf("%v: after 59 s %v", c.err, got)
		}
		if got := o.current(start.Add(61 * time.Second)); got != nil {
			t.Errorf("%v: after 61 s %v", c.err, got)
		}
	}
}

// While it is remembered, nothing is tried.
func TestOutageIsRespected(t *testing.T) {
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	now := time.Now()
	for _, o := range []*outage{&d.host.noEthtool, &d.host.noRDMA} {
		o.err, o.until = fmt.Errorf("%w: as of before", ErrNoNetlink), now.Add(time.Hour)
	}
	_, pause := d.Pause("lo")
	_, fec := d.FEC("lo")
	_, link := d.host.Door().LinkState("lo")
	_, dev := d.RDMADevice("mlx5_0")
	_, links := d.RDMALinks("mlx5_0")
	for _, err := range []error{pause, fec, link, dev, links} {
		if !errors.Is(err, ErrNoNetlink) || !strings.Contains(err.Error(), "as of before") {
			t.Errorf("%v", err)
		}
	}
	if d.ethtool != nil || d.rdma != nil {
		t.Error("a connection was opened")
	}
	if want := map[string]uint64{"other": 4}; d.Reads != 4 || !maps.Equal(d.Errors, want) {
		t.Errorf("%d reads, %v", d.Reads, d.Errors)
	}
}

// The real kernel, if it has the family: loopback is up and has neither pause
// nor FEC.
func TestEthtoolOfThisMachine(t *testing.T) {
	var traced []string
	d := openHost(t, Config{Sysfs: t.TempDir()}, &traced)
	lo, up := "lo", false
	interfaces, err := net.Interfaces()
	mustDo(t, err)
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 {
			lo, up = i.Name, i.Flags&net.FlagUp != 0
		}
	}
	link, err := d.LinkState(lo)
	if err != nil {
		if !errors.Is(err, ErrNoNetlink) && !Gone(err) && !NotOffered(err) {
			t.Errorf("%v", err)
		}
		if link != (LinkState{}) {
			t.Errorf("%v with an error", link)
		}
	} else if up && !link.Up || link.DownReason != "" {
		t.Errorf("%+v", link)
	}
	_, pause := d.Pause(lo)
	_, fec := d.FEC(lo)
	_, none := d.LinkState("rdmawatch-none0")
	for i, err := range []error{pause, fec} {
		if !errors.Is(err, ErrNoNetlink) && !NotOffered(err) && !Gone(err) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if !errors.Is(none, ErrNoNetlink) && !Gone(none) {
		t.Errorf("an interface that does not exist: %v", none)
	}
	if want := []string{"ethtool/" + lo + "/link", "ethtool/" + lo + "/a", "ethtool/" + lo + "/fec", "ethtool/rdmawatch-none0/link"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
}

// Two doors have two connections.
func TestDoorsShareNoConnection(t *testing.T) {
	a := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	b := a.host.Door()
	defer b.Close()
	_, errA := a.LinkState("lo")
	_, errB := b.LinkState("lo")
	if errors.Is(errA, ErrNoNetlink) != errors.Is(errB, ErrNoNetlink) {
		t.Errorf("%v, %v", errA, errB)
	}
	if a.ethtool != nil && a.ethtool.conn == b.ethtool.conn {
		t.Error("one connection for two doors")
	}
	a.Close()
	if _, err := b.LinkState("lo"); fmt.Sprint(err) != fmt.Sprint(errB) {
		t.Errorf("closing one door changed the other from %v to %v", errB, err)
	}
}
