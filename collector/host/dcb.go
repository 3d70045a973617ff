package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of include/uapi/linux/dcbnl.h and rtnetlink.h, which golang.org/x/sys
// does not have.
const (
	rtmGetDCB     = 78 // RTM_GETDCB
	dcbIEEEGet    = 21 // DCB_CMD_IEEE_GET
	dcbIfname     = 1  // DCB_ATTR_IFNAME
	dcbIEEE       = 13 // DCB_ATTR_IEEE
	dcbETS        = 1  // DCB_ATTR_IEEE_ETS
	dcbPFC        = 2  // DCB_ATTR_IEEE_PFC
	dcbAppTable   = 3  // DCB_ATTR_IEEE_APP_TABLE
	dcbBuffer     = 10 // DCB_ATTR_DCB_BUFFER
	dcbApp        = 1  // DCB_ATTR_IEEE_APP
	dcbHeader     = 4  // sizeof(struct dcbmsg): family, command, padding
	selectorDSCP  = 5  // IEEE_8021QAZ_APP_SEL_DSCP
	priorities8   = 8  // IEEE_8021QAZ_MAX_TCS; of priorities there are as many
	largestDSCP   = 63
	bufferStruct  = 44 // sizeof(struct dcbnl_buffer)
	etsStructUsed = 35 // of struct ieee_ets, up to prio_tc
)

// tsaNames are the ways in which a traffic class is served, as dcb prints them.
var tsaNames = map[uint8]string{0: "strict", 1: "cbs", 2: "ets", 255: "vendor"}

// DCB is how an interface treats the eight priorities of Ethernet: what the
// driver has in force, set by hand or learned by DCBX. What a driver does not
// report is nil.
type DCB struct {
	PFC     *[priorities8]bool // which priorities are paused instead of dropped
	ETS     *ETS
	Buffers *Buffers
	DSCP    []DSCPPriority // sorted; none says that the table is empty
}

// ETS is which traffic class a priority belongs to, and how classes share the
// link.
type ETS struct {
	Class     [priorities8]uint8 // by priority
	Percent   [priorities8]uint8 // of the link, by class
	Algorithm [priorities8]string
}

// Buffers are the receive buffers of the port, in bytes, and which priority
// uses which.
type Buffers struct {
	Buffer [priorities8]uint8
	Bytes  [priorities8]uint32
}

// DSCPPriority is which priority packets with a DSCP have.
type DSCPPriority struct{ DSCP, Priority uint8 }

// DCB reads the priorities' settings of an interface by rtnetlink. A fixture has
// what `dcb -N ets show dev IF`, and the same with pfc, buffer and app, print.
func (d *Door) DCB(netdev string) (v DCB, err error) {
	at, text := "dcb/"+netdev+"/show", ""
	d.host.asksText(at)
	if d.Replay() {
		if text, err = d.dcbText(netdev, at); err == nil {
			v, err = parseDCB(text)
		}
	} else {
		d.host.trace(at)
		var b []byte
		if b, err = d.askDCB(netdev); err == nil {
			text = undecodable
			v, err = decodeDCB(b)
		}
	}
	d.host.answeredText(at, text, err, func() string { return printDCB(v) })
	if err != nil {
		return DCB{}, fmt.Errorf("reading DCB settings of %s: %w", netdev, err)
	}
	return v, nil
}

func (d *Door) dcbText(netdev, at string) (string, error) {
	if err := checkNetdev(netdev); err != nil {
		return "", err
	}
	text, err := d.readText(d.host.replay, at, maxText)
	return string(text), err
}

// askDCB returns the attributes of the answer.
func (d *Door) askDCB(netdev string) ([]byte, error) {
	if err := checkNetdev(netdev); err != nil {
		return nil, err
	}
	conn, err := d.dialRoute()
	if err != nil {
		return nil, d.count(err)
	}
	request, err := netlink.MarshalAttributes([]netlink.Attribute{{Type: dcbIfname, Data: append([]byte(netdev), 0)}})
	if err != nil {
		return nil, err
	}
	var answers []netlink.Message
	if err = conn.SetReadDeadline(time.Now().Add(netlinkTimeout)); err == nil {
		answers, err = conn.Execute(netlink.Message{
			Header: netlink.Header{Type: rtmGetDCB, Flags: netlink.Request},
			Data:   append([]byte{unix.AF_UNSPEC, dcbIEEEGet, 0, 0}, request...),
		})
	}
	if d.count(err) != nil {
		if !answered(err) {
			d.closeRoute()
		}
		return nil, err
	}
	for _, m := range answers {
		if m.Header.Type == rtmGetDCB && len(m.Data) >= dcbHeader && m.Data[1] == dcbIEEEGet {
			return m.Data[dcbHeader:], nil
		}
	}
	d.closeRoute()
	return nil, errors.New("the DCB request got another's answer")
}

