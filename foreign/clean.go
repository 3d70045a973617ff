package foreign

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	errEmpty  = errors.New("is empty")
	errBinary = errors.New("is no text")
)

// archives are recognised to say what to do with them.
var archives = []struct{ magic, what string }{
	{"\x1f\x8b", "gzip"}, {"\xfd7zXZ\x00", "xz"}, {"BZh", "bzip2"}, {"PK\x03\x04", "zip"}, {"\x28\xb5\x2f\xfd", "zstd"},
}

var terminal = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)|[@-Z\\\\-_])")

// clean makes lines of what was attached, without the marks of other systems,
// colours of the terminal and stray zero bytes. What is not text is refused.
func clean(b []byte) ([]string, error) {
	if len(strings.TrimSpace(string(b))) == 0 {
		return nil, errEmpty
	}
	for _, a := range archives {
		if strings.HasPrefix(string(b), a.magic) {
			return nil, errors.New("is a " + a.what + " archive: unpack it first")
		}
	}
	if binary(b) {
		return nil, errBinary
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "").Replace(text)
	if strings.Contains(text, "\x1b") {
		text = terminal.ReplaceAllString(text, "")
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if len(lines) == maxLines {
			break
		}
		lines = append(lines, line[:min(len(line), maxLine)])
	}
	return lines, nil
}

// maxLines bounds the lines of a text: one of all blank lines must not become
// much larger than it is.
const maxLines = 1_000_000

// maxLine bounds a line. The longest that are wanted are records of rdma
// statistic in JSON, with some hundred counters a port and a dozen ports.
const maxLine = 256 << 10

// binary judges by the beginning: more than one byte in fifty that no text has.
func binary(b []byte) bool {
	b = b[:min(len(b), 64<<10)]
	odd := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		cut := r == utf8.RuneError && size == 1 && len(b)-i < utf8.UTFMax
		if r == utf8.RuneError && size == 1 && !cut || r < ' ' && !strings.ContainsRune("\n\r\t\x1b\f\b", r) {
			odd++
		}
		i += size
	}
	return odd*50 > len(b)
}
