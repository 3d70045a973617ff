package host

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// fakeRDMA is a connection whose answers are given.
type fakeRDMA struct {
	answer func(netlink.Message) ([]netlink.Message, error)
	closed int
}

func (c *fakeRDMA) Execute(m netlink.Message) ([]netlink.Message, error) { return c.answer(m) }
func (c *fakeRDMA) SetReadDeadline(time.Time) error                      { return nil }
func (c *fakeRDMA) Close() error {
	c.closed++
	return nil
}

// Types of messages, from include/uapi/rdma/rdma_netlink.h: client 5 shifted by
// 10, and the command.
const (
	typeGet     = 5121
	typePortGet = 5125
)

// nodeWithTwo answers as a kernel with two devices and a management device.
func nodeWithTwo(m netlink.Message) ([]netlink.Message, error) {
	if m.Header.Flags != netlink.Request|netlink.Dump {
		return nil, refusal(unix.EINVAL)
	}
	message := func(kind netlink.HeaderType, data ...[]byte) netlink.Message {
		return netlink.Message{Header: netlink.Header{Type: kind}, Data: slices.Concat(data...)}
	}
	switch m.Header.Type {
	case typeGet:
		return []netlink.Message{
			message(typeGet, attr(1, words(0)), attr(2, []byte("mlx5_0\x00")), attr(3, words(1)), attr(67, []byte("ib\x00"))),
			message(4242, attr(1, words(9)), attr(2, []byte("mlx5_1\x00"))), // of somebody else
			message(typeGet, attr(1, words(6)), attr(2, []byte("mlx5_1\x00")), attr(3, words(2)), attr(14, []byte{1}), attr(67, []byte("roce\x00"))),
			message(typeGet, attr(1, words(7)), attr(2, []byte("smi1\x00")), attr(67, []byte("ib\x00")), attr(99, []byte{1}), attr(100, []byte("mlx5_0\x00"))),
			message(typeGet, attr(1, words(8)), attr(2, []byte("new0\x00")), attr(99, []byte{2})),
		}, nil
	case typePortGet:
		if string(m.Data) != string(attr(1, words(6))) {
			return nil, refusal(unix.EINVAL)
		}
		return []netlink.Message{
			message(typePortGet, attr(1, words(6)), attr(2, []byte("mlx5_1\x00")), attr(3, words(1)), attr(12, []byte{4}), attr(50, words(3)), attr(51, []byte("eth0\x00"))),
			message(typePortGet, attr(1, words(6)), attr(3, words(2)), attr(12, []byte{1})),
		}, nil
	}
	return nil, refusal(unix.EINVAL)
}

