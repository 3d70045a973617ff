// Package capture takes down what the collectors read of a machine, and reads
// it back: an archive that holds a node fixture and, if it was taken over some
// time, what changed from one reading to the next. README.md beside it
// describes its form.
package capture

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// Recording is what a host has been seen to hold. It is the host's Recorder.
type Recording struct {
	mu    sync.Mutex
	root  seen
	asked map[string]bool // reads that have not returned
}

// seen is what is known of a place. One of which nothing is known but what is
// below it is a directory.
type seen struct {
	entry host.Entry
	below map[string]*seen
}

// NewRecording makes an empty one.
func NewRecording() *Recording { return &Recording{asked: map[string]bool{}} }

// Asks implements host.Recorder.
func (r *Recording) Asks(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[name] = true
}

// Record implements host.Recorder.
func (r *Recording) Record(name string, e host.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case host.IsAbsent:
		delete(r.asked, name)
		r.forget(name)
		return
	case host.IsFile, host.IsDir:
		delete(r.asked, name) // reading a directory is an answer too
	}
	place := r.place(name)
	switch old := place.entry; {
	case e.Kind == host.IsUnread && old.Kind == host.IsFile:
		return // of that more is known
	case e.Kind == host.IsDir && old.Kind == host.IsDir && e.Names == nil:
		return
	case e.Kind == host.IsLink && old.Kind == host.IsLink && e.Text == old.Text && e.Instance == 0:
		e.Instance = old.Instance
	}
	place.entry = e
	if e.Kind != host.IsDir {
		place.below = nil
	}
	for _, child := range slices.Sorted(maps.Keys(place.below)) {
		if _, listed := slices.BinarySearch(e.Names, child); !listed && e.Names != nil {
			r.forget(path.Join(name, child))
		}
	}
}

// place finds a place, or makes it. What is above it is a directory.
func (r *Recording) place(name string) *seen {
	at := &r.root
	for part := range strings.SplitSeq(name, "/") {
		if at.entry.Kind != host.IsDir {
			at.entry = host.Entry{Kind: host.IsDir}
		}
		next := at.below[part]
		if next == nil {
			next = &seen{}
			if at.below == nil {
				at.below = map[string]*seen{}
			}
			at.below[part] = next
		}
		at = next
	}
	return at
}

// find finds a place, nil if nothing is known there.
func (r *Recording) find(name string) *seen {
	at := &r.root
	for part := range strings.SplitSeq(name, "/") {
		if at = at.below[part]; at == nil {
			return nil
		}
	}
	return at
}

// forget removes a place and what is below it. With its link in /sys/class a
// device has gone as well, and with the last one of a kind the directory of
// that kind.
func (r *Recording) forget(name string) {
	place, in := r.find(name), r.find(path.Dir(name))
	if place == nil || in == nil {
		return
	}
	delete(in.below, path.Base(name))
	if place.entry.Kind == host.IsLink && strings.HasPrefix(name, "sys/class/") {
		device := path.Join(path.Dir(name), place.entry.Text)
		r.forget(device)
		if kind := r.find(path.Dir(device)); kind != nil && len(kind.below) == 0 {
			r.forget(path.Dir(device))
		}
	}
}

// item is something in a tree: a file, a link or a directory.
type item struct {
	kind     host.Kind
	text     string // the file's content, the link's target
	instance uint64
}

// tree is a fixture: what is in it, by path.
type tree map[string]item

// Texts that stand for files of which nothing is known.
const (
	hangs  = "errno:hangs\n"   // its read has not returned
	unread = "errno:ENODATA\n" // only its name was seen
)

// tree returns what is known now.
func (r *Recording) tree() tree {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.asked {
		r.place(name) // it may be the first thing that was asked for there
	}
	t := tree{}
	r.root.add(t, "")
	t["sys"] = item{kind: host.IsDir} // also if there is nothing in it
	for name := range r.asked {
		t[name] = item{kind: host.IsFile, text: hangs}
	}
	return t
}

// add adds what is below a place. A name of two lines cannot be written down.
func (s *seen) add(t tree, name string) {
	for part, next := range s.below {
		if strings.ContainsAny(part, "\n\x00") {
			continue
		}
		at := path.Join(name, part)
		switch e := next.entry; e.Kind {
		case host.IsAbsent: // nothing was said of it itself
		case host.IsUnread:
			t[at] = item{kind: host.IsFile, text: unread}
		case host.IsDir:
			t[at] = item{kind: host.IsDir}
		default:
			t[at] = item{e.Kind, e.Text, e.Instance}
		}
		next.add(t, at)
	}
}

// since compares a tree with an earlier one. changed are the items that are new
// or other than they were; gone are those that have to be removed first, each
// with all that is below it.
func (t tree) since(old tree) (changed, gone []string) {
	removed := map[string]bool{}
	for name, was := range old {
		if is, ok := t[name]; !ok || is.kind != was.kind {
			removed[name] = true
		}
	}
	for name := range removed {
		if !removedAbove(removed, name) {
			gone = append(gone, name)
		}
	}
	for name, is := range t {
		was, ok := old[name]
		remade := is.instance != was.instance && is.instance != 0 && was.instance != 0
		if !ok || is.kind != was.kind || is.text != was.text || remade {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	slices.Sort(gone)
	return changed, gone
}

func removedAbove(removed map[string]bool, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if removed[dir] {
			return true
		}
	}
	return false
}
