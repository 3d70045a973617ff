package diagnose

import "testing"

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		value      float64
		unit, want string
	}{
		{1699999400.5, "timestamp_seconds", "2023-11-14 22:03:20 UTC"},
		{36071, "", "36,071"},
		{7919, "packets", "7,919 packets"},
	} {
		if got := quantity(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
