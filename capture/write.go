package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// Names of what an archive has beside the fixture.
const (
	headerFile = "capture.json" // comes first
	aboutFile  = "CAPTURE.md"   // comes last
	seriesDir  = "series"       // later readings
	goneFile   = "gone"         // in a reading: what is no longer there
)

// formatVersion is that of the archive's layout.
const formatVersion = 1

// header is headerFile.
type header struct {
	Format int       `json:"format"`
	Taken  time.Time `json:"taken"` // when the first reading was
}

// Config says what is to be written.
type Config struct {
	// Raw keeps what identifies the machine.
	Raw bool
	// Hosts are names of the machine, to be replaced wherever they are.
	Hosts []string
	// MaxSize bounds the archive in bytes; 0 means that it is not.
	MaxSize int64
	// About is told of the capture in the archive, a line each: the program's
	// version, the kernel.
	About []string
}

// ErrFull is the error for a reading that no longer fits. The archive can be
// closed and has the readings before it.
var ErrFull = errors.New("the archive has reached its largest size")

// Writer writes readings into an archive, as they are taken: each is a gzip
// member of its own, so that its size is known before it is written.
type Writer struct {
	out  io.Writer
	c    Config
	rec  *Recording
	anon *anonymiser

	last    tree
	tar     *tar.Writer
	pending bytes.Buffer // what tar has written of this reading

	summary Summary
	lastAt  time.Time
}

// Summary is what came of a capture.
type Summary struct {
	Readings    int
	First, Last time.Time
	Files       int // of the first reading
	Devices     int // of the first reading
	Bytes       int64
	Replaced    []Replaced
	Raw         bool
}

// NewWriter makes a writer of what rec has recorded.
func NewWriter(out io.Writer, rec *Recording, c Config) *Writer {
	w := &Writer{out: out, c: c, rec: rec, anon: newAnonymiser(c.Raw, c.Hosts)}
	w.tar = tar.NewWriter(&w.pending)
	return w
}

// closingSize is what the end of the archive may take.
const closingSize = 16 << 10

// Add writes what has been recorded as the reading of that time: the first one
// whole, of the others what has changed.
func (w *Writer) Add(at time.Time) error {
	if at = at.UTC().Truncate(time.Millisecond); !at.After(w.lastAt) {
		at = w.lastAt.Add(time.Millisecond)
	}
	now := w.rec.tree()
	changed, gone := now.since(w.last)
	dir := ""
	if w.summary.Readings == 0 {
		if err := w.addHeader(at); err != nil {
			return err
		}
	} else {
		dir = path.Join(seriesDir, strconv.FormatInt(at.UnixMilli(), 10))
		if err := w.addSeries(dir, gone, at); err != nil {
			return err
		}
	}
	for _, name := range changed {
		w.anon.learn(name, now[name].text)
	}
	for _, name := range changed {
		if err := w.addItem(dir, name, now[name], at); err != nil {
			return err
		}
	}
	if err := w.tar.Flush(); err != nil {
		return err
	}
	if err := w.flush(w.c.MaxSize - closingSize); err != nil {
		return err
	}
	if w.summary.Readings == 0 {
		w.summary.First = at
		for name, i := range now {
			if i.kind == host.IsFile {
				w.summary.Files++
			}
			if path.Dir(name) == "sys/class/infiniband" && i.kind == host.IsLink {
				w.summary.Devices++
			}
		}
	}
	w.summary.Readings++
	w.summary.Last, w.lastAt = at, at
	w.last = now
	return nil
}

func (w *Writer) addHeader(at time.Time) error {
	text, err := json.Marshal(header{Format: formatVersion, Taken: at})
	if err != nil {
		return err
	}
	return w.addFile(headerFile, string(text)+"\n", at)
}

// addSeries begins a later reading.
func (w *Writer) addSeries(dir string, gone []string, at time.Time) error {
	if err := w.addEntry(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at}, ""); err != nil {
		return err
	}
	if len(gone) == 0 {
		return nil
	}
	var list strings.Builder
	for _, name := range gone {
		list.WriteString(w.anon.name(name) + "\n")
	}
	return w.addFile(path.Join(dir, goneFile), list.String(), at)
}

