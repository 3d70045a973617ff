package collector

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/go-kit/log"
	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// Filter chooses devices by name. Expressions must match the whole name; the
// runner anchors them.
type Filter struct {
	Include, Exclude *regexp.Regexp // nil: everything, nothing
}

// Allows reports whether the filter lets a device through.
func (f Filter) Allows(device string) bool {
	return (f.Include == nil || f.Include.MatchString(device)) && (f.Exclude == nil || !f.Exclude.MatchString(device))
}

// Anchor compiles an expression so that it must match a whole name; "" is nil.
func Anchor(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(expr); err != nil {
		return nil, err // also "a)|(b", which the brackets would make one
	}
	return regexp.Compile("^(?:" + expr + ")$")
}

// Config says what is read and how.
type Config struct {
	Host    *host.Host
	Logger  log.Logger
	Sources []Source          // those to read
	Devices Filter            // for all sources
	Filters map[string]Filter // by source, in addition
	// ReadRestricted reads devices that the fabric manager owns as well.
	ReadRestricted bool
	// RawEthtool chooses ethtool statistics to export under their own names.
	RawEthtool *regexp.Regexp
	// Timeout is how long a collection waits for a device.
	Timeout time.Duration
	// MinInterval is how old a reading may be and still answer a scrape.
	MinInterval time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Runner reads the devices of a host. Collect may be called concurrently.
type Runner struct {
	c      Config
	door   *host.Door
	logger log.Logger

	once sync.Once
	stop chan struct{} // closed by Stop
	end  chan struct{} // closed when no device is waited for any more

	mu      sync.Mutex // one collection at a time
	devices map[string]*device
	whole   []*nodeSource
	cached  map[string]*node.Snapshot // by sources read
	listErr string

	observe func(*node.Snapshot) // gets every whole reading

	inventory inventory
	restored  map[string]*memory // from before a restart, by device

	devicesSeries, durationSeries *node.Series
	skipped                       map[string]*node.Series
}

// NewRunner makes a runner. Nothing is read before the first Collect.
func NewRunner(c Config) *Runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = log.NewNopLogger()
	}
	r := &Runner{
		c: c, door: c.Host.Door(), logger: c.Logger,
		stop: make(chan struct{}), end: make(chan struct{}),
		devices: map[string]*device{}, cached: map[string]*node.Snapshot{},
		inventory:     inventory{},
		devicesSeries: series(&catalog.Devices), skipped: map[string]*node.Series{},
		durationSeries: series(&catalog.CollectionDuration),
	}
	r.whole = newNodeSources(r)
	return r
}

// Collect reads the node, or gives the last reading if it is younger than the
// least interval. only limits it to some sources; nil means all that are on.
// It returns in time whatever the devices do: one that does not answer is
// marked stalled and left alone until its read returns. A reading is made for
// all who ask meanwhile: of ctx only the deadline counts, so that one who gives
// up makes no device look stalled to the others.
func (r *Runner) Collect(ctx context.Context, only []string) *node.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted, key := r.wanted(only)
	now, begin := r.c.Now(), time.Now()
	if s := r.cached[key]; s != nil && now.Sub(s.Time) < r.c.MinInterval && !now.Before(s.Time) {
		return s
	}
	s := &node.Snapshot{Time: now}
	if r.stopping() {
		return s
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()

	names, known := r.sync(now)
	if known {
		s.Samples = append(s.Samples, node.Sample{Series: r.devicesSeries, Value: float64(len(names))})
	}
	for _, n := range r.whole {
		if wanted[n.source.source.Name] {
			n.begin(now, names)
		}
	}
	var reading []*device
	for _, name := range names {
		if d := r.devices[name]; d != nil {
			d.start(func() []node.Sample { return d.read(now, wanted) })
			reading = append(reading, d)
		} else {
			s.Samples = append(s.Samples, node.Sample{Series: r.skippedSeries(name, "excluded"), Value: 1})
			r.inventory.forget(name)
		}
	}
	covered := map[string]string{}
	for _, d := range reading {
		samples := d.wait(ctx, now)
		s.Devices = append(s.Devices, node.Device{Name: d.name, Samples: samples})
		d.covers(covered)
	}
	for _, n := range r.whole {
		if wanted[n.source.source.Name] {
			s.Samples = append(s.Samples, n.wait(ctx)...)
		}
	}
	s.Samples = append(s.Samples, r.inventory.update(now, covered)...)
	s.Samples = append(s.Samples, node.Sample{Series: r.durationSeries, Value: time.Since(begin).Seconds()})
	if len(r.cached) > 8 { // as many as different scrape jobs would ask for
		clear(r.cached)
	}
	r.cached[key] = s
	if r.observe != nil && len(only) == 0 {
		r.observe(s)
	}
	return s
}

