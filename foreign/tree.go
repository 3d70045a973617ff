package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// tree is a node fixture in a directory, which is brought from one reading to
// the next.
type tree struct {
	root    *os.Root
	written map[string]bool
}

// write makes the fixture say what a sketch says. Links stay, since a device is
// known by them; values that are no longer known go.
func (t *tree) write(s sketch, boot int) error {
	w := &writer{tree: t, s: s, files: map[string]string{
		"proc/sys/kernel/random/boot_id": fmt.Sprintf("1f0e5a1c-0000-4000-8000-%012d", boot),
	}}
	w.functions()
	for device := range s.subjects(rdmaDevice) {
		w.device(device)
	}
	w.netlink()
	w.mkdir("sys/class/infiniband")
	for name := range t.written {
		if _, still := w.files[name]; !still {
			w.note(t.root.Remove(name))
		}
	}
	t.written = map[string]bool{}
	for name, text := range w.files {
		w.mkdir(path.Dir(name))
		w.note(t.root.WriteFile(name, []byte(strings.TrimSuffix(text, "\n")+"\n"), 0o600))
		t.written[name] = true
	}
	return errors.Join(w.errs...)
}

type writer struct {
	tree  *tree
	s     sketch
	files map[string]string
	errs  []error
}

// note keeps errors, but not of names that are a file here and a directory
// there: only texts that contradict themselves have them.
func (w *writer) note(err error) {
	for _, harmless := range []error{syscall.ENOTDIR, syscall.EISDIR, syscall.EEXIST, syscall.ENAMETOOLONG, fs.ErrNotExist} {
		if err == nil || errors.Is(err, harmless) {
			return
		}
	}
	w.errs = append(w.errs, err)
}

func (w *writer) mkdir(dir string) { w.note(w.tree.root.MkdirAll(dir, 0o700)) }
func (w *writer) link(target, at string) {
	w.mkdir(path.Dir(at))
	w.note(w.tree.root.Symlink(target, at))
}

// up leads from a place in sysfs back to its top.
func up(at string) string { return strings.Repeat("../", strings.Count(at, "/")) }

// sysLink links a place in sysfs to another, both from its top.
func (w *writer) sysLink(at, target string) { w.link(up(at)+target, "sys/"+at) }

// ofSubject lists the files of a subject.
func (w *writer) ofSubject(k kind, name string) map[string]string {
	files := map[string]string{}
	for key, value := range w.s {
		if key.kind == k && key.name == name {
			files[key.file] = value
		}
	}
	return files
}

func (w *writer) functions() {
	for at := range w.s.subjects(pciFunction) {
		dir := w.functionDir(at)
		if dir == "" {
			continue
		}
		for file, value := range w.ofSubject(pciFunction, at) {
			switch {
			case file == "physfn":
				if pf := w.functionDir(value); pf != "" {
					w.sysLink(dir+"/physfn", pf)
				}
			case file == factDriver:
				w.driver(dir, value)
			case file[0] != '@' && file != "driver":
				w.files["sys/"+dir+"/"+file] = value
			}
		}
	}
}

// functionDir is the directory of a PCI function, "" if its place is unknown.
func (w *writer) functionDir(at string) string {
	if p := w.s.get(pciFunction, at, factPath); p != "" {
		return "devices/" + p
	}
	return ""
}

// driver binds what is in a directory of sysfs to a driver.
func (w *writer) driver(dir, name string) {
	if !goodName(name) {
		return
	}
	w.mkdir("sys/bus/pci/drivers/" + name)
	w.mkdir("sys/" + dir)
	w.sysLink(dir+"/driver", "bus/pci/drivers/"+name)
}

func (w *writer) device(name string) {
	files := w.ofSubject(rdmaDevice, name)
	holder := w.functionDir(files[factFunction])
	if holder == "" {
		holder = "devices/foreign/" + name
	}
	dir := holder + "/infiniband/" + name
	if files[factSoftware] != "" {
		holder, dir = "", "devices/virtual/infiniband/"+name
		if files[factSoftware] == "siw" { // the collectors know the one by its type
			w.files["sys/"+dir+"/node_type"] = "4: RNIC"
		} else { // and the other by this file
			w.files["sys/"+dir+"/parent"] = "?"
		}
	} else {
		w.link("../..", "sys/"+dir+"/device")
		if driver := files[factDriver]; driver != "" {
			w.driver(holder, driver)
		}
	}
	// Each device has a port, though texts about PCIe do not tell of it.
	ports := w.s.ports(name)
	if len(ports) == 0 {
		ports = []string{"1"}
	}
	for _, port := range ports {
		w.mkdir("sys/" + dir + "/ports/" + port)
	}
	w.sysLink("class/infiniband/"+name, dir)
	for file, value := range files {
		if strings.HasPrefix(file, factNetdev) {
			w.netdev(value, holder)
			if files[factSoftware] == "rxe" && value != "" {
				w.files["sys/"+dir+"/parent"] = value
			}
		} else if file[0] != '@' && file != "device" && file != "parent" {
			w.files["sys/"+dir+"/"+file] = value
		}
	}
}

// netdev writes the interface of a device. That of a software device has a
// place of its own.
func (w *writer) netdev(name, holder string) {
	files := w.ofSubject(netInterface, name)
	if holder == "" {
		if holder = w.functionDir(files[factFunction]); holder == "" {
			holder = "devices/foreign/" + name
		}
		if driver := files[factDriver]; driver != "" {
			w.driver(holder, driver)
		}
	}
	dir := holder + "/net/" + name
	w.link("../..", "sys/"+dir+"/device")
	w.sysLink("class/net/"+name, dir)
	var stats strings.Builder
	for _, file := range slices.Sorted(maps.Keys(files)) {
		switch value := files[file]; {
		case strings.HasPrefix(file, factStat):
			stats.WriteString("     " + strings.TrimPrefix(file, factStat) + ": " + value + "\n")
		case strings.HasPrefix(file, factText):
			w.files["ethtool/"+name+"/"+strings.TrimPrefix(file, factText)] = value
		case file[0] != '@' && file != "device":
			w.files["sys/"+dir+"/"+file] = value
		}
	}
	if stats.Len() > 0 {
		w.files["ethtool/"+name+"/S"] = statsTitle + "\n" + stats.String()
	}
}

// netlink writes what rdma link and rdma dev would say.
func (w *writer) netlink() {
	var links, devs strings.Builder
	for k, value := range w.s {
		if port, ok := strings.CutPrefix(k.file, factNetdev); ok {
			links.WriteString("link " + k.name + "/" + port + " netdev " + value + "\n")
		}
		if k.file == factRDMADev {
			devs.WriteString("0: " + k.name + ": node_type ca " + value + "\n")
		}
	}
	if links.Len() > 0 {
		w.files["netlink/rdma-link"] = links.String()
	}
	if devs.Len() > 0 {
		w.files["netlink/rdma-dev"] = devs.String()
	}
}