func (w *Writer) addItem(dir, name string, i item, at time.Time) error {
	to := path.Join(dir, w.anon.name(name))
	switch i.kind {
	case host.IsDir:
		return w.addEntry(&tar.Header{Typeflag: tar.TypeDir, Name: to + "/", Mode: 0o755, ModTime: at}, "")
	case host.IsLink:
		return w.addEntry(&tar.Header{Typeflag: tar.TypeSymlink, Name: to, Linkname: w.anon.name(i.text), Mode: 0o777, ModTime: at}, "")
	}
	return w.addFile(to, w.anon.text(name, i.text), at)
}

func (w *Writer) addFile(name, text string, at time.Time) error {
	return w.addEntry(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644, ModTime: at}, text)
}

func (w *Writer) addEntry(h *tar.Header, text string) error {
	// Whole seconds need no extended header; the exact time is in the name of
	// the reading.
	h.ModTime = h.ModTime.Truncate(time.Second)
	if err := w.tar.WriteHeader(h); err != nil {
		return fmt.Errorf("writing %s to the archive: %w", h.Name, err)
	}
	_, err := io.WriteString(w.tar, text)
	return err
}

// flush compresses what tar has written and passes it on, if the archive is then
// not larger than limit. Else it is dropped as a whole.
func (w *Writer) flush(limit int64) error {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	_, err := z.Write(w.pending.Bytes())
	if err := errors.Join(err, z.Close()); err != nil {
		return err
	}
	w.pending.Reset()
	if w.c.MaxSize > 0 && w.summary.Bytes+int64(member.Len()) > limit {
		return ErrFull
	}
	n, err := w.out.Write(member.Bytes())
	w.summary.Bytes += int64(n)
	return err
}

// Close ends the archive with a page about it.
func (w *Writer) Close() (Summary, error) {
	w.summary.Replaced, w.summary.Raw = w.anon.report(), w.c.Raw
	if w.summary.Readings == 0 {
		return w.summary, errors.New("nothing was captured")
	}
	if err := w.addFile(aboutFile, w.summary.about(w.c.About), w.lastAt); err != nil {
		return w.summary, err
	}
	if err := w.tar.Close(); err != nil {
		return w.summary, err
	}
	return w.summary, w.flush(w.c.MaxSize)
}

// about is the page about a capture.
func (s Summary) about(lines []string) string {
	var b strings.Builder
	b.WriteString("# Capture of an RDMA node\n\n")
	fmt.Fprintf(&b, "- taken: %s, %s\n", s.First.Format(time.RFC3339), s.times())
	for _, line := range lines {
		fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(line), " "))
	}
	b.WriteString("\nIt holds what rdmawatch reads, in the form of a node fixture. Read it with\n" +
		"`rdmawatch diagnose --replay FILE`, or play it with `rdmawatch replay FILE`.\n\n## Replaced\n\n")
	switch {
	case s.Raw:
		b.WriteString("Nothing (`--raw`): addresses, GUIDs and host names are those of the machine.\n")
		return b.String()
	case len(s.Replaced) == 0:
		b.WriteString("Nothing was found that had to be replaced.\n")
	default:
		b.WriteString("The same original has the same replacement everywhere.\n\n| what | different ones | places |\n|---|---|---|\n")
		for _, r := range s.Replaced {
			fmt.Fprintf(&b, "| %s | %d | %d |\n", r.Kind, r.Distinct, r.Places)
		}
	}
	b.WriteString("\nKept: names of devices and interfaces, PCI addresses, firmware and board,\nevery count and setting.\n")
	return b.String()
}

// times says when the readings were, for people.
func (s Summary) times() string {
	if s.Readings == 1 {
		return "1 reading"
	}
	return fmt.Sprintf("%d readings in %s", s.Readings, s.Last.Sub(s.First).Round(100*time.Millisecond))
}

// String says what came of the capture in a line or two.
func (s Summary) String() string {
	text := fmt.Sprintf("%s, %d files, %d bytes; ", s.times(), s.Files, s.Bytes)
	switch {
	case s.Raw:
		return text + "nothing replaced (--raw)"
	case len(s.Replaced) == 0:
		return text + "nothing to replace"
	}
	parts := make([]string, len(s.Replaced))
	for i, r := range s.Replaced {
		parts[i] = fmt.Sprintf("%s: %d", r.Kind, r.Distinct)
	}
	return text + "replaced (different ones of each kind): " + strings.Join(parts, ", ")
}
