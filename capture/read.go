package capture

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of an archive that is read. A node of 16 NICs has some ten thousand
// files of a few megabytes; of an hour of its readings, every second, a megabyte
// each, there is room for all.
const (
	maxNodeFiles = 200_000
	maxNodeBytes = 256 << 20
	maxEntries   = 10_000_000
	maxBytes     = 4 << 30 // uncompressed
	maxFileBytes = 4 << 20
	maxDepth     = 64
	maxReadings  = 100_000
)

// Capture is an archive that was opened for reading. Its first reading lies in
// a directory of its own, as a node fixture; Advance brings that up to a later
// one.
type Capture struct {
	dir   string
	tree  *unpacked
	file  io.ReadSeekCloser
	times []time.Time

	step   int
	stream *stream // from which the next reading comes
	next   *entry  // its first one, if that has been met already
}

// IsArchive reports whether a path is that of an archive, by its name or by how
// it begins, and not of a fixture, which is a directory, or of a scenario.
func IsArchive(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return false
	}
	if strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz") {
		return true
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(gzipMagic))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == gzipMagic
}

// gzipMagic is how every gzip file begins, RFC 1952.
const gzipMagic = "\x1f\x8b"

// Open reads an archive to its end, so that one that is broken or cut short is
// found at once, and unpacks its first reading. Close it.
func Open(name string) (*Capture, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening a capture: %w", err)
	}
	c, err := open(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("reading the capture %s: %w", name, err)
	}
	return c, nil
}

func open(file io.ReadSeekCloser) (*Capture, error) {
	dir, err := os.MkdirTemp("", "rdmawatch-capture-")
	if err != nil {
		return nil, err
	}
	c := &Capture{dir: dir, file: file}
	if c.tree, err = newUnpacked(dir); err == nil {
		if err = c.scan(); err == nil {
			err = c.rewind()
		}
	}
	if err != nil {
		c.remove()
		return nil, err
	}
	return c, nil
}

// Dir is the directory of the fixture.
func (c *Capture) Dir() string { return c.dir }

// Times are those of the readings. A fixture that was packed by hand has one of
// the zero time.
func (c *Capture) Times() []time.Time { return c.times }

// Close removes what was unpacked.
func (c *Capture) Close() {
	c.file.Close()
	c.remove()
}

func (c *Capture) remove() {
	if c.tree != nil {
		c.tree.root.Close()
	}
	_ = os.RemoveAll(c.dir)
}

// Errors that say what is wrong with an archive.
var (
	errCut    = errors.New("the archive is cut short; copy it again, or take another one")
	errNoNode = errors.New("it is no capture and no packed fixture: it has no directory sys at its top")
)

// stream is a pass through the archive.
type stream struct {
	tar     *tar.Reader
	left    int64 // bytes that may still come
	entries int
	z       io.Reader
}

func (c *Capture) newStream() (*stream, error) {
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	packed := bufio.NewReaderSize(c.file, 1<<16)
	if begin, err := packed.Peek(len(gzipMagic)); string(begin) != gzipMagic && (err == nil || errors.Is(err, io.EOF)) {
		return nil, errors.New("it is no .tar.gz")
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		return nil, cut(err)
	}
	s := &stream{left: maxBytes, z: z}
	s.tar = tar.NewReader(s)
	return s, nil
}

// Read bounds what is uncompressed.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.z.Read(b)
	if s.left -= int64(n); s.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d GiB", maxBytes>>30)
	}
	return n, err
}

// entry is one of the archive, checked.
type entry struct {
	*tar.Header
	name    string // from the root of the fixture
	reading int64  // milliseconds of a later reading, 0 for the first
}

// nextEntry returns the next entry; io.EOF at the end.
func (s *stream) nextEntry() (entry, error) {
	h, err := s.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return entry{}, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return entry{}, errCut
	case err != nil:
		return entry{}, err
	}
	if s.entries++; s.entries > maxEntries {
		return entry{}, fmt.Errorf("it has more than %d entries", maxEntries)
	}
	return check(h)
}

// check refuses what a capture does not have. Nothing of it may lead out of
// the directory that it is unpacked to.
func check(h *tar.Header) (entry, error) {
	e := entry{Header: h}
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeSymlink:
	default:
		return e, fmt.Errorf("%q is no file, directory or symbolic link: refused", h.Name)
	}
	if h.Size < 0 || h.Size > maxFileBytes {
		return e, fmt.Errorf("%q has %d bytes, more than %d: refused", h.Name, h.Size, maxFileBytes)
	}
	var err error
	if e.name, err = cleanName(h.Name); err != nil {
		return e, err
	}
	if rest, ok := strings.CutPrefix(e.name, seriesDir+"/"); ok {
		number, name, _ := strings.Cut(rest, "/")
		ms, err := strconv.ParseInt(number, 10, 64)
		if err != nil || ms <= 0 {
			return e, fmt.Errorf("%q is of no time", h.Name)
		}
		e.reading, e.name = ms, name
	}
	if h.Typeflag == tar.TypeSymlink {
		return e, checkTarget(e.name, h.Linkname)
	}
	return e, nil
}

// cleanName returns a path from the fixture's root, "" for the root.
func cleanName(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || strings.ContainsAny(name, "\x00\n") || strings.Contains("/"+name+"/", "/../") {
		return "", fmt.Errorf("%q would lead out of the directory: refused", name)
	}
	if strings.Count(clean, "/") >= maxDepth || len(clean) > 4096 {
		return "", fmt.Errorf("%.60q… is too deep: refused", name)
	}
	if clean == "." {
		return "", nil
	}
	return clean, nil
}

