package collector

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// dirRig is one counter directory and its reader. The directory is sys/d.
type dirRig struct {
	t      *testing.T
	root   string
	now    time.Time
	door   *host.Door
	dir    *counterDir
	trace  func(string)
	opened []string
}

// newDir makes a directory of files that holds counters of the rows.
func newDir(t *testing.T, set fileSet, rows ...catalog.Row) *dirRig {
	t.Helper()
	r := &dirRig{t: t, root: tree(t, join(fileSet{"sys/.keep": ""}, inDir("sys/d", set))), now: time.Unix(1_000_000_000, 0)}
	h, err := host.New(host.Config{Replay: r.root, Trace: func(what string) {
		r.opened = append(r.opened, what)
		if r.trace != nil {
			r.trace(what)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.door = h.Door()
	r.dir = &counterDir{
		path: "d", device: "nic0", port: "1", matcher: catalog.NewMatcher(rows), unmapped: &catalog.UnmappedHW, memory: newMemory(1, time.Unix(0, 0)),
	}
	t.Cleanup(func() { r.dir.close(); h.Close() })
	return r
}

func (r *dirRig) set(name, content string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.root, "sys/d", name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *dirRig) later(d time.Duration) { r.now = r.now.Add(d) }

// read reads the directory once; reads is how many reads that took.
func (r *dirRig) read() (v values, reads uint64, err error) {
	before := r.door.Reads
	b := &batch{now: r.now}
	err = r.dir.read(r.door, b)
	return ofBatch(b), r.door.Reads - before, err
}

// good reads the directory and takes an error for a failure.
func (r *dirRig) good() values {
	r.t.Helper()
	v, _, err := r.read()
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

var (
	sumMetric   = counterMetric("rdma_sum_packets_total")
	partMetric  = counterMetric("rdma_part_packets_total", "kind")
	otherMetric = counterMetric("rdma_other_packets_total")
	bytesMetric = counterMetric("rdma_some_bytes_total")
)

const (
	sum   = `rdma_sum_packets_total{device="nic0",port="1"}`
	other = `rdma_other_packets_total{device="nic0",port="1"}`
)

var sumRows = []catalog.Row{
	{Name: "ip4", Metric: sumMetric, Unit: catalog.Packets},
	{Name: "ip6", Metric: sumMetric, Unit: catalog.Packets},
	{Name: "ip6", Metric: partMetric, Labels: "kind=ip6", Unit: catalog.Packets},
	{Name: "other", Metric: otherMetric, Unit: catalog.Packets},
}

func TestCounterDirAddsFilesOfOneSeries(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "101\n", "ip6": "1009\n", "other": "13\n"}, sumRows...)
	v := r.good()
	v.want(t, values{sum: 1110, `rdma_part_packets_total{device="nic0",port="1",kind="ip6"}`: 1009, other: 13})
	if len(v) != 3 {
		t.Errorf("%d series, want 3: %v", len(v), v)
	}
	r.set("ip4", "103\n")
	r.good().want(t, values{sum: 1112}) // not added to the sum before
}

// A sum of which a part is missing would be a wrong value.
func TestCounterDirSumNeedsAllParts(t *testing.T) {
	t.Run("EIO costs this reading", func(t *testing.T) {
		r := newDir(t, fileSet{"ip4": "101\n", "ip6": "errno:EIO\n", "other": "13\n"}, sumRows...)
		v, _, err := r.read()
		if err == nil || !strings.Contains(err.Error(), "d/ip6") {
			t.Errorf("error %v does not name the file", err)
		}
		v.absent(t, sum, "rdma_part")
		v.want(t, values{other: 13})
		r.set("ip6", "1009\n")
		r.good().want(t, values{sum: 1110})
	})
	for _, refusal := range []string{"errno:EINVAL\n", "errno:EACCES\n", "N/A (no PMA)\n"} {
		t.Run(strings.TrimSpace(refusal)+" costs an hour", func(t *testing.T) {
			r := newDir(t, fileSet{"ip4": "101\n", "ip6": refusal, "other": "13\n"}, sumRows...)
			v := r.good()
			v.absent(t, sum, "rdma_part")
			v.want(t, values{other: 13})

			r.set("ip6", "1009\n")
			r.later(9 * time.Minute)
			v, reads, err := r.read()
			if err != nil || reads != 2 {
				t.Errorf("%d reads, error %v; want 2 reads, of the other files", reads, err)
			}
			v.absent(t, sum)
			v.want(t, values{other: 13})

			r.later(51*time.Minute - time.Nanosecond)
			r.good().absent(t, sum)
			r.later(time.Nanosecond)
			r.good().want(t, values{sum: 1110})
		})
	}
}

func TestCounterDirValue(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name, content string
		value         float64
		fails         bool // an error of the reading
		again         bool // read at the next reading too
	}{
		{"zero", "0\n", 0, false, true},
		{"blanks around", "  7 \n", 7, false, true},
		{"no newline", "17", 17, false, true},
		{"leading zeros", "0019\n", 19, false, true},
		{"largest", "18446744073709551614\n", 18446744073709551614, false, true},
		{"all ones: no value", "18446744073709551615\n", none, false, false},
		{"does not fit", "18446744073709551616\n", none, false, false},
		{"empty", "", none, false, false},
		{"empty line", "\n", none, false, false},
		{"no PMA", "N/A (no PMA)\n", none, false, false},
		{"minus", "-5\n", none, false, false},
		{"two numbers", "1 234\n", none, false, false},
		{"fraction", "12.5\n", none, false, false},
		{"hexadecimal", "0x1f\n", none, false, false},
		{"text", "many\n", none, false, false},
		{"cut by the buffer", strings.Repeat(" ", 60) + "123456\n", none, false, false},
		{"EINVAL", "errno:EINVAL\n", none, false, false},
		{"ENOENT", "errno:ENOENT\n", none, false, false},
		{"EOPNOTSUPP", "errno:EOPNOTSUPP\n", none, false, false},
		{"EACCES", "errno:EACCES\n", none, false, false},
		{"EPERM", "errno:EPERM\n", none, false, false},
		{"EIO", "errno:EIO\n", none, true, true},
		{"ENODEV", "errno:ENODEV\n", none, true, true},
		{"ETIMEDOUT", "errno:ETIMEDOUT\n", none, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newDir(t, fileSet{"ip4": c.content, "other": "13\n"}, sumRows...)
			v, _, err := r.read()
			if (err != nil) != c.fails {
				t.Errorf("error %v, want one: %t", err, c.fails)
			}
			v.want(t, values{other: 13}) // whatever the other file does
			if c.value == none {
				v.absent(t, sum)
			} else {
				v.want(t, values{sum: c.value})
			}
			r.good2(t, c.again)
		})
	}
}

// good2 reads again and checks whether the file under test is read then.
func (r *dirRig) good2(t *testing.T, again bool) {
	t.Helper()
	r.opened = nil
	r.set("ip4", "29\n")
	v, _, _ := r.read()
	if again {
		v.want(t, values{sum: 29})
	} else {
		v.absent(t, sum)
	}
}

func TestCounterDirErrorsAreCountedByName(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "errno:EINVAL\n", "ip6": "text\n", "other": "errno:EIO\n"}, sumRows...)
	for range 3 {
		if _, _, err := r.read(); err == nil {
			t.Error("EIO is not reported")
		}
	}
	for name, want := range map[string]uint64{"EINVAL": 1, "not_a_number": 1, "EIO": 3} {
		if got := r.door.Errors[name]; got != want {
			t.Errorf("%d errors %s, want %d", got, name, want)
		}
	}
}