func TestRDMA(t *testing.T) {
	var traced []string
	d := openHost(t, Config{Sysfs: t.TempDir()}, &traced)
	d.rdma = &fakeRDMA{answer: nodeWithTwo}
	links, err := d.RDMALinks("mlx5_1")
	if err != nil || !slices.Equal(links, []RDMALink{{1, "eth0"}, {2, ""}}) {
		t.Errorf("%v, %v", links, err)
	}
	for name, want := range map[string]RDMADevice{
		"mlx5_0": {Protocol: "ib"},
		"mlx5_1": {Protocol: "roce"},
		"smi1":   {Type: "smi", Parent: "mlx5_0", Protocol: "ib"},
		"new0":   {Type: "type_2"},
	} {
		if got, err := d.RDMADevice(name); err != nil || got != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if d.Reads != 6 || len(d.Errors) != 0 || len(traced) != 5 || traced[0] != "netlink/rdma-link" {
		t.Errorf("%d reads, %v, traced %q", d.Reads, d.Errors, traced)
	}
	if _, err := d.RDMALinks("mlx5_9"); !Gone(err) || !strings.Contains(err.Error(), "mlx5_9") {
		t.Errorf("%v", err)
	}
	if got, err := d.RDMADevice("mlx5_9"); !Gone(err) || got != (RDMADevice{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := d.RDMALinks("mlx5_0"); !errors.Is(err, unix.EINVAL) { // the device went in between
		t.Errorf("%v", err)
	}
}

func TestRDMAGarbage(t *testing.T) {
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	garbage := func(m netlink.Message) ([]netlink.Message, error) {
		return []netlink.Message{{Header: netlink.Header{Type: m.Header.Type}, Data: []byte{8, 0, 1, 0, 1}}}, nil
	}
	d.rdma = &fakeRDMA{answer: garbage}
	if got, err := d.RDMADevice("mlx5_1"); err == nil || got != (RDMADevice{}) {
		t.Errorf("%+v, %v", got, err)
	}
	d.rdma = &fakeRDMA{answer: func(m netlink.Message) ([]netlink.Message, error) {
		if m.Header.Type == typeGet {
			return nodeWithTwo(m)
		}
		return garbage(m)
	}}
	if got, err := d.RDMALinks("mlx5_1"); err == nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestParseRDMALinks(t *testing.T) {
	const text = `link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 13 sm_lid 2 lmc 0 state ACTIVE physical_state LINK_UP
link mlx5_1/1 state ACTIVE physical_state LINK_UP netdev eth1 
link mlx5_1/2 state DOWN physical_state DISABLED netdev enp65s0f0np0 netdev_index 7 
    caps: <CM, IP_BASED_GIDS>
link mlx5_10/1 state ACTIVE physical_state LINK_UP netdev eth10 
link odd/1 state ACTIVE netdev
link netdev0/3 state netdev netdev netdev 
`
	for device, want := range map[string][]RDMALink{
		"mlx5_0":  {{1, ""}},
		"mlx5_1":  {{1, "eth1"}, {2, "enp65s0f0np0"}},
		"mlx5_10": {{1, "eth10"}},
		"odd":     {{1, ""}},
		"netdev0": {{3, "netdev"}},
	} {
		if got, err := parseRDMALinks(text, device); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", device, got, err)
		}
	}
	for _, device := range []string{"mlx5", "link", "", "mlx5_1/1"} {
		if got, err := parseRDMALinks(text, device); !errors.Is(err, unix.ENODEV) {
			t.Errorf("%s: %v, %v", device, got, err)
		}
	}
	for _, text := range []string{"link a/x state ACTIVE", "link a", "link a/-1 state"} {
		if got, err := parseRDMALinks(text, "a"); err == nil || errors.Is(err, unix.ENODEV) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestParseRDMADevice(t *testing.T) {
	const text = `0: rxe0: node_type ca node_guid 0000:00ff:fe00:0001 sys_image_guid 0000:00ff:fe00:0001 adaptive-moderation off 
1: mlx5_0: node_type ca fw 28.41.1000 node_guid 0200:0000:0000:0001 sys_image_guid 0200:0000:0000:0001 protocol ib 
2: smi1: node_type ca fw 28.41.1000 protocol ib type smi parent mlx5_0
3: type: node_type ca parent
`
	for device, want := range map[string]RDMADevice{
		"rxe0":   {},
		"mlx5_0": {Protocol: "ib"},
		"smi1":   {Type: "smi", Parent: "mlx5_0", Protocol: "ib"},
		"type":   {},
	} {
		if got, err := parseRDMADevice(text, device); err != nil || got != want {
			t.Errorf("%s: %+v, %v", device, got, err)
		}
	}
	for _, device := range []string{"mlx5", "", "2"} {
		if got, err := parseRDMADevice(text, device); !errors.Is(err, unix.ENODEV) {
			t.Errorf("%s: %+v, %v", device, got, err)
		}
	}
}

func TestRDMAOfAFixture(t *testing.T) {
	var traced []string
	d, root := fixture(t, nil, &traced)
	if _, err := d.RDMALinks("mlx5_0"); !errors.Is(err, ErrNoNetlink) || !strings.Contains(err.Error(), "mlx5_0") {
		t.Errorf("no text of links: %v", err)
	}
	if _, err := d.RDMADevice("mlx5_0"); !errors.Is(err, ErrNoNetlink) {
		t.Errorf("no text of devices: %v", err)
	}
	tree{"netlink/rdma-link": "link mlx5_0/1 state ACTIVE netdev eth1\n", "netlink/rdma-dev": "0: mlx5_0: node_type ca protocol roce\n"}.write(t, root)
	if got, err := d.RDMALinks("mlx5_0"); err != nil || !slices.Equal(got, []RDMALink{{1, "eth1"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := d.RDMADevice("mlx5_0"); err != nil || got.Protocol != "roce" {
		t.Errorf("%+v, %v", got, err)
	}
	tree{"netlink/rdma-link": "errno:EPERM\n"}.write(t, root)
	if _, err := d.RDMALinks("mlx5_0"); !Denied(err) || errors.Is(err, ErrNoNetlink) {
		t.Errorf("%v", err)
	}
	if d.Reads != 5 || len(traced) != 5 || d.rdma != nil {
		t.Errorf("%d reads, traced %q", d.Reads, traced)
	}
}

// This machine may have the family, and even devices, but none of this name.
func TestRDMAOfThisMachine(t *testing.T) {
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	_, links := d.RDMALinks("rdmawatch-none0")
	_, device := d.RDMADevice("rdmawatch-none0")
	for _, err := range []error{links, device} {
		if !errors.Is(err, ErrNoNetlink) && !Gone(err) {
			t.Errorf("%v", err)
		}
	}
}

func FuzzRDMATexts(f *testing.F) {
	f.Add("link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth1 \n", "mlx5_0")
	f.Add("0: smi1: node_type ca type smi parent mlx5_0\n", "smi1")
	f.Fuzz(func(t *testing.T, text, device string) {
		links, err := parseRDMALinks(text, device)
		if (err == nil) != (len(links) > 0) {
			t.Fatalf("%d links, %v", len(links), err)
		}
		for _, l := range links {
			if l.Port < 0 || strings.ContainsAny(l.Netdev, " \t\n") {
				t.Fatalf("%+v", l)
			}
		}
		if dev, err := parseRDMADevice(text, device); err != nil && dev != (RDMADevice{}) {
			t.Fatalf("%+v, %v", dev, err)
		}
		if device == "" || strings.ContainsAny(device, "/") || len(strings.Fields(device)) != 1 || strings.TrimSpace(device) != device {
			return
		}
		line := fmt.Sprintf("link %s/7 state ACTIVE netdev eth0", device)
		if links, err := parseRDMALinks(line, device); err != nil || !slices.Equal(links, []RDMALink{{7, "eth0"}}) {
			t.Fatalf("%q: %v, %v", line, links, err)
		}
	})
}
