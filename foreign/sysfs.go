package foreign

import (
	"errors"
	"regexp"
	"strings"
)

// Files of sysfs with their values: "path:value", as `grep -r . DIR` prints
// them, with an absolute path or one relative to where it was run; also
// "==> path <==" and the value below it, as `head` does.

func takeSysfs(lines []string, _ *hint) int {
	if _, ok := headTitle(lines[0]); ok {
		return takeHead(lines)
	}
	seen := map[string]bool{}
	return run(lines, func(line string) bool {
		path, _, ok := pathValue(line)
		again := seen[path] && strings.Contains(path, "counters/") // the listing begins anew
		seen[path] = true
		return ok && !again
	})
}

func headTitle(line string) (path string, ok bool) {
	if path, ok = strings.CutPrefix(line, "==> "); ok {
		path, ok = strings.CutSuffix(strings.TrimSpace(path), " <==")
	}
	return path, ok && strings.Contains(path, "/sys/")
}

func takeHead(lines []string) int {
	n := 0
	for n < len(lines) {
		if _, ok := headTitle(lines[n]); !ok {
			break
		}
		for n++; n < len(lines) && !strings.HasPrefix(lines[n], "==> ") && strings.TrimSpace(lines[n]) != ""; n++ {
		}
		for n < len(lines) && strings.TrimSpace(lines[n]) == "" {
			n++
		}
	}
	return n
}

func parseSysfs(s *section, to *facts) error {
	at := ""
	for _, line := range s.lines {
		if title, ok := headTitle(line); ok {
			at = title
			continue
		}
		path, value, ok := pathValue(line)
		if at != "" {
			path, value, ok = at, line, true
		}
		if ok && strings.TrimSpace(value) != "" {
			place(to, s, path, value)
		}
	}
	if len(to.sketch) == 0 {
		return errors.New("has no file of an RDMA device, an interface or a PCI function")
	}
	return nil
}

// `cat FILE...` with a value a line for each file of its command.

func takeCat(lines []string, around *hint) int {
	paths := catPaths(around)
	if len(paths) == 0 || !around.fresh {
		return 0
	}
	n := run(lines, func(line string) bool { return len(line) < maxValue && !strings.Contains(line, ": No such file") })
	if n != len(paths) {
		return 0
	}
	return n
}

func catPaths(around *hint) []string {
	if !around.runs("cat") {
		return nil
	}
	for _, p := range around.command[1:] {
		if !strings.HasPrefix(p, "/sys/") || strings.ContainsAny(p, "*?[{$`") {
			return nil
		}
	}
	return around.command[1:]
}

func parseCat(s *section, to *facts) error {
	for i, path := range catPaths(&s.hint) {
		place(to, s, path, s.lines[i])
	}
	if len(to.sketch) == 0 {
		return errors.New("shows no file of an RDMA device, an interface or a PCI function")
	}
	return nil
}

// bdf is the address of a PCI function.
var bdf = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// addressParts are names of directories that hold a colon.
var addressParts = regexp.MustCompile(`^(?:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7](?::pcie\d+)?|pci[0-9a-f]{4,8}:[0-9a-f]{2})(?:/|$)`)

// pathValue splits at the colon that ends the path. Names of files may hold
// blanks and commas, those of some directories hold colons, and values hold
// anything.
func pathValue(line string) (path, value string, ok bool) {
	rest := line
	for {
		if m := addressParts.FindString(rest); m != "" {
			rest = rest[len(m):]
			continue
		}
		i := strings.IndexAny(rest, "/:")
		if i < 0 {
			return "", "", false
		}
		if rest[i] == '/' {
			rest = rest[i+1:]
			continue
		}
		path, value = line[:len(line)-len(rest)+i], rest[i+1:]
		// A path without a value is a heading of ls.
		return path, value, value != "" && sysfsPath(path)
	}
}

// sysfsPath tells paths of sysfs from all else that has a slash and a colon.
func sysfsPath(path string) bool {
	if strings.HasPrefix(path, "/sys/") {
		return !strings.Contains(path, " -> ")
	}
	return !strings.ContainsAny(path, " \t=\"'(") && (strings.Contains(path, "counters/") || relativePort.MatchString(path) ||
		strings.Contains(path, "class/infiniband/"))
}

var relativePort = regexp.MustCompile(`(?:^|/)ports/\d+/`)

