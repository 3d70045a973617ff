package diagnose

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text from the machine harmless: what would move the cursor, and
// what the terminal cannot show, is written as an escape.
func (p *page) clean(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r < utf8.RuneSelf && unicode.IsPrint(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case p.style.ASCII || !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// wrap breaks text into lines of at most a width, at spaces; a word that is
// longer is broken anywhere. There is at least one line.
func wrap(text string, width int) []string {
	width = max(width, 1)
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		length := utf8.RuneCountInString(word)
		if used > 0 && used+1+length <= width {
			line, used = line+" "+word, used+1+length
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		for length > width {
			head := string([]rune(word)[:width])
			lines, word, length = append(lines, head), word[len(head):], length-width
		}
		line, used = word, length
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// wrapCommand breaks a command of a shell so that it can still be pasted: after
// a semicolon or a pipe, else at a space with a backslash, and never inside
// quotes. What has no such place stays as long as it is.
func wrapCommand(command string, width int) []string {
	var lines []string
	for utf8.RuneCountInString(command) > width {
		at, mark := breakOf(command, width)
		if at < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(command[:at], " ")+mark)
		command = strings.TrimLeft(command[at:], " ")
	}
	return append(lines, command)
}

// breakOf finds the place where a command is broken, and what must be put
// there: the last good one that fits, else the first one at all.
func breakOf(command string, width int) (at int, mark string) {
	good, poor, first := -1, -1, -1
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '\\':
			i++
		case c == ' ' && i > 0 && i+1 < len(command):
			ends := command[i-1] == ';' || command[i-1] == '|'
			switch {
			case ends && i <= width:
				good = i
			case i+2 <= width:
				poor = i
			}
			if first < 0 && i > 0 {
				first = i
			}
		}
	}
	switch {
	case good > width/3:
		return good, ""
	case poor > 0:
		return poor, ` \`
	case good > 0:
		return good, ""
	case first > 0 && first < len(command):
		return first, ` \`
	}
	return -1, ""
}