func (d *Door) dialRoute() (rdmaConn, error) {
	if d.route != nil {
		return d.route, nil
	}
	now, outage := time.Now(), &d.host.noRoute
	if err := outage.current(now); err != nil {
		return nil, err
	}
	conn, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return nil, outage.note(now, err)
	}
	d.route = conn
	return conn, nil
}

func (d *Door) closeRoute() {
	if d.route != nil {
		d.route.Close()
		d.route = nil
	}
}

func decodeDCB(b []byte) (DCB, error) {
	var v DCB
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		if ad.Type() != dcbIEEE {
			return
		}
		nested(ad, func(ad *netlink.AttributeDecoder) {
			switch ad.Type() {
			case dcbETS:
				ad.Do(func(b []byte) (err error) { v.ETS, err = decodeETS(b); return err })
			case dcbPFC:
				ad.Do(func(b []byte) (err error) { v.PFC, err = decodePFC(b); return err })
			case dcbBuffer:
				ad.Do(func(b []byte) (err error) { v.Buffers, err = decodeBuffers(b); return err })
			case dcbAppTable:
				nested(ad, func(ad *netlink.AttributeDecoder) {
					if ad.Type() == dcbApp {
						ad.Do(v.addApp)
					}
				})
			}
		})
	})
	if err == nil && v.PFC == nil && v.ETS == nil && v.Buffers == nil {
		err = unix.EOPNOTSUPP // the table of applications is the kernel's, and always there
	}
	v.sort()
	return v, err
}

// decodeETS reads struct ieee_ets: willing, ets_cap, cbs, then arrays of eight:
// tc_tx_bw, tc_rx_bw, tc_tsa, prio_tc.
func decodeETS(b []byte) (*ETS, error) {
	if len(b) < etsStructUsed {
		return nil, fmt.Errorf("ETS of %d bytes", len(b))
	}
	e := &ETS{Percent: [priorities8]uint8(b[3:11]), Class: [priorities8]uint8(b[27:35])}
	for i, algorithm := range b[19:27] {
		if e.Algorithm[i] = tsaNames[algorithm]; e.Algorithm[i] == "" {
			e.Algorithm[i] = unknownTSA
		}
	}
	return e, nil
}

// unknownTSA is what dcb prints for an algorithm it does not know.
const unknownTSA = "???"

// decodePFC reads the start of struct ieee_pfc: pfc_cap, and pfc_en, which has a
// bit for each priority.
func decodePFC(b []byte) (*[priorities8]bool, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("PFC of %d bytes", len(b))
	}
	var on [priorities8]bool
	for i := range on {
		on[i] = b[1]&(1<<i) != 0
	}
	return &on, nil
}

// decodeBuffers reads struct dcbnl_buffer: prio2buffer, buffer_size, total_size.
func decodeBuffers(b []byte) (*Buffers, error) {
	if len(b) < bufferStruct {
		return nil, fmt.Errorf("buffers of %d bytes", len(b))
	}
	v := &Buffers{Buffer: [priorities8]uint8(b[:8])}
	for i := range v.Bytes {
		v.Bytes[i] = binary.NativeEndian.Uint32(b[8+4*i:])
	}
	return v, nil
}

// addApp reads struct dcb_app: selector, priority, protocol.
func (v *DCB) addApp(b []byte) error {
	if len(b) < 4 {
		return fmt.Errorf("application priority of %d bytes", len(b))
	}
	if dscp := binary.NativeEndian.Uint16(b[2:]); b[0] == selectorDSCP && dscp <= largestDSCP && b[1] < priorities8 {
		v.DSCP = append(v.DSCP, DSCPPriority{uint8(dscp), b[1]})
	}
	return nil
}

func (v *DCB) sort() {
	slices.SortFunc(v.DSCP, func(a, b DSCPPriority) int {
		return (int(a.DSCP)-int(b.DSCP))*priorities8 + int(a.Priority) - int(b.Priority)
	})
	v.DSCP = slices.Compact(v.DSCP)
}
