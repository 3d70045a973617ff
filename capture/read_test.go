package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// closing makes a file of bytes.
type closing struct{ *bytes.Reader }

func (closing) Close() error { return nil }

func openBytes(b []byte) (*Capture, error) { return open(closing{bytes.NewReader(b)}) }

// inTemp lets captures unpack below a directory of the test, and returns it.
func inTemp(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return dir
}

// packed makes an archive of entries by hand. Text that starts with "-> " is a
// link, a name that ends in a slash a directory.
func packed(t testing.TB, entries ...[2]string) []byte {
	t.Helper()
	var headers []*tar.Header
	var texts []string
	for _, e := range entries {
		h := &tar.Header{Name: e[0], Mode: 0o644, Typeflag: tar.TypeReg}
		text := e[1]
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			h.Typeflag, h.Linkname, text = tar.TypeSymlink, target, ""
		} else if strings.HasSuffix(e[0], "/") {
			h.Typeflag = tar.TypeDir
		}
		headers, texts = append(headers, h), append(texts, text)
	}
	return packedHeaders(t, headers, texts)
}

func packedHeaders(t testing.TB, headers []*tar.Header, texts []string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for i, h := range headers {
		h.Size = int64(len(texts[i]))
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const firstHeader = `{"format":1,"taken":"2026-01-02T03:04:05Z"}`

func TestOpenRefuses(t *testing.T) {
	outside := inTemp(t)
	deep := strings.Repeat("d/", maxDepth+1)
	for name, c := range map[string]struct {
		entries [][2]string
		want    string
	}{
		"absolute path":              {[][2]string{{"/sys/a", "1"}}, "lead out"},
		"path with ..":               {[][2]string{{"sys/../../a", "1"}}, "lead out"},
		"path with .. that stays":    {[][2]string{{"sys/x/../a", "1"}}, "lead out"},
		"absolute link":              {[][2]string{{"sys/a", "-> /etc/passwd"}}, "lead out"},
		"link out":                   {[][2]string{{"sys/a/b", "-> ../../../etc"}}, "lead out"},
		"link to the fixture's root": {[][2]string{{"sys/a/b", "-> ../.."}}, "lead out"},
		"link up after down":         {[][2]string{{"sys/a/b", "-> c/../../.."}}, "lead out"},
		"link to nothing":            {[][2]string{{"sys/a", "-> "}}, "lead out"},
		"link at the top":            {[][2]string{{"sys", "-> proc"}}, "lead out"},
		"file below a link":          {[][2]string{{"sys/a/x", "1"}, {"sys/b", "-> a"}, {"sys/b/y", "2"}}, "below a file or a link"},
		"file below a file":          {[][2]string{{"sys/a", "1"}, {"sys/a/y", "2"}}, "below a file or a link"},
		"file instead of directory":  {[][2]string{{"sys/a/x", "1"}, {"sys/a", "2"}}, "is a directory and something else"},
		"too deep":                   {[][2]string{{"sys/" + deep + "x", "1"}}, "too deep"},
		"too long a file":            {[][2]string{{"sys/a", strings.Repeat("1", maxFileBytes+1)}}, "more than"},
		"no fixture":                 {[][2]string{{"notes.txt", "1"}}, "no directory sys"},
		"another format":             {[][2]string{{headerFile, `{"format":2}`}, {"sys/", ""}}, "version 2"},
		"header of garbage":          {[][2]string{{headerFile, `{{`}, {"sys/", ""}}, headerFile},
		"header in the middle":       {[][2]string{{"sys/", ""}, {headerFile, firstHeader}}, "not its first"},
		"no end":                     {[][2]string{{headerFile, firstHeader}, {"sys/", ""}}, "cut short"},
		"nothing":                    {nil, "no directory sys"},
		"series without a header":    {[][2]string{{"sys/", ""}, {"series/1/", ""}}, "but no capture.json"},
		"reading of no time":         {[][2]string{{headerFile, firstHeader}, {"sys/", ""}, {"series/soon/", ""}}, "no time"},
		"readings out of order":      {[][2]string{{headerFile, firstHeader}, {"sys/", ""}, {"series/1/", ""}}, "order"},
		"link out in a reading":      {[][2]string{{headerFile, firstHeader}, {"sys/", ""}, {"series/1800000000000/sys/x", "-> ../../a"}}, "lead out"},
	} {
		t.Run(name, func(t *testing.T) {
			opened, err := openBytes(packed(t, c.entries...))
			if err == nil {
				opened.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want one with %q", err, c.want)
			}
			if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
				t.Errorf("%d files left behind, %v", len(left), err)
			}
		})
	}
}

func TestOpenRefusesKinds(t *testing.T) {
	inTemp(t)
	for _, kind := range []byte{tar.TypeLink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo} {
		_, err := openBytes(packedHeaders(t, []*tar.Header{{Name: "sys/a", Typeflag: kind, Linkname: "sys/b"}}, []string{""}))
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("kind %c: %v", kind, err)
		}
	}
	if _, err := openBytes([]byte("hello")); err == nil || !strings.Contains(err.Error(), "no .tar.gz") {
		t.Errorf("five letters: %v", err)
	}
	if _, err := openBytes(nil); err == nil {
		t.Error("nothing at all was accepted")
	}
}

