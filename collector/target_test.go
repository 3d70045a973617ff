package collector

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// discoverIn discovers a device of a tree.
func discoverIn(t *testing.T, name string, set fileSet) *target {
	t.Helper()
	return discover(doorTo(t, tree(t, join(fileSet{"sys/devices/.keep": ""}, set))), name)
}

// shown is what tells ports apart: number, kind, interface, bond.
func shown(ports []*port) (all []string) {
	for _, p := range ports {
		all = append(all, p.number+" "+p.kind+" "+p.netdev+" "+p.bond)
	}
	return all
}

func TestDriver(t *testing.T) {
	sf := fileSet{
		"sys/class/infiniband/sf0":                                            "-> ../../devices/pci0000:00/0000:01:00.0/mlx5_core.sf.2/infiniband/sf0",
		pciRoot + "/0000:01:00.0/mlx5_core.sf.2/driver":                       "-> ../../../../bus/auxiliary/drivers/mlx5_core.sf",
		"sys/bus/auxiliary/drivers/mlx5_core.sf/.keep":                        "",
		pciRoot + "/0000:01:00.0/driver":                                      "-> ../../../bus/pci/drivers/mlx5_core",
		"sys/bus/pci/drivers/mlx5_core/.keep":                                 "",
		pciRoot + "/0000:01:00.0/mlx5_core.sf.2/infiniband/sf0/device":        "-> ../../../mlx5_core.sf.2",
		pciRoot + "/0000:01:00.0/mlx5_core.sf.2/infiniband/sf0/ports/1/state": "4: ACTIVE\n",
	}
	software := func(name, nodeType string, more fileSet) fileSet {
		return join(
			fileSet{"sys/class/infiniband/" + name: "-> ../../devices/virtual/infiniband/" + name},
			inDir("sys/devices/virtual/infiniband/"+name, join(fileSet{"node_type": nodeType + "\n", "ports/1/state": "4: ACTIVE\n"}, more)),
		)
	}
	for _, c := range []struct {
		name, device     string
		set              fileSet
		driver, function string
		kind             string // of port 1
	}{
		{"a misleading name", "mlx5_0", nic("mlx5_0", "bnxt_en", "0000:01:00.0", nil), "bnxt_re", "pf", "physical"},
		{"a driver nobody knows", "mlx5_0", nic("mlx5_0", "newdriver", "0000:01:00.0", nil), "newdriver", "pf", "physical"},
		{"no driver link", "mlx5_0", func() fileSet {
			set := nic("mlx5_0", "mlx5_core", "0000:01:00.0", nil)
			delete(set, pciRoot+"/0000:01:00.0/driver")
			return set
		}(), "", "pf", "physical"},
		{"no device link", "mlx5_0", nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{"device": "gone"}), "", "", "physical"},
		{"a device link out of the tree", "mlx5_0", nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{"device": "-> ../../../../../../../../../.."}), "", "", "physical"},
		{"an absolute device link", "mlx5_0", nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{"device": "-> /sys"}), "", "", "physical"},
		{"a device link in a circle", "mlx5_0", nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{"device": "-> device"}), "", "", "physical"},
		{"a VF", "mlx5_0", join(nic("mlx5_0", "mlx5_core", "0000:01:00.2", nil), fileSet{pciRoot + "/0000:01:00.2/physfn": "-> ../0000:01:00.0", pciRoot + "/0000:01:00.0/vendor": "0x15b3\n"}), "mlx5", "vf", "vf"},
		{"a subfunction", "sf0", sf, "mlx5", "sf", "sf"},
		{"rxe", "rxe0", software("rxe0", "1: CA", fileSet{"parent": "eth0\n"}), "rxe", "virtual", "virtual"},
		{"siw", "siw0", software("siw0", "4: RNIC", nil), "siw", "virtual", "virtual"},
		{"neither", "x0", software("x0", "1: CA", nil), "", "", "physical"},
		{"rxe of an old kernel, with a device link", "rxe0", nic("rxe0", "mlx5_core", "0000:01:00.0", fileSet{"parent": "eth0\n"}), "rxe", "virtual", "virtual"},
		{"a plane", "smi0", join(nic("smi0", "mlx5_core", "0000:01:00.0", nil), fileSet{"netlink/rdma-dev": "1: smi0: node_type ca protocol ib type smi parent mlx5_0\n"}), "mlx5", "pf", "plane"},
		{"a representor", "mlx5_0", join(
			nic("mlx5_0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/link_layer": "Ethernet\n", "ports/1/gid_attrs/ndevs/0": "rep0\n"}),
			iface("rep0", "0000:01:00.0", fileSet{"phys_port_name": "pf0vf3\n"})), "mlx5", "pf", "representor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := discoverIn(t, c.device, c.set)
			if target.driver != c.driver || target.function != c.function {
				t.Errorf("driver %q, function %q; want %q, %q", target.driver, target.function, c.driver, c.function)
			}
			if len(target.ports) != 1 || target.ports[0].kind != c.kind || target.ports[0].physical != (c.kind == "physical" || c.kind == "virtual") {
				t.Errorf("ports %s, want one of kind %q", shown(target.ports), c.kind)
			}
		})
	}
}

