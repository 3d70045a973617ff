package collector

// wrapped is a counter whose hardware has 32 bits, shown by the kernel in a
// wider file without counting the overflows (mlx5 and mlx4 queue counters).
type wrapped struct {
	Last uint64 `json:"last"`
	High uint64 `json:"high"` // what the overflows so far add
	Seen bool   `json:"seen"`
}

// step tells what a new raw value means.
type step uint8

const (
	forward  step = iota // first value, or not smaller than the last
	wrap                 // smaller by so much that the field must have overflowed
	backward             // smaller, and not by an overflow: the counter was reset
)

// A difference of half the range or more, taken modulo 2^32, is no progress
// that one interval can make.
const halfRange = 1 << 31

func (w *wrapped) classify(raw uint64) step {
	switch {
	case !w.Seen || raw >= w.Last:
		return forward
	case raw < 1<<32 && w.Last < 1<<32 && (raw-w.Last)&(1<<32-1) < halfRange:
		return wrap
	}
	return backward
}

// total takes the new raw value and returns the unwrapped one. reset says that
// the device started anew: the overflows before then no longer count.
func (w *wrapped) total(raw uint64, reset bool) uint64 {
	switch step := w.classify(raw); {
	case reset, step == backward:
		w.High = 0
	case step == wrap:
		w.High += 1 << 32
	}
	w.Last, w.Seen = raw, true
	return w.High + raw
}

// fall counts what the counters of one place did since the reading before,
// those that stood at zero left out.
type fall struct{ fell, held int }

func (f *fall) add(before, now uint64) {
	switch {
	case before == 0:
	case now < before:
		f.fell++
	default:
		f.held++
	}
}

// reset reports whether the device has started anew. Then its counters fall
// together. One alone that falls has overflowed, or is a sum that lost a part.
// Two of a busy card may well overflow between two readings, but then others go
// on; and a few may have passed their old value since a reset.
func (f fall) reset() bool { return f.fell > 1 && 4*f.held <= f.fell }