// checkTarget refuses a link that leads out of sys. As sysfs writes them, the
// steps up come first: after a name one could go up from wherever another link
// leads.
func checkTarget(name, target string) error {
	steps := strings.Split(target, "/")
	up := 0
	for up < len(steps) && steps[up] == ".." {
		up++
	}
	leaves := target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\x00\n") || len(target) > 4096
	for _, step := range steps[up:] {
		leaves = leaves || step == ".."
	}
	// name is sys/…: what is left of it after the steps up must not be empty.
	if leaves || up >= strings.Count(name, "/") {
		return fmt.Errorf("the link %q would lead out of the tree, to %q: refused", name, target)
	}
	return nil
}

// scan goes through the whole archive once.
func (c *Capture) scan() error {
	s, err := c.newStream()
	if err != nil {
		return err
	}
	h, complete := header{}, false
	for {
		e, err := s.nextEntry()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			complete = complete || e.reading == 0 && e.name == aboutFile
			err = c.scanEntry(e, s, &h)
		}
		if err != nil {
			return cut(err)
		}
	}
	// What follows is padding and the checksum, by which a cut shows.
	if _, err := io.Copy(io.Discard, s); err != nil {
		return cut(err)
	}
	switch {
	case h.Format != 0 && !complete: // it was cut between readings
		return errCut
	case h.Format == 0 && len(c.times) > 0:
		return fmt.Errorf("it has a directory %s but no %s", seriesDir, headerFile)
	case h.Format == 0:
		c.times = []time.Time{{}}
	}
	if info, err := c.tree.root.Lstat("sys"); err != nil || !info.IsDir() {
		return errNoNode
	}
	return nil
}

func (c *Capture) scanEntry(e entry, s *stream, h *header) error {
	switch {
	case e.reading > 0:
		return c.scanReading(e)
	case e.name == headerFile && s.entries > 1:
		return fmt.Errorf("%s is not its first file", headerFile)
	case e.name == headerFile:
		if err := readHeader(s.tar, h); err != nil {
			return err
		}
		c.times = []time.Time{h.Taken}
	case e.name != "" && e.name != aboutFile:
		return c.tree.unpack(e, s.tar)
	}
	return nil
}

// cut says of a stream that ends too early that it does.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

func readHeader(r io.Reader, h *header) error {
	if err := json.NewDecoder(r).Decode(h); err != nil {
		return fmt.Errorf("%s: %w", headerFile, err)
	}
	if h.Format != formatVersion {
		return fmt.Errorf("its format is version %d, this program reads version %d", h.Format, formatVersion)
	}
	return nil
}

// scanReading notes the time of a later reading. Its files are looked at when
// they are needed.
func (c *Capture) scanReading(e entry) error {
	at := time.UnixMilli(e.reading).UTC()
	last := time.Time{}
	if len(c.times) > 0 {
		last = c.times[len(c.times)-1]
	}
	switch {
	case at.Equal(last) && len(c.times) > 1:
		return nil
	case !at.After(last):
		return fmt.Errorf("its readings are not in the order of time: %s after %s", at.Format(time.RFC3339Nano), last.Format(time.RFC3339Nano))
	case len(c.times) == maxReadings:
		return fmt.Errorf("it has more than %d readings", maxReadings)
	}
	c.times = append(c.times, at)
	return nil
}

// rewind makes the later readings come, from the first one on.
func (c *Capture) rewind() (err error) {
	if len(c.times) > 1 {
		c.stream, err = c.newStream()
	}
	return err
}

// Advance brings the fixture up to a reading, by its number in Times. There is
// no way back.
func (c *Capture) Advance(step int) error {
	if step < c.step || step >= len(c.times) {
		return fmt.Errorf("there is no way from reading %d to %d of %d", c.step, step, len(c.times))
	}
	for ; c.step < step; c.step++ {
		if err := c.apply(c.times[c.step+1].UnixMilli()); err != nil {
			return fmt.Errorf("reading %d of the capture: %w", c.step+2, cut(err))
		}
	}
	return nil
}

// apply makes the changes of one reading.
func (c *Capture) apply(reading int64) error {
	for {
		e, err := c.nextEntry()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.reading > reading:
			c.next = &e
			return nil
		case e.reading < reading || e.name == "": // the first reading, and what comes last
		case e.name == goneFile:
			err = c.tree.removeAll(c.stream.tar)
		default:
			err = c.tree.unpack(e, c.stream.tar)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Capture) nextEntry() (entry, error) {
	if e := c.next; e != nil {
		c.next = nil
		return *e, nil
	}
	return c.stream.nextEntry()
}

// Follow returns a clock that plays the series at its own pace: whoever asks for
// the time finds the fixture as it was that long after the first reading, and at
// the end as it was last. changed is called after each step, with its error.
func (c *Capture) Follow(now func() time.Time, changed func(error)) func() time.Time {
	var mu sync.Mutex
	var begin time.Time
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at := now()
		if begin.IsZero() {
			begin = at
		}
		step := c.step
		for step+1 < len(c.times) && c.times[step+1].Sub(c.times[0]) <= at.Sub(begin) {
			step++
		}
		if step > c.step {
			err := c.Advance(step)
			if err != nil {
				c.times = c.times[:c.step+1] // it ends here
			}
			changed(err)
		}
		return at
	}
}