// What the physical port counts belongs to the PF. A part of it has counters
// of its own only.
func TestPhysicalCountersBelongToOneFunction(t *testing.T) {
	sets := fileSet{symbols: "3\n", "ports/1/counters/port_rcv_data": "5\n", oos: "7\n", "ports/1/hw_counters/rx_icrc_encapsulated": "11\n", "hw_counters/rx_icrc_encapsulated": "13\n", "ports/1/link_layer": "Ethernet\n"}
	stats := fileSet{
		"ethtool/eth0/S":    "NIC statistics:\n     rx_bytes_phy: 17\n     rx_vport_rdma_unicast_bytes: 19\n",
		"ethtool/eth0/a":    "Pause parameters for eth0:\nAutonegotiate: off\nRX: on\nTX: on\n",
		"ethtool/eth0/link": "Settings for eth0:\n\tLink detected: no (No cable)\n",
	}
	pf := join(nic("a0", "mlx5_core", "0000:01:00.0", sets), netdev0("eth0"), stats)
	sf := fileSet{}
	for name, content := range pf { // the same below the PCI function
		name = strings.Replace(name, "0000:01:00.0/infiniband", "0000:01:00.0/mlx5_core.sf.2/infiniband", 1)
		name = strings.Replace(name, "0000:01:00.0/net", "0000:01:00.0/mlx5_core.sf.2/net", 1)
		content = strings.Replace(content, "0000:01:00.0/", "0000:01:00.0/mlx5_core.sf.2/", 1)
		sf[name] = strings.Replace(content, "-> ../../../0000:01:00.0", "-> ../../../mlx5_core.sf.2", 1)
	}
	sf = join(sf, fileSet{
		"sys/class/net/eth0":                            "-> ../../devices/pci0000:00/0000:01:00.0/mlx5_core.sf.2/net/eth0",
		pciRoot + "/0000:01:00.0/mlx5_core.sf.2/driver": "-> ../../../../bus/pci/drivers/mlx5_core",
		// The PF's own interface must not be taken for the subfunction's.
		pciRoot + "/0000:01:00.0/net/pf0/device": "-> ../../../0000:01:00.0",
		"sys/class/net/pf0":                      "-> ../../devices/pci0000:00/0000:01:00.0/net/pf0",
	})
	own := values{
		`rdma_received_bytes_total{device="a0",port="1"}`:                      20,
		`rdma_out_of_sequence_packets_total{device="a0",port="1"}`:             7,
		`rdma_vport_received_bytes_total{device="a0",port="1",cast="unicast"}`: 19,
	}
	physical := []string{symbolsOf("a0"), "rdma_icrc", "rdma_port_wire", "rdma_port_pause", "rdma_port_link_down_reason", "rdma_port_counter_saturated"}
	for name, set := range map[string]fileSet{
		"pf": pf, "sf": sf, "vf": join(pf, fileSet{pciRoot + "/0000:01:00.0/physfn/vendor": ""}),
	} {
		t.Run(name, func(t *testing.T) {
			v := newRig(t, set).collect()
			v.want(t, own)
			if info := v.labels(t, "rdma_device_info"); info["function"] != name {
				t.Errorf("function %q", info["function"])
			}
			if info := v.labels(t, "rdma_port_info"); info["netdev"] != "eth0" {
				t.Errorf("netdev %q, want eth0", info["netdev"])
			}
			if name != "pf" {
				v.absent(t, physical...)
				return
			}
			for _, p := range physical {
				if len(v.like(p)) == 0 {
					t.Errorf("%s is absent", p)
				}
			}
		})
	}
}

