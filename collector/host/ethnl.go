package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// ErrNoNetlink is the error where the kernel, or what confines this process,
// has no such netlink family. It is tried again after a minute.
var ErrNoNetlink = errors.New("netlink is not available")

const (
	// netlinkTimeout bounds the wait for an answer. A driver that hangs does so
	// while the request is sent, where nothing can be bounded.
	netlinkTimeout = 5 * time.Second
	outageLength   = time.Minute
)

// outage remembers that a netlink family cannot be had, so that it is not
// tried at every reading. It is shared by all doors.
type outage struct {
	mu    sync.Mutex
	err   error
	until time.Time
}

// current returns the remembered error while it counts.
func (o *outage) current(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.until) {
		return o.err
	}
	return nil
}

// note turns the error of opening a family into ErrNoNetlink, and remembers
// it, if it means that there is none to be had. Too many open files, say, does
// not.
func (o *outage) note(now time.Time, err error) error {
	for _, none := range [...]error{
		fs.ErrNotExist,                                                // the family: ENOENT
		unix.EPROTONOSUPPORT, unix.ESOCKTNOSUPPORT, unix.EAFNOSUPPORT, // the protocol, also when a filter forbids it
		unix.EPERM, unix.EACCES,
	} {
		if errors.Is(err, none) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.err, o.until = fmt.Errorf("%w: %w", ErrNoNetlink, err), now.Add(outageLength)
			return o.err
		}
	}
	return err
}

// ethtoolConn is a door's connection to ethtool's netlink family.
type ethtoolConn struct {
	conn   genericConn
	family genetlink.Family
	plain  map[uint8]bool // requests that this kernel knows no statistics of
}

// genericConn is what is used of a genetlink.Conn.
type genericConn interface {
	Execute(m genetlink.Message, family uint16, flags netlink.HeaderFlags) ([]genetlink.Message, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

func (d *Door) dialEthtool() (*ethtoolConn, error) {
	if d.ethtool != nil {
		return d.ethtool, nil
	}
	now, outage := time.Now(), &d.host.noEthtool
	if err := outage.current(now); err != nil {
		return nil, err
	}
	conn, err := genetlink.Dial(nil)
	if err != nil {
		return nil, outage.note(now, err)
	}
	family, err := conn.GetFamily(unix.ETHTOOL_GENL_NAME)
	if err != nil {
		conn.Close()
		return nil, outage.note(now, err)
	}
	d.ethtool = &ethtoolConn{conn: conn, family: family, plain: map[uint8]bool{}}
	return d.ethtool, nil
}

// askEthtool sends a request about an interface and returns the answer's
// attributes. Statistics are asked for where the kernel knows them: up to 6.1
// LINKSTATE_GET refuses the flag with EINVAL.
func (d *Door) askEthtool(netdev string, request, answer uint8) ([]byte, error) {
	if err := checkNetdev(netdev); err != nil {
		return nil, err
	}
	c, err := d.dialEthtool()
	if err != nil {
		return nil, d.count(err)
	}
	if c.plain[request] {
		b, err := d.executeEthtool(c, netdev, request, answer, 0)
		return b, d.count(err)
	}
	b, err := d.executeEthtool(c, netdev, request, answer, unix.ETHTOOL_FLAG_STATS)
	if !errors.Is(err, unix.EINVAL) {
		return b, d.count(err)
	}
	// It may as well be the driver that says EINVAL. Then it does so again.
	d.Reads++
	b, err = d.executeEthtool(c, netdev, request, answer, 0)
	c.plain[request] = err == nil
	return b, d.count(err)
}

func (d *Door) executeEthtool(c *ethtoolConn, netdev string, request, answer uint8, flags uint32) ([]byte, error) {
	data, err := encodeEthtool(netdev, flags)
	if err != nil {
		return nil, err
	}
	message := genetlink.Message{
		Header: genetlink.Header{Command: request, Version: unix.ETHTOOL_GENL_VERSION},
		Data:   data,
	}
	var answers []genetlink.Message
	if err = c.conn.SetReadDeadline(time.Now().Add(netlinkTimeout)); err == nil {
		answers, err = c.conn.Execute(message, c.family.ID, netlink.Request)
	}
	if err != nil {
		if !answered(err) {
			d.closeEthtool()
		}
		return nil, err
	}
	for _, m := range answers {
		if m.Header.Command == answer {
			return m.Data, nil
		}
	}
	d.closeEthtool()
	return nil, fmt.Errorf("ethtool request %d got another's answer", request)
}

// answered reports whether err came in the kernel's answer. After any other
// error the answer may still come, and would be taken for that of the next
// request; so the connection is given up.
func answered(err error) bool {
	var op *netlink.OpError
	return errors.As(err, &op) && op.Sequence != 0
}

// encodeEthtool writes the header that every request of this family has as
// attribute 1.
func encodeEthtool(netdev string, flags uint32) ([]byte, error) {
	const header = 1 // ETHTOOL_A_PAUSE_HEADER, ETHTOOL_A_FEC_HEADER, ...
	ae := netlink.NewAttributeEncoder()
	ae.Nested(header, func(nae *netlink.AttributeEncoder) error {
		nae.String(unix.ETHTOOL_A_HEADER_DEV_NAME, netdev)
		if flags != 0 {
			nae.Uint32(unix.ETHTOOL_A_HEADER_FLAGS, flags)
		}
		return nil
	})
	return ae.Encode()
}

func (d *Door) closeEthtool() {
	if d.ethtool != nil {
		d.ethtool.conn.Close()
		d.ethtool = nil
	}
}

// ethtoolText returns the text of a fixture that holds what ethtool printed.
func (d *Door) ethtoolText(netdev, name string) (string, error) {
	if err := checkNetdev(netdev); err != nil {
		return "", err
	}
	text, err := d.readText(d.host.replay, "ethtool/"+netdev+"/"+name, maxText)
	return string(text), err
}

// timedOut reports whether err is the end of a deadline.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
