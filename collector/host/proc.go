package host

import (
	"fmt"
	"os"
	"strings"
)

// ReadProc returns the text of a procfs file of up to limit bytes without its
// final newline; a longer file is cut. The path is relative to the mount point
// of procfs. A fixture has it below proc.
func (d *Door) ReadProc(name string, limit int) (string, error) {
	at := "proc/" + name
	d.host.asksText(at)
	text, err := inProc(d, func(root *os.Root) ([]byte, error) { return d.readText(root, name, limit) })
	d.host.answered(at, text, err)
	return strings.TrimSuffix(string(text), "\n"), err
}

// ListProc returns the names in a procfs directory, sorted.
func (d *Door) ListProc(name string) ([]string, error) {
	at := "proc/" + name
	names, err := inProc(d, func(root *os.Root) ([]string, error) { return d.list(root, name, at) })
	if err != nil {
		d.host.record(at, refusedEntry(err))
	} else {
		d.host.record(at, Entry{Kind: IsDir, Names: append([]string{}, names...)})
	}
	return names, err
}

func inProc[T any](d *Door, f func(*os.Root) (T, error)) (T, error) {
	root, err := d.host.openProc()
	if err != nil {
		var none T
		return none, d.count(fmt.Errorf("opening procfs (see --path.procfs): %w", err))
	}
	defer root.Close()
	return f(root)
}
