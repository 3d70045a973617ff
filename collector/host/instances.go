package host

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Instances returns the entries of a sysfs directory, each with a number that
// identifies it across readings: one that was removed and made again under the
// same name gets another. It is the number of the inode, which getdents64(2)
// gives along with the name.
func (d *Door) Instances(name string) (map[string]uint64, error) {
	d.host.trace(name)
	instances, err := d.instances(name)
	if d.count(err) != nil {
		err = fmt.Errorf("listing %s: %w", name, err)
	}
	if d.host.recorder != nil {
		names := make([]string, 0, len(instances))
		for entry := range instances {
			names = append(names, entry)
		}
		d.host.listed(name, names, err)
		for entry, instance := range instances {
			d.host.sawInstance(name+"/"+entry, instance)
		}
	}
	return instances, err
}

func (d *Door) instances(name string) (map[string]uint64, error) {
	f, err := d.host.sys.Open(name)
	if err != nil {
		return nil, d.host.outside(d.host.sys, name, err)
	}
	defer f.Close()
	instances := map[string]uint64{}
	var buf [4096]byte
	for {
		n, err := unix.Getdents(int(f.Fd()), buf[:])
		if err != nil {
			return nil, d.host.fixtureRefusal(d.host.sys, name, &os.PathError{Op: "getdents", Path: name, Err: err})
		}
		if n == 0 {
			return instances, nil
		}
		addEntries(instances, buf[:n])
	}
}

// addEntries reads what getdents64 filled in: struct linux_dirent64 of
// include/linux/dirent.h, which has the inode at 0, the length at 16 and the
// name at 19.
func addEntries(to map[string]uint64, b []byte) {
	const length, text = 16, 19
	for len(b) > text {
		n := int(binary.NativeEndian.Uint16(b[length:]))
		if n <= text || n > len(b) {
			return
		}
		if name := unix.ByteSliceToString(b[text:n]); name != "." && name != ".." {
			to[name] = binary.NativeEndian.Uint64(b)
		}
		b = b[n:]
	}
}