// series is a capture of three readings: a value changes, a device goes and
// comes, and a read hangs.
func series(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	r := node()
	w := NewWriter(&b, r, Config{})
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	add := func(after time.Duration) {
		if err := w.Add(begin.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	add(0)
	record(r, places{"sys/devices/pci1/vendor", file("0x15b3\n")}, places{"sys/class/infiniband", dir("mlx5_0")})
	r.Asks("ethtool/eth0/S")
	add(time.Second)
	add(1500 * time.Millisecond)
	record(r, places{"ethtool/eth0/S", file("NIC statistics:\n")},
		places{"sys/class/infiniband/mlx5_1", link("../../devices/pci1/infiniband/mlx5_1")},
		places{"sys/devices/pci1/infiniband/mlx5_1/fw_ver", file("1\n")})
	add(3 * time.Second)
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// contents lists what lies in a directory, as tree.lines does.
func contents(t testing.TB, dir string) string {
	t.Helper()
	got := tree{}
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		i, text := item{kind: host.IsDir}, []byte(nil)
		switch {
		case e.Type() == os.ModeSymlink:
			i.kind = host.IsLink
			i.text, err = os.Readlink(name)
		case !e.IsDir():
			text, err = os.ReadFile(name)
			i = item{kind: host.IsFile, text: string(text)}
		}
		got[strings.TrimPrefix(name, dir+"/")] = i
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got.String()
}

func TestAdvance(t *testing.T) {
	temp := inTemp(t)
	c, err := openBytes(series(t))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := []time.Time{begin, begin.Add(time.Second), begin.Add(1500 * time.Millisecond), begin.Add(3 * time.Second)}
	if !slices.EqualFunc(c.Times(), want, time.Time.Equal) {
		t.Errorf("times %v, want %v", c.Times(), want)
	}
	r := node()
	first := r.tree().String()
	r.Record("sys/devices/pci1/vendor", file("0x15b3\n"))
	last := r.tree().String()
	const without = "ethtool/\nethtool/eth0/\nethtool/eth0/S = errno:hangs\nsys/\nsys/class/\nsys/class/infiniband/\n" +
		"sys/class/infiniband/mlx5_0 -> ../../devices/pci0/infiniband/mlx5_0\nsys/devices/\nsys/devices/pci1/\nsys/devices/pci1/vendor = 0x15b3"
	for step, want := range []string{first, without, without, "ethtool/\nethtool/eth0/\nethtool/eth0/S = NIC statistics:\n" + last} {
		if err := c.Advance(step); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, c.Dir()); got != want {
			t.Errorf("reading %d:\n%s\nwant\n%s", step, got, want)
		}
	}
	if c.Advance(2) == nil || c.Advance(4) == nil {
		t.Error("there is a way back, or beyond the end")
	}
	c.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%d files left behind, %v", len(left), err)
	}
}

// An archive that ends too early is refused wherever that is.
func TestOpenCut(t *testing.T) {
	inTemp(t)
	whole := series(t)
	for n := len(whole) - 1; n >= 0; n -= 7 {
		c, err := openBytes(whole[:n])
		if err == nil {
			c.Close()
			t.Fatalf("%d of %d bytes were accepted", n, len(whole))
		}
		if n > 2 && !errors.Is(err, errCut) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// Follow plays the readings at their own times after the first.
func TestFollow(t *testing.T) {
	inTemp(t)
	c, err := openBytes(series(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	now, changes := time.Unix(1e9, 0), 0
	clock := c.Follow(func() time.Time { return now }, func(err error) {
		if changes++; err != nil {
			t.Error(err)
		}
	})
	for _, at := range []struct {
		after         time.Duration
		step, changes int
	}{{0, 0, 0}, {999 * time.Millisecond, 0, 0}, {time.Second, 1, 1}, {2900 * time.Millisecond, 2, 2}, {time.Hour, 3, 3}, {2 * time.Hour, 3, 3}} {
		now = time.Unix(1e9, 0).Add(at.after)
		if got := clock(); !got.Equal(now) {
			t.Errorf("after %s it is %s", at.after, got)
		}
		if c.step != at.step || changes != at.changes {
			t.Errorf("after %s: reading %d, %d changes; want %d, %d", at.after, c.step, changes, at.step, at.changes)
		}
	}
}

// A fixture that was packed by hand is a capture of one reading, of no time.
func TestOpenPackedFixture(t *testing.T) {
	inTemp(t)
	c, err := openBytes(packed(t, [2]string{"./", ""}, [2]string{"./sys/a", "1\n"}, [2]string{"./sys/b/c", "-> ../a"}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, want := contents(t, c.Dir()), "sys/\nsys/a = 1\nsys/b/\nsys/b/c -> ../a"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if times := c.Times(); len(times) != 1 || !times[0].IsZero() {
		t.Errorf("times %v", times)
	}
}

// Whatever the bytes, nothing is written beside the directory, and nothing is
// left when it is closed.
func FuzzOpen(f *testing.F) {
	f.Add(series(f))
	f.Add(packed(f, [2]string{"sys/a/b", "-> ../c"}, [2]string{"sys/a/b/c", "1"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		temp := inTemp(t)
		c, err := openBytes(b)
		if err == nil {
			for step := range c.Times() {
				if c.Advance(step) != nil {
					break
				}
			}
			c.Close()
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%d files left behind, %v", len(left), err)
		}
	})
}

// FuzzTar is FuzzOpen without the compression, which a fuzzer hardly gets past.
func FuzzTar(f *testing.F) {
	z, err := gzip.NewReader(bytes.NewReader(series(f)))
	if err != nil {
		f.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain)
	f.Fuzz(func(t *testing.T, b []byte) {
		var packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression)
		_, err := z.Write(b)
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		temp := inTemp(t)
		c, err := openBytes(packed.Bytes())
		if err == nil {
			for step := range c.Times() {
				if c.Advance(step) != nil {
					break
				}
			}
			c.Close()
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%d files left behind, %v", len(left), err)
		}
	})
}

// A device that was registered anew, under its old name, has another link: that
// is how the collectors know.
func TestAdvanceMakesLinkAnew(t *testing.T) {
	inTemp(t)
	const name = "sys/class/infiniband/a"
	var b bytes.Buffer
	r := NewRecording()
	w := NewWriter(&b, r, Config{})
	for i, n := range []uint64{3, 3, 7} {
		r.Record(name, instance(n))
		if err := w.Add(time.Unix(int64(1e9+i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := openBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var infos []os.FileInfo
	for step := range c.Times() {
		if err := c.Advance(step); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(filepath.Join(c.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	if !os.SameFile(infos[0], infos[1]) || os.SameFile(infos[1], infos[2]) {
		t.Error("the link is another one where it should be the same, or the same where it should be another")
	}
}
