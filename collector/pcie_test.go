package collector

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// pci is a PCI function with a link: its path below sys/devices, its vendor,
// and how its link runs and could run, "16.0 GT/s PCIe x16 of 16.0 GT/s PCIe
// x16".
type pci struct{ path, vendor, link string }

func (p pci) files(into map[string]string) {
	dir := "sys/devices/" + p.path + "/"
	into[dir+"vendor"] = p.vendor + "\n"
	if p.link == "" {
		return
	}
	current, most, _ := strings.Cut(p.link, " of ")
	for prefix, link := range map[string]string{"current_link_": current, "max_link_": most} {
		i := strings.LastIndex(link, " x")
		into[dir+prefix+"speed"] = link[:i] + "\n"
		into[dir+prefix+"width"] = link[i+2:] + "\n"
	}
}

// rdma makes an RDMA device of a PCI function, or of what is below one.
func rdma(files map[string]string, name, parent string) {
	files["sys/class/infiniband/"+name] = "-> ../../devices/" + parent + "/infiniband/" + name
	files["sys/devices/"+parent+"/infiniband/"+name+"/device"] = "-> ../../../" + path.Base(parent)
}

// netdev makes a network interface of a PCI function.
func netdev(files map[string]string, name, parent string) {
	files["sys/class/net/"+name+"/device"] = "-> ../../../devices/" + parent
}

// machine makes a tree of PCI functions, the last of which is mlx5_0.
func machine(functions ...pci) map[string]string {
	files := map[string]string{}
	for _, f := range functions {
		f.files(files)
	}
	rdma(files, "mlx5_0", functions[len(functions)-1].path)
	return files
}

func pcieOf(t *testing.T, files map[string]string, device string) (reader, *host.Door) {
	t.Helper()
	d := doorTo(t, tree(t, files))
	r := openPCIe(discover(d, device), d)
	if r != nil {
		t.Cleanup(r.close)
	}
	return r, d
}

// shortNames are those in the wanted texts, in the order in which they are
// printed.
var shortNames = []struct {
	metric *catalog.Metric
	short  string
}{
	{&catalog.PCIeSpeed, "speed"}, {&catalog.PCIeWidth, "width"},
	{&catalog.PCIeMaxSpeed, "max_speed"}, {&catalog.PCIeMaxWidth, "max_width"},
	{&catalog.PCIeExpectedSpeed, "expected_speed"}, {&catalog.PCIeExpectedWidth, "expected_width"},
	{&catalog.PCIeBandwidth, "bytes"}, {&catalog.PCIePathBandwidth, "path"},
	{&catalog.PCIeDegraded, "degraded"}, {&catalog.PCIeSlotLimited, "limited"},
}

// links prints a batch, a line for each PCI function: what is known of its
// link, to twelve digits. AER errors are left out.
func links(t *testing.T, b *batch) map[string]string {
	t.Helper()
	byFunction := map[string]map[*catalog.Metric]string{}
	places := map[string]string{}
	for _, s := range b.samples {
		function := s.Series.Label("pci")
		if byFunction[function] == nil {
			byFunction[function] = map[*catalog.Metric]string{}
		}
		if n := len(s.Series.Metric.LabelNames()); n != len(s.Series.Values) {
			t.Errorf("%s: %d labels, %d values", s.Series.Metric.Name, n, len(s.Series.Values))
		}
		switch s.Series.Metric {
		case &catalog.AERErrors:
		case &catalog.PCIeInfo:
			if places[function] != "" {
				t.Errorf("%s has two info series", function)
			}
			places[function] = strings.Join(s.Series.Values[2:], " ")
		default:
			if byFunction[function][s.Series.Metric] != "" {
				t.Errorf("%s twice for %s", s.Series.Metric.Name, function)
			}
			text := fmt.Sprintf("%.12g", s.Value)
			if hop := s.Series.Label("hop"); hop != "" {
				text += " (" + hop + ")"
			}
			byFunction[function][s.Series.Metric] = text
		}
	}
	lines := map[string]string{}
	for function, values := range byFunction {
		words := []string{places[function] + ":"}
		for _, n := range shortNames {
			if v := values[n.metric]; v != "" {
				words = append(words, n.short+" "+v)
			}
		}
		lines[function] = strings.Join(words, " ")
	}
	return lines
}

