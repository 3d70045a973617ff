package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of include/uapi/rdma/rdma_netlink.h, which golang.org/x/sys does not
// have.
const (
	nldev         = 5 << 10   // RDMA_NL_NLDEV as the client in a message's type
	nldevGet      = nldev + 1 // RDMA_NLDEV_CMD_GET
	nldevPortGet  = nldev + 5 // RDMA_NLDEV_CMD_PORT_GET
	attrDevIndex  = 1         // RDMA_NLDEV_ATTR_DEV_INDEX
	attrDevName   = 2         // RDMA_NLDEV_ATTR_DEV_NAME
	attrPortIndex = 3         // RDMA_NLDEV_ATTR_PORT_INDEX
	attrNdevName  = 51        // RDMA_NLDEV_ATTR_NDEV_NAME
	attrProtocol  = 67        // RDMA_NLDEV_ATTR_DEV_PROTOCOL
	attrDevType   = 99        // RDMA_NLDEV_ATTR_DEV_TYPE
	attrParent    = 100       // RDMA_NLDEV_ATTR_PARENT_NAME

	typeSMI = 1 // RDMA_DEVICE_TYPE_SMI
)

// RDMALink is a port of an RDMA device.
type RDMALink struct {
	Port   int
	Netdev string // "" if there is none, or in another network namespace
}

// RDMALinks returns the ports of a device (`rdma link`).
func (d *Door) RDMALinks(device string) (links []RDMALink, err error) {
	const at = "netlink/rdma-link"
	text := ""
	if d.Replay() {
		if text, err = d.rdmaText(at); err == nil {
			links, err = parseRDMALinks(text, device)
		}
	} else {
		d.host.trace(at)
		links, err = d.askRDMALinks(device)
	}
	lines := printRDMALinks(device, links)
	if err != nil {
		lines = linesAbout(text, device)
	}
	d.host.answeredRDMA(at, device, lines, err)
	if err != nil {
		return nil, fmt.Errorf("reading RDMA links of %s: %w", device, err)
	}
	return links, nil
}

// RDMADevice is what only netlink tells about an RDMA device.
type RDMADevice struct {
	Type     string // "smi" for a device that only manages its Parent's subnet
	Parent   string
	Protocol string // ib, roce, iw, opa or usnic, of the first port
}

// RDMADevice describes a device (`rdma dev`).
func (d *Door) RDMADevice(device string) (dev RDMADevice, err error) {
	const at = "netlink/rdma-dev"
	if d.Replay() {
		var text string
		if text, err = d.rdmaText(at); err == nil {
			dev, err = parseRDMADevice(text, device)
		}
	} else {
		d.host.trace(at)
		var found rdmaDevice
		if found, err = d.askRDMADevice(device); err == nil {
			dev = found.RDMADevice
		}
	}
	lines := ""
	if err == nil {
		lines = printRDMADevice(device, dev)
	}
	d.host.answeredRDMA(at, device, lines, err)
	if err != nil {
		return RDMADevice{}, fmt.Errorf("reading RDMA device %s: %w", device, err)
	}
	return dev, nil
}

// rdmaDevice is an RDMADevice as the kernel lists it.
type rdmaDevice struct {
	RDMADevice
	index uint32
	name  string
}

func (d *Door) askRDMADevice(device string) (rdmaDevice, error) {
	dump, err := d.dumpRDMA(nldevGet, nil)
	if err != nil {
		return rdmaDevice{}, err
	}
	for _, b := range dump {
		dev, err := decodeRDMADevice(b)
		if err != nil || dev.name == device {
			return dev, err
		}
	}
	return rdmaDevice{}, unix.ENODEV
}

func (d *Door) askRDMALinks(device string) ([]RDMALink, error) {
	dev, err := d.askRDMADevice(device)
	if err != nil {
		return nil, err
	}
	request, err := netlink.MarshalAttributes([]netlink.Attribute{
		{Type: attrDevIndex, Data: binary.NativeEndian.AppendUint32(nil, dev.index)},
	})
	if err != nil {
		return nil, err
	}
	dump, err := d.dumpRDMA(nldevPortGet, request)
	if err != nil {
		return nil, err
	}
	links := make([]RDMALink, len(dump))
	for i, b := range dump {
		if links[i], err = decodeRDMALink(b); err != nil {
			return nil, err
		}
	}
	return links, nil
}

