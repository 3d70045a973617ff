package host

import (
	"errors"
	"strconv"
	"strings"
)

// ErrNotNumber is the error for text where a number was expected, such as
// "N/A (no PMA)".
var ErrNotNumber = errors.New("not a number")

// ParseCounter reads a kernel counter: an unsigned decimal number that may
// have blanks around it. 2^64-1 is how firmware says that it has no value; it
// is not a number either. So is anything negative.
func ParseCounter(text []byte) (uint64, error) {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && isBlank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	if len(text) == 0 || len(text) > 20 {
		return 0, ErrNotNumber
	}
	var v uint64
	for _, c := range text {
		digit := uint64(c - '0')
		if c < '0' || c > '9' || v > (1<<64-1)/10 || v*10 > 1<<64-1-digit {
			return 0, ErrNotNumber
		}
		v = v*10 + digit
	}
	if v == 1<<64-1 {
		return 0, ErrNotNumber
	}
	return v, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// ParseNumbered reads attributes of the form "4: ACTIVE": the number counts,
// the text is for people.
func ParseNumbered(text string) (int, error) {
	number, _, _ := strings.Cut(text, ":")
	v, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || v < 0 {
		return 0, ErrNotNumber
	}
	return v, nil
}

// ParseHex reads 0x-prefixed identifiers such as a LID.
func ParseHex(text string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(text), "0x"), 16, 64)
	if err != nil {
		return 0, ErrNotNumber
	}
	return v, nil
}
