package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// words makes bytes of 32-bit numbers.
func words(numbers ...uint32) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	return b
}

func longs(numbers ...uint64) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.NativeEndian.AppendUint64(b, n)
	}
	return b
}

// As include/uapi/linux/if.h has it on this architecture.
func TestIfreq(t *testing.T) {
	var r ifreq
	if size, offset := unsafe.Sizeof(r), unsafe.Offsetof(r.data); offset != 16 || size < 32 || unsafe.Sizeof(uintptr(0)) == 8 && size != 40 {
		t.Errorf("size %d, data at %d", size, offset)
	}
}

func TestStatsRequest(t *testing.T) {
	for _, c := range []struct {
		name    string
		command uint32
		want    []byte
	}{
		{"number: sset_mask is 64 bits wide at 8", 0x37, slices.Concat(words(0x37, 0), longs(2), words(0))},
		{"names: of set 1", 0x1b, words(0x1b, 1, 59)},
		{"values", 0x1d, words(0x1d, 59)},
	} {
		if got := statsRequest(nil, c.command, 59); !bytes.Equal(got, c.want) {
			t.Errorf("%s: % x, want % x", c.name, got, c.want)
		}
	}
}

func TestStatsAnswer(t *testing.T) {
	names := append(append([]byte("rx_bytes"), make([]byte, 24)...), append([]byte("tx_bytes"), make([]byte, 24)...)...)
	rest := make([]byte, 64)
	for _, c := range []struct {
		name    string
		command uint32
		mem     []byte
		n       int
		want    []byte
		err     error
	}{
		{"number", 0x37, slices.Concat(words(0x37, 0), longs(2), words(61)), 61, nil, nil},
		{"no such set", 0x37, slices.Concat(words(0x37, 0), longs(0), words(61)), 0, nil, unix.EOPNOTSUPP},
		{"as many as may be", 0x37, slices.Concat(words(0x37, 0), longs(2), words(maxStats)), maxStats, nil, nil},
		{"one more", 0x37, slices.Concat(words(0x37, 0), longs(2), words(maxStats+1)), 0, nil, errTooManyStats},
		{"names", 0x1b, slices.Concat(words(0x1b, 1, 2), names, rest), 2, names, nil},
		{"no names", 0x1b, slices.Concat(words(0x1b, 1, 0), rest), 0, nil, nil},
		{"too many names", 0x1b, words(0x1b, 1, 1<<31), 0, nil, errTooManyStats},
		{"values", 0x1d, slices.Concat(words(0x1d, 3), longs(101, 103, 107), rest), 3, longs(101, 103, 107), nil},
		{"too many values", 0x1d, words(0x1d, 1<<32-1), 0, nil, errTooManyStats},
	} {
		mem := append(c.mem, make([]byte, statsRoom-len(c.mem))...)
		n, got, err := statsAnswer(mem, c.command)
		if n != c.n || !bytes.Equal(got, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: %d, % x, %v", c.name, n, got, err)
		}
	}
}

// The kernel must be stopped at the end of the buffer.
func TestStatsBufferEndsAtAWall(t *testing.T) {
	d := openHost(t, Config{Sysfs: t.TempDir()}, nil)
	mem, err := d.statsBuffer()
	mustDo(t, err)
	if len(mem) != statsRoom || 12+maxStats*nameSize > statsRoom || 12+(maxStats+1)*nameSize <= statsRoom {
		t.Errorf("room of %d for %d names", len(mem), maxStats)
	}
	file, err := os.Open(os.Args[0])
	mustDo(t, err)
	defer file.Close()
	fill := func(b []byte) (int, error) { return unix.Pread(int(file.Fd()), b, 0) }
	if n, err := fill(mem[statsRoom-64:]); n != 64 || err != nil {
		t.Errorf("the last bytes of the buffer: %d, %v", n, err)
	}
	if n, err := fill(d.stats[statsRoom:]); n > 0 || !errors.Is(err, unix.EFAULT) {
		t.Errorf("behind the buffer: %d, %v", n, err)
	}
	again, err := d.statsBuffer()
	if err != nil || &again[0] != &mem[0] {
		t.Errorf("another buffer: %v", err)
	}
	d.Close()
	if d.stats != nil {
		t.Error("closing the door keeps the buffer")
	}
	d.Close()
	if _, err := d.statsBuffer(); err != nil {
		t.Errorf("after closing: %v", err)
	}
}

func TestClosedHostSendsNothing(t *testing.T) {
	h, err := New(Config{Sysfs: t.TempDir()})
	mustDo(t, err)
	d := h.Door()
	defer d.Close()
	_, _, first := d.EthtoolStats("lo").Read(d)
	h.Close()
	if _, _, err := d.EthtoolStats("lo").Read(d); err == nil || errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("before closing %v, after %v", first, err)
	}
}
