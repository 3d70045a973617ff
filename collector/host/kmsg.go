package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KernelMessage is the first line of one message of the kernel's log.
type KernelMessage struct {
	Time time.Time // zero if not known
	Text string
	Old  bool // was in the log before this reader came
}

// KernelLog reads the kernel's log from its oldest message on, each message
// once. It waits for none. Of what programs write to /dev/kmsg it sees nothing.
type KernelLog struct {
	keep func(text string) bool // whether a message is wanted
	open func(path string) (io.ReadCloser, error)
	boot func() time.Time // when the kernel's clock stood at zero

	file   io.ReadCloser // nil while not open, and of a fixture
	next   uint64        // number of the message that should come next, 0 if none came yet
	lost   uint64
	primed bool // the end was reached once
	buf    []byte

	text     string          // of a fixture, so far
	recorded []KernelMessage // for a recorder, the newest of them
}

// NewKernelLog makes a reader of the messages that keep wants. It is asked about
// each one, so it must be quick.
func NewKernelLog(keep func(text string) bool) *KernelLog {
	return &KernelLog{keep: keep, open: openKmsg, boot: bootTime, buf: make([]byte, maxRecord)}
}

const (
	// maxRecord is more than a record of /dev/kmsg has: PRINTK_MESSAGE_MAX,
	// 8192 in kernels up to 6.3 (CONSOLE_EXT_LOG_MAX), 2048 since.
	maxRecord = 8192
	// maxRecords bounds one reading; what is left is read by the next.
	maxRecords = 8192
	// maxLog bounds the text of a fixture.
	maxLog = 1 << 20
	// maxRecorded is how many messages are kept for a capture.
	maxRecorded = 1000
)

// dmesgText is where a fixture has the log, as `dmesg --time-format iso` prints
// it.
const dmesgText = "dmesg"

// Lost is how many messages were overwritten before they could be read.
func (l *KernelLog) Lost() uint64 { return l.lost }

// Close releases the log. It can be read again; no message comes twice.
func (l *KernelLog) Close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// Read returns the wanted messages since the last time.
func (l *KernelLog) Read(d *Door) ([]KernelMessage, error) {
	d.host.asksText(dmesgText)
	var messages []KernelMessage
	var err error
	if d.Replay() {
		messages, err = l.readText(d)
	} else {
		d.host.trace(dmesgText)
		messages, err = l.readRecords(d.host.kmsg)
		err = d.count(err)
	}
	if d.host.recorder != nil {
		l.recorded = append(l.recorded, messages...)
		l.recorded = l.recorded[max(0, len(l.recorded)-maxRecorded):]
	}
	d.host.answeredText(dmesgText, "", err, func() string { return printDmesg(l.recorded) })
	if err != nil {
		return nil, fmt.Errorf("reading the kernel's log: %w", err)
	}
	return messages, nil
}

// readRecords reads /dev/kmsg: each read(2) gives one record, the oldest first
// (Documentation/ABI/testing/dev-kmsg).
func (l *KernelLog) readRecords(path string) (messages []KernelMessage, err error) {
	if l.file == nil {
		if l.file, err = l.open(path); err != nil {
			return nil, err
		}
	}
	boot := l.boot()
	for range maxRecords {
		n, err := l.file.Read(l.buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			l.primed = true
			return messages, nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINVAL):
			// What came next was overwritten, or is longer than any record: the
			// one after it follows, and its number tells how many are lost.
			continue
		case err != nil:
			l.Close()
			return messages, err
		}
		r, err := parseRecord(l.buf[:n])
		if err != nil || !l.arrives(r.number) || r.facility != 0 || !l.keep(r.text) {
			continue
		}
		messages = append(messages, KernelMessage{Time: boot.Add(r.since), Text: r.text, Old: !l.primed})
	}
	return messages, nil
}

// arrives books the number of a message, and reports whether it is new.
func (l *KernelLog) arrives(number uint64) bool {
	if number < l.next {
		return false
	}
	if l.next > 0 {
		l.lost += number - l.next
	}
	l.next = number + 1
	return true
}

