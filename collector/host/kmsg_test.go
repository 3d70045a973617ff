package host

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ring plays /dev/kmsg: a record or an error for each read.
type ring struct {
	answers []any
	closed  int
}

func (r *ring) Read(b []byte) (int, error) {
	if len(r.answers) == 0 {
		return 0, unix.EAGAIN
	}
	a := r.answers[0]
	r.answers = r.answers[1:]
	if err, ok := a.(error); ok {
		return 0, err
	}
	return copy(b, a.(string)), nil
}

func (r *ring) Close() error { r.closed++; return nil }

var booted = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// logOf is a kernel log on r, of which all messages with "mlx5" are wanted.
func logOf(r *ring) *KernelLog {
	l := NewKernelLog(func(text string) bool { return strings.Contains(text, "mlx5") })
	l.open = func(string) (io.ReadCloser, error) { return r, nil }
	l.boot = func() time.Time { return booted }
	return l
}

func TestKernelLog(t *testing.T) {
	d, _ := machine(t, nil, nil)
	r := &ring{answers: []any{
		"6,7,2608284,-;mlx5_core 0000:41:00.0: one\n SUBSYSTEM=pci\n DEVICE=+pci:0000:41:00.0\n",
		"4,8,2608285,-;e1000e 0000:01:00.0: not wanted\n",
		"12,9,2608286,-;mlx5: a program wrote this\n", // facility 1
		"3,10,3000000,c;mlx5_core 0000:41:00.0: two\n",
	}}
	l := logOf(r)
	check := func(step string, lost uint64, want ...KernelMessage) {
		t.Helper()
		got, err := l.Read(d)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v, want %v", step, got, err, want)
		}
		if l.Lost() != lost {
			t.Errorf("%s: lost %d, want %d", step, l.Lost(), lost)
		}
	}
	check("before", 0,
		KernelMessage{booted.Add(2608284 * time.Microsecond), "mlx5_core 0000:41:00.0: one", true},
		KernelMessage{booted.Add(3 * time.Second), "mlx5_core 0000:41:00.0: two", true})
	check("nothing new", 0)
	r.answers = []any{"4,11,5000000,-;mlx5 three\n"}
	check("new", 0, KernelMessage{booted.Add(5 * time.Second), "mlx5 three", false})
	// 12 to 16 were overwritten; 18 is nonsense and counts as missing when 19 comes.
	r.answers = []any{unix.EPIPE, "4,17,6000000,-;mlx5 four\n", "nonsense", unix.EINVAL, "4,19,7000000,-;mlx5 five\n"}
	check("overrun", 6,
		KernelMessage{booted.Add(6 * time.Second), "mlx5 four", false},
		KernelMessage{booted.Add(7 * time.Second), "mlx5 five", false})
	// It fails, and is opened anew, at its beginning: nothing comes twice.
	r.answers = []any{unix.EIO}
	if _, err := l.Read(d); err == nil || r.closed != 1 {
		t.Errorf("EIO gives %v, and it is closed %d times", err, r.closed)
	}
	r.answers = []any{"4,17,6000000,-;mlx5 four\n", "4,19,7000000,-;mlx5 five\n", "4,20,8000000,-;mlx5 six\n"}
	check("again", 6, KernelMessage{booted.Add(8 * time.Second), "mlx5 six", false})
}

// One reading ends, however much there is; the rest is not new because of that.
func TestKernelLogIsBounded(t *testing.T) {
	d, _ := machine(t, nil, nil)
	r := &ring{}
	for range maxRecords {
		r.answers = append(r.answers, error(unix.EPIPE))
	}
	r.answers = append(r.answers, "4,20000,1,-;mlx5 late\n")
	l := logOf(r)
	if got, err := l.Read(d); got != nil || err != nil {
		t.Errorf("got %v, %v of nothing but overruns", got, err)
	}
	if got, _ := l.Read(d); len(got) != 1 || !got[0].Old {
		t.Errorf("got %v, want one old message", got)
	}
}

