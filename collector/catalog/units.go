package catalog

// Base is what the value of a metric is measured in. Its word ends the
// metric's name (before _total), except for Count, which has none.
type Base string

// The base units. Count is for things without a unit: errors, events, objects.
const (
	Count             Base = ""
	InBytes           Base = "bytes"
	InPackets         Base = "packets"
	InFrames          Base = "frames"
	InBits            Base = "bits"
	InBlocks          Base = "blocks"
	InSeconds         Base = "seconds"
	InTicks           Base = "ticks"
	InSegments        Base = "segments"
	InRatio           Base = "ratio"
	InLanes           Base = "lanes"
	InBytesPerSecond  Base = "bytes_per_second"
	InTransfersPerSec Base = "transfers_per_second"
	InInfo            Base = "info"
	InTimestamp       Base = "timestamp_seconds"
)

// Unit is what a source counts in. It converts to the base unit of the metric:
// the only place where arithmetic on a counter lives.
type Unit uint8

// The units sources use. Words are the 4-byte words of the IBTA data counters,
// whatever the lane count of the link.
const (
	Events Unit = iota
	Packets
	Frames
	Bytes
	Words
	Bits
	Blocks
	Segments
	Ticks
	Seconds
	Milliseconds
	Microseconds
	Percent
	Per1024
	MegabitsPerSecond
	GigabitsPerSecond
	GigatransfersPerSecond
	LaneCount
)

var units = [...]struct {
	name     string
	base     Base
	mul, div float64
}{
	Events:                 {"events", Count, 1, 1},
	Packets:                {"packets", InPackets, 1, 1},
	Frames:                 {"frames", InFrames, 1, 1},
	Bytes:                  {"bytes", InBytes, 1, 1},
	Words:                  {"4-byte words", InBytes, 4, 1},
	Bits:                   {"bits", InBits, 1, 1},
	Blocks:                 {"blocks", InBlocks, 1, 1},
	Segments:               {"segments", InSegments, 1, 1},
	Ticks:                  {"ticks", InTicks, 1, 1},
	Seconds:                {"seconds", InSeconds, 1, 1},
	Milliseconds:           {"milliseconds", InSeconds, 1, 1e3},
	Microseconds:           {"microseconds", InSeconds, 1, 1e6},
	Percent:                {"percent", InRatio, 1, 100},
	Per1024:                {"1/1024", InRatio, 1, 1024},
	MegabitsPerSecond:      {"Mb/s", InBytesPerSecond, 1e6, 8},
	GigabitsPerSecond:      {"Gb/s", InBytesPerSecond, 1e9, 8},
	GigatransfersPerSecond: {"GT/s", InTransfersPerSec, 1e9, 1},
	LaneCount:              {"lanes", InLanes, 1, 1},
}

func (u Unit) String() string { return units[u].name }

// Base is the unit that ToBase converts to.
func (u Unit) Base() Base { return units[u].base }

// ToBase converts a value counted in u to the base unit.
func (u Unit) ToBase(v float64) float64 { return v * units[u].mul / units[u].div }

// Width tells how wide the hardware's field is and what it does when full.
type Width uint8

// Full fields are 64 bits wide. StickN fields stop at 2^N-1 and stay there.
// Wrap32 fields start again at zero, shown in a wider file without the
// overflow being counted. Stick32Basic fields stick on devices without the
// extended PMA counters and are 64 bits wide on the others.
const (
	Full Width = iota
	Stick4
	Stick8
	Stick16
	Stick32
	Stick32Basic
	Wrap32
)

var limits = [...]uint64{Full: 0, Stick4: 15, Stick8: 255, Stick16: 65535, Stick32: 1<<32 - 1, Stick32Basic: 1<<32 - 1, Wrap32: 0}

// Limit is the value at which a field sticks; 0 if it never does.
func (w Width) Limit() uint64 { return limits[w] }

func (w Width) String() string {
	return [...]string{"", "sticks at 15", "sticks at 255", "sticks at 65535", "sticks at 4294967295",
		"sticks at 4294967295 without extended counters", "32 bits, unwrapped"}[w]
}
