package host

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestParseCounter(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       uint64
		ok         bool
	}{
		{"zero", "0", 0, true},
		{"plain", "9973\n", 9973, true},
		{"blanks around", " \t17\r\n", 17, true},
		{"leading zeros", "00000000000000000019", 19, true},
		{"32 bits full", "4294967295", 4294967295, true},
		{"largest", "18446744073709551614", 18446744073709551614, true},
		{"firmware has no value", "18446744073709551615", 0, false},
		{"too large by one", "18446744073709551616", 0, false},
		{"too large by a digit", "99999999999999999999", 0, false},
		{"too long", "000000000000000000001", 0, false},
		{"nothing", "", 0, false},
		{"only blanks", " \n", 0, false},
		{"negative", "-1", 0, false},
		{"signed", "+1", 0, false},
		{"hexadecimal", "0x10", 0, false},
		{"no PMA", "N/A (no PMA)\n", 0, false},
		{"two numbers", "3 5", 0, false},
		{"number and unit", "3us", 0, false},
		{"just above the digits", "1:", 0, false},
		{"just below the digits", "1/", 0, false},
		{"underscore", "1_000", 0, false},
		{"zero byte", "1\x00", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseCounter([]byte(c.text))
			if got != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNotNumber) {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestParseNumbered(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
		ok   bool
	}{
		{"4: ACTIVE", 4, true},
		{"5: LinkUp", 5, true},
		{"1: CA\n", 1, true},
		{"3", 3, true},
		{" 2 : INIT", 2, true},
		{"6: a: b", 6, true},
		{"", 0, false},
		{": ACTIVE", 0, false},
		{"ACTIVE", 0, false},
		{"-1: NO", 0, false},
		{"4 ACTIVE", 0, false},
		{"99999999999999999999: X", 0, false},
	} {
		got, err := ParseNumbered(c.text)
		if got != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNotNumber) {
			t.Errorf("%q: got %d, %v", c.text, got, err)
		}
	}
}

func TestParseHex(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		ok   bool
	}{
		{"0x1d\n", 29, true},
		{"0x0", 0, true},
		{"ffff", 65535, true},
		{"0xFFFFffffFFFFffff", 1<<64 - 1, true},
		{"", 0, false},
		{"0x", 0, false},
		{"0x0x1", 0, false},
		{"0x1ffffffffffffffff", 0, false},
		{"0xg", 0, false},
		{"-1", 0, false},
	} {
		got, err := ParseHex(c.text)
		if got != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrNotNumber) {
			t.Errorf("%q: got %d, %v", c.text, got, err)
		}
	}
}

func FuzzParseCounter(f *testing.F) {
	for _, seed := range []string{"0\n", "4294967295", "18446744073709551615", "N/A (no PMA)", "-1", " 7 "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseCounter(text)
		number := strings.Trim(string(text), " \t\r\n")
		want, wantErr := strconv.ParseUint(number, 10, 64)
		if wantErr != nil || want == 1<<64-1 || len(number) > 20 {
			if err == nil {
				t.Fatalf("%q gives %d", text, got)
			}
			return
		}
		if err != nil || got != want {
			t.Fatalf("%q gives %d, %v, want %d", text, got, err, want)
		}
	})
}

func FuzzParseNumbered(f *testing.F) {
	for _, seed := range []string{"4: ACTIVE", "", "-1: X", "5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ParseNumbered(text); err == nil && got < 0 {
			t.Fatalf("%q gives %d", text, got)
		}
		if n := len(text); !strings.Contains(text, ":") {
			if got, err := ParseNumbered(fmt.Sprintf("%d: %s", n, text)); err != nil || got != n {
				t.Fatalf("%d before %q gives %d, %v", n, text, got, err)
			}
		}
	})
}

func FuzzParseHex(f *testing.F) {
	f.Add("0x1d", uint64(29))
	f.Add("0x", uint64(0))
	f.Fuzz(func(t *testing.T, text string, v uint64) {
		if got, err := ParseHex(fmt.Sprintf("%#x\n", v)); err != nil || got != v {
			t.Fatalf("%#x gives %#x, %v", v, got, err)
		}
		if got, err := ParseHex(text); err != nil && (got != 0 || !errors.Is(err, ErrNotNumber)) {
			t.Fatalf("%q gives %d, %v", text, got, err)
		}
	})
}
