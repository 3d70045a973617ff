package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// tree stands for /sys: mlx5 devices of one port, with the files that such a
// device has.
type tree struct {
	root    string
	files   int // those that node_exporter's infiniband collector reads
	backing string
	mounts  []string
}

// The files of drivers/infiniband/core/sysfs.c and of
// drivers/infiniband/hw/mlx5/counters.c.
var (
	portFiles    = []string{"state", "phys_state", "rate"}
	counterFiles = []string{
		"VL15_dropped", "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery",
		"local_link_integrity_errors", "multicast_rcv_packets", "multicast_xmit_packets",
		"port_rcv_constraint_errors", "port_rcv_data", "port_rcv_errors", "port_rcv_packets",
		"port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors", "port_xmit_constraint_errors",
		"port_xmit_data", "port_xmit_discards", "port_xmit_packets", "port_xmit_wait", "symbol_error",
		"unicast_rcv_packets", "unicast_xmit_packets",
	}
	hwFiles = []string{
		"duplicate_request", "implied_nak_seq_err", "lifespan", "local_ack_timeout_err", "np_cnp_sent",
		"np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err",
		"req_cqe_error", "req_cqe_flush_error", "req_remote_access_errors", "req_remote_invalid_request",
		"resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors",
		"rnr_nak_retry_err", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart",
		"roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_handled", "rp_cnp_ignored",
		"rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated", "rx_read_requests", "rx_write_requests",
	}
)

// newTree makes a tree of devices, pfs of which are physical functions and the
// others VFs of these in turn. Where this program may mount, each counter is a
// real sysfs file, since reading one costs more than a file on a disk.
func newTree(root string, devices, pfs int) (*tree, error) {
	t := &tree{root: root, backing: "a temporary directory (as root they would be of sysfs)"}
	for _, dir := range []string{"class/infiniband", "class/net", "bus/pci/drivers/mlx5_core"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	for i := range devices {
		if err := t.addDevice(i, i%pfs, i/pfs); err != nil {
			return nil, err
		}
	}
	if os.Geteuid() == 0 {
		return t, t.mountCounters()
	}
	return t, nil
}

// addDevice adds a device: function 0 of a slot, or a VF of it.
func (t *tree) addDevice(number, slot, function int) error {
	name := "mlx5_" + strconv.Itoa(number)
	bridge := fmt.Sprintf("devices/pci%04x:00/%04x:00:00.0", slot, slot)
	pf := fmt.Sprintf("%04x:01:00.0", slot)
	address := fmt.Sprintf("%04x:01:%02x.%x", slot, function/8, function%8)
	at := filepath.Join(bridge, address)
	device, netdev := filepath.Join(at, "infiniband", name), fmt.Sprintf("ib%d", number)
	links := map[string]string{
		filepath.Join(at, "driver"):                "../../../../bus/pci/drivers/mlx5_core",
		filepath.Join(device, "device"):            "../..",
		filepath.Join("class/infiniband", name):    filepath.Join("../..", device),
		filepath.Join(at, "net", netdev, "device"): "../..",
		filepath.Join("class/net", netdev):         filepath.Join("../..", at, "net", netdev),
	}
	if function > 0 {
		links[filepath.Join(at, "physfn")] = filepath.Join("..", pf)
	}
	texts := map[string]string{
		"vendor": "0x15b3", "device": "0x1021", "class": "0x020700", "numa_node": "0",
		"current_link_speed": "32.0 GT/s PCIe", "max_link_speed": "32.0 GT/s PCIe", "current_link_width": "16", "max_link_width": "16",
	}
	files := map[string]string{}
	for file, text := range texts {
		files[filepath.Join(at, file)] = text
		files[filepath.Join(bridge, file)] = text
	}
	for file, text := range map[string]string{
		"node_type": "1: CA", "fw_ver": "28.41.1000", "board_id": "MT_0000000838", "hca_type": "MT4129", "hw_rev": "0",
		"node_guid": fmt.Sprintf("0200:0000:0000:%04x", number+1), "sys_image_guid": fmt.Sprintf("0200:0000:0000:%04x", slot+1),
		"ports/1/state": "4: ACTIVE", "ports/1/phys_state": "5: LinkUp", "ports/1/rate": "400 Gb/sec (4X NDR)",
		"ports/1/link_layer": "InfiniBand", "ports/1/lid": "0x1", "ports/1/sm_lid": "0x2",
	} {
		files[filepath.Join(device, file)] = text
	}
	for file, text := range map[string]string{"flags": "0x1003", "mtu": "2044", "speed": "400000", "carrier": "1", "carrier_changes": "2", "type": "32"} {
		files[filepath.Join(at, "net", netdev, file)] = text
	}
	for _, file := range counterFiles {
		files[filepath.Join(device, "ports/1/counters", file)] = strconv.Itoa(1000003 * (number + 1))
	}
	for _, file := range hwFiles {
		files[filepath.Join(device, "ports/1/hw_counters", file)] = strconv.Itoa(7919 * (number + 1))
	}
	t.files += len(portFiles) + len(counterFiles) + len(hwFiles)
	return t.write(files, links)
}

func (t *tree) write(files, links map[string]string) error {
	for name, text := range files {
		name = filepath.Join(t.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	for name, target := range links {
		name = filepath.Join(t.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, name); err != nil {
			return err
		}
	}
	return nil
}

// counters lists the counter files.
func (t *tree) counters() ([]string, error) {
	var all []string
	for _, dir := range []string{"counters", "hw_counters"} {
		found, err := filepath.Glob(filepath.Join(t.root, "class/infiniband/*/ports/1", dir, "*"))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return all, nil
}

// mountCounters lays a real sysfs file, a statistic of one of this machine's
// network interfaces, over each counter.
func (t *tree) mountCounters() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	sources, err := filepath.Glob("/sys/class/net/*/statistics/*")
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return errors.New("no statistics of network interfaces in /sys")
	}
	counters, err := t.counters()
	if err != nil {
		return err
	}
	for i, counter := range counters {
		source := sources[i%len(sources)]
		if err := syscall.Mount(source, counter, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s over a counter: %w", source, err)
		}
		t.mounts = append(t.mounts, counter)
	}
	t.backing = "sysfs"
	return nil
}

// close takes the mounts away, so that the tree can be removed.
func (t *tree) close() {
	for _, counter := range t.mounts {
		_ = syscall.Unmount(counter, 0) // else the end of the namespace does it
	}
}
