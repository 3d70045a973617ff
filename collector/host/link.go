package host

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Attributes and states that golang.org/x/sys does not have yet; from
// include/uapi/linux/ethtool_netlink_generated.h and ethtool.h.
const (
	fecActive     = 4 // ETHTOOL_A_FEC_ACTIVE
	fecStats      = 5 // ETHTOOL_A_FEC_STATS
	fecCorrected  = 2 // ETHTOOL_A_FEC_STAT_CORRECTED
	fecUncorr     = 3 // ETHTOOL_A_FEC_STAT_UNCORR
	fecCorrBits   = 4 // ETHTOOL_A_FEC_STAT_CORR_BITS
	pauseStorms   = 4 // ETHTOOL_A_PAUSE_STAT_TX_PAUSE_STORM_EVENTS
	linkExtModule = 10
)

// Pause is global (IEEE 802.3x) flow control of an interface. Counts that the
// driver does not report are nil.
type Pause struct {
	RX, TX                          bool // negotiated or set
	RXFrames, TXFrames, StormEvents *uint64
}

// Pause reads the flow control settings and counts of an interface
// (`ethtool -I -a`).
func (d *Door) Pause(netdev string) (Pause, error) {
	return ask(d, netdev, "flow control", "a", unix.ETHTOOL_MSG_PAUSE_GET, unix.ETHTOOL_MSG_PAUSE_GET_REPLY, decodePause, parsePause, printPause)
}

// FEC is forward error correction of an interface's link. Of each count,
// element 0 is the total and the others are the lanes; nil is not reported.
type FEC struct {
	// Active has rs, baser, llrs or, if FEC is switched off, none. It is empty
	// when the driver does not say, as while the link is down.
	Active                                              []string
	CorrectedBlocks, UncorrectableBlocks, CorrectedBits []uint64
}

// FEC reads the error correction of an interface (`ethtool -I --show-fec`).
func (d *Door) FEC(netdev string) (FEC, error) {
	return ask(d, netdev, "error correction", "fec", unix.ETHTOOL_MSG_FEC_GET, unix.ETHTOOL_MSG_FEC_GET_REPLY, decodeFEC, parseFEC, printFEC)
}

// LinkState is whether an interface's link is up.
type LinkState struct {
	Up         bool
	DownReason string  // no_cable, bad_signal_integrity, ...; "" if not known
	DownCount  *uint64 // how often the link went down, nil if not counted
}

// LinkState reads the state of an interface's link (`ethtool -I`).
func (d *Door) LinkState(netdev string) (LinkState, error) {
	return ask(d, netdev, "link state", "link", unix.ETHTOOL_MSG_LINKSTATE_GET, unix.ETHTOOL_MSG_LINKSTATE_GET_REPLY, decodeLinkState, parseLinkState, printLinkState)
}

// ask answers from the kernel or from a fixture's text of the given name.
func ask[T any](d *Door, netdev, what, name string, request, answer uint8, decode func([]byte) (T, error), parse func(string) (T, error), print func(string, T) string) (v T, err error) {
	at, text := "ethtool/"+netdev+"/"+name, ""
	d.host.asksText(at)
	if d.Replay() {
		if text, err = d.ethtoolText(netdev, name); err == nil {
			v, err = parse(text)
		}
	} else {
		d.host.trace(at)
		var b []byte
		if b, err = d.askEthtool(netdev, request, answer); err == nil {
			text = undecodable
			v, err = decode(b)
		}
	}
	d.host.answeredText(at, text, err, func() string { return print(netdev, v) })
	if err != nil {
		var none T
		return none, fmt.Errorf("reading %s of %s: %w", what, netdev, err)
	}
	return v, nil
}

func decodePause(b []byte) (Pause, error) {
	var p Pause
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.ETHTOOL_A_PAUSE_RX:
			p.RX = ad.Uint8() != 0
		case unix.ETHTOOL_A_PAUSE_TX:
			p.TX = ad.Uint8() != 0
		case unix.ETHTOOL_A_PAUSE_STATS:
			nested(ad, func(ad *netlink.AttributeDecoder) {
				switch ad.Type() {
				case unix.ETHTOOL_A_PAUSE_STAT_RX_FRAMES:
					p.RXFrames = reported(ad.Uint64())
				case unix.ETHTOOL_A_PAUSE_STAT_TX_FRAMES:
					p.TXFrames = reported(ad.Uint64())
				case pauseStorms:
					p.StormEvents = reported(ad.Uint64())
				}
			})
		}
	})
	return p, err
}

