package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmawatch/rdmawatch/diagnose"
)

// style is how text is written to w: coloured on a terminal only, as wide as
// the terminal but no wider than is good to read.
func style(w io.Writer, color bool) diagnose.Style {
	const widest = 100
	s := diagnose.Style{Width: 80, ASCII: !hasUTF8()}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		s.Width = min(columns, widest)
	}
	if file, ok := w.(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ); err == nil {
			if size.Col > 0 {
				s.Width = min(int(size.Col), widest)
			}
			s.Color = color && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		}
	}
	return s
}

// hasUTF8 reports whether the locale is one of UTF-8. The first of these that
// is set counts.
func hasUTF8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := os.Getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}

// isTerminal reports whether somebody may be looking at w.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// progress is a line that tells how long it still takes.
type progress struct {
	w  io.Writer
	on bool
}

func (p progress) show(left time.Duration) {
	if p.on {
		fmt.Fprintf(p.w, "\rlooking, %ds left; Ctrl-C shows what was seen so far \x1b[K", int(left.Seconds()+0.5))
	}
}

func (p progress) clear() {
	if p.on {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
