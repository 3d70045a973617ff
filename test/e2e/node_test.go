package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a node fixture whose files a test changes while it is served.
type machine struct {
	t   *testing.T
	dir string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, dir: t.TempDir()}
	if err := os.CopyFS(m.dir, os.DirFS("../../fixtures/nodes/cx6dx-mlx5-roce-5.15")); err != nil {
		t.Fatal(err)
	}
	return m
}

// pci is where the two ports of the card are; mlx5_0 is function 0.
const pci = "sys/devices/pci0000:40/0000:40:01.1/0000:41:00."

var netdev = map[string]string{"0": "enp65s0f0np0", "1": "enp65s0f1np1"}

// write changes a file in place: rdmawatch keeps files of sysfs open.
func (m *machine) write(name, content string) {
	m.t.Helper()
	file, err := os.OpenFile(filepath.Join(m.dir, name), os.O_WRONLY, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	_, err = file.WriteString(content)
	if err := errors.Join(err, file.Truncate(int64(len(content))), file.Close()); err != nil {
		m.t.Fatal(err)
	}
}

// replace changes a text in a file.
func (m *machine) replace(name, before, after string) {
	m.t.Helper()
	content, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		m.t.Fatal(err)
	}
	if !strings.Contains(string(content), before) {
		m.t.Fatalf("%s has no %q", name, before)
	}
	m.write(name, strings.Replace(string(content), before, after, 1))
}

// unplug pulls the cable of a port, as scenario RDMAPortDown has it.
func (m *machine) unplug(function string) {
	m.link(function, "1: DOWN", "3: Disabled", "0", "-1")
}

// plug puts it in again.
func (m *machine) plug(function string) {
	m.link(function, "4: ACTIVE", "5: LinkUp", "1", "100000")
}

func (m *machine) link(function, state, phys, carrier, speed string) {
	m.t.Helper()
	port := pci + function + "/infiniband/mlx5_" + function + "/ports/1/"
	net := pci + function + "/net/" + netdev[function] + "/"
	m.write(net+"carrier", carrier+"\n")
	m.write(net+"speed", speed+"\n")
	m.write(port+"phys_state", phys+"\n")
	m.write(port+"state", state+"\n")
}

// fatal is a PCIe error of the card's function.
func (m *machine) fatal(function string) {
	m.t.Helper()
	m.replace(pci+function+"/aer_dev_fatal", "DLP 0", "DLP 1")
}
