package collector

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// kmsgReader counts what the kernel's log says of the RDMA devices. The counters
// begin when rdmawatch does, at zero: what was in the log before would look like
// new errors after each restart. When something was said last is known from the
// whole log.
type kmsgReader struct {
	door     *host.Door
	log      *host.KernelLog
	messages []catalog.KernelMessage
	subjects subjects
	devices  []string // those that there were when they were looked at
	listed   time.Time
	sleep    time.Time

	counts map[kernelEvent]*kernelCount
	lost   *node.Series
}

// kernelEvent is something that was said of a device.
type kernelEvent struct{ device, event string }

// kernelCount is how often, and when last.
type kernelCount struct {
	n            float64
	at           time.Time // zero if never
	count, stamp *node.Series
}

func openKmsg(d *host.Door) reader {
	r := &kmsgReader{
		door: d, messages: catalog.KernelMessages(), subjects: newSubjects(),
		counts: map[kernelEvent]*kernelCount{}, lost: series(&catalog.KernelLogLost),
	}
	r.log = host.NewKernelLog(func(text string) bool {
		_, ok := r.kind(text, "")
		return ok
	})
	return r
}

func (r *kmsgReader) close() { r.log.Close() }

func (r *kmsgReader) read(b *batch) error {
	if b.now.Before(r.sleep) {
		return nil
	}
	messages, err := r.log.Read(r.door)
	switch {
	case host.NotOffered(err), host.Denied(err):
		r.sleep = b.now.Add(reprobeAfter)
		return nil
	case err != nil:
		return err
	}
	r.relist(b.now, b.devices)
	for _, m := range messages {
		r.book(m, b.now)
	}
	for _, event := range sortedEvents(r.counts) {
		c := r.counts[event]
		b.add(c.count, c.n)
		if !c.at.IsZero() {
			b.add(c.stamp, seconds(c.at))
		}
	}
	b.add(r.lost, float64(r.log.Lost()))
	return nil
}

// kind finds what a message of a driver's device means; "" is any driver.
func (r *kmsgReader) kind(text, driver string) (catalog.KernelMessage, bool) {
	for _, m := range r.messages {
		if (driver == "" || m.Driver == "" || m.Driver == driver) && m.Matches(text) {
			return m, true
		}
	}
	return catalog.KernelMessage{}, false
}

// book counts a message for the device that it is about.
func (r *kmsgReader) book(m host.KernelMessage, now time.Time) {
	s := r.subjects.find(m.Text)
	if s == nil {
		return
	}
	kind, ok := r.kind(m.Text, s.driver)
	if !ok {
		return
	}
	c := r.count(s, kind)
	if !m.Old {
		c.n++
	}
	at := m.Time
	if at.IsZero() && !m.Old || at.After(now) {
		at = now // of a fixture the log may tell no times
	}
	if at.After(c.at) {
		c.at = at
	}
}

func (r *kmsgReader) count(s *subject, m catalog.KernelMessage) *kernelCount {
	event := kernelEvent{s.device, m.Event}
	if r.counts[event] == nil {
		metric := &catalog.KernelEvents
		if m.Harmless {
			metric = &catalog.KernelHarmless
		}
		r.counts[event] = &kernelCount{
			count: series(metric, s.device, s.pci, m.Event),
			stamp: series(&catalog.KernelEventLast, s.device, s.pci, m.Event),
		}
	}
	return r.counts[event]
}

// relist looks which devices there are, and has a zero for all that can be said
// of them, so that the first time is an increase.
func (r *kmsgReader) relist(now time.Time, devices []string) {
	if age := now.Sub(r.listed); age >= 0 && age < rediscoverAfter && slices.Equal(devices, r.devices) {
		return
	}
	r.listed, r.devices = now, devices
	present, renamed := r.subjects.list(r.door, devices)
	for event := range r.counts {
		if renamed[event.device] {
			delete(r.counts, event)
		}
	}
	for _, s := range present {
		for _, m := range r.messages {
			if !m.Harmless && (m.Driver == "" || m.Driver == s.driver) {
				r.count(s, m)
			}
		}
	}
}

func sortedEvents(counts map[kernelEvent]*kernelCount) []kernelEvent {
	all := make([]kernelEvent, 0, len(counts))
	for event := range counts {
		all = append(all, event)
	}
	slices.SortFunc(all, func(a, b kernelEvent) int {
		if a.device != b.device {
			return strings.Compare(a.device, b.device)
		}
		return strings.Compare(a.event, b.event)
	})
	return all
}

// subject is an RDMA device as the kernel's log speaks of it.
type subject struct {
	device, pci, driver string
}

// subjects are the devices by what names them in the log: the address of their
// PCI function, of a port above it, their network interface and their own name.
// A device that has gone stays: what follows is said of it.
type subjects map[string]*subject

func newSubjects() subjects { return subjects{} }

// Where in a message the name of its device stands, in words from its beginning.
const nameWithin = 6

// find tells whom a message is about: the first device that it names.
func (s subjects) find(text string) *subject {
	words := 0
	for word := range strings.FieldsSeq(text) {
		if found := s[strings.TrimRight(word, ":,")]; found != nil {
			return found
		}
		if words++; words == nameWithin {
			break
		}
	}
	return nil
}

// list finds out about the devices of these names, and returns them, and the
// former names of those that have another now. Of a port that several are below the first
// function speaks, as long as it is there.
func (s subjects) list(d *host.Door, names []string) (present []*subject, renamed map[string]bool) {
	renamed = map[string]bool{}
	above := map[string]*subject{}
	for _, name := range names {
		pciPath := namedPCI(d, name)
		if pciPath == "" {
			continue
		}
		it := &subject{name, path.Base(pciPath), boundDriver(d, pciPath)}
		if before := s[it.pci]; before != nil && !slices.Contains(names, before.device) {
			renamed[before.device] = true
			s[before.device] = it // a late message may have the former name
		}
		present = append(present, it)
		s[name], s[it.pci] = it, it
		for _, netdev := range functionNetdevs(d, pciPath) {
			s[netdev] = it
			s.bond(d, netdev, it)
		}
		if d.Exists(path.Join(pciPath, "physfn")) {
			continue // what is above belongs to the PF
		}
		for p := path.Dir(pciPath); bdf.MatchString(path.Base(p)); p = path.Dir(p) {
			if first := above[path.Base(p)]; first == nil || it.pci < first.pci {
				above[path.Base(p)] = it
			}
		}
	}
	for address, it := range above {
		s[address] = it
	}
	return present, renamed
}

// bond has the other members of a bond speak of the device that stands for it.
func (s subjects) bond(d *host.Door, netdev string, it *subject) {
	_, members := bondOf(d, netdev)
	for _, member := range members {
		if p := netdevPCI(d, member); p != "" && !d.Exists(path.Join(p, "infiniband")) {
			s[member], s[path.Base(p)] = it, it
		}
	}
}

// namedPCI finds the PCI function of a device; that of a software device is its
// interface's.
func namedPCI(d *host.Door, name string) string {
	if at := path.Join(class, name, "parent"); d.Exists(at) {
		parent, err := d.Read(at)
		if err != nil {
			return ""
		}
		return netdevPCI(d, printable(parent))
	}
	device, err := d.Resolve(path.Join(class, name, "device"))
	if err != nil {
		return ""
	}
	return nearestPCI(device)
}

func functionNetdevs(d *host.Door, pciPath string) []string {
	dir := path.Join(pciPath, "net")
	if !d.Exists(dir) {
		return nil
	}
	names, err := d.List(dir)
	if err != nil {
		return nil
	}
	return names
}