// place puts a file of sysfs where it belongs.
func place(to *facts, s *section, path, value string) {
	path = strings.TrimPrefix(path, "./")
	if rest, ok := strings.CutPrefix(path, "/sys/"); ok {
		path = rest
	}
	p := strings.Split(path, "/")
	switch {
	case len(p) >= 4 && p[0] == "class" && p[1] == "infiniband":
		placeDevice(to, p[2], "", p[3:], value)
	case len(p) >= 4 && p[0] == "class" && p[1] == "net":
		placeNetdev(to, p[2], "", p[3:], value)
	case len(p) >= 5 && p[0] == "bus" && p[1] == "pci" && p[2] == "devices" && bdf.MatchString(p[3]):
		placeFunction(to, p[3], p[4:], value)
	case p[0] == "devices":
		placeByPath(to, p, value)
	case p[0] != "class" && p[0] != "bus" && p[0] != "kernel" && p[0] != "module":
		placeRelative(to, s, p, value)
	}
}

// placeDevice places a file of an RDMA device. function is its PCI address, ""
// if that is not known.
func placeDevice(to *facts, device, function string, file []string, value string) {
	if file[0] == "device" && len(file) > 1 {
		if function == "" {
			function = "?" + device // of the same device, whatever its address
		}
		to.set(rdmaDevice, device, factFunction, function)
		placeFunction(to, function, file[1:], value)
		return
	}
	if function != "" {
		to.set(rdmaDevice, device, factFunction, function)
	}
	if file[0] == "parent" { // only rxe has it
		to.set(rdmaDevice, device, factSoftware, "rxe")
		to.set(rdmaDevice, device, factNetdev+"1", value)
	}
	if len(file) == 5 && file[0] == "ports" && file[2] == "gid_attrs" && file[3] == "ndevs" && file[4] == "0" && goodNetdev(value) {
		base, _, _ := strings.Cut(value, ".")
		to.set(rdmaDevice, device, factNetdev+file[1], base)
	}
	to.add(key{subject{rdmaDevice, device}, strings.Join(file, "/")}, value)
}

func placeNetdev(to *facts, netdev, function string, file []string, value string) {
	if file[0] == "device" && len(file) > 1 {
		if function == "" {
			function = "?" + netdev
		}
		to.set(netInterface, netdev, factFunction, function)
		placeFunction(to, function, file[1:], value)
		return
	}
	if function != "" {
		to.set(netInterface, netdev, factFunction, function)
	}
	to.add(key{subject{netInterface, netdev}, strings.Join(file, "/")}, value)
}

// placeFunction places a file of a PCI function, or of what hangs below it.
func placeFunction(to *facts, address string, file []string, value string) {
	switch {
	case file[0] == "infiniband" && len(file) > 2:
		placeDevice(to, file[1], address, file[2:], value)
	case file[0] == "net" && len(file) > 2:
		placeNetdev(to, file[1], address, file[2:], value)
	case file[0] == "uevent":
		if driver, ok := strings.CutPrefix(value, "DRIVER="); ok {
			to.set(pciFunction, address, factDriver, driver)
		}
	case len(file) == 1:
		to.add(key{subject{pciFunction, address}, file[0]}, value)
	}
}

// placeByPath places a file given by its full path below sys/devices.
func placeByPath(to *facts, p []string, value string) {
	if len(p) > 4 && p[1] == "virtual" {
		switch p[2] {
		case "infiniband":
			placeDevice(to, p[3], "", p[4:], value)
		case "net":
			placeNetdev(to, p[3], "", p[4:], value)
		}
		return
	}
	last := 0
	for i, part := range p {
		if bdf.MatchString(part) {
			last = i
		}
	}
	if last == 0 || last+1 >= len(p) {
		return
	}
	to.set(pciFunction, p[last], factPath, strings.Join(p[1:last+1], "/"))
	placeFunction(to, p[last], p[last+1:], value)
}

// placeRelative places what was listed from inside a device's directory.
func placeRelative(to *facts, s *section, p []string, value string) {
	device, port := s.device()
	if port == "" {
		port = "1"
	}
	for i, part := range p {
		switch {
		case part == "ports" && i+2 < len(p) && isNumber(p[i+1]):
			if i > 0 {
				device = p[i-1]
			}
			placeDevice(to, device, "", p[i:], value)
			return
		case (part == "counters" || part == "hw_counters" || part == "counters_ext") && i+1 < len(p):
			placeDevice(to, device, "", append([]string{"ports", port}, p[i:]...), value)
			return
		}
	}
}