func TestKernelLogThatCannotBeOpened(t *testing.T) {
	root := t.TempDir()
	tree{"sys/": ""}.write(t, root)
	d := openHost(t, Config{Sysfs: filepath.Join(root, "sys"), Kmsg: filepath.Join(root, "kmsg")}, nil)
	l := NewKernelLog(func(string) bool { return true })
	for range 3 { // it says the same each time that it is tried
		if _, err := l.Read(d); !NotOffered(err) {
			t.Errorf("no device: %v", err)
		}
	}
	if d.Errors["ENOENT"] != 3 {
		t.Errorf("counted %v", d.Errors)
	}
	l.Close()
}

// A fixture's log grows, is rotated, or is another one.
func TestKernelLogText(t *testing.T) {
	d, root := fixture(t, tree{"dmesg": "mlx5 a\n[    2.608284] mlx5 b\n2023-11-14T22:13:20,250000+01:00 mlx5 c"}, nil)
	l := logOf(nil)
	stamp := time.Date(2023, 11, 14, 21, 13, 20, 250e6, time.UTC)
	for _, step := range []struct {
		name, text string
		want       []string
	}{
		{"first", "", []string{"mlx5 a", "mlx5 b", "mlx5 c"}},
		{"unchanged", "", nil},
		{"longer", "mlx5 a\n[    2.608284] mlx5 b\n2023-11-14T22:13:20,250000+01:00 mlx5 c\nmlx5 d\nelse\n", []string{"mlx5 d"}},
		{"rotated", "mlx5 d\nelse\nmlx5 d\n", []string{"mlx5 d"}},
		{"another", "mlx5 e\n", []string{"mlx5 e"}},
		{"empty", "\n", nil},
	} {
		if step.text != "" {
			mustDo(t, os.WriteFile(filepath.Join(root, "dmesg"), []byte(step.text), 0o644))
		}
		got, err := l.Read(d)
		var texts []string
		for _, m := range got {
			texts = append(texts, m.Text)
			if m.Old != (step.name == "first") {
				t.Errorf("%s: %q is old: %v", step.name, m.Text, m.Old)
			}
			if m.Time.IsZero() == (m.Text == "mlx5 c") || m.Text == "mlx5 c" && !m.Time.Equal(stamp) {
				t.Errorf("%s: %q is of %v", step.name, m.Text, m.Time)
			}
		}
		if err != nil || !reflect.DeepEqual(texts, step.want) {
			t.Errorf("%s: got %q, %v, want %q", step.name, texts, err, step.want)
		}
	}
}

// What is printed for a capture reads back as it was.
func TestPrintDmesg(t *testing.T) {
	const text = "2026-01-02T03:00:02,608284+00:00 mlx5_core: one\nmlx5 two\n"
	got := printDmesg([]KernelMessage{{booted.Add(2608284 * time.Microsecond), "mlx5_core: one", true}, {Text: "mlx5 two"}})
	if got != text {
		t.Errorf("got %q, want %q", got, text)
	}
	if m := parseDmesg(strings.Split(text, "\n")[0]); !m.Time.Equal(booted.Add(2608284 * time.Microsecond)) {
		t.Errorf("read back as %v", m)
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte("6,339,5140900,-;NET: Registered protocol family 10\n SUBSYSTEM=pci\n"))
	f.Add([]byte("6,339,18446744073709551615,-,caller=T1;\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := parseRecord(b); err == nil && (r.since < 0 || strings.Contains(r.text, "\n")) {
			t.Errorf("%q gives %+v", b, r)
		}
	})
}

func FuzzParseDmesg(f *testing.F) {
	f.Add("2023-11-14T22:13:20,250000+01:00 mlx5 c", "mlx5 c\n")
	f.Add("[    2.608284] mlx5 b", "a\nb\n")
	f.Fuzz(func(t *testing.T, line, known string) {
		if m := parseDmesg(line); !strings.HasSuffix(line, m.Text) {
			t.Errorf("%q gives %+v", line, m)
		}
		if rest := unread(line, known); !strings.HasSuffix(line, rest) {
			t.Errorf("%q after %q gives %q", line, known, rest)
		}
	})
}