// record is one record of /dev/kmsg.
type record struct {
	facility uint64        // 0 is the kernel, others are programs
	number   uint64        // counts all records since boot
	since    time.Duration // of the kernel's clock
	text     string
}

// parseRecord reads "6,339,5140900,-;text", after which lines with a blank at
// their beginning name the device.
func parseRecord(b []byte) (record, error) {
	prefix, text, ok := bytes.Cut(b, []byte(";"))
	fields := strings.Split(string(prefix), ",")
	if !ok || len(fields) < 3 {
		return record{}, errors.New("no record of the kernel's log")
	}
	var numbers [3]uint64
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseUint(fields[i], 10, 63); err != nil {
			return record{}, err
		}
	}
	text, _, _ = bytes.Cut(text, []byte("\n"))
	return record{
		facility: numbers[0] >> 3, number: numbers[1],
		since: time.Duration(min(numbers[2], maxMicroseconds)) * time.Microsecond, text: string(text),
	}, nil
}

// maxMicroseconds is as much as a time.Duration holds, 292 years.
const maxMicroseconds = (1<<63 - 1) / 1000

// kmsg is an open /dev/kmsg. An os.File would wait for a message.
type kmsg int

func openKmsg(path string) (io.ReadCloser, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err // and no kmsg(-1), which would pass for an open one
	}
	return kmsg(fd), nil
}

func (k kmsg) Read(b []byte) (int, error) {
	for {
		if n, err := unix.Read(int(k), b); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (k kmsg) Close() error { return unix.Close(int(k)) }

// bootTime is when the clock of the kernel's messages stood at zero. It does not
// run while the machine sleeps, which one with these cards does not do.
func bootTime() time.Time {
	var up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &up) != nil {
		return time.Now()
	}
	return time.Now().Add(-time.Duration(up.Nano()))
}

// readText reads a fixture's log anew and returns what is new in it.
func (l *KernelLog) readText(d *Door) ([]KernelMessage, error) {
	b, err := d.readText(d.host.replay, dmesgText, maxLog)
	if err != nil {
		return nil, err
	}
	text, old := string(b), !l.primed
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	var messages []KernelMessage
	for line := range strings.Lines(unread(text, l.text)) {
		m := parseDmesg(strings.TrimSuffix(line, "\n"))
		if m.Old = old; l.keep(m.Text) {
			messages = append(messages, m)
		}
	}
	l.text, l.primed = text, true
	return messages, nil
}

// unread returns the lines of a log that come after those that are known. Of a
// log that was rotated the beginning is gone.
func unread(text, known string) string {
	if rest, ok := strings.CutPrefix(text, known); ok {
		return rest
	}
	last := known[strings.LastIndex(strings.TrimSuffix(known, "\n"), "\n")+1:]
	if i := strings.LastIndex("\n"+text, "\n"+last); i >= 0 {
		return text[i+len(last):]
	}
	return text
}

// isoTime is the time of `dmesg --time-format iso`.
const isoTime = "2006-01-02T15:04:05,000000-07:00"

// parseDmesg reads a line of dmesg. Times that do not tell the day are not
// known: "[    2.608284] text" and the bare text.
func parseDmesg(line string) KernelMessage {
	if stamp, text, ok := strings.Cut(line, " "); ok {
		if t, err := time.Parse(isoTime, stamp); err == nil {
			return KernelMessage{Time: t, Text: text}
		}
	}
	if strings.HasPrefix(line, "[") {
		if _, text, ok := strings.Cut(line, "] "); ok {
			return KernelMessage{Text: text}
		}
	}
	return KernelMessage{Text: line}
}

func printDmesg(messages []KernelMessage) string {
	var b strings.Builder
	for _, m := range messages {
		if !m.Time.IsZero() {
			b.WriteString(m.Time.UTC().Format(isoTime) + " ")
		}
		b.WriteString(m.Text + "\n")
	}
	return b.String()
}
