package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNewNamesTheFlagOfWhatIsMissing(t *testing.T) {
	empty := t.TempDir()
	linked := t.TempDir()
	tree{"sys": "-> /sys"}.write(t, linked)
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"no sysfs", Config{Sysfs: filepath.Join(empty, "none")}, "--path.sysfs"},
		{"no fixture", Config{Replay: filepath.Join(empty, "none")}, "--replay"},
		{"fixture without sys", Config{Replay: empty}, "--replay"},
		{"fixture whose sys is the machine's", Config{Replay: linked}, "--replay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := New(c.config)
			if err == nil {
				h.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not name %s", err, c.want)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	d, _ := fixture(t, nil, nil)
	if !d.Replay() {
		t.Error("a fixture is not one")
	}
	d, _ = machine(t, nil, nil)
	if d.Replay() {
		t.Error("a machine is a fixture")
	}
}

func TestRead(t *testing.T) {
	long := strings.Repeat("x", MaxValue+1)
	d, _ := fixture(t, tree{
		"sys/devices/nic/rate":   "200 Gb/sec (4X HDR)\n",
		"sys/devices/nic/empty":  "",
		"sys/devices/nic/two":    "a\nb\n",
		"sys/devices/nic/plain":  "17",
		"sys/devices/nic/long":   long,
		"sys/devices/nic/failed": "errno:EINVAL\n",
		"sys/class/nic":          "-> ../devices/nic",
	}, nil)
	for _, c := range []struct{ name, path, want string }{
		{"final newline goes", "devices/nic/rate", "200 Gb/sec (4X HDR)"},
		{"nothing stays nothing", "devices/nic/empty", ""},
		{"only the last newline goes", "devices/nic/two", "a\nb"},
		{"no newline", "devices/nic/plain", "17"},
		{"link within the tree", "class/nic/plain", "17"},
		{"longer than a page is cut", "devices/nic/long", long[:MaxValue]},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := d.Read(c.path)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if got, err := d.ReadLong("devices/nic/long", MaxValue+7); err != nil || got != long {
		t.Errorf("long: %d bytes, %v", len(got), err)
	}
	if got, err := d.ReadLong("devices/nic/rate", 3); err != nil || got != "200" {
		t.Errorf("limit of 3: %q, %v", got, err)
	}
	if _, err := d.Read("devices/nic/failed"); !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "devices/nic/failed") {
		t.Errorf("failed file: %v", err)
	}
	if _, err := d.Read("devices/nic/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if want := map[string]uint64{"EINVAL": 1, "ENOENT": 1}; d.Reads != 10 || !maps.Equal(d.Errors, want) {
		t.Errorf("booked %d reads and %v, want 10 and %v", d.Reads, d.Errors, want)
	}
}

func TestErrnoMarkers(t *testing.T) {
	for _, c := range []struct {
		text string
		want error
	}{
		{"errno:EINVAL\n", unix.EINVAL},
		{"errno:ENOENT", unix.ENOENT},
		{"errno:EIO\n", unix.EIO},
		{"errno:ENODEV\n", unix.ENODEV},
		{"errno:EACCES\n", unix.EACCES},
		{"errno:EPERM\n", unix.EPERM},
		{"errno:EOPNOTSUPP\n", unix.EOPNOTSUPP},
		{"errno:ETIMEDOUT\n", unix.ETIMEDOUT},
	} {
		d, _ := fixture(t, tree{"sys/value": c.text}, nil)
		if _, err := d.Read("value"); !errors.Is(err, c.want) {
			t.Errorf("%q: got %v, want %v", c.text, err, c.want)
		}
	}
	for _, text := range []string{"errno:", "errno", "an errno:EIO"} {
		d, _ := fixture(t, tree{"sys/value": text}, nil)
		if got, err := d.Read("value"); err != nil || got != text {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	d, _ := fixture(t, tree{"sys/value": "errno:EWHAT\n"}, nil)
	if _, err := d.Read("value"); err == nil || !strings.Contains(err.Error(), "EWHAT") {
		t.Errorf("unknown name: %v", err)
	}
	d, _ = machine(t, tree{"value": "errno:EIO\n"}, nil)
	if got, err := d.Read("value"); err != nil || got != "errno:EIO" {
		t.Errorf("a machine's own text was taken for an error: %q, %v", got, err)
	}
}

func TestLinksOutOfTheTree(t *testing.T) {
	secret := t.TempDir()
	tree{"secret": "told"}.write(t, secret)
	d, root := machine(t, tree{
		"sub/absolute": "-> " + secret + "/secret",
		"sub/relative": "-> ../../secret",
		"sub/middle":   "-> ../..",
		"sub/dir":      "-> " + secret,
		"sub/inside":   "-> ../ok",
		"ok":           "told",
	}, nil)
	tree{"secret": "told"}.write(t, filepath.Dir(root))
	t.Cleanup(func() { mustDo(t, os.Remove(filepath.Join(filepath.Dir(root), "secret"))) })

	for _, name := range []string{"sub/absolute", "sub/relative", "sub/middle/secret", "sub/dir/secret", "../secret"} {
		t.Run(name, func(t *testing.T) {
			if got, err := d.Read(name); !errors.Is(err, ErrOutside) {
				t.Errorf("Read: %q, %v", got, err)
			}
			if got, err := d.Resolve(name); !errors.Is(err, ErrOutside) {
				t.Errorf("Resolve: %q, %v", got, err)
			}
			if d.Exists(name) {
				t.Error("it is said to exist")
			}
		})
	}
	for _, name := range []string{"sub/middle", "sub/dir"} {
		if got, err := d.List(name); !errors.Is(err, ErrOutside) {
			t.Errorf("List(%s): %q, %v", name, got, err)
		}
		if _, err := d.OpenDir(name); !errors.Is(err, ErrOutside) {
			t.Errorf("OpenDir(%s): %v", name, err)
		}
	}
	dir, err := d.OpenDir("sub")
	mustDo(t, err)
	defer dir.Close()
	for _, name := range []string{"absolute", "relative", "middle/secret", "inside"} {
		if got, err := dir.File(name).Read(d, make([]byte, 64)); !errors.Is(err, ErrOutside) {
			t.Errorf("File(%s): %q, %v", name, got, err)
		}
	}
	if got := d.Errors["outside_tree"]; got == 0 || got != d.Reads {
		t.Errorf("%d of %d reads are booked as outside of the tree", got, d.Reads)
	}
	if got, err := d.Read("sub/inside"); err != nil || got != "told" {
		t.Errorf("link within the tree: %q, %v", got, err)
	}
}

func TestList(t *testing.T) {
	var traced []string
	d, _ := machine(t, tree{"class/net/eth1": "", "class/net/eth0": "", "class/net/lo/": "", "class/none/": ""}, &traced)
	if got, err := d.List("class/net"); err != nil || !slices.Equal(got, []string{"eth0", "eth1", "lo"}) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := d.List("class/none"); err != nil || len(got) != 0 {
		t.Errorf("empty: %q, %v", got, err)
	}
	if _, err := d.List("class/infiniband"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "class/infiniband") {
		t.Errorf("missing: %v", err)
	}
	if _, err := d.List("class/net/eth0"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	if d.Reads != 4 || len(d.Errors) != 2 {
		t.Errorf("booked %d reads and %v", d.Reads, d.Errors)
	}
	if want := []string{"class/net", "class/none", "class/infiniband", "class/net/eth0"}; !slices.Equal(traced, want) {
		t.Errorf("traced %q", traced)
	}
}

func TestResolve(t *testing.T) {
	d, _ := machine(t, tree{
		"devices/pci0000:80/0000:81:00.0/net/eth0/device":      "-> ../../../0000:81:00.0",
		"devices/pci0000:80/0000:81:00.0/infiniband/m0/device": "-> ../../../0000:81:00.0",
		"devices/pci0000:80/0000:81:00.0/vendor":               "0x15b3\n",
		"class/net/eth0":                                       "-> ../../devices/pci0000:80/0000:81:00.0/net/eth0",
		"class/infiniband/m0":                                  "-> ../../devices/pci0000:80/0000:81:00.0/infiniband/m0",
		"loop/a":                                               "-> b",
		"loop/b":                                               "-> a",
		"loop/self":                                            "-> self",
		"chain/link":                                           "-> ./../chain//dir/../dir",
		"chain/dir/":                                           "",
		"chain/elsewhere":                                      "-> ../devices/pci0000:80",
		"chain/parent":                                         "-> elsewhere/..",
		"chain/dangling":                                       "-> nowhere/at/all",
		"chain/top":                                            "-> ..",
	}, nil)
	const nic = "devices/pci0000:80/0000:81:00.0"
	for _, c := range []struct{ name, path, want string }{
		{"no link", nic + "/vendor", nic + "/vendor"},
		{"one", "class/net/eth0", nic + "/net/eth0"},
		{"one upon another", "class/net/eth0/device", nic},
		{"and on", "class/infiniband/m0/device/net/eth0/device/vendor", nic + "/vendor"},
		{"untidy", "chain/link", "chain/dir"},
		{"parent of a link's target, not of the link", "chain/parent", "devices"},
		{"parent after a link", "class/net/eth0/../..", nic},
		{"slashes and dots", "./chain//dir/.", "chain/dir"},
		{"the root", "chain/top", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := d.Resolve(c.path); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	for _, c := range []struct {
		path string
		want error
	}{
		{"loop/a", unix.ELOOP},
		{"loop/self", unix.ELOOP},
		{"chain/dangling", fs.ErrNotExist},
		{"none", fs.ErrNotExist},
		{"..", ErrOutside},
		{"chain/top/..", ErrOutside},
		{"/class", ErrOutside},
	} {
		if got, err := d.Resolve(c.path); !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v, want %v", c.path, got, err, c.want)
		}
	}
}

// As many links as the kernel follows are followed, and no more.
func TestResolveLongChain(t *testing.T) {
	files := tree{"l0": "end"}
	for i := 1; i <= maxLinks+1; i++ {
		files[fmt.Sprint("l", i)] = fmt.Sprint("-> l", i-1)
	}
	d, _ := machine(t, files, nil)
	if got, err := d.Resolve(fmt.Sprint("l", maxLinks)); err != nil || got != "l0" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := d.Resolve(fmt.Sprint("l", maxLinks+1)); !errors.Is(err, unix.ELOOP) {
		t.Errorf("one more: %v", err)
	}
}

func TestExists(t *testing.T) {
	d, _ := machine(t, tree{"dir/file": "", "link": "-> dir", "dangling": "-> none"}, nil)
	for name, want := range map[string]bool{"dir": true, "dir/file": true, "link/file": true, "none": false, "dangling": false} {
		if got := d.Exists(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestInstances(t *testing.T) {
	d, root := machine(t, tree{"class/a": "-> ../devices/a", "devices/a/": "", "devices/b/": "", "file": ""}, nil)
	before, err := d.Instances("devices")
	if len(before) != 2 || before["a"] == 0 || before["b"] == 0 || before["a"] == before["b"] || err != nil {
		t.Fatalf("two directories: %v, %v", before, err)
	}
	if link, err := d.Instances("class"); link["a"] == 0 || link["a"] == before["a"] || err != nil {
		t.Errorf("a link is its target: %v, %v", link, err)
	}
	if none, err := d.Instances("none"); len(none) != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v, %v", none, err)
	}
	if file, err := d.Instances("file"); len(file) != 0 || !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v, %v", file, err)
	}
	mustDo(t, os.Rename(filepath.Join(root, "devices/b"), filepath.Join(root, "devices/c")))
	if after, err := d.Instances("devices"); len(after) != 2 || after["c"] != before["b"] || err != nil {
		t.Errorf("renamed: %v, %v; was %v", after, err, before)
	}
	if d.Reads != 5 || d.Errors["ENOENT"] != 1 || d.Errors["ENOTDIR"] != 1 {
		t.Errorf("%d reads, errors %v", d.Reads, d.Errors)
	}
}

// More entries than one answer of the kernel holds.
func TestInstancesOfMany(t *testing.T) {
	files := tree{}
	for i := range 300 {
		files[fmt.Sprintf("class/a-device-with-a-long-name-%03d", i)] = ""
	}
	d, _ := machine(t, files, nil)
	if got, err := d.Instances("class"); len(got) != len(files) || err != nil {
		t.Errorf("%d entries, %v; want %d", len(got), err, len(files))
	}
}

func TestErrorKinds(t *testing.T) {
	wrap := func(err error) error {
		return fmt.Errorf("reading this: %w", &fs.PathError{Op: "open", Path: "x", Err: err})
	}
	for _, c := range []struct {
		err                      error
		name                     string
		notOffered, gone, denied bool
	}{
		{nil, "", false, false, false},
		{wrap(unix.EINVAL), "EINVAL", true, false, false},
		{wrap(unix.ENOENT), "ENOENT", true, false, false},
		{wrap(unix.EOPNOTSUPP), "EOPNOTSUPP", true, false, false},
		{wrap(fs.ErrNotExist), "ENOENT", true, false, false},
		{wrap(ErrNotNumber), "not_a_number", true, false, false},
		{wrap(unix.ENODEV), "ENODEV", false, true, false},
		{wrap(unix.ENXIO), "ENXIO", false, true, false},
		{wrap(unix.EACCES), "EACCES", false, false, true},
		{wrap(unix.EPERM), "EPERM", false, false, true},
		{wrap(unix.EIO), "EIO", false, false, false},
		{wrap(ErrOutside), "outside_tree", false, false, false},
		{wrap(os.ErrDeadlineExceeded), "timeout", false, false, false},
		{wrap(syscall.Errno(9999)), "errno", false, false, false},
		{errors.New("?"), "other", false, false, false},
	} {
		if got := ErrorName(c.err); got != c.name {
			t.Errorf("%v: name %q, want %q", c.err, got, c.name)
		}
		if n, g, d := NotOffered(c.err), Gone(c.err), Denied(c.err); n != c.notOffered || g != c.gone || d != c.denied {
			t.Errorf("%v: not offered %v, gone %v, denied %v", c.err, n, g, d)
		}
	}
}

func TestDefaultMaxOpenIsPositive(t *testing.T) {
	d, _ := machine(t, nil, nil)
	if d.host.maxOpen < 1 || d.host.maxOpen > 1<<20 {
		t.Errorf("%d", d.host.maxOpen)
	}
}

func TestBootID(t *testing.T) {
	const id = "6a2c9d1e-0000-4000-8000-000000000001"
	elsewhere := t.TempDir()
	tree{"sys/kernel/random/boot_id": id + "\n"}.write(t, elsewhere)
	d := openHost(t, Config{Sysfs: t.TempDir(), Procfs: elsewhere}, nil)
	if got := d.host.BootID(); got != id {
		t.Errorf("of a machine: %q", got)
	}
	d, root := fixture(t, nil, nil)
	if got := d.host.BootID(); got != "" {
		t.Errorf("of a fixture without procfs: %q", got)
	}
	tree{"proc": "-> " + elsewhere}.write(t, root)
	if got := d.host.BootID(); got != "" {
		t.Errorf("of a fixture whose procfs is elsewhere: %q", got)
	}
	d, _ = fixture(t, tree{"proc/sys/kernel/random/boot_id": id + "\n"}, nil)
	if got := d.host.BootID(); got != id {
		t.Errorf("of a fixture: %q", got)
	}
	for _, procfs := range []string{"", t.TempDir()} {
		d = openHost(t, Config{Sysfs: t.TempDir(), Procfs: procfs}, nil)
		if got := d.host.BootID(); got != "" {
			t.Errorf("without procfs: %q", got)
		}
	}
}

func TestKeptOf(t *testing.T) {
	for limit, want := range map[int64]int64{64: 32, 1024: 512, 8192: 4096, 20000: 15904, 1 << 20: 1<<20 - 4096} {
		if got := keptOf(limit); got != want {
			t.Errorf("of %d descriptors %d are for kept files, want %d", limit, got, want)
		}
	}
}
