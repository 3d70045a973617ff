package collector

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// memory is what is remembered of one device as long as it stays registered,
// whatever happens to the readers in between. It outlives a restart of the
// program (Runner.Save), which knows the device again by its instance.
type memory struct {
	Instance   uint64                 `json:"instance"`
	Registered time.Time              `json:"registered"`
	Ports      map[string]*portMemory `json:"ports"`
	Wraps      map[string]*wrapped    `json:"wraps"` // by file

	restricted answer
	refused    bool // the firmware refused the register of the error counters
}

// portMemory is the best that a port has shown.
type portMemory struct {
	EverActive bool    `json:"ever_active"`
	BestRate   float64 `json:"best_rate_bytes_per_second"`
}

func newMemory(instance uint64, now time.Time) *memory {
	return &memory{Instance: instance, Registered: now, Ports: map[string]*portMemory{}, Wraps: map[string]*wrapped{}}
}

func (m *memory) wrapped(file string) *wrapped {
	if m.Wraps[file] == nil {
		m.Wraps[file] = &wrapped{}
	}
	return m.Wraps[file]
}

func (m *memory) port(number string) *portMemory {
	if m.Ports[number] == nil {
		m.Ports[number] = &portMemory{}
	}
	return m.Ports[number]
}

// inventory knows the devices of this boot, so that one that is gone can be
// told from one that never was. A device is known by its PCI function, since
// names change and a bond takes over the functions of its members.
type inventory map[string]*known

type known struct {
	Device string    `json:"device"`
	PCI    string    `json:"pci"` // or the name of a device without
	Since  time.Time `json:"since"`

	present *node.Series
}

// expectAfter is how long a device must have been there to be missed.
const expectAfter = 10 * time.Minute

// update books the devices that are there and returns a sample for each that
// is or was expected. covered maps the PCI functions in use to devices.
func (in inventory) update(now time.Time, covered map[string]string) []node.Sample {
	for pci, device := range covered {
		if k := in[pci]; k == nil {
			in[pci] = &known{Device: device, PCI: pci, Since: now}
		} else if k.Device != device {
			k.Device, k.present = device, nil
		}
	}
	var samples []node.Sample
	for _, key := range slices.Sorted(maps.Keys(in)) {
		k := in[key]
		_, there := covered[key]
		if !there && now.Sub(k.Since) < expectAfter {
			delete(in, key)
			continue
		}
		if k.present == nil {
			pci := k.PCI
			if pci == k.Device {
				pci = ""
			}
			k.present = series(&catalog.DevicePresent, k.Device, pci)
		}
		value := 0.0
		if there {
			value = 1
		}
		samples = append(samples, node.Sample{Series: k.present, Value: value})
	}
	return samples
}

// forget no longer expects a device: it is there but not looked at.
func (in inventory) forget(device string) {
	maps.DeleteFunc(in, func(_ string, k *known) bool { return k.Device == device })
}

// covers adds the PCI functions that a device stands for; a device without one
// is known by its name.
func (d *device) covers(covered map[string]string) {
	if d.running == nil && d.target != nil { // else what it last covered stands
		d.functions = d.target.functions()
	}
	for _, f := range d.functions {
		covered[f] = d.name
	}
}

// functions lists the PCI functions that a device stands for. One that comes
// and goes on purpose stands for none: parts of a function, software devices,
// and planes, which are their parent's.
func (t *target) functions() []string {
	switch {
	case t.part(), t.function == "virtual", t.identity.kind == "smi":
		return nil
	case t.pciPath == "":
		return []string{t.name}
	}
	all := []string{path.Base(t.pciPath)}
	for _, p := range t.ports {
		if p.pciPath != "" && p.pciPath != t.pciPath {
			all = append(all, path.Base(p.pciPath))
		}
	}
	return all
}

// saved is the form in which a runner's memory is kept.
type saved struct {
	Boot      string             `json:"boot"`
	Devices   map[string]*memory `json:"devices"`
	Inventory inventory          `json:"inventory"`
}

// Save returns what must outlive a restart of the program: how often 32-bit
// counters have wrapped, what ports have been up, which devices there were.
func (r *Runner) Save() (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := saved{Boot: r.c.Host.BootID(), Devices: map[string]*memory{}, Inventory: r.inventory}
	for name, d := range r.devices {
		if d.running == nil {
			s.Devices[name] = d.memory
		} else if old := r.restored[name]; old != nil {
			s.Devices[name] = old
		}
	}
	content, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("saving what is known of the devices: %w", err)
	}
	return content, nil
}

// Restore takes back what Save returned, before the first Collect. What may
// belong to another boot of the machine is forgotten.
func (r *Runner) Restore(content json.RawMessage) error {
	var s saved
	if err := json.Unmarshal(content, &s); err != nil {
		return fmt.Errorf("reading what was known of the devices: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Boot == "" || s.Boot != r.c.Host.BootID() {
		return nil // instances repeat from boot to boot
	}
	r.restored = s.Devices
	for key, k := range s.Inventory {
		if k != nil && k.Device != "" {
			r.inventory[key] = k
		}
	}
	return nil
}

// remembered returns the memory of a device: the one from before a restart if
// it is the same registration, else a new one.
func (r *Runner) remembered(name string, instance uint64, now time.Time) *memory {
	m := r.restored[name]
	if m == nil || m.Instance != instance || m.Registered.After(now) {
		return newMemory(instance, now)
	}
	fresh := newMemory(instance, m.Registered) // a copy: m is saved again if the device hangs
	for number, p := range m.Ports {
		if p != nil {
			*fresh.port(number) = *p
		}
	}
	for file, w := range m.Wraps {
		if w != nil {
			*fresh.wrapped(file) = *w
		}
	}
	return fresh
}