// Observe has f called with every reading of all sources, one at a time. It
// must be quick, since who asked for the reading waits for it.
func (r *Runner) Observe(f func(*node.Snapshot)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.observe = f
}

// bounded limits a collection in time.
func (r *Runner) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	until := time.Now().Add(r.c.Timeout)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	return context.WithDeadline(context.WithoutCancel(ctx), until)
}

// wanted makes the set of sources to read and a key for it.
func (r *Runner) wanted(only []string) (map[string]bool, string) {
	wanted := map[string]bool{}
	key := ""
	for _, source := range r.c.Sources {
		use := len(only) == 0
		for _, name := range only {
			use = use || name == source.Name
		}
		if use {
			wanted[source.Name] = true
			key += source.Name + ","
		}
	}
	return wanted, key
}

func (r *Runner) skippedSeries(device, reason string) *node.Series {
	key := device + "\xff" + reason
	if r.skipped[key] == nil {
		r.skipped[key] = series(&catalog.DeviceSkipped, device, reason)
	}
	return r.skipped[key]
}

const class = "class/infiniband"

// sync compares the devices that are there with those that are read, and
// returns the names of all present ones, if it is known which these are. An
// excluded device is not looked at beyond its name.
func (r *Runner) sync(now time.Time) (names []string, ok bool) {
	instances, err := r.door.Instances(class)
	names = slices.Sorted(maps.Keys(instances))
	r.logList(err)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Keep what is known rather than lose every device to one bad listing.
		return slices.Sorted(maps.Keys(r.devices)), false
	}
	present := map[string]bool{}
	for _, name := range names {
		if r.sourcesFor(name) == nil {
			continue
		}
		present[name] = true
		instance := instances[name]
		d := r.devices[name]
		if d != nil && d.instance != instance {
			d.leave()
			d = nil
		}
		if d == nil {
			r.devices[name] = newDevice(r, name, instance, now)
			level.Info(r.logger).Log("msg", "device found", "device", name)
		}
	}
	for name, d := range r.devices {
		if !present[name] {
			d.leave()
			delete(r.devices, name)
			level.Info(r.logger).Log("msg", "device gone", "device", name)
		}
	}
	return names, true
}

// logList logs the listing's error when it changes.
func (r *Runner) logList(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == r.listErr {
		return
	}
	r.listErr = text
	switch {
	case text == "":
		level.Info(r.logger).Log("msg", "RDMA devices can be listed again")
	case errors.Is(err, fs.ErrNotExist):
		level.Info(r.logger).Log("msg", "no RDMA devices on this node: the kernel has no /sys/"+class+"; waiting for a driver to be loaded")
	default:
		level.Warn(r.logger).Log("msg", "cannot list RDMA devices", "err", text)
	}
}

// sourcesFor lists the sources that may read a device.
func (r *Runner) sourcesFor(name string) []Source {
	if !r.c.Devices.Allows(name) {
		return nil
	}
	var allowed []Source
	for _, s := range r.c.Sources {
		if s.open != nil && r.c.Filters[s.Name].Allows(name) {
			allowed = append(allowed, s)
		}
	}
	return allowed
}

// Settle waits until every reading under way has returned, or ctx ends. On a
// virtual clock a device answers again no sooner than its real read does.
func (r *Runner) Settle(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.devices {
		d.settle(ctx)
	}
	for _, n := range r.whole {
		n.settle(ctx)
	}
}

// stopping reports whether Stop has been called.
func (r *Runner) stopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// stopGrace is how long a collection under way still waits for its devices.
// A healthy one answers in that time, so that what is known of it can be saved.
const stopGrace = 300 * time.Millisecond

// Stop lets the collection under way end soon, whatever the devices do. After
// it Collect reads nothing and gives nothing.
func (r *Runner) Stop() {
	r.once.Do(func() {
		close(r.stop)
		time.AfterFunc(stopGrace, func() { close(r.end) })
	})
}

// Close stops, and lets go of all devices.
func (r *Runner) Close() {
	r.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, d := range r.devices {
		d.leave()
		delete(r.devices, name)
	}
	for _, n := range r.whole {
		n.leave()
	}
	r.whole = nil
}