func decodeFEC(b []byte) (FEC, error) {
	var f FEC
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case fecActive:
			if bit := ad.Uint32(); bit != 0 {
				f.Active = []string{fecName(bit)}
			}
		case fecStats:
			nested(ad, func(ad *netlink.AttributeDecoder) {
				switch ad.Type() {
				case fecCorrected:
					f.CorrectedBlocks = packed(ad)
				case fecUncorr:
					f.UncorrectableBlocks = packed(ad)
				case fecCorrBits:
					f.CorrectedBits = packed(ad)
				}
			})
		}
	})
	return f, err
}

// fecName names a mode of error correction by its link mode bit.
func fecName(bit uint32) string {
	switch bit {
	case unix.ETHTOOL_LINK_MODE_FEC_NONE_BIT:
		return "none"
	case unix.ETHTOOL_LINK_MODE_FEC_RS_BIT:
		return "rs"
	case unix.ETHTOOL_LINK_MODE_FEC_BASER_BIT:
		return "baser"
	case unix.ETHTOOL_LINK_MODE_FEC_LLRS_BIT:
		return "llrs"
	}
	return "bit" + strconv.FormatUint(uint64(bit), 10)
}

func decodeLinkState(b []byte) (LinkState, error) {
	var l LinkState
	known := false
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.ETHTOOL_A_LINKSTATE_LINK:
			l.Up, known = ad.Uint8() != 0, true
		case unix.ETHTOOL_A_LINKSTATE_EXT_STATE:
			l.DownReason = downReason(ad.Uint8())
		case unix.ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT:
			count := uint64(ad.Uint32())
			l.DownCount = &count
		}
	})
	if err == nil && !known {
		err = unix.EOPNOTSUPP // the driver does not say
	}
	return l, err
}

// downReasons are the kernel's enum ethtool_link_ext_state, each with the words
// that ethtool prints for it (netlink/settings.c).
var downReasons = [...]struct{ name, printed string }{
	unix.ETHTOOL_LINK_EXT_STATE_AUTONEG:               {"autoneg", "Autoneg"},
	unix.ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE: {"link_training_failure", "Link training failure"},
	unix.ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH: {"link_logical_mismatch", "Logical mismatch"},
	unix.ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY:  {"bad_signal_integrity", "Bad signal integrity"},
	unix.ETHTOOL_LINK_EXT_STATE_NO_CABLE:              {"no_cable", "No cable"},
	unix.ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE:           {"cable_issue", "Cable issue"},
	unix.ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE:          {"eeprom_issue", "EEPROM issue"},
	unix.ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE:   {"calibration_failure", "Calibration failure"},
	unix.ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED: {"power_budget_exceeded", "Power budget exceeded"},
	unix.ETHTOOL_LINK_EXT_STATE_OVERHEAT:              {"overheat", "Overheat"},
	linkExtModule:                                     {"module", "Module"},
}

func downReason(state uint8) string {
	if int(state) < len(downReasons) {
		return downReasons[state].name
	}
	return "state_" + strconv.Itoa(int(state))
}

// attributes calls each for every attribute in b.
func attributes(b []byte, each func(*netlink.AttributeDecoder)) error {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return err
	}
	for ad.Next() {
		each(ad)
	}
	return ad.Err()
}

// nested calls each for every attribute inside the present one.
func nested(ad *netlink.AttributeDecoder, each func(*netlink.AttributeDecoder)) {
	ad.Nested(func(inner *netlink.AttributeDecoder) error {
		for inner.Next() {
			each(inner)
		}
		return inner.Err()
	})
}

// notReported is the kernel's ETHTOOL_STAT_NOT_SET.
const notReported = ^uint64(0)

func reported(v uint64) *uint64 {
	if v == notReported {
		return nil
	}
	return &v
}

// packed takes an array of 64-bit numbers apart. It ends where a number is not
// reported.
func packed(ad *netlink.AttributeDecoder) []uint64 {
	var values []uint64
	ad.Do(func(b []byte) error {
		if len(b)%8 != 0 {
			return fmt.Errorf("attribute %d is no array of 64-bit numbers: %d bytes", ad.Type(), len(b))
		}
		for ; len(b) > 0; b = b[8:] {
			v := binary.NativeEndian.Uint64(b)
			if v == notReported {
				break
			}
			values = append(values, v)
		}
		return nil
	})
	return values
}
