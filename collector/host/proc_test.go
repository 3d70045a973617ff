package host

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
)

// Procfs is read below the fixture's proc; what is not there is absent.
func TestProc(t *testing.T) {
	d, _ := fixture(t, tree{
		"proc/sys/vm/nr": "12\n",
		"proc/7/limits":  "errno:EACCES\n",
		"proc/7/comm":    "train\n",
		"proc/outside":   "-> ../../../etc/hostname",
	}, nil)
	if got, err := d.ReadProc("sys/vm/nr", MaxValue); got != "12" || err != nil {
		t.Errorf("nr: %q, %v; want 12", got, err)
	}
	if got, err := d.ReadProc("sys/vm/nr", 1); got != "1" || err != nil {
		t.Errorf("nr cut at a byte: %q, %v; want 1", got, err)
	}
	if _, err := d.ReadProc("7/limits", MaxValue); !Denied(err) {
		t.Errorf("limits of another user: %v, want EACCES", err)
	}
	if _, err := d.ReadProc("8/limits", MaxValue); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("limits of a process that is gone: %v, want that it does not exist", err)
	}
	if _, err := d.ReadProc("outside", MaxValue); !errors.Is(err, ErrOutside) {
		t.Errorf("a link out of procfs: %v, want %v", err, ErrOutside)
	}
	if got, err := d.ListProc("7"); !slices.Equal(got, []string{"comm", "limits"}) || err != nil {
		t.Errorf("process 7: %q, %v; want comm and limits", got, err)
	}
	if d.Reads != 6 || d.Errors["EACCES"] != 1 || d.Errors["ENOENT"] != 1 || d.Errors["outside_tree"] != 1 {
		t.Errorf("%d reads, errors %v; want 6 and one each of EACCES, ENOENT, outside_tree", d.Reads, d.Errors)
	}
}
