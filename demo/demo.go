// Package demo is a node that does not exist: eight NICs, steady traffic, and
// faults that come and go. It is for looking at rdmawatch without a NIC, and
// everything it shows is simulated.
package demo

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/replay"
)

//go:embed nic.txt
var nic string

//go:embed story.yaml
var story []byte

// Past is how much of the story is over when somebody begins to look: enough
// for rates, for what takes a while to fire, and for something to have ended.
const Past = 30 * time.Minute

// Story is what happens to the node, and what must come of it.
func Story() (*replay.Scenario, error) {
	s, err := replay.Parse(story)
	if err != nil {
		return nil, fmt.Errorf("the story of the demo: %w", err)
	}
	return s, nil
}

// places are where the NICs of the node are: four on each processor.
var places = []struct{ root, bus, netdev, numa string }{
	{"15", "16", "enp22s0np0", "0"},
	{"26", "27", "enp39s0np0", "0"},
	{"37", "38", "enp56s0np0", "0"},
	{"48", "49", "enp73s0np0", "0"},
	{"97", "98", "enp152s0np0", "1"},
	{"a7", "a8", "enp168s0np0", "1"},
	{"b7", "b8", "enp184s0np0", "1"},
	{"c7", "c8", "enp200s0np0", "1"},
}

// Write writes the node into a directory, as a node fixture.
func Write(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing the node of the demo: %w", err)
	}
	defer func() { _ = root.Close() }()
	for i, p := range places {
		fill := strings.NewReplacer("{n}", fmt.Sprint(i), "{root}", p.root, "{bus}", p.bus, "{netdev}", p.netdev, "{numa}", p.numa)
		if err := write(root, fill.Replace(nic)); err != nil {
			return fmt.Errorf("writing the node of the demo: %w", err)
		}
	}
	return nil
}

// write writes the files of one NIC.
func write(root *os.Root, text string) error {
	_, text, _ = strings.Cut(text, "\n-- ") // what is above is about the form
	for section := range strings.SplitSeq(text, "\n-- ") {
		name, content, _ := strings.Cut(section+"\n", " --\n")
		err := root.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil && strings.HasSuffix(name, "/") {
			err = writeDir(root, strings.TrimSuffix(name, "/"), strings.Split(content, "\n"))
		} else if err == nil {
			err = add(root, name, strings.TrimSpace(content)+"\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeDir writes the small files and the links of a directory.
func writeDir(root *os.Root, dir string, lines []string) error {
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, line := range lines {
		var err error
		if link, target, ok := strings.Cut(line, " -> "); ok {
			err = root.Symlink(target, filepath.Join(dir, link))
		} else if names, value, ok := strings.Cut(line, " = "); ok {
			for name := range strings.FieldsSeq(names) {
				err = errors.Join(err, root.WriteFile(filepath.Join(dir, name), []byte(value+"\n"), 0o644))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds lines to a file.
func add(root *os.Root, name, lines string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(lines); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
