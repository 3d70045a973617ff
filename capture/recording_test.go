package capture

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

func file(text string) host.Entry    { return host.Entry{Kind: host.IsFile, Text: text} }
func link(target string) host.Entry  { return host.Entry{Kind: host.IsLink, Text: target} }
func dir(names ...string) host.Entry { return host.Entry{Kind: host.IsDir, Names: names} }
func instance(n uint64) host.Entry   { return host.Entry{Kind: host.IsLink, Text: "x", Instance: n} }
func kind(k host.Kind) host.Entry    { return host.Entry{Kind: k} }
func (t tree) String() string        { return strings.Join(t.lines(), "\n") }
func record(r *Recording, a ...places) { // in this order
	for _, p := range a {
		r.Record(p.name, p.entry)
	}
}

type places struct {
	name  string
	entry host.Entry
}

// lines lists a tree, a path with its content to the line.
func (t tree) lines() []string {
	var lines []string
	for name, i := range t {
		mark := map[host.Kind]string{host.IsFile: " = ", host.IsLink: " -> ", host.IsDir: "/"}[i.kind]
		lines = append(lines, strings.TrimSpace(name+mark+i.text))
	}
	slices.Sort(lines)
	return lines
}

// node is a device as the sources meet it.
func node() *Recording {
	r := NewRecording()
	record(r,
		places{"sys/class/infiniband", dir("mlx5_0", "mlx5_1")},
		places{"sys/class/infiniband/mlx5_0", link("../../devices/pci0/infiniband/mlx5_0")},
		places{"sys/class/infiniband/mlx5_1", link("../../devices/pci1/infiniband/mlx5_1")},
		places{"sys/devices/pci1/infiniband/mlx5_1/fw_ver", file("1\n")},
		places{"sys/devices/pci1/infiniband", kind(host.IsDir)},
		places{"sys/devices/pci1/vendor", kind(host.IsUnread)},
	)
	return r
}

func TestRecording(t *testing.T) {
	base := []string{
		"sys/", "sys/class/", "sys/class/infiniband/",
		"sys/class/infiniband/mlx5_0 -> ../../devices/pci0/infiniband/mlx5_0",
		"sys/class/infiniband/mlx5_1 -> ../../devices/pci1/infiniband/mlx5_1",
		"sys/devices/", "sys/devices/pci1/", "sys/devices/pci1/infiniband/", "sys/devices/pci1/infiniband/mlx5_1/",
		"sys/devices/pci1/infiniband/mlx5_1/fw_ver = 1", "sys/devices/pci1/vendor = errno:ENODATA",
	}
	gone := []string{
		"sys/", "sys/class/", "sys/class/infiniband/", "sys/class/infiniband/mlx5_0 -> ../../devices/pci0/infiniband/mlx5_0",
		"sys/devices/", "sys/devices/pci1/", "sys/devices/pci1/vendor = errno:ENODATA",
	}
	replaced := func(old, with string) []string {
		return slices.Sorted(slices.Values(append(slices.DeleteFunc(slices.Clone(base), func(line string) bool { return strings.HasPrefix(line, old) }), with)))
	}
	for name, c := range map[string]struct {
		then []places
		want []string
	}{
		"as it was": {nil, base},
		"a value":   {[]places{{"sys/devices/pci1/vendor", file("0x15b3\n")}}, replaced("sys/devices/pci1/vendor", "sys/devices/pci1/vendor = 0x15b3")},
		"of a file that was read only the name is seen": {
			[]places{{"sys/devices/pci1/infiniband/mlx5_1/fw_ver", kind(host.IsUnread)}}, base},
		"a listing that has all":    {[]places{{"sys/class/infiniband", dir("mlx5_0", "mlx5_1")}}, base},
		"a directory not listed":    {[]places{{"sys/class/infiniband", kind(host.IsDir)}}, base},
		"a device is not listed":    {[]places{{"sys/class/infiniband", dir("mlx5_0")}}, gone},
		"a device's link is absent": {[]places{{"sys/class/infiniband/mlx5_1", kind(host.IsAbsent)}}, gone},
		"what was never there":      {[]places{{"sys/class/net/eth9", kind(host.IsAbsent)}}, base},
		"a file instead of a directory": {
			[]places{{"sys/devices/pci1/infiniband", file("errno:EACCES\n")}},
			replaced("sys/devices/pci1/infiniband/", "sys/devices/pci1/infiniband = errno:EACCES")},
		"a directory instead of a file": {
			[]places{{"sys/devices/pci1/vendor/x", file("2\n")}},
			slices.Sorted(slices.Values(append(replaced("sys/devices/pci1/vendor", "sys/devices/pci1/vendor/"), "sys/devices/pci1/vendor/x = 2")))},
	} {
		t.Run(name, func(t *testing.T) {
			r := node()
			record(r, c.then...)
			if got := r.tree().lines(); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A read that was begun and has not returned is shown as one that hangs.
func TestRecordingHangs(t *testing.T) {
	r := NewRecording()
	for _, name := range []string{"sys/a", "sys/b", "ethtool/eth0/S"} {
		r.Asks(name)
	}
	record(r, places{"sys/a", file("7\n")}, places{"sys/b", kind(host.IsAbsent)})
	if got, want := r.tree().String(), "ethtool/\nethtool/eth0/\nethtool/eth0/S = errno:hangs\nsys/\nsys/a = 7"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Asks("sys/a")
	if i := r.tree()["sys/a"]; i.text != hangs {
		t.Errorf("it answered once: %+v", i)
	}
}

func TestSince(t *testing.T) {
	was := tree{
		"sys": {kind: host.IsDir}, "sys/a": {kind: host.IsFile, text: "1"}, "sys/b": {kind: host.IsFile, text: "2"},
		"sys/d": {kind: host.IsDir}, "sys/d/e": {kind: host.IsDir}, "sys/d/e/f": {kind: host.IsFile},
		"sys/l": {kind: host.IsLink, text: "a", instance: 3}, "sys/m": {kind: host.IsLink, text: "a", instance: 5},
		"sys/x": {kind: host.IsDir}, "sys/x/y": {kind: host.IsFile},
	}
	is := tree{
		"sys": {kind: host.IsDir}, "sys/a": {kind: host.IsFile, text: "1"}, "sys/b": {kind: host.IsFile, text: "3"}, "sys/c": {kind: host.IsFile},
		"sys/l": {kind: host.IsLink, text: "a", instance: 7}, "sys/m": {kind: host.IsLink, text: "a"},
		"sys/x": {kind: host.IsLink, text: "c"},
	}
	changed, gone := is.since(was)
	if want := []string{"sys/b", "sys/c", "sys/l", "sys/x"}; !slices.Equal(changed, want) {
		t.Errorf("changed %q, want %q", changed, want)
	}
	if want := []string{"sys/d", "sys/x"}; !slices.Equal(gone, want) {
		t.Errorf("gone %q, want %q", gone, want)
	}
}

// The number of a link's registration is kept when it is seen again without
// one.
func TestRecordingKeepsInstance(t *testing.T) {
	r := NewRecording()
	record(r, places{"sys/class/infiniband/a", instance(3)}, places{"sys/class/infiniband/a", instance(0)})
	if got := r.tree()["sys/class/infiniband/a"].instance; got != 3 {
		t.Errorf("instance %d, want 3", got)
	}
	r.Record("sys/class/infiniband/a", instance(7))
	if got := r.tree()["sys/class/infiniband/a"].instance; got != 7 {
		t.Errorf("instance %d, want 7", got)
	}
}