const (
	amd, intel, mellanox = "0x1022", "0x8086", "0x15b3"
	qemu, amazon         = "0x1b36", "0x1d0f"

	rootPort = "pci0000:80/0000:80:01.0"
	nicPath  = rootPort + "/0000:81:00.0"

	gen4x16 = "16.0 GT/s PCIe x16 of 16.0 GT/s PCIe x16"
	gen5x16 = "32.0 GT/s PCIe x16 of 32.0 GT/s PCIe x16"
)

// Bandwidths are computed by hand: GT/s x lanes x coding / 8 bits.
func TestPCIeLink(t *testing.T) {
	const place = "0000:81:00 0000:80:01.0 0000:80:01.0 false:"
	const hop = " (0000:80:01.0 to 0000:81:00.0)"
	root := func(link string) pci { return pci{rootPort, amd, link} }
	nic := func(link string) pci { return pci{nicPath, mellanox, link} }
	for name, c := range map[string]struct {
		functions []pci
		want      string
	}{
		"full speed and width": {
			// 16 x 16 x 128/130 / 8 = 31.5076923077 GB/s
			[]pci{root(gen4x16), nic(gen4x16)},
			place + " speed 16000000000 width 16 max_speed 16000000000 max_width 16 expected_speed 16000000000 expected_width 16" +
				" bytes 31507692307.7 path 31507692307.7" + hop + " degraded 0 limited 0",
		},
		"too narrow: x2 of x8 (corpus capture 040)": {
			// 8 x 2 x 128/130 / 8 = 1.96923076923 GB/s
			[]pci{root("8.0 GT/s PCIe x2 of 8.0 GT/s PCIe x8"), nic("8.0 GT/s PCIe x2 of 8.0 GT/s PCIe x8")},
			place + " speed 8000000000 width 2 max_speed 8000000000 max_width 8 expected_speed 8000000000 expected_width 8" +
				" bytes 1969230769.23 path 1969230769.23" + hop + " degraded 1 limited 0",
		},
		"too slow: 8 of 16 GT/s (corpus capture 038), strings of old kernels": {
			// 8 x 4 x 128/130 / 8 = 3.93846153846 GB/s
			[]pci{root("8 GT/s x4 of 16 GT/s x4"), nic("8 GT/s x4 of 16 GT/s x16")},
			place + " speed 8000000000 width 4 max_speed 16000000000 max_width 16 expected_speed 16000000000 expected_width 4" +
				" bytes 3938461538.46 path 3938461538.46" + hop + " degraded 1 limited 1",
		},
		"slot of an older generation": {
			// 8 x 16 x 128/130 / 8 = 15.7538461538 GB/s
			[]pci{root("8.0 GT/s PCIe x16 of 8.0 GT/s PCIe x16"), nic("8.0 GT/s PCIe x16 of 32.0 GT/s PCIe x16")},
			place + " speed 8000000000 width 16 max_speed 32000000000 max_width 16 expected_speed 8000000000 expected_width 16" +
				" bytes 15753846153.8 path 15753846153.8" + hop + " degraded 0 limited 1",
		},
		"slot with fewer lanes": {
			// 8 x 8 x 128/130 / 8 = 7.87692307692 GB/s
			[]pci{root("8.0 GT/s PCIe x8 of 16.0 GT/s PCIe x8"), nic("8.0 GT/s PCIe x8 of 8.0 GT/s PCIe x16")},
			place + " speed 8000000000 width 8 max_speed 8000000000 max_width 16 expected_speed 8000000000 expected_width 8" +
				" bytes 7876923076.92 path 7876923076.92" + hop + " degraded 0 limited 1",
		},
		"slot that could do more than the NIC": {
			[]pci{root("8.0 GT/s PCIe x8 of 16.0 GT/s PCIe x16"), nic("8.0 GT/s PCIe x8 of 8.0 GT/s PCIe x8")},
			place + " speed 8000000000 width 8 max_speed 8000000000 max_width 8 expected_speed 8000000000 expected_width 8" +
				" bytes 7876923076.92 path 7876923076.92" + hop + " degraded 0 limited 0",
		},
		"first generation: 8b/10b": {
			// 2.5 x 8 x 8/10 / 8 = 2 GB/s
			[]pci{root("2.5 GT/s x8 of 2.5 GT/s x8"), nic("2.5 GT/s x8 of 2.5 GT/s x8")},
			place + " speed 2500000000 width 8 max_speed 2500000000 max_width 8 expected_speed 2500000000 expected_width 8" +
				" bytes 2000000000 path 2000000000" + hop + " degraded 0 limited 0",
		},
		"second generation: 8b/10b": {
			// 5 x 8 x 8/10 / 8 = 4 GB/s
			[]pci{root("5 GT/s x8 of 5 GT/s x8"), nic("5 GT/s x8 of 5 GT/s x8")},
			place + " speed 5000000000 width 8 max_speed 5000000000 max_width 8 expected_speed 5000000000 expected_width 8" +
				" bytes 4000000000 path 4000000000" + hop + " degraded 0 limited 0",
		},
		"sixth generation: no coding": {
			// 64 x 16 / 8 = 128 GB/s
			[]pci{root("64.0 GT/s PCIe x16 of 64.0 GT/s PCIe x16"), nic("64.0 GT/s PCIe x16 of 64.0 GT/s PCIe x16")},
			place + " speed 64000000000 width 16 max_speed 64000000000 max_width 16 expected_speed 64000000000 expected_width 16" +
				" bytes 128000000000 path 128000000000" + hop + " degraded 0 limited 0",
		},
		"sixth generation unknown to the kernel: lanes are still compared": {
			[]pci{root("Unknown x8 of Unknown x16"), nic("Unknown x8 of Unknown x16")},
			place + " width 8 max_width 16 expected_width 16 degraded 1",
		},
		"as wide as can be, speed unknown: not known to be sound": {
			[]pci{root("Unknown x16 of 32.0 GT/s PCIe x16"), nic("Unknown x16 of 32.0 GT/s PCIe x16")},
			place + " width 16 max_speed 32000000000 max_width 16 expected_speed 32000000000 expected_width 16 limited 0",
		},
		"device that does not answer": {
			[]pci{root(gen5x16), nic("Unknown x63 of Unknown x255")},
			place,
		},
		"speeds of other buses, errors and nonsense": {
			[]pci{root("errno:EINVAL xerrno:EINVAL of Unknown speed x255"), nic("66 MHz PCI-X x-1 of GT/s xsixteen")},
			place,
		},
		"port above says nothing: nothing to compare with": {
			// 32 x 16 x 128/130 / 8 = 63.0153846154 GB/s
			[]pci{root("Unknown x0 of Unknown x255"), nic(gen5x16)},
			place + " speed 32000000000 width 16 max_speed 32000000000 max_width 16 bytes 63015384615.4 path 63015384615.4" + hop,
		},
		"inside the processor: no link at all": {
			[]pci{root(""), nic("")},
			place,
		},
		"inside the chipset: 2.5 GT/s x1 says nothing": {
			[]pci{{rootPort, intel, "2.5 GT/s x1 of 8 GT/s x8"}, {nicPath, intel, "2.5 GT/s x1 of 2.5 GT/s x1"}},
			place + " speed 2500000000 width 1 max_speed 2500000000 max_width 1 bytes 250000000",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, d := pcieOf(t, machine(c.functions...), "mlx5_0")
			b := &batch{}
			if err := r.read(b); err != nil {
				t.Error(err)
			}
			if got := links(t, b); len(got) != 1 || got["0000:81:00.0"] != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if d.Errors["EIO"] != 0 {
				t.Errorf("errors: %v", d.Errors)
			}
		})
	}
}