func TestDeviceOfWhichNothingCanBeRead(t *testing.T) {
	for name, set := range map[string]fileSet{
		"a link to nothing":         {"sys/class/infiniband/a0": "-> ../../devices/gone"},
		"a link out of the tree":    {"sys/class/infiniband/a0": "-> ../../../../../../../../etc"},
		"an absolute link":          {"sys/class/infiniband/a0": "-> /etc"},
		"a link to itself":          {"sys/class/infiniband/a0": "-> a0"},
		"a plain file":              {"sys/class/infiniband/a0": "x"},
		"an empty directory":        {"sys/class/infiniband/a0/.keep": ""},
		"ports that are no numbers": {"sys/class/infiniband/a0/ports/one/state": "4: ACTIVE\n", "sys/class/infiniband/a0/ports/-1/state": "4: ACTIVE\n", "sys/class/infiniband/a0/ports/1x/state": "4: ACTIVE\n"},
		"ports is a file":           {"sys/class/infiniband/a0/ports": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newRig(t, join(set, nic("b0", "mlx5_core", "0000:02:00.0", fileSet{symbols: "3\n"}))).collect()
			v.want(t, values{"rdma_devices": 2, stalledOf("a0"): 0, symbolsOf("b0"): 3})
			v.absent(t, `rdma_port_info{device="a0"`)
			if found := v.like(`rdma_device_info{device="a0",driver=""`); len(found) != 1 {
				t.Errorf("device info %q, want one", found)
			}
		})
	}
}

func TestPortsAreSortedByNumber(t *testing.T) {
	set := fileSet{}
	for _, number := range []string{"1", "2", "3", "9", "10", "12"} {
		set["ports/"+number+"/state"] = "1: DOWN\n"
	}
	var got []string
	for _, p := range discoverIn(t, "a0", nic("a0", "mlx5_core", "0000:01:00.0", set)).ports {
		got = append(got, p.number)
	}
	if want := []string{"1", "2", "3", "9", "10", "12"}; !slices.Equal(got, want) {
		t.Errorf("ports %q, want %q", got, want)
	}
}

