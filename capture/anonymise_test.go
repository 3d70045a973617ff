package capture

import (
	"slices"
	"testing"
)

// Files and what is left of them, one after another, so that numbers follow on.
func TestAnonymise(t *testing.T) {
	const dev = "sys/devices/pci0/infiniband/mlx5_0/"
	a := newAnonymiser(false, []string{"gpu17.example.com"})
	for _, c := range []struct{ why, name, text, want string }{
		{"a GUID", dev + "node_guid", "0c42:a103:0012:3456\n", "0200:0000:0000:0001\n"},
		{"the same one", dev + "sys_image_guid", "0c42:a103:0012:3456\n", "0200:0000:0000:0001\n"},
		{"another one", dev + "node_guid", "0c42:a103:0012:3457\n", "0200:0000:0000:0002\n"},
		{"the first in capital letters and one word", dev + "x", "0x0C42A10300123456\n", "0x0200000000000001\n"},
		{"none", dev + "node_guid", "0000:0000:0000:0000\n", "0000:0000:0000:0000\n"},
		{"a MAC address", dev + "address", "0c:42:a1:12:34:56\n", "02:00:00:00:00:01\n"},
		{"the same one in other letters", dev + "x", "at 0C:42:A1:12:34:56,\n", "at 02:00:00:00:00:01,\n"},
		{"of IPoIB, 20 bytes", dev + "address", "00:00:10:29:fe:80:00:00:00:00:00:00:0c:42:a1:03:00:12:34:56\n", "02:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:02\n"},
		{"everybody's", dev + "x", "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00\n", "ff:ff:ff:ff:ff:ff 00:00:00:00:00:00\n"},
		{"a link-local GID", dev + "gid", "fe80:0000:0000:0000:0e42:a1ff:fe12:3456\n", "fe80:0000:0000:0000:0000:0000:0000:0001\n"},
		{"an IPv4 GID", dev + "gid", "0000:0000:0000:0000:0000:ffff:0a01:0203\n", "0000:0000:0000:0000:0000:ffff:c612:0001\n"},
		{"the same address", dev + "x", "peer 10.1.2.3 of 10.1.2.4\n", "peer 198.18.0.1 of 198.18.0.2\n"},
		{"IPv6", dev + "x", "2a01:4f8::17 and ::1\n", "2001:db8::2 and ::1\n"},
		{"a version is no address", dev + "fw_ver", "231.0.154.0\n", "231.0.154.0\n"},
		{"counters of four digits", "ethtool/eth0/S", "     rx_1: 1234\n     [0]: rx: 5678\n", "     rx_1: 1234\n     [0]: rx: 5678\n"},
		{"a PCI address", dev + "x", "0000:41:00.0\n", "0000:41:00.0\n"},
		{"a name of a GUID", "netlink/rdma-link", "link rocex0c42a10300123456/1 netdev enx0c42a1123456\n", "link rocex0200000000000001/1 netdev enx020000000001\n"},
		{"host and device", dev + "node_desc", "node7 mlx5_0\n", "host-1 mlx5_0\n"},
		{"host and adapter", dev + "node_desc", "node7 HCA-1\n", "host-1 HCA-1\n"},
		{"another device's name", dev + "node_desc", "gpu17 mlx5_3\n", "host-2 mlx5_3\n"},
		{"with the domain", dev + "node_desc", "GPU17.example.com mlx5_0\n", "host-2 mlx5_0\n"},
		{"what firmware says", dev + "node_desc", "MT4129 ConnectX7   Mellanox Technologies\n", "MT4129 ConnectX7   Mellanox Technologies\n"},
		{"what a driver says", dev + "node_desc", "Broadcom NetXtreme-C/E RoCE Driver HCA\n", "Broadcom NetXtreme-C/E RoCE Driver HCA\n"},
		{"what somebody wrote", dev + "node_desc", "rack 12, next to the door\n", "host-3\n"},
		{"the host's name elsewhere", dev + "x", "of gpu17, gpu170 and gpu17.example.com\n", "of host-2, gpu170 and host-2\n"},
		{"learned from a description", dev + "x", "node7\n", "host-1\n"},
		{"a word that the program reads", dev + "link_layer", "InfiniBand\n", "InfiniBand\n"},
		{"vital product data", dev + "vpd", "\x82\x0bConnectX-7\x90SN MT2301X00001", "\n"},
		{"of the fabric manager", dev + "vpd", "\x82SMDL=SW_MNG SN MT2301X00001", "SW_MNG\n"},
		{"an error", dev + "node_desc", "errno:EACCES\n", "errno:EACCES\n"},
	} {
		a.learn(c.name, c.text)
		if got := a.text(c.name, c.text); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.why, c.text, got, c.want)
		}
	}
	want := []Replaced{{kindGUID, 2, 5}, {kindGID, 2, 2}, {kindIPv4, 2, 3}, {kindMAC, 2, 4}, {kindHost, 3, 8}, {kindSerial, 2, 2}}
	if got := a.report(); !slices.Equal(got, want) {
		t.Errorf("report %v, want %v", got, want)
	}
}

func TestAnonymiseNames(t *testing.T) {
	a := newAnonymiser(false, nil)
	for _, c := range [][2]string{
		{"sys/class/infiniband/rocex0c42a10300123456/ports", "sys/class/infiniband/rocex0200000000000001/ports"},
		{"../../net/enx0c42a1123456", "../../net/enx020000000001"},
		{"sys/class/net/enp65s0f0np0", "sys/class/net/enp65s0f0np0"},
		{"sys/devices/pci0000:40/0000:40:01.1", "sys/devices/pci0000:40/0000:40:01.1"},
	} {
		if got := a.name(c[0]); got != c[1] {
			t.Errorf("%s gives %s, want %s", c[0], got, c[1])
		}
	}
}

func TestRawKeepsAll(t *testing.T) {
	a := newAnonymiser(true, []string{"gpu17"})
	for _, c := range [][2]string{{"x/node_guid", "0c42:a103:0012:3456\n"}, {"x/mlx5_0/node_desc", "gpu17 mlx5_0\n"}, {"x/vpd", "SN 1"}} {
		a.learn(c[0], c[1])
		if got := a.text(c[0], c[1]); got != c[1] {
			t.Errorf("%q gives %q", c[1], got)
		}
	}
	if len(a.report()) > 0 {
		t.Errorf("report %v", a.report())
	}
}