// The hop of the path that is named is the slowest one.
func TestPCIePath(t *testing.T) {
	const (
		switchUp   = "pci0000:15/0000:15:01.0/0000:16:00.0"
		switchDown = switchUp + "/0000:17:02.0"
		nic        = switchDown + "/0000:19:00.0"
	)
	const link = "0000:19:00 0000:17:02.0 0000:15:01.0 false: speed 32000000000 width 16 max_speed 32000000000 max_width 16" +
		" expected_speed 32000000000 expected_width 16 bytes 63015384615.4"
	for name, c := range map[string]struct {
		uplink, root string
		want         string
	}{
		"slow uplink of the switch": {
			// 8 x 8 x 128/130 / 8 = 7.87692307692 GB/s
			"8.0 GT/s PCIe x8 of 32.0 GT/s PCIe x16", "8.0 GT/s PCIe x8 of 8.0 GT/s PCIe x8",
			link + " path 7876923076.92 (0000:15:01.0 to 0000:16:00.0) degraded 0 limited 0",
		},
		"all alike: the one nearest to the NIC": {
			gen5x16, gen5x16,
			link + " path 63015384615.4 (0000:17:02.0 to 0000:19:00.0) degraded 0 limited 0",
		},
		"faster uplink": {
			"64.0 GT/s PCIe x16 of 64.0 GT/s PCIe x16", "64.0 GT/s PCIe x16 of 64.0 GT/s PCIe x16",
			link + " path 63015384615.4 (0000:17:02.0 to 0000:19:00.0) degraded 0 limited 0",
		},
		"unknown uplink: the slowest is not known": {
			"Unknown x0 of Unknown x0", gen5x16,
			link + " degraded 0 limited 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := pcieOf(t, machine(
				pci{"pci0000:15/0000:15:01.0", intel, c.root}, pci{switchUp, "0x1000", c.uplink},
				pci{switchDown, "0x1000", gen5x16}, pci{nic, mellanox, gen5x16},
			), "mlx5_0")
			b := &batch{}
			if err := r.read(b); err != nil {
				t.Error(err)
			}
			if got := links(t, b)["0000:19:00.0"]; got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// A port of another PCI domain, as a volume management device makes them, is
// where the path ends.
func TestPCIePathEndsAtItsDomain(t *testing.T) {
	r, _ := pcieOf(t, machine(pci{"pci0000:e0/0000:e0:05.5", intel, ""},
		pci{"pci0000:e0/0000:e0:05.5/pci10000:e0/10000:e0:02.0", intel, gen4x16},
		pci{"pci0000:e0/0000:e0:05.5/pci10000:e0/10000:e0:02.0/10000:e1:00.0", mellanox, gen4x16}), "mlx5_0")
	b := &batch{}
	if err := r.read(b); err != nil {
		t.Error(err)
	}
	const want = "10000:e1:00 10000:e0:02.0 10000:e0:02.0 false:"
	if got := links(t, b)["10000:e1:00.0"]; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q ...", got, want)
	}
}

