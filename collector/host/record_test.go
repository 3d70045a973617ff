package host

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mdlayher/genetlink"
	"golang.org/x/sys/unix"
)

// notes is a recorder that keeps the last entry of each path, and what was
// asked.
type notes struct {
	mu      sync.Mutex
	entries map[string]Entry
	asked   []string
}

func (n *notes) Asks(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, path)
}

func (n *notes) Record(path string, e Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.entries == nil {
		n.entries = map[string]Entry{}
	}
	n.entries[path] = e
}

// has compares what was recorded with lines "path kind text".
func (n *notes) has(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for path, e := range n.entries {
		kind := [...]string{"absent", "file", "unread", "link", "dir"}[e.Kind]
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s%s", path, kind, strings.TrimSpace(e.Text), strings.Join(e.Names, ","))))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// recorded opens a machine with a recorder.
func recorded(t *testing.T, files tree) (*Door, *notes) {
	t.Helper()
	root, n := t.TempDir(), &notes{}
	files.write(t, root)
	return openHost(t, Config{Sysfs: root, Recorder: n}, nil), n
}

var cards = tree{
	"class/infiniband/mlx5_0":                          "-> ../../devices/pci0/infiniband/mlx5_0",
	"class/infiniband/out":                             "-> ../../../etc",
	"devices/pci0/infiniband/mlx5_0/fw_ver":            "22.1.2\n",
	"devices/pci0/infiniband/mlx5_0/device":            "-> ../..",
	"devices/pci0/infiniband/mlx5_0/ports/1/rate":      "100 Gb/sec\n",
	"devices/pci0/infiniband/mlx5_0/ports/1/counters/": "",
}

// Files are recorded where links lead, and the links beside them.
func TestRecordFollowsLinks(t *testing.T) {
	d, n := recorded(t, cards)
	for range 2 {
		if _, err := d.Read("class/infiniband/mlx5_0/device/infiniband/mlx5_0/fw_ver"); err != nil {
			t.Fatal(err)
		}
	}
	n.has(t,
		"sys/class/infiniband/mlx5_0 link ../../devices/pci0/infiniband/mlx5_0",
		"sys/devices/pci0/infiniband/mlx5_0/device link ../..",
		"sys/devices/pci0/infiniband/mlx5_0/fw_ver file 22.1.2")
	if want := "sys/devices/pci0/infiniband/mlx5_0/fw_ver"; !slices.Equal(n.asked, []string{want, want}) {
		t.Errorf("asked %q", n.asked)
	}
}

func TestRecordWhatIsNotThere(t *testing.T) {
	d, n := recorded(t, cards)
	if _, err := d.Read("class/infiniband/mlx5_0/board_id"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := d.Read("class/infiniband/out/fw_ver"); !errors.Is(err, ErrOutside) {
		t.Error(err)
	}
	if d.Exists("devices/pci9/infiniband") {
		t.Error("pci9 exists")
	}
	n.has(t,
		"sys/class/infiniband/mlx5_0 link ../../devices/pci0/infiniband/mlx5_0",
		"sys/devices/pci0/infiniband/mlx5_0/board_id absent",
		"sys/class/infiniband/out file errno:outside_tree",
		"sys/devices/pci9 absent")
}

func TestRecordDirectories(t *testing.T) {
	d, n := recorded(t, cards)
	if _, err := d.List("class/infiniband/mlx5_0"); err != nil {
		t.Fatal(err)
	}
	dir, err := d.OpenDir("class/infiniband/mlx5_0/ports/1")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	rate := dir.File("rate")
	defer rate.Close()
	for range 2 { // the second time by the kept descriptor
		if _, err := rate.Read(d, make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
	}
	n.has(t,
		"sys/class/infiniband/mlx5_0 link ../../devices/pci0/infiniband/mlx5_0",
		"sys/devices/pci0/infiniband/mlx5_0 dir device,fw_ver,ports",
		"sys/devices/pci0/infiniband/mlx5_0/device link ../..",
		"sys/devices/pci0/infiniband/mlx5_0/fw_ver unread",
		"sys/devices/pci0/infiniband/mlx5_0/ports dir",
		"sys/devices/pci0/infiniband/mlx5_0/ports/1 dir",
		"sys/devices/pci0/infiniband/mlx5_0/ports/1/rate file 100 Gb/sec")
	if len(n.asked) != 2 {
		t.Errorf("asked %q", n.asked)
	}
}

// Instance tells a link that was made anew, which looks as it did.
func TestRecordInstance(t *testing.T) {
	d, n := recorded(t, cards)
	instances, err := d.Instances("class/infiniband")
	if err != nil {
		t.Fatal(err)
	}
	instance := instances["mlx5_0"]
	if e := n.entries["sys/class/infiniband/mlx5_0"]; instance == 0 || e.Kind != IsLink || e.Instance != instance {
		t.Errorf("recorded %+v, want instance %d", e, instance)
	}
	if e := n.entries["sys/class/infiniband/out"]; e.Kind != IsFile {
		t.Errorf("a link that leads out: recorded %+v", e)
	}
}

// Answers of netlink are recorded as the text that a tool prints, and errors as
// the name of the error.
func TestRecordNetlink(t *testing.T) {
	d, n := recorded(t, nil)
	var err error
	data := slices.Concat(attr(unix.ETHTOOL_A_PAUSE_RX, []byte{1}), attr(unix.ETHTOOL_A_PAUSE_TX, []byte{0}))
	d.ethtool = &ethtoolConn{family: genetlink.Family{ID: 21}, plain: map[uint8]bool{}, conn: &fakeGeneric{
		answer: func(m genetlink.Message) ([]genetlink.Message, error) {
			return []genetlink.Message{{Header: genetlink.Header{Command: unix.ETHTOOL_MSG_PAUSE_GET_REPLY}, Data: data}}, err
		},
	}}
	if _, err := d.Pause("eth0"); err != nil {
		t.Fatal(err)
	}
	data = []byte{1, 2, 3}
	if _, err := d.Pause("eth1"); err == nil {
		t.Error("an answer of three bytes was understood")
	}
	err = refusal(unix.EOPNOTSUPP)
	if _, err := d.Pause("eth2"); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Error(err)
	}
	n.has(t,
		"ethtool/eth0/a file Pause parameters for eth0:\nRX:\t\ton\nTX:\t\toff",
		"ethtool/eth1/a file an answer that rdmawatch could not decode",
		"ethtool/eth2/a file errno:EOPNOTSUPP")
	if _, err := parsePause(undecodable); err == nil {
		t.Error("the text of an answer that cannot be decoded is understood")
	}
}

// The devices' lines of rdma link make one file.
func TestRecordRDMALinks(t *testing.T) {
	root, n := t.TempDir(), &notes{}
	tree{"sys/": "", "netlink/rdma-link": "link b/1 state ACTIVE netdev eth1\nlink a/1 netdev eth0\nlink c/x\n"}.write(t, root)
	d := openHost(t, Config{Replay: root, Recorder: n}, nil)
	for _, device := range []string{"b", "a", "none"} {
		_, _ = d.RDMALinks(device)
	}
	if _, err := d.RDMALinks("c"); err == nil {
		t.Error("c/x is a port")
	}
	_, _ = d.RDMADevice("a") // there is no such text: the machine has no such netlink
	n.has(t, "netlink/rdma-link file link a/1 netdev eth0\nlink b/1 netdev eth1\nlink c/x")
}