func TestNetdevOfAPort(t *testing.T) {
	const function = pciRoot + "/0000:01:00.0"
	two := fileSet{"ports/2/state": "4: ACTIVE\n"}
	gid := func(port, index, name string) fileSet {
		return fileSet{"ports/" + port + "/gid_attrs/ndevs/" + index: name + "\n"}
	}
	eth := func(name string, set fileSet) fileSet { return iface(name, "0000:01:00.0", set) }
	other := func(name string, set fileSet) fileSet { return iface(name, "0000:02:00.0", set) }
	link := func(text string) fileSet { return fileSet{"netlink/rdma-link": text} }
	dev := func(set ...fileSet) fileSet { return nic("a0", "mlx5_core", "0000:01:00.0", join(set...)) }
	for _, c := range []struct {
		name string
		set  fileSet
		want []string // by port
	}{
		{"RDMA netlink, before all", join(dev(two, gid("1", "0", "eth9")), other("eth9", nil), eth("eth1", nil), eth("eth2", nil),
			link("link a0/1 state ACTIVE netdev eth2\nlink a0/2 state ACTIVE netdev eth1\nlink b0/1 state ACTIVE netdev eth9\n")), []string{"eth2", "eth1"}},
		{"netlink knows none", join(dev(gid("1", "0", "eth1")), eth("eth1", nil), link("link a0/1 state ACTIVE physical_state LINK_UP\n")), []string{"eth1"}},
		{"a GID", join(dev(gid("1", "0", "eth1")), eth("eth1", nil), eth("eth2", nil)), []string{"eth1"}},
		{"a GID of the device's own interface before others", join(dev(gid("1", "0", "vlan5"), gid("1", "1", "eth1")), eth("eth1", nil), fileSet{"sys/class/net/vlan5/mtu": "1\n"}), []string{"eth1"}},
		{"a GID of another's interface if there is none", join(dev(gid("1", "0", "eth9")), other("eth9", nil)), []string{"eth9"}},
		{"a GID after an empty entry", join(dev(gid("1", "0", "errno:EINVAL"), gid("1", "1", "eth1")), eth("eth1", nil), eth("eth2", nil)), []string{"eth1"}},
		{"a GID whose interface is in another namespace", join(dev(gid("1", "0", "away")), eth("eth1", nil)), []string{"eth1"}},
		{"a late GID does not count", join(dev(gid("1", "4", "eth2")), eth("eth1", fileSet{"dev_port": "0\n"}), eth("eth2", fileSet{"dev_port": "1\n"})), []string{"eth1"}},
		{"the parent of a software device", join(
			fileSet{"sys/class/infiniband/a0": "-> ../../devices/virtual/infiniband/a0"},
			inDir("sys/devices/virtual/infiniband/a0", fileSet{"parent": "eth1\n", "ports/1/state": "4: ACTIVE\n"}), eth("eth1", nil)), []string{"eth1"}},
		{"the only interface of the function", join(dev(), eth("eth1", nil), other("eth9", nil)), []string{"eth1"}},
		{"by dev_port", join(dev(two), eth("eth1", fileSet{"dev_port": "1\n"}), eth("eth2", fileSet{"dev_port": "0\n"})), []string{"eth2", "eth1"}},
		{"one interface, two ports", join(dev(two), eth("eth1", fileSet{"dev_port": "1\n"})), []string{"", "eth1"}},
		{"two interfaces that do not say", join(dev(), eth("eth1", nil), eth("eth2", fileSet{"dev_port": "x\n"})), []string{""}},
		{"no representor", join(dev(), eth("eth1", fileSet{"phys_port_name": "p0\n"}), eth("rep0", fileSet{"phys_port_name": "pf0vf0\n"}), eth("rep1", fileSet{"phys_port_name": "c1pf0sf88\n"})), []string{"eth1"}},
		{"none", dev(), []string{""}},
		{"no PCI function", nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"device": "gone"}), []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range discoverIn(t, "a0", c.set).ports {
				got = append(got, p.netdev)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	// On IPoIB the kernel logs who reads dev_id.
	m := newRig(t, join(dev(two), eth("ib0", fileSet{"dev_port": "0\n", "dev_id": "0x0\n"}), eth("ib1", fileSet{"dev_port": "1\n", "dev_id": "0x1\n"})))
	m.collect()
	for _, what := range m.opened() {
		if strings.HasSuffix(what, "/dev_id") {
			t.Errorf("%s was read in %s", what, function)
		}
	}
}

// A GID table has up to 256 entries, each a file that may ask the firmware.
func TestFewGIDsAreRead(t *testing.T) {
	set := fileSet{}
	for i := range 256 {
		set["ports/1/gid_attrs/ndevs/"+strconv.Itoa(i)] = "errno:EINVAL\n"
	}
	m := newRig(t, nic("a0", "mlx5_core", "0000:01:00.0", set))
	m.collect().want(t, values{portActive: 1})
	read := 0
	for _, what := range m.opened() {
		if strings.Contains(what, "/gid_attrs/") {
			read++
		}
	}
	if read != firstGIDs {
		t.Errorf("%d entries of the GID table were read, want %d", read, firstGIDs)
	}
}

func TestBond(t *testing.T) {
	lag := roceBond("1", "1")
	for _, c := range []struct {
		name   string
		device string
		set    fileSet
		want   []string
	}{
		{"of the card", "bond0", lag, []string{"1 bond lag0 lag0", "1/eth0 bond_member eth0 lag0", "1/eth1 bond_member eth1 lag0"}},
		{"known by a member", "bond0", join(lag, fileSet{"netlink/rdma-link": "link bond0/1 state ACTIVE netdev eth0\n"}), []string{"1 bond lag0 lag0", "1/eth0 bond_member eth0 lag0", "1/eth1 bond_member eth1 lag0"}},
		{
			"of two devices", "bond0",
			join(lag, nic("other0", "mlx5_core", "0000:01:00.1", nil), fileSet{"netlink/rdma-link": "link bond0/1 state ACTIVE netdev eth0\n"}),
			[]string{"1 physical eth0 lag0"},
		},
		{
			"of one interface", "bond0",
			join(lag, fileSet{"netlink/rdma-link": "link bond0/1 state ACTIVE netdev eth0\n", "sys/devices/virtual/net/lag0/bonding/slaves": "eth0\n"}),
			[]string{"1 physical eth0 lag0"},
		},
		{
			"with an interface that is no RDMA NIC", "bond0",
			join(lag, fileSet{"netlink/rdma-link": "link bond0/1 state ACTIVE netdev eth0\n", pciRoot + "/0000:01:00.1/driver": "-> ../../../bus/pci/drivers/e1000e", "sys/bus/pci/drivers/e1000e/.keep": ""}),
			[]string{"1 physical eth0 lag0"},
		},
		{
			"a bridge is no bond", "bond0",
			join(lag, fileSet{"netlink/rdma-link": "link bond0/1 state ACTIVE netdev eth0\n", pciRoot + "/0000:01:00.0/net/eth0/master": "-> ../../../../virtual/net/br0", "sys/devices/virtual/net/br0/bridge/x": "", "sys/class/net/br0": "-> ../../devices/virtual/net/br0"}),
			[]string{"1 physical eth0 "},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(discoverIn(t, c.device, c.set).ports); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	v := newRig(t, join(
		nic("a0", "mlx5_core", "0000:01:00.0", fileSet{
			"fw_ver": "28.41.1000\n", "board_id": "MT_0000000838\n", "hca_type": "MT4129\n", "hw_rev": "0\n",
			"node_guid": "0200:0000:0000:0001\n", "sys_image_guid": "0200:0000:0000:0002\n", "node_desc": "host7 mlx5_0\n",
			"ports/1/link_layer": "InfiniBand\n",
		}),
		fileSet{pciRoot + "/0000:01:00.0/numa_node": "1\n"},
		iface("ib0", "0000:01:00.0", nil),
	), only("port")).collect()
	for metric, want := range map[string]map[string]string{
		"rdma_device_info": {
			"driver": "mlx5", "firmware": "28.41.1000", "board_id": "MT_0000000838", "hca_type": "MT4129", "hw_rev": "0", "node_type": "1: CA",
			"node_guid": "0200:0000:0000:0001", "sys_image_guid": "0200:0000:0000:0002", "node_desc": "host7 mlx5_0", "pci": "0000:01:00.0",
			"numa_node": "1", "function": "pf", "parent": "",
		},
		"rdma_port_info": {"link_layer": "InfiniBand", "netdev": "ib0", "phys_port_name": "", "kind": "physical", "bond": "", "role": "mlx5 MT_0000000838 InfiniBand"},
	} {
		got := v.labels(t, metric)
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %q, want %q", metric, name, got[name], value)
			}
		}
	}
}

func TestIdentityThatIsMissing(t *testing.T) {
	v := newRig(t, join(
		nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"board_id": "errno:EINVAL", "fw_ver": "errno:EIO", "hca_type": "gone", "node_type": "gone", "node_desc": "", symbols: "3\n"}),
		fileSet{pciRoot + "/0000:01:00.0/numa_node": "-1\n"},
	), only("port", "counters")).collect()
	v.want(t, values{symbolsOf("a0"): 3, portActive: 1, `rdma_collector_success{device="a0",collector="port"}`: 1})
	for name, value := range v.labels(t, "rdma_device_info") {
		if value != "" && !slices.Contains([]string{"device", "driver", "pci", "function"}, name) {
			t.Errorf("%s is %q", name, value)
		}
	}
}