func TestCounterDirCanary(t *testing.T) {
	physical := *otherMetric
	physical.Physical = true
	rows := []catalog.Row{
		{Name: "data", Metric: sumMetric, Unit: catalog.Packets},
		{Name: "link_downed", Metric: &physical, Unit: catalog.Packets},
		{Name: "symbol_error", Metric: partMetric, Labels: "kind=x", Unit: catalog.Packets},
	}
	physicalPart := *partMetric
	physicalPart.Physical = true
	rows[2].Metric = &physicalPart
	r := newDir(t, fileSet{"data": "5\n", "link_downed": "7\n", "symbol_error": "errno:EINVAL\n"}, rows...)
	r.dir.canary = "symbol_error"

	v := r.good()
	v.want(t, values{sum: 5})
	v.absent(t, "rdma_other", "rdma_part")
	if slices.Contains(r.opened, "d/link_downed") {
		t.Error("a physical file was opened after the canary's refusal")
	}
	r.set("symbol_error", "3\n")
	r.later(time.Hour)
	r.good().want(t, values{sum: 5, other: 7, `rdma_part_packets_total{device="nic0",port="1",kind="x"}`: 3})

	r.set("symbol_error", "errno:EIO\n") // a hiccup, no refusal
	v, _, err := r.read()
	if err == nil {
		t.Error("EIO is not reported")
	}
	v.want(t, values{other: 7})
}