// Where the slot is emulated, what the NIC says is shown and nothing is judged.
func TestPCIeVirtual(t *testing.T) {
	const (
		hyper = "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/VMBUS:00/00000000-0000-0000-0000-000000007870/pci7870:00/7870:00:00.0"
		newer = "LNXSYSTM:00/LNXSYBUS:00/ACPI0004:00/MSFT1000:00/00000000-0000-0000-0000-000000007870/pci7870:00/7870:00:00.0"
		own   = " speed 32000000000 width 16 max_speed 32000000000 max_width 16 bytes 63015384615.4"
		none  = "Unknown x0 of Unknown x0"
	)
	for name, c := range map[string]struct {
		functions []pci
		want      string
	}{
		"port of QEMU": {
			[]pci{{rootPort, qemu, gen5x16}, {nicPath, mellanox, gen5x16}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true:" + own,
		},
		"QEMU's root port above a switch of another maker": {
			[]pci{
				{rootPort, qemu, gen5x16}, {nicPath, "0x104c", gen5x16}, {nicPath + "/0000:82:00.0", "0x104c", gen5x16},
				{nicPath + "/0000:82:00.0/0000:83:00.0", mellanox, gen5x16},
			},
			"0000:83:00 0000:82:00.0 0000:80:01.0 true:" + own,
		},
		"port slower than the link": {
			[]pci{{rootPort, intel, "2.5 GT/s PCIe x16 of 2.5 GT/s PCIe x16"}, {nicPath, mellanox, gen5x16}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true:" + own,
		},
		"port narrower than the link": {
			[]pci{{rootPort, intel, "32.0 GT/s PCIe x1 of 32.0 GT/s PCIe x1"}, {nicPath, mellanox, gen5x16}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true:" + own,
		},
		"port that runs faster than it can": {
			[]pci{{rootPort, intel, "32.0 GT/s PCIe x16 of 2.5 GT/s PCIe x16"}, {nicPath, mellanox, "2.5 GT/s PCIe x16 of 32.0 GT/s PCIe x16"}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true: speed 2500000000 width 16 max_speed 32000000000 max_width 16 bytes 4000000000",
		},
		"port that runs wider than it can": {
			[]pci{{rootPort, intel, "32.0 GT/s PCIe x16 of 32.0 GT/s PCIe x4"}, {nicPath, mellanox, "32.0 GT/s PCIe x4 of 32.0 GT/s PCIe x16"}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true: speed 32000000000 width 4 max_speed 32000000000 max_width 16 bytes 15753846153.8",
		},
		"switch of Amazon, EFA devices are theirs as well": {
			[]pci{
				{"pci0000:44/0000:44:00.0", intel, gen5x16}, {"pci0000:44/0000:44:00.0/0000:45:00.0", amazon, "16.0 GT/s PCIe x8 of 16.0 GT/s PCIe x8"},
				{"pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:01.0", amazon, gen5x16},
				{"pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:01.0/0000:52:00.0", amazon, gen5x16},
			},
			"0000:52:00 0000:46:01.0 0000:44:00.0 true:" + own,
		},
		"NIC of a maker of emulators in a real slot": {
			[]pci{{rootPort, intel, gen5x16}, {nicPath, amazon, gen5x16}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 false: speed 32000000000 width 16 max_speed 32000000000 max_width 16" +
				" expected_speed 32000000000 expected_width 16 bytes 63015384615.4 path 63015384615.4 (0000:80:01.0 to 0000:81:00.0) degraded 0 limited 0",
		},
		"link without another end": {
			[]pci{{"pci0000:00/0000:00:05.0", mellanox, gen5x16}},
			"0000:00:05   true:" + own,
		},
		"root bus, no link files: nothing is emulated": {
			[]pci{{"pci0000:00/0000:00:05.0", amazon, ""}},
			"0000:00:05   false:",
		},
		"VF whose PF is outside": {
			[]pci{{rootPort, intel, gen5x16}, {nicPath, mellanox, "Unknown x0 of 32.0 GT/s PCIe x16"}},
			"0000:81:00 0000:80:01.0 0000:80:01.0 true: max_speed 32000000000 max_width 16",
		},
		"Hyper-V":             {[]pci{{hyper, mellanox, none}}, "7870:00:00   true:"},
		"Hyper-V, newer name": {[]pci{{newer, mellanox, ""}}, "7870:00:00   true:"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := pcieOf(t, machine(c.functions...), "mlx5_0")
			b := &batch{}
			if err := r.read(b); err != nil {
				t.Error(err)
			}
			nic := path.Base(c.functions[len(c.functions)-1].path)
			if got := links(t, b)[nic]; got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// The soft-RoCE guest of the virtual machine tests, as captured.
func TestPCIeSoftRoCE(t *testing.T) {
	const (
		gen1   = "2.5 GT/s PCIe x1 of 2.5 GT/s PCIe x1"
		first  = "pci0000:00/0000:00:01.0/0000:01:00.0"
		second = "pci0000:00/0000:00:02.0/0000:02:00.0/0000:03:00.0/0000:04:00.0"
	)
	files := map[string]string{}
	for _, f := range []pci{
		{"pci0000:00/0000:00:01.0", qemu, "2.5 GT/s PCIe x1 of 16.0 GT/s PCIe x16"},
		{first, intel, gen1},
		{"pci0000:00/0000:00:02.0", qemu, "2.5 GT/s PCIe x1 of 8.0 GT/s PCIe x8"},
		{"pci0000:00/0000:00:02.0/0000:02:00.0", "0x104c", gen1},
		{"pci0000:00/0000:00:02.0/0000:02:00.0/0000:03:00.0", "0x104c", "2.5 GT/s PCIe x1 of Unknown x0"},
		{second, intel, gen1},
	} {
		f.files(files)
	}
	for i, parent := range []string{first, second} {
		device, eth := fmt.Sprintf("rxe%d", i), fmt.Sprintf("eth%d", i)
		dir := "devices/virtual/infiniband/" + device
		files["sys/class/infiniband/"+device] = "-> ../../" + dir
		files["sys/"+dir+"/parent"] = eth + "\n"
		files["sys/"+dir+"/node_type"] = "1: CA\n"
		files["sys/"+dir+"/ports/1/link_layer"] = "Ethernet\n"
		netdev(files, eth, parent)
	}
	files["sys/devices/"+first+"/aer_dev_correctable"] = "RxErr 1\nBadTLP 0\nTOTAL_ERR_COR 1\n"
	files["sys/devices/pci0000:00/0000:00:01.0/aer_dev_correctable"] = "BadDLLP 1\nTOTAL_ERR_COR 1\n"

	for device, want := range map[string][]string{
		"rxe0": {"0000:01:00.0", "0000:01:00 0000:00:01.0 0000:00:01.0 true: speed 2500000000 width 1 max_speed 2500000000 max_width 1 bytes 250000000"},
		"rxe1": {"0000:04:00.0", "0000:04:00 0000:03:00.0 0000:00:02.0 true: speed 2500000000 width 1 max_speed 2500000000 max_width 1 bytes 250000000"},
	} {
		r, d := pcieOf(t, files, device)
		b := &batch{}
		if err := r.read(b); err != nil {
			t.Error(err)
		}
		if got := links(t, b); len(got) != 1 || got[want[0]] != want[1] {
			t.Errorf("%s: got  %q\nwant %q", device, got, want)
		}
		if target := discover(d, device); target.pciPath != "" || target.function != "virtual" {
			t.Errorf("%s is a %s on %q, want virtual on no function", device, target.function, target.pciPath)
		}
		if device == "rxe0" {
			wantErrors(t, b, "0000:01:00.0 nic correctable RxErr 1", "0000:01:00.0 nic correctable BadTLP 0", "0000:01:00.0 upstream correctable BadDLLP 1")
		}
	}
}

// Which functions a device shows: the link that several share is shown once,
// by its owner.
func TestPCIeFunctions(t *testing.T) {
	const second = rootPort + "/0000:81:00.1"
	both := func() map[string]string { return machine(pci{rootPort, amd, gen4x16}, pci{nicPath, mellanox, gen4x16}) }
	vf := func(files map[string]string) {
		rdma(files, "mlx5_1", second)
		files["sys/devices/"+second+"/physfn"] = "-> ../0000:81:00.0"
	}
	for name, c := range map[string]struct {
		device string
		change func(map[string]string)
		want   []string
	}{
		"PF": {"mlx5_0", func(map[string]string) {}, []string{"0000:81:00.0"}},
		"second function of a card": {
			"mlx5_1", func(f map[string]string) { rdma(f, "mlx5_1", second) }, []string{"0000:81:00.1"},
		},
		"VF beside its PF": {"mlx5_1", vf, nil},
		"VF whose PF is no RDMA device": {
			"mlx5_1", func(f map[string]string) {
				vf(f)
				withoutRDMA(f, "mlx5_0", nicPath)
			}, []string{"0000:81:00.0"},
		},
		"subfunction beside its PF": {
			"mlx5_4", func(f map[string]string) { rdma(f, "mlx5_4", nicPath+"/mlx5_core.sf.4") }, nil,
		},
		"subfunction whose PF is no RDMA device": {
			"mlx5_4", func(f map[string]string) {
				rdma(f, "mlx5_4", nicPath+"/mlx5_core.sf.4")
				withoutRDMA(f, "mlx5_0", nicPath)
			}, []string{"0000:81:00.0"},
		},
		"bond of two functions": {
			"mlx5_0", func(f map[string]string) {
				lagOf(f, second)
				f["sys/devices/"+second+"/vendor"] = mellanox
			}, []string{"0000:81:00.0", "0000:81:00.1"},
		},
		"soft-RoCE on an RDMA NIC": {
			"rxe0", func(f map[string]string) {
				netdev(f, "eth0", nicPath)
				f["sys/class/infiniband/rxe0/parent"] = "eth0\n"
				f["sys/class/infiniband/rxe0/ports/1/link_layer"] = "Ethernet\n"
			}, nil,
		},
		"soft-RoCE on a VLAN": {
			"rxe0", func(f map[string]string) {
				f["sys/class/net/eth0.100/mtu"] = "1500\n"
				f["sys/class/infiniband/rxe0/parent"] = "eth0.100\n"
				f["sys/class/infiniband/rxe0/ports/1/link_layer"] = "Ethernet\n"
			}, nil,
		},
		"plane of a device": {
			"mlx5_1", func(f map[string]string) {
				rdma(f, "mlx5_1", nicPath)
				f["netlink/rdma-dev"] = "1: mlx5_1: node_type ca fw 40.1.2 node_guid 0200:0000:0000:0001 sys_image_guid 0200:0000:0000:0001 type smi parent mlx5_0\n"
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := both()
			c.change(files)
			r, _ := pcieOf(t, files, c.device)
			if (r == nil) != (c.want == nil) {
				t.Fatalf("reader %v, want functions %v", r, c.want)
			}
			if r == nil {
				return
			}
			b := &batch{}
			if err := r.read(b); err != nil {
				t.Error(err)
			}
			if got := slices.Sorted(maps.Keys(links(t, b))); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			for _, s := range b.samples {
				if s.Series.Label("device") != c.device {
					t.Errorf("%s of %s", s.Series.Metric.Name, s.Series.Label("device"))
				}
			}
		})
	}
}

// lagOf makes a LAG of the functions below the root port: mlx5_0 stands for both.
func lagOf(files map[string]string, second string) {
	files["sys/class/net/bond0/bonding/slaves"] = "eth0 eth1\n"
	netdev(files, "eth0", nicPath)
	netdev(files, "eth1", second)
	port := "sys/devices/" + nicPath + "/infiniband/mlx5_0/ports/1/"
	files[port+"link_layer"] = "Ethernet\n"
	files[port+"gid_attrs/ndevs/0"] = "bond0\n"
}

// The functions of one card share the port above them: it is read, and fails,
// once, and its errors are shown for both.
func TestPCIeSharedPort(t *testing.T) {
	const second = rootPort + "/0000:81:00.1"
	files := machine(pci{rootPort, amd, gen4x16}, pci{second, mellanox, gen4x16}, pci{nicPath, mellanox, gen4x16})
	lagOf(files, second)
	files["sys/devices/"+rootPort+"/aer_dev_correctable"] = "RxErr 5\n"
	files["sys/devices/"+rootPort+"/aer_dev_fatal"] = "errno:EIO\n"
	r, d := pcieOf(t, files, "mlx5_0")
	before := d.Reads
	b := &batch{}
	if err := r.read(b); !errors.Is(err, unix.EIO) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want one EIO", err)
	}
	// Seven files each of the port and of the two functions.
	if got := d.Reads - before; got != 21 {
		t.Errorf("%d reads, want 21", got)
	}
	wantErrors(t, b, "0000:81:00.0 upstream correctable RxErr 5", "0000:81:00.1 upstream correctable RxErr 5")
}

func withoutRDMA(files map[string]string, name, parent string) {
	delete(files, "sys/class/infiniband/"+name)
	delete(files, "sys/devices/"+parent+"/infiniband/"+name+"/device")
}

// A failed read costs its own sample and what is computed from it.
func TestPCIeReadError(t *testing.T) {
	files := machine(pci{rootPort, amd, gen4x16}, pci{nicPath, mellanox, gen4x16})
	files["sys/devices/"+nicPath+"/current_link_width"] = "errno:EIO\n"
	files["sys/devices/"+nicPath+"/aer_dev_fatal"] = "errno:EIO\n"
	files["sys/devices/"+nicPath+"/aer_dev_nonfatal"] = "CmpltTO 3\n"
	r, _ := pcieOf(t, files, "mlx5_0")
	b := &batch{}
	err := r.read(b)
	if !errors.Is(err, unix.EIO) || strings.Count(err.Error(), "\n") != 1 ||
		!strings.Contains(err.Error(), "current_link_width") || !strings.Contains(err.Error(), "aer_dev_fatal") {
		t.Errorf("got error %v", err)
	}
	const want = "0000:81:00 0000:80:01.0 0000:80:01.0 false: speed 16000000000 max_speed 16000000000 max_width 16" +
		" expected_speed 16000000000 expected_width 16 limited 0"
	if got := links(t, b)["0000:81:00.0"]; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	wantErrors(t, b, "0000:81:00.0 nic nonfatal CmpltTO 3")
}

// Between two readings a link is trained anew, its port gets slower, and the
// machine begins to look emulated.
func TestPCIeReadsAgain(t *testing.T) {
	const uplink, down = nicPath, nicPath + "/0000:82:00.0"
	const nic = down + "/0000:83:00.0"
	dir := tree(t, machine(pci{rootPort, amd, gen5x16}, pci{uplink, "0x1000", gen5x16}, pci{down, "0x1000", gen5x16}, pci{nic, mellanox, gen5x16}))
	d := doorTo(t, dir)
	r := openPCIe(discover(d, "mlx5_0"), d)
	defer r.close()
	read := func(changes ...string) string {
		t.Helper()
		for i := 0; i < len(changes); i += 2 {
			if err := os.WriteFile(filepath.Join(dir, "sys/devices", changes[i]), []byte(changes[i+1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b := &batch{}
		if err := r.read(b); err != nil {
			t.Error(err)
		}
		_, values, _ := strings.Cut(links(t, b)["0000:83:00.0"], "0000:80:01.0 ")
		return values
	}
	const most = " max_speed 32000000000 max_width 16 expected_speed 32000000000 expected_width 16"
	for _, step := range []struct{ got, want string }{
		{
			read(),
			"false: speed 32000000000 width 16" + most + " bytes 63015384615.4 path 63015384615.4 (0000:82:00.0 to 0000:83:00.0) degraded 0 limited 0",
		},
		{ // 32 x 4 x 128/130 / 8 = 15.7538461538 GB/s
			read(nic+"/current_link_width", "4\n"),
			"false: speed 32000000000 width 4" + most + " bytes 15753846153.8 path 15753846153.8 (0000:82:00.0 to 0000:83:00.0) degraded 1 limited 0",
		},
		{ // 5 x 16 x 8/10 / 8 = 8 GB/s
			read(uplink+"/current_link_speed", "5.0 GT/s PCIe\n"),
			"false: speed 32000000000 width 4" + most + " bytes 15753846153.8 path 8000000000 (0000:80:01.0 to 0000:81:00.0) degraded 1 limited 0",
		},
		{
			read(down+"/max_link_width", "2\n"),
			"true: speed 32000000000 width 4 max_speed 32000000000 max_width 16 bytes 15753846153.8",
		},
		{
			read(down+"/max_link_width", "errno:EINVAL\n"),
			"true: speed 32000000000 width 4 max_speed 32000000000 max_width 16 bytes 15753846153.8",
		},
	} {
		if step.got != step.want {
			t.Errorf("got  %q\nwant %q", step.got, step.want)
		}
	}
}

// A file that is not there is left alone for a while; one that fails for the
// moment is read again.
func TestPCIeSleeps(t *testing.T) {
	files := machine(pci{rootPort, amd, gen4x16}, pci{nicPath, mellanox, gen4x16})
	files["sys/devices/"+nicPath+"/current_link_speed"] = "errno:EINVAL\n"
	files["sys/devices/"+nicPath+"/aer_dev_fatal"] = "errno:EACCES\n"
	r, d := pcieOf(t, files, "mlx5_0")
	now := time.Unix(1_800_000_000, 0)
	reads := func(after time.Duration) uint64 {
		before := d.Reads
		if err := r.read(&batch{now: now.Add(after)}); err != nil {
			t.Error(err)
		}
		return d.Reads - before
	}
	// Eight files of the link; AER: three of the NIC, three of the port.
	if got := reads(0); got != 14 {
		t.Errorf("at first %d reads, want 14", got)
	}
	if got := reads(time.Minute); got != 8 {
		t.Errorf("a minute later %d reads, want 8", got)
	}
	if got := reads(reprobeAfter); got != 14 {
		t.Errorf("after the pause %d reads, want 14", got)
	}
}

// Every descriptor is given back.
func TestPCIeCloses(t *testing.T) {
	files := machine(pci{rootPort, amd, gen4x16}, pci{nicPath, mellanox, gen4x16})
	files["sys/devices/"+nicPath+"/aer_dev_correctable"] = "RxErr 1\n"
	dir := tree(t, files)
	d := doorTo(t, dir)
	r := openPCIe(discover(d, "mlx5_0"), d)
	if err := r.read(&batch{}); err != nil {
		t.Error(err)
	}
	// Two directories, eight files of the link and one of AER.
	if got := openBelow(t, filepath.Join(dir, "sys/devices")); got != 11 {
		t.Errorf("%d descriptors kept, want 11", got)
	}
	r.close()
	if got := openBelow(t, filepath.Join(dir, "sys/devices")); got != 0 {
		t.Errorf("%d descriptors left open", got)
	}
}

// openBelow counts this process's descriptors of files below a directory.
func openBelow(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, dir) {
			n++
		}
	}
	return n
}
