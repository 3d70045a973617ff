package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoMark begins the text that stands in a fixture for a file that cannot be
// read. The name of the error follows, as ErrorName gives it.
const errnoMark = "errno:"

// errHangs is the error of a file whose read does not return.
var errHangs = errors.New("the read hangs")

// fixtureError turns the text errno:NAME into that error.
func (h *Host) fixtureError(text []byte) error {
	if h.replay == nil || len(text) <= len(errnoMark) || string(text[:len(errnoMark)]) != errnoMark {
		return nil
	}
	switch name := strings.TrimSpace(string(text[len(errnoMark):])); name {
	case "hangs":
		return errHangs
	case ErrorName(ErrOutside):
		return ErrOutside
	case ErrorName(ErrNotNumber):
		return ErrNotNumber
	case ErrorName(os.ErrDeadlineExceeded):
		return os.ErrDeadlineExceeded
	case ErrorName(errOther):
		return errOther
	default:
		for errno := syscall.Errno(1); errno < maxErrno; errno++ {
			if errnoName(errno) == name {
				return errno
			}
		}
		return fmt.Errorf("fixture names an unknown error %q", name)
	}
}

// maxErrno is MAX_ERRNO, include/linux/err.h.
const maxErrno = 4095

// errOther is the error of which a capture knows only that it has no name.
var errOther = errors.New("an error without a name")

// fixtureRefusal is the error of a directory that could not be opened. In a
// fixture a file errno:NAME stands in its place, and what is asked for below it
// meets that file.
func (h *Host) fixtureRefusal(root *os.Root, name string, err error) error {
	if h.replay == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for ; name != "." && name != "/"; name = path.Dir(name) {
		f, openErr := root.Open(name)
		if openErr != nil {
			continue // it is below the file
		}
		text, readErr := io.ReadAll(io.LimitReader(f, MaxValue))
		f.Close()
		if refused := h.fixtureError(text); readErr == nil && refused != nil {
			return refused
		}
		break
	}
	return err
}

// sleepers are the reads that hang in a fixture, until it changes.
type sleepers struct {
	mu      sync.Mutex
	current *night
	closed  bool
}

// night is the time between two changes.
type night struct {
	over   chan struct{}
	asleep sync.WaitGroup
	rose   atomic.Bool // at least one read returned afterwards
}

// Wake says that the files of a fixture have changed: what hung is read again.
// It reports whether something of that returned.
func (h *Host) Wake() bool {
	ended := h.sleepers.end(false)
	if ended == nil {
		return false
	}
	ended.asleep.Wait()
	return ended.rose.Load()
}

// end ends the night; nil if nobody has slept.
func (s *sleepers) end(closed bool) *night {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || closed
	ended := s.current
	s.current = nil
	if ended != nil {
		close(ended.over)
	}
	return ended
}

// sleep joins the present night, nil if there will be no end to it. Whoever
// does not sleep any more tells asleep.
func (s *sleepers) sleep() *night {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if s.current == nil {
		s.current = &night{over: make(chan struct{})}
	}
	s.current.asleep.Add(1)
	return s.current
}

// awake reads until the read no longer hangs. Then what it returned counts.
func awake[T any](h *Host, read func() (T, error)) (T, error) {
	v, err := read()
	for errors.Is(err, errHangs) {
		night := h.sleepers.sleep()
		if night == nil {
			return v, unix.EINTR
		}
		// Once more: the file may have changed before the night began.
		if v, err = read(); errors.Is(err, errHangs) {
			<-night.over
			v, err = read()
		}
		if !errors.Is(err, errHangs) {
			night.rose.Store(true)
		}
		night.asleep.Done()
	}
	return v, err
}
