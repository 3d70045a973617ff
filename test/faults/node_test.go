package faults

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rdmawatch/rdmawatch/fixtures"
)

// The node is a copy of a fixture: two ports of one card, mlx5_0 and mlx5_1.
const card = "cx6dx-mlx5-roce-5.15"

// rig is a sysfs that a test may break.
type rig struct {
	t   *testing.T
	dir string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node")
	if err := os.CopyFS(dir, os.DirFS(fixtures.Node(card))); err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, dir: dir}
}

// sysfs is the flag that makes rdmawatch read the files as if they were this
// machine's.
func (r *rig) sysfs() string { return "--path.sysfs=" + filepath.Join(r.dir, "sys") }

// device is the directory of a device.
func (r *rig) device(name string) string {
	r.t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Join(r.dir, "sys/class/infiniband", name))
	if err != nil {
		r.t.Fatal(err)
	}
	return dir
}

// file is a file of a device.
func (r *rig) file(device, name string) string { return filepath.Join(r.device(device), name) }

func (r *rig) set(file, content string) {
	r.t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// counters are the files of a device that are read again and again.
func (r *rig) counters(device string) []string {
	r.t.Helper()
	var found []string
	for _, dir := range []string{"counters", "hw_counters"} {
		files, err := filepath.Glob(r.file(device, "ports/1/"+dir+"/*"))
		if err != nil || len(files) == 0 {
			r.t.Fatalf("%s of %s: %v, %v", dir, device, files, err)
		}
		found = append(found, files...)
	}
	return found
}

// block puts FIFOs in place of files: whoever opens one for reading waits for
// a writer, as whoever reads a file of a card that hangs waits for its firmware.
// The function it returns puts the files back and lets the readers go.
func (r *rig) block(files ...string) (release func()) {
	r.t.Helper()
	aside := r.t.TempDir()
	pipes := map[string]string{} // by file
	for i, file := range files {
		pipe := filepath.Join(aside, string(rune('A'+i%26))+filepath.Base(file)+filepath.Base(filepath.Dir(file)))
		if err := os.Rename(file, pipe+".was"); err != nil {
			r.t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o644); err != nil {
			r.t.Fatal(err)
		}
		if err := os.Link(pipe, file); err != nil {
			r.t.Fatal(err)
		}
		pipes[file] = pipe
	}
	return func() {
		r.t.Helper()
		for file, pipe := range pipes {
			if err := os.Rename(pipe+".was", file); err != nil {
				r.t.Error(err)
			}
		}
		for _, pipe := range pipes {
			if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				_ = w.Close()
			}
		}
	}
}
