// Package faults breaks what is around the real binary and looks at what it does:
// files that block, devices that vanish, clients that misbehave, a process that may
// do next to nothing, a disk that is full. `make test-faults` runs it; what needs
// root says so and is left out without it.
package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// scratch is where the binaries are built.
var scratch string

func TestMain(m *testing.M) {
	if wrapped := os.Getenv(wrapVariable); wrapped != "" {
		fmt.Fprintln(os.Stderr, confine(wrapped, os.Args[1:]))
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Other users are to run what is built here.
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// The binary with the race detector, where there is a C compiler, and the one
// that is shipped, for what is measured. Built when first asked for, since a list
// of tests needs neither.
var (
	raced = sync.OnceValues(func() (string, error) {
		if file, err := build("raced", "-race"); err == nil {
			return file, nil
		}
		fmt.Println("no race detector here: the binary is without it")
		return shipped()
	})
	shipped = sync.OnceValues(func() (string, error) {
		return build("shipped", "-trimpath", "-tags=nethttpomithttp2", "-ldflags=-s -w -funcalign=16")
	})
)

func build(name string, flags ...string) (string, error) {
	file := filepath.Join(scratch, name)
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", file}, flags...), "../../cmd/rdmawatch")...)
	if name == "shipped" {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building the binary: %w\n%s", err, &said)
	}
	return file, nil
}

// binary is the file of one of the two.
func binary(t *testing.T, which func() (string, error)) string {
	t.Helper()
	file, err := which()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// needsRoot leaves a test out, for all to see, where it cannot be made.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("left out: needs root")
	}
}