func decodeRDMADevice(b []byte) (rdmaDevice, error) {
	var dev rdmaDevice
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrDevIndex:
			dev.index = ad.Uint32()
		case attrDevName:
			dev.name = ad.String()
		case attrProtocol:
			dev.Protocol = ad.String()
		case attrParent:
			dev.Parent = ad.String()
		case attrDevType:
			dev.Type = "smi"
			if t := ad.Uint8(); t != typeSMI {
				dev.Type = "type_" + strconv.Itoa(int(t))
			}
		}
	})
	return dev, err
}

func decodeRDMALink(b []byte) (RDMALink, error) {
	var link RDMALink
	err := attributes(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrPortIndex:
			link.Port = int(ad.Uint32())
		case attrNdevName:
			link.Netdev = ad.String()
		}
	})
	return link, err
}

// dumpRDMA asks for a list and returns the attributes of each entry.
func (d *Door) dumpRDMA(request netlink.HeaderType, data []byte) ([][]byte, error) {
	conn, err := d.dialRDMA()
	if err != nil {
		return nil, d.count(err)
	}
	var answers []netlink.Message
	if err = conn.SetReadDeadline(time.Now().Add(netlinkTimeout)); err == nil {
		answers, err = conn.Execute(netlink.Message{
			Header: netlink.Header{Type: request, Flags: netlink.Request | netlink.Dump},
			Data:   data,
		})
	}
	if d.count(err) != nil {
		if !answered(err) {
			d.closeRDMA()
		}
		return nil, err
	}
	dump := make([][]byte, 0, len(answers))
	for _, m := range answers {
		if m.Header.Type == request {
			dump = append(dump, m.Data)
		}
	}
	return dump, nil
}

// rdmaConn is what is used of a netlink.Conn.
type rdmaConn interface {
	Execute(m netlink.Message) ([]netlink.Message, error)
	SetReadDeadline(t time.Time) error
	Close() error
}

func (d *Door) dialRDMA() (rdmaConn, error) {
	if d.rdma != nil {
		return d.rdma, nil
	}
	now, outage := time.Now(), &d.host.noRDMA
	if err := outage.current(now); err != nil {
		return nil, err
	}
	conn, err := netlink.Dial(unix.NETLINK_RDMA, nil)
	if err != nil {
		return nil, outage.note(now, err)
	}
	d.rdma = conn
	return conn, nil
}

func (d *Door) closeRDMA() {
	if d.rdma != nil {
		d.rdma.Close()
		d.rdma = nil
	}
}

// rdmaText returns a text of a fixture. One that has none stands for a machine
// without this netlink family.
func (d *Door) rdmaText(name string) (string, error) {
	text, err := d.readText(d.host.replay, name, maxText)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrNoNetlink, err)
	}
	return string(text), err
}

// parseRDMALinks reads the lines of one device in the text of `rdma link`, such
// as "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth1".
func parseRDMALinks(text, device string) ([]RDMALink, error) {
	var links []RDMALink
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "link" {
			continue
		}
		name, number, _ := strings.Cut(f[1], "/")
		if name != device {
			continue
		}
		port, err := strconv.Atoi(number)
		if err != nil || port < 0 {
			return nil, fmt.Errorf("%q names no port", line)
		}
		links = append(links, RDMALink{Port: port, Netdev: wordAfter(f[2:], "netdev")})
	}
	if links == nil {
		return nil, unix.ENODEV
	}
	return links, nil
}

// parseRDMADevice reads the line of one device in the text of `rdma dev`, such
// as "1: smi1: node_type ca protocol ib type smi parent mlx5_0".
func parseRDMADevice(text, device string) (RDMADevice, error) {
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) >= 2 && f[1] == device+":" {
			return RDMADevice{
				Type:     wordAfter(f[2:], "type"),
				Parent:   wordAfter(f[2:], "parent"),
				Protocol: wordAfter(f[2:], "protocol"),
			}, nil
		}
	}
	return RDMADevice{}, unix.ENODEV
}

// wordAfter returns the word that follows a key.
func wordAfter(words []string, key string) string {
	for i, word := range words[:max(len(words)-1, 0)] {
		if word == key {
			return words[i+1]
		}
	}
	return ""
}