// Whatever somebody wrote into the node description, it is one label.
func TestHostileText(t *testing.T) {
	desc := "he said \"hi\"\nrdma_up 1\n\\ {a=\"b\"} \xff\xfe\x00\x7f\t end"
	m := newRig(t, join(
		nic("a\xff0", "mlx5_core", "0000:01:00.0", fileSet{"node_desc": desc + "\n", "ports/1/hw_counters/bad\xffname": "3\n"}),
		iface("eth\xff", "0000:01:00.0", fileSet{"flags": "0x1\n"}),
	))
	page := scrape(t, NewExposition(m.runner, nil), "")
	if !utf8.ValidString(page) {
		t.Error("the page is no UTF-8")
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if families["rdma_up"] != nil {
		t.Error("text became a metric")
	}
	want := map[string]string{"rdma_device_info": `he said "hi" rdma_up 1 \ {a="b"} � end`, "rdma_hw_counter": `bad\xffname`, "rdma_port_info": `eth\xff`}
	label := map[string]string{"rdma_device_info": "node_desc", "rdma_hw_counter": "counter", "rdma_port_info": "netdev"}
	for name, value := range want {
		found := false
		for _, metric := range families[name].GetMetric() {
			for _, l := range metric.Label {
				found = found || l.GetName() == label[name] && strings.Join(strings.Fields(l.GetValue()), " ") == value
			}
		}
		if !found {
			t.Errorf("%s has no label %s %q: %v", name, label[name], value, families[name])
		}
	}
	m.runner.Collect(context.Background(), nil)
}

func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"host7 mlx5_0", " a\tb\n", "\xff\x00", "Ü\u2028", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := printable(text)
		if !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Errorf("%q became %q", text, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("%q has control characters: %q", text, got)
		}
		if printable(got) != got {
			t.Errorf("%q is not stable: %q", got, printable(got))
		}
	})
}