func TestCounterDirLeavesPhysicalCountersToTheOwner(t *testing.T) {
	physical := *otherMetric
	physical.Physical = true
	r := newDir(t, fileSet{"data": "5\n", "link_downed": "7\n"},
		catalog.Row{Name: "data", Metric: sumMetric, Unit: catalog.Packets},
		catalog.Row{Name: "link_downed", Metric: &physical, Unit: catalog.Packets})
	r.dir.shared = true
	v := r.good()
	v.want(t, values{sum: 5})
	v.absent(t, "rdma_other", "rdma_hw_counter")
	if slices.Contains(r.opened, "d/link_downed") {
		t.Error("a file that is not exported was opened")
	}
}

func TestCounterDirUnknownNames(t *testing.T) {
	names := []string{
		"counter_of_tomorrow", "Pio Reserved 30", "RxPkt,32", `quote " and \`, "tab\tand\nline", "Ü", "\xff\xfe",
		"\xff\xfd", "a\x80b", "UPPER", "{priority}", "..x",
	}
	set, want := fileSet{"lifespan": "10\n"}, values{}
	for i, name := range names {
		set[name] = string(rune('1'+i%9)) + "1\n"
		label := strings.NewReplacer("\xff", `\xff`, "\xfe", `\xfe`, "\xfd", `\xfd`, "\x80", `\x80`).Replace(name)
		want[seriesName(series(&catalog.UnmappedHW, "nic0", "1", label))] = float64(i%9+1)*10 + 1
	}
	r := newDir(t, set)
	r.dir.skip = notCounters
	v := r.good()
	v.want(t, want)
	if len(v) != len(names) {
		t.Errorf("%d series, want %d: %v", len(v), len(names), v)
	}
	if slices.Contains(r.opened, "d/lifespan") {
		t.Error("the setting lifespan was read")
	}
	for _, f := range r.dir.files {
		for _, label := range f.outs[0].cell.series.Values {
			if !utf8.ValidString(label) {
				t.Errorf("label %q would cost the page", label)
			}
		}
	}
}

func TestCounterDirUnwrapsUnknownNamesThatSayTheirWidth(t *testing.T) {
	r := newDir(t, fileSet{"RxPkt,32": "4294967290\n", "TxPkt": "4294967290\n"})
	r.good()
	r.set("RxPkt,32", "4\n")
	r.set("TxPkt", "4\n")
	r.good().want(t, values{
		`rdma_hw_counter{device="nic0",port="1",counter="RxPkt,32"}`: 1<<32 + 4,
		`rdma_hw_counter{device="nic0",port="1",counter="TxPkt"}`:    4,
	})
}

func TestCounterDirOrder(t *testing.T) {
	r := newDir(t, fileSet{"a": "1\n", "b": "2\n", "rx_write_requests": "3\n", "z": "4\n"})
	r.dir.first = "rx_write_requests"
	r.good()
	want := []string{"d", "d", "d/rx_write_requests", "d/a", "d/b", "d/z"}
	if !slices.Equal(r.opened, want) {
		t.Errorf("opened %q, want %q", r.opened, want)
	}
	r.opened = nil
	if _, reads, err := r.read(); err != nil || reads != 4 || len(r.opened) > 0 {
		t.Errorf("second reading: %d reads, opened %q, error %v; want 4 reads of kept files", reads, r.opened, err)
	}
}

// The kernel lists a directory, then the device goes away.
func TestCounterDirVanishesWhileRead(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "101\n", "other": "13\n"}, sumRows...)
	r.trace = func(what string) {
		if what == "d/ip4" {
			_ = os.RemoveAll(filepath.Join(r.root, "sys/d"))
		}
	}
	v, _, err := r.read()
	if err != nil || len(v) != 0 {
		t.Errorf("%v, error %v; want neither", v, err)
	}
	r.trace = nil
	if v, _, err := r.read(); err != nil || len(v) != 0 {
		t.Errorf("afterwards %v, error %v; want neither", v, err)
	}
}

// After a driver was loaded again the old directory stays open but is dead.
func TestCounterDirMadeAnewIsFound(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "101\n", "other": "errno:EINVAL\n"}, sumRows...)
	r.good().want(t, values{sum: 101})
	_ = os.RemoveAll(filepath.Join(r.root, "sys/d"))
	_ = os.Mkdir(filepath.Join(r.root, "sys/d"), 0o755)
	r.set("ip4", "3\n")
	r.set("other", "5\n")
	r.later(relistAfter)
	r.good().want(t, values{sum: 3, other: 5})
}

// Where the kernel tells at once that the files are gone, the directory is
// looked for at the next reading.
func TestCounterDirMadeAnewIsFoundSoon(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "101\n"}, sumRows...)
	r.good()
	r.set("ip4", "errno:ENODEV\n")
	if _, _, err := r.read(); err == nil {
		t.Error("ENODEV is not reported")
	}
	_ = os.RemoveAll(filepath.Join(r.root, "sys/d"))
	_ = os.Mkdir(filepath.Join(r.root, "sys/d"), 0o755)
	r.set("ip4", "3\n")
	r.good().want(t, values{sum: 3})
}

func TestCounterDirAppearsLater(t *testing.T) {
	r := newDir(t, nil, sumRows...)
	if v, reads, err := r.read(); err != nil || len(v) != 0 || reads != 1 {
		t.Errorf("%v, %d reads, error %v; want one try", v, reads, err)
	}
	_ = os.Mkdir(filepath.Join(r.root, "sys/d"), 0o755)
	r.set("ip4", "3\n")
	r.later(relistAfter - time.Nanosecond)
	if v, reads, err := r.read(); err != nil || len(v) != 0 || reads != 0 {
		t.Errorf("%v, %d reads, error %v; want no try so soon", v, reads, err)
	}
	r.later(time.Nanosecond)
	r.good().want(t, values{sum: 3})
}

func TestCounterDirFilesComeAndGo(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "101\n", "ip6": "errno:EINVAL\n"}, sumRows...)
	r.good()
	_ = os.Remove(filepath.Join(r.root, "sys/d/ip4"))
	r.set("other", "13\n")
	r.set("ip6", "7\n")
	r.later(relistAfter)
	v := r.good()
	v.want(t, values{other: 13})
	v.absent(t, sum) // ip6 still sleeps: a listing does not wake it
	r.later(reprobeAfter)
	r.good().want(t, values{sum: 7})
}

// What is in the way of a directory is told as long as it is.
func TestCounterDirThatCannotBeListed(t *testing.T) {
	r := newDir(t, nil, sumRows...)
	if err := os.Symlink("../../outside", filepath.Join(r.root, "sys/d")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if v, _, err := r.read(); err == nil || len(v) != 0 {
			t.Errorf("%v, error %v; want an error", v, err)
		}
	}
	if got := r.door.Errors["outside_tree"]; got != 3 {
		t.Errorf("%d errors outside_tree, want 3", got)
	}
	_ = os.Remove(filepath.Join(r.root, "sys/d"))
	_ = os.Mkdir(filepath.Join(r.root, "sys/d"), 0o755)
	r.set("ip4", "3\n")
	r.good().want(t, values{sum: 3})
}

func TestCounterDirLinkOutOfTheTreeIsRefused(t *testing.T) {
	r := newDir(t, fileSet{"ip4": "-> ../../secret", "other": "13\n"}, sumRows...)
	if err := os.WriteFile(filepath.Join(r.root, "secret"), []byte("99\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v, _, err := r.read()
	if err == nil || r.door.Errors["outside_tree"] != 1 {
		t.Errorf("error %v, counted %v; want outside_tree", err, r.door.Errors)
	}
	v.absent(t, sum)
	v.want(t, values{other: 13})
}

func TestCounterDirSaturation(t *testing.T) {
	const flag = `rdma_port_counter_saturated{device="nic0",port="1",counter="`
	rows := []catalog.Row{
		{Name: "nibble", Metric: counterMetric("rdma_a_total"), Width: catalog.Stick4},
		{Name: "byte", Metric: counterMetric("rdma_b_total"), Width: catalog.Stick8},
		{Name: "half", Metric: counterMetric("rdma_c_total"), Width: catalog.Stick16},
		{Name: "word", Metric: counterMetric("rdma_d_total"), Width: catalog.Stick32},
		{Name: "basic", Metric: counterMetric("rdma_e_total"), Width: catalog.Stick32Basic},
		{Name: "wide", Metric: counterMetric("rdma_f_total"), Width: catalog.Full},
		{Name: "wraps", Metric: counterMetric("rdma_g_total"), Width: catalog.Wrap32},
	}
	set := fileSet{}
	for name, value := range map[string]string{
		"nibble": "15", "byte": "255", "half": "65535", "word": "4294967295", "basic": "4294967295", "wide": "255", "wraps": "4294967295",
	} {
		set[name] = value + "\n"
	}
	r := newDir(t, set, rows...)
	v := r.good()
	v.want(t, values{flag + `nibble"}`: 1, flag + `byte"}`: 1, flag + `half"}`: 1, flag + `word"}`: 1, flag + `basic"}`: 1, "rdma_a_total" + `{device="nic0",port="1"}`: 15})
	v.absent(t, flag+"wide", flag+"wraps")
	for name, value := range map[string]string{"nibble": "14", "byte": "256", "half": "65534", "word": "0", "basic": "4294967296"} {
		r.set(name, value+"\n")
	}
	r.good().want(t, values{flag + `nibble"}`: 0, flag + `byte"}`: 0, flag + `half"}`: 0, flag + `word"}`: 0, flag + `basic"}`: 0})

	r.set("byte", "errno:EIO\n") // what was not read is not known
	v, _, err := r.read()
	if err == nil {
		t.Error("EIO is not reported")
	}
	v.absent(t, flag+"byte")
}

func TestCounterDirRowVoidBesideAnotherName(t *testing.T) {
	rows := []catalog.Row{
		{Name: "old", Metric: sumMetric, Unless: "new"},
		{Name: "new", Metric: sumMetric},
	}
	newDir(t, fileSet{"old": "3\n"}, rows...).good().want(t, values{sum: 3})
	r := newDir(t, fileSet{"old": "3\n", "new": "5\n"}, rows...)
	v := r.good()
	v.want(t, values{sum: 5})
	v.absent(t, "rdma_hw_counter")
	if slices.Contains(r.opened, "d/old") {
		t.Error("a file that feeds nothing was opened")
	}
}

func TestCounterDirUnits(t *testing.T) {
	r := newDir(t, fileSet{"words": "230539874932483\n"}, catalog.Row{Name: "words", Metric: bytesMetric, Unit: catalog.Words})
	r.good().want(t, values{`rdma_some_bytes_total{device="nic0",port="1"}`: 922159499729932})
}

// FuzzCounterDirNames plans a directory of any names: no name may break the
// page, cost another file its value, or be lost.
func FuzzCounterDirNames(f *testing.F) {
	for _, seed := range []string{"rx_bytes", "SwLinkUp,32", "Pio Reserved 30", "\xff", "\xff\x00\xfe", "a\nb", ",32", "{", "rq_num_oos\x00sq_num_oos", `\xff`} {
		f.Add(seed)
	}
	rows := append(slices.Clone(catalog.ForDriver("mlx4").HW), catalog.ForDriver("hfi1").HW...)
	f.Fuzz(func(t *testing.T, text string) {
		names := slices.Compact(slices.Sorted(strings.SplitSeq(text, "\x00")))
		c := &counterDir{path: "d", device: "nic0", port: "1", matcher: catalog.NewMatcher(rows), unmapped: &catalog.UnmappedHW, memory: newMemory(1, time.Unix(0, 0))}
		c.dir = &host.Dir{}
		c.plan(names)
		if len(c.files) != len(names) {
			t.Fatalf("%d files planned of %q", len(c.files), names)
		}
		b := &batch{now: time.Unix(0, 0)}
		for i, file := range c.files {
			file.value, file.ok = uint64(i+1), true
			file.book(false)
		}
		c.cells.emit(b)
		seen := map[string]bool{}
		for _, sample := range b.samples {
			for _, label := range sample.Series.Values {
				if !utf8.ValidString(label) {
					t.Errorf("label %q of %s is no UTF-8", label, sample.Series.Metric.Name)
				}
			}
			if key := sample.Series.Key(); seen[key] {
				t.Errorf("%q twice", key)
			} else {
				seen[key] = true
			}
		}
	})
}
