package capture

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// An archive never grows beyond its largest size; what was in it before can be
// read.
func TestMaxSize(t *testing.T) {
	inTemp(t)
	const limit = closingSize + 2000
	var b bytes.Buffer
	r := node()
	w := NewWriter(&b, r, Config{MaxSize: limit})
	readings, err := 0, error(nil)
	for ; err == nil && readings < 100; readings++ {
		r.Record("sys/devices/pci1/vendor", file(fmt.Sprintf("%d\n", readings)))
		err = w.Add(time.Unix(int64(1e9+readings), 0))
	}
	if !errors.Is(err, ErrFull) || readings < 3 {
		t.Fatalf("%d readings, then %v", readings, err)
	}
	s, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() > limit || s.Bytes != int64(b.Len()) || s.Readings != readings-1 {
		t.Errorf("%d bytes of %d at most; summary %+v", b.Len(), limit, s)
	}
	c, err := openBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := len(c.Times()); got != readings-1 {
		t.Errorf("%d readings can be read, want %d", got, readings-1)
	}
}

func TestNothingFits(t *testing.T) {
	w := NewWriter(&bytes.Buffer{}, node(), Config{MaxSize: 100})
	if err := w.Add(time.Unix(1, 0)); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	if _, err := w.Close(); err == nil {
		t.Error("an archive of nothing was closed")
	}
}

// Readings of one time get times of their own: a reader tells them by it.
func TestSameTime(t *testing.T) {
	inTemp(t)
	var b bytes.Buffer
	w := NewWriter(&b, node(), Config{})
	for range 3 {
		if err := w.Add(time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := openBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if times := c.Times(); len(times) != 3 || times[2].Sub(times[0]) != 2*time.Millisecond {
		t.Errorf("times %v", times)
	}
}

func TestAbout(t *testing.T) {
	s := Summary{
		Readings: 11, First: time.Unix(1e9, 0).UTC(), Last: time.Unix(1e9+10, 0).UTC(), Files: 7, Bytes: 13,
		Replaced: []Replaced{{kindGUID, 2, 5}, {kindHost, 1, 3}},
	}
	page := s.about([]string{"kernel: 6.1.0\nfoo"})
	for _, want := range []string{"2001-09-09T01:46:40Z, 11 readings in 10s\n", "- kernel: 6.1.0 foo\n", "| GUID | 2 | 5 |\n", "| host name | 1 | 3 |\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if got, want := s.String(), "11 readings in 10s, 7 files, 13 bytes; replaced (different ones of each kind): GUID: 2, host name: 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Raw = true
	if page := s.about(nil); !strings.Contains(page, "`--raw`") {
		t.Errorf("a raw capture does not say so:\n%s", page)
	}
}
