package catalog

import "testing"

func TestToBase(t *testing.T) {
	for _, c := range []struct {
		reason string
		unit   Unit
		value  float64
		want   float64
		base   Base
	}{
		{"words are four bytes, whatever the lanes", Words, 230539874932483, 922159499729932, InBytes},
		{"words above 2^53/4 keep their size", Words, 1 << 62, 1 << 64, InBytes},
		{"microseconds of pause", Microseconds, 1234567, 1.234567, InSeconds},
		{"milliseconds", Milliseconds, 4099, 4.099, InSeconds},
		{"seconds", Seconds, 61, 61, InSeconds},
		{"a gauge in percent", Percent, 37, 0.37, InRatio},
		{"a fixed point of ten bits", Per1024, 768, 0.75, InRatio},
		{"PCIe generation 4", GigatransfersPerSecond, 16, 16e9, InTransfersPerSec},
		{"PCIe generation 1 has a fraction", GigatransfersPerSecond, 2.5, 2.5e9, InTransfersPerSec},
		{"a link of 200 Gb/s", GigabitsPerSecond, 200, 25e9, InBytesPerSecond},
		{"an interface of 100 Gb/s", MegabitsPerSecond, 100000, 12.5e9, InBytesPerSecond},
		{"lanes", LaneCount, 16, 16, InLanes},
		{"packets", Packets, 7919, 7919, InPackets},
		{"frames", Frames, 7919, 7919, InFrames},
		{"bytes", Bytes, 7919, 7919, InBytes},
		{"bits stay bits", Bits, 7919, 7919, InBits},
		{"blocks", Blocks, 7919, 7919, InBlocks},
		{"segments", Segments, 7919, 7919, InSegments},
		{"ticks have no length", Ticks, 4294967295, 4294967295, InTicks},
		{"events", Events, 7919, 7919, Count},
	} {
		if got := c.unit.ToBase(c.value); got != c.want {
			t.Errorf("%s: %v %s = %v, want %v", c.reason, c.value, c.unit, got, c.want)
		}
		if got := c.unit.Base(); got != c.base {
			t.Errorf("%s: base of %s is %q, want %q", c.reason, c.unit, got, c.base)
		}
	}
}

func TestWidthLimits(t *testing.T) {
	for w, want := range map[Width]uint64{
		Full: 0, Stick4: 15, Stick8: 255, Stick16: 65535, Stick32: 4294967295, Stick32Basic: 4294967295, Wrap32: 0,
	} {
		if got := w.Limit(); got != want {
			t.Errorf("%q sticks at %d, want %d", w, got, want)
		}
	}
}
