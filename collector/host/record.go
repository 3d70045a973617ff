package host

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Recorder takes down what the machine answers, so that it can be written as a
// fixture. Paths are those of a fixture: sys/class/net/eth0, ethtool/eth0/S.
// The goroutines that read call it, several at a time.
type Recorder interface {
	// Asks says that path is about to be read. An answer is recorded when it
	// comes; a read that hangs stays without one.
	Asks(path string)
	// Record says what is at path now.
	Record(path string, e Entry)
}

// Entry is what is at a path.
type Entry struct {
	Kind Kind
	Text string // of a file: its content, or errno:NAME if it cannot be read; of a link: its target
	// Names are what a directory has, nil if it was not listed.
	Names []string
	// Instance is another number when a link was removed and made again, 0 if
	// that was not looked at.
	Instance uint64
}

// Kind is the kind of an Entry.
type Kind uint8

// The kinds of an Entry.
const (
	IsAbsent Kind = iota // there is nothing
	IsFile
	IsUnread // a file of which only the name is known
	IsLink
	IsDir
)

// record passes an answer on to the recorder, if there is one.
func (h *Host) record(at string, e Entry) {
	if h.recorder != nil && at != "" {
		h.recorder.Record(at, e)
	}
}

// asks announces the reading of a sysfs file and returns its path in a fixture;
// "" if nothing is recorded, or if there is no such file.
func (h *Host) asks(name string) string {
	if h.recorder == nil {
		return ""
	}
	place, err := h.locate(name)
	if err != nil {
		return ""
	}
	h.recorder.Asks("sys/" + place)
	return "sys/" + place
}

// answered records what asks has announced.
func (h *Host) answered(at string, text []byte, err error) {
	switch {
	case h.recorder == nil || at == "":
	case errors.Is(err, unix.EISDIR):
		h.record(at, Entry{Kind: IsDir})
	case err != nil:
		h.record(at, refusedEntry(err))
	default:
		h.record(at, Entry{Kind: IsFile, Text: string(text)})
	}
}

// refusedEntry is how a fixture shows an error.
func refusedEntry(err error) Entry {
	return Entry{Kind: IsFile, Text: errnoMark + ErrorName(err) + "\n"}
}

// locate follows the links of a sysfs path, records them, and returns where it
// leads. What keeps it from arriving is recorded as well.
func (h *Host) locate(name string) (string, error) {
	place, err := h.walk(name, func(at, target string) { h.record("sys/"+at, Entry{Kind: IsLink, Text: target}) })
	switch {
	case err == nil || errors.Is(err, unix.ENOTDIR):
	case errors.Is(err, fs.ErrNotExist):
		h.record("sys/"+place, Entry{Kind: IsAbsent})
	default:
		h.record("sys/"+place, refusedEntry(err))
	}
	return place, err
}

// saw records that a sysfs path exists, or that it does not.
func (h *Host) saw(name string) {
	if h.recorder == nil {
		return
	}
	if place, err := h.locate(name); err == nil {
		h.sawPlace(place)
	}
}

// sawPlace is saw of a path without links.
func (h *Host) sawPlace(place string) {
	info, err := h.sys.Lstat(place)
	switch {
	case err != nil:
	case info.IsDir():
		h.record("sys/"+place, Entry{Kind: IsDir})
	default:
		h.record("sys/"+place, Entry{Kind: IsUnread})
	}
}

// listed records the names in a sysfs directory, or why they cannot be had.
func (h *Host) listed(name string, names []string, err error) {
	if h.recorder == nil {
		return
	}
	place, walkErr := h.locate(name)
	switch {
	case walkErr != nil:
		return
	case err != nil:
		h.record("sys/"+place, refusedEntry(err))
		return
	}
	h.record("sys/"+place, Entry{Kind: IsDir, Names: append([]string{}, names...)})
	for _, n := range names {
		entry := path.Join(place, n)
		if _, err := h.sys.Readlink(entry); err == nil {
			_, _ = h.locate(entry) // records the link, and whether it leads nowhere
		} else {
			h.sawPlace(entry)
		}
	}
}

// sawInstance records which registration an entry of a class is.
func (h *Host) sawInstance(name string, instance uint64) {
	if h.recorder == nil {
		return
	}
	if _, err := h.locate(name); errors.Is(err, ErrOutside) {
		return
	}
	if target, err := h.sys.Readlink(name); err == nil {
		h.record("sys/"+name, Entry{Kind: IsLink, Text: target, Instance: instance})
	}
}

// undecodable stands for an answer of netlink that could not be understood:
// no text that a tool prints.
const undecodable = "an answer that rdmawatch could not decode\n"

// asksText announces the reading of an answer that is no file on the machine.
func (h *Host) asksText(at string) {
	if h.recorder != nil {
		h.recorder.Asks(at)
	}
}

// answeredText records the text of an answer that is no file on the machine. It
// is printed if there was an answer; raw is what it was read from.
func (h *Host) answeredText(at, raw string, err error, printed func() string) {
	if h.recorder == nil {
		return
	}
	var errno syscall.Errno
	switch {
	case err == nil:
		h.record(at, Entry{Kind: IsFile, Text: printed()})
	case errors.Is(err, ErrNoNetlink), raw == "" && errors.Is(err, fs.ErrNotExist):
		h.record(at, Entry{Kind: IsAbsent})
	case raw == "" || errors.As(err, &errno):
		h.record(at, refusedEntry(err))
	default:
		h.record(at, Entry{Kind: IsFile, Text: raw})
	}
}

// rdmaBook keeps the lines of netlink/rdma-link and netlink/rdma-dev by device:
// the kernel is asked about one at a time.
type rdmaBook struct {
	mu    sync.Mutex
	lines map[string]map[string]string // by path and device
}

// answeredRDMA records the lines about one device.
func (h *Host) answeredRDMA(at, device, lines string, err error) {
	if h.recorder == nil || errors.Is(err, ErrNoNetlink) {
		return
	}
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	if h.book.lines == nil {
		h.book.lines = map[string]map[string]string{}
	}
	if h.book.lines[at] == nil {
		h.book.lines[at] = map[string]string{}
	}
	h.book.lines[at][device] = lines
	var text strings.Builder
	for _, device := range slices.Sorted(maps.Keys(h.book.lines[at])) {
		text.WriteString(h.book.lines[at][device])
	}
	h.record(at, Entry{Kind: IsFile, Text: text.String()})
}

// linesAbout picks the lines about a device from the text of `rdma link` or
// `rdma dev`.
func linesAbout(text, device string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 {
			if name, _, _ := strings.Cut(f[1], "/"); name == device || name == device+":" {
				b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
			}
		}
	}
	return b.String()
}
