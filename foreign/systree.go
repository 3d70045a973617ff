package foreign

import (
	"fmt"
	"path"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// listSys writes what a copy of sysfs holds as the lines that grep prints, so
// that there is one way to read it. The door to the machine does the reading:
// it stays inside the tree, and bounds what it reads.
func listSys(sys string) ([]byte, error) {
	h, err := host.New(host.Config{Sysfs: sys, Procfs: sys})
	if err != nil {
		return nil, err
	}
	defer h.Close()
	l := &lister{door: h.Door(), left: 100_000, done: map[string]bool{}}
	defer l.door.Close()
	for _, class := range []string{"class/infiniband", "class/net"} {
		names, err := l.door.List(class)
		if err != nil {
			continue
		}
		for _, name := range names {
			l.device(path.Join(class, name))
		}
	}
	return []byte(l.text.String()), nil
}

type lister struct {
	door *host.Door
	text strings.Builder
	left int // files
	done map[string]bool
}

// device lists a device or an interface, and the functions that it is on.
func (l *lister) device(name string) {
	at, err := l.door.Resolve(name)
	if err != nil {
		return
	}
	l.tree(at, 5)
	for p := path.Dir(at); p != "."; p = path.Dir(p) {
		if bdf.MatchString(path.Base(p)) {
			l.function(p)
		}
	}
}

// tree lists the files of a directory and of those below it.
func (l *lister) tree(dir string, depth int) {
	names, err := l.door.List(dir)
	if err != nil || depth == 0 || l.done[dir] {
		return
	}
	l.done[dir] = true
	for _, name := range names {
		p := path.Join(dir, name)
		switch name {
		case "gids", "gid_attrs", "pkeys", "power", "subsystem", "device", "queues", "uevent":
			if name == "gid_attrs" {
				l.file(path.Join(p, "ndevs/0"))
			}
			continue
		}
		if _, err := l.door.List(p); err == nil {
			l.tree(p, depth-1)
		} else {
			l.file(p)
		}
	}
}

// function lists what is read of a PCI function.
func (l *lister) function(p string) {
	if l.done[p] {
		return
	}
	l.done[p] = true
	for _, name := range append([]string{"vendor", "device", "class", "numa_node", "aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"}, linkFiles...) {
		l.file(path.Join(p, name))
	}
	if driver, err := l.door.Resolve(path.Join(p, "driver")); err == nil {
		fmt.Fprintf(&l.text, "/sys/%s/uevent:DRIVER=%s\n", p, path.Base(driver))
	}
	if pf, err := l.door.Resolve(path.Join(p, "physfn")); err == nil && bdf.MatchString(path.Base(pf)) {
		fmt.Fprintf(&l.text, "/sys/%s/physfn:%s\n", p, path.Base(pf))
		l.function(pf)
	}
}

func (l *lister) file(p string) {
	if l.left--; l.left < 0 {
		return
	}
	text, err := l.door.Read(p)
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) != "" {
			fmt.Fprintf(&l.text, "/sys/%s:%s\n", p, line)
		}
	}
}
