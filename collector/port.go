package collector

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/host"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// portReader reads identity and state: what the device is, whether its ports
// are up and how fast their links run.
type portReader struct {
	t     *target
	door  *host.Door
	info  *node.Series
	ports []*portState
}

func openPort(t *target, d *host.Door) reader {
	id := t.identity
	r := &portReader{t: t, door: d, info: series(&catalog.DeviceInfo, t.name,
		t.driver, id.firmware, id.boardID, id.hcaType, id.hwRev, id.nodeType, id.nodeGUID, id.sysGUID, id.desc,
		path.Base(t.pciPath), id.numaNode, t.function, id.parent)}
	if t.pciPath == "" {
		r.info.Values[r.info.Metric.LabelIndex("pci")] = ""
	}
	for _, p := range t.ports {
		r.ports = append(r.ports, newPortState(t, p, d))
	}
	for _, bond := range r.ports {
		for _, s := range r.ports {
			if a := s.net["carrier"]; a != nil && s.p.kind == "bond_member" && slices.Contains(bond.p.members, s.p.netdev) {
				bond.memberCarriers = append(bond.memberCarriers, a)
			}
		}
	}
	return r
}

func (r *portReader) read(b *batch) error {
	b.add(r.info, 1)
	reading := &reading{door: r.door, now: b.now}
	for _, p := range r.ports {
		p.read(reading, b)
	}
	return errors.Join(reading.errs...)
}

func (r *portReader) close() {
	for _, p := range r.ports {
		p.close()
	}
}

// portState reads the state of one port and of its network interface.
type portState struct {
	t    *target
	p    *port
	dirs []*host.Dir
	ib   map[string]*attribute // of the RDMA port
	net  map[string]*attribute // of its network interface

	info, state, phys, active, ever, admin, rate, best *node.Series
	lid, smLID                                         *node.Series
	counts                                             []netdevCount
	members, membersActive                             *node.Series
	down                                               down
	memberCarriers                                     []*attribute // of a bond; its members close them
}

// netdevCount is a row of catalog.Netdev and the series it feeds.
type netdevCount struct {
	row *catalog.Row
	out *node.Series
}

// attribute is a kept file that sleeps when it is not offered.
type attribute struct {
	file    *host.File
	passing bool // EINVAL passes: with the link, or when the interface is up again
	sleep   time.Time
	of      *reading // the last one, whose text it still has
	last    []byte
	refused bool // the last answer was EINVAL
}

// passing are the attributes that do not sleep after EINVAL. It is how speed
// and carrier say that their interface is down, and a PCIe link that it is
// being reset.
var passing = map[string]bool{
	"state": true, "phys_state": true, "speed": true, "carrier": true,
	"current_link_speed": true, "current_link_width": true,
}

func newPortState(t *target, p *port, d *host.Door) *portState {
	id := func(m *catalog.Metric, more ...string) *node.Series {
		return series(m, append([]string{t.name, p.number}, more...)...)
	}
	s := &portState{t: t, p: p, ib: map[string]*attribute{}, net: map[string]*attribute{},
		info:  id(&catalog.PortInfo, p.linkLayer, p.netdev, p.physName, p.kind, p.bond, role(t, p)),
		state: id(&catalog.PortState), phys: id(&catalog.PortPhysicalState), active: id(&catalog.PortActive),
		ever: id(&catalog.PortEverActive), admin: id(&catalog.PortAdminUp), rate: id(&catalog.PortRate), best: id(&catalog.PortBestRate), lid: id(&catalog.PortLID), smLID: id(&catalog.PortSMLID),
		members: id(&catalog.BondMembers), membersActive: id(&catalog.BondMembersActive),
	}
	if p.onDevice {
		s.open(d, s.ib, path.Join(t.path, "ports", p.number), "state", "phys_state", "rate", "lid", "sm_lid")
	}
	if p.netdev != "" {
		names := []string{"flags", "speed", "carrier"}
		for _, row := range catalog.Netdev() {
			if row.Metric.Physical && !p.physical {
				continue
			}
			names = append(names, row.Name)
			s.counts = append(s.counts, netdevCount{&row, id(row.Metric, row.LabelValues(nil)...)})
		}
		s.open(d, s.net, path.Join("class/net", p.netdev), names...)
	}
	return s
}

// role names the group of ports that a port ought to look like: those of equal
// driver, board and link layer. Ports that are not physical have none, since
// they come in any shape, nor have those of an unknown driver.
func role(t *target, p *port) string {
	if t.driver == "" || !p.physical && p.kind != "bond" {
		return ""
	}
	board := t.identity.boardID
	if board == "" {
		board = t.identity.hcaType
	}
	return strings.Join(strings.Fields(t.driver+" "+board+" "+p.linkLayer), " ")
}

// open prepares files of a directory. One that is not there is absent.
func (s *portState) open(d *host.Door, into map[string]*attribute, dirName string, names ...string) {
	dir, err := d.OpenDir(dirName)
	if err != nil {
		return
	}
	s.dirs = append(s.dirs, dir)
	for _, name := range names {
		into[name] = &attribute{file: dir.File(name), passing: passing[name]}
	}
}

func (s *portState) close() {
	for _, files := range []map[string]*attribute{s.ib, s.net} {
		for _, a := range files {
			a.file.Close()
		}
	}
	for _, dir := range s.dirs {
		dir.Close()
	}
}

// reading is one reading of the attributes of a device: it reads each only
// once, and keeps the errors that are more than "not offered".
type reading struct {
	door *host.Door
	now  time.Time
	errs []error
}

// text returns the attribute's text, "" if it has none.
func (r *reading) text(a *attribute) string {
	var buf [128]byte
	return string(r.bytes(a, buf[:]))
}

// bytes is text into a buffer, for files that are longer.
func (r *reading) bytes(a *attribute, buf []byte) []byte {
	if a == nil || r.now.Before(a.sleep) {
		return nil
	}
	if a.of == r {
		return a.last
	}
	a.of, a.last, a.refused = r, a.last[:0], false
	text, err := a.file.Read(r.door, buf)
	switch {
	case err == nil:
		a.last = append(a.last, text...)
		return a.last
	case a.passing && errors.Is(err, syscall.EINVAL):
		a.refused = true
	case host.NotOffered(err), host.Denied(err):
		a.sleep = r.now.Add(reprobeAfter)
	default:
		r.errs = append(r.errs, err)
	}
	return nil
}

// carrier tells whether an interface has a link, if that is known.
func (r *reading) carrier(a *attribute) answer {
	switch text := r.text(a); {
	case text == "1":
		return yes
	case text == "0", a != nil && a.refused:
		return no
	}
	return unknown
}

func (s *portState) read(r *reading, b *batch) {
	b.add(s.info, 1)
	active, known := s.readState(r, b)
	s.readNetdev(r, b)
	if active || !known {
		s.readRate(r, b, known)
	}
	s.readBond(r, b)
}

// Values of the files state and phys_state, include/rdma/ib_verbs.h.
const (
	stateNop         = 0 // the driver does not fill it in
	stateActive      = 4
	stateActiveDefer = 5 // the last one there is
	physDisabled     = 3
)

// readState reports whether the port is active, if that is known at all.
func (s *portState) readState(r *reading, b *batch) (active, known bool) {
	constant := s.t.page != nil && s.t.page.ConstantState
	if !s.p.onDevice {
		// A bond member is up when its interface has a carrier.
		carrier := r.carrier(s.net["carrier"])
		if carrier != unknown {
			s.bookActive(b, carrier == yes)
		}
		return carrier == yes, carrier != unknown
	}
	stateText, physText := s.states(r)
	if state, err := host.ParseNumbered(stateText); err == nil {
		b.add(s.state, float64(state))
		active, known = state == stateActive, state > stateNop && state <= stateActiveDefer
		if known && !constant {
			s.bookActive(b, active)
		}
	}
	phys, err := host.ParseNumbered(physText)
	if err == nil {
		b.add(s.phys, float64(phys))
	}
	if s.p.infiniband() {
		if err == nil && !constant {
			b.addBool(s.admin, phys != physDisabled)
		}
		if v, err := host.ParseHex(r.text(s.ib["lid"])); err == nil {
			b.add(s.lid, float64(v))
		}
		if v, err := host.ParseHex(r.text(s.ib["sm_lid"])); err == nil {
			b.add(s.smLID, float64(v))
		}
	}
	return active, known
}

// down is the state of an Ethernet port that has no link, and what its interface
// said then.
type down struct {
	state, phys string
	proof       string // "" if the port has a link
	until       time.Time
}

// stateAge is how old the state of a port without a link may be.
const stateAge = time.Minute

// states reads the files state and phys_state. On an Ethernet port without a
// link each reading makes the kernel ask for the speed and, where there is none,
// log that it assumes one (ib_get_eth_speed, drivers/infiniband/core/verbs.c).
// While the interface says that nothing has changed, they are not read again.
func (s *portState) states(r *reading) (state, phys string) {
	if s.down.proof != "" && r.now.Before(s.down.until) && s.proof(r) == s.down.proof {
		return s.down.state, s.down.phys
	}
	state, phys = r.text(s.ib["state"]), r.text(s.ib["phys_state"])
	s.down = down{}
	if n, err := host.ParseNumbered(state); err == nil && n != stateActive && s.p.ethernet() {
		s.down = down{state, phys, s.proof(r), r.now.Add(stateAge)}
	}
	return state, phys
}

// proof is what the interface says of itself while it has no link.
func (s *portState) proof(r *reading) string {
	if r.carrier(s.net["carrier"]) != no {
		return ""
	}
	return r.text(s.net["flags"]) + " " + r.text(s.net["carrier_changes"])
}

// IFF_UP, include/uapi/linux/if.h: the interface is switched on.
const flagUp = 1

// bookActive says whether the port is active, and whether it ever was.
func (s *portState) bookActive(b *batch, active bool) {
	m := s.t.memory.port(s.p.number)
	m.EverActive = m.EverActive || active
	b.addBool(s.active, active)
	b.addBool(s.ever, m.EverActive)
}

// bookRate gives the rate, and the best one so far.
func (s *portState) bookRate(b *batch, rate float64) {
	m := s.t.memory.port(s.p.number)
	m.BestRate = max(m.BestRate, rate)
	b.add(s.rate, rate)
	b.add(s.best, m.BestRate)
}

// readNetdev tells also whether an Ethernet port is switched on, which its
// interface knows. The physical state of one without a cable is disabled.
func (s *portState) readNetdev(r *reading, b *batch) {
	if s.p.ethernet() {
		if flags, err := host.ParseHex(r.text(s.net["flags"])); err == nil {
			b.addBool(s.admin, flags&flagUp != 0)
		}
	}
	for _, c := range s.counts {
		if v, err := host.ParseCounter([]byte(r.text(s.net[c.row.Name]))); err == nil {
			b.add(c.out, c.row.Unit.ToBase(float64(v)))
		}
	}
}

// readRate gives the rate of an active port: on Ethernet the interface's
// speed, since drivers map it to InfiniBand rates only roughly, else the port's
// own. Without an active link both are placeholders.
func (s *portState) readRate(r *reading, b *batch, trusted bool) {
	if s.p.ethernet() {
		if mbits, err := host.ParseCounter([]byte(r.text(s.net["speed"]))); err == nil && mbits > 0 && mbits < 1<<31 {
			s.bookRate(b, catalog.MegabitsPerSecond.ToBase(float64(mbits)))
			return
		}
	}
	constant := s.t.page != nil && s.t.page.ConstantRate
	if !trusted || constant || s.ib["rate"] == nil {
		return
	}
	text := r.text(s.ib["rate"])
	if gbits, err := parseRate(text); err == nil && gbits > 0 && !unknownSpeed(text) {
		s.bookRate(b, catalog.GigabitsPerSecond.ToBase(gbits))
	}
}

func (s *portState) readBond(r *reading, b *batch) {
	if len(s.p.members) == 0 {
		return
	}
	b.add(s.members, float64(len(s.p.members)))
	up := 0
	for _, a := range s.memberCarriers {
		switch r.carrier(a) {
		case yes:
			up++
		case unknown:
			return // how many are up is not known
		}
	}
	b.add(s.membersActive, float64(up))
}

// unknownSpeed recognises what kernels show for a speed per lane that they do
// not know: SDR, or no name (rate_show, drivers/infiniband/core/sysfs.c). An NDR
// port has 10 Gb/s then, 40 times too little. True SDR links are long gone.
func unknownSpeed(rate string) bool {
	_, brackets, _ := strings.Cut(rate, "(")
	_, name, _ := strings.Cut(strings.TrimRight(brackets, ") "), "X")
	name = strings.TrimSpace(name)
	return name == "" || name == "SDR"
}

// parseRate reads the rate file, "200 Gb/sec (4X HDR)", in Gb/s. The words in
// brackets vary (none on old kernels, SDR for any speed the kernel does not
// know) and do not count.
func parseRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	gbits, err := strconv.ParseFloat(number, 64)
	if err != nil || !(gbits >= 0 && gbits < 1e6) || !strings.HasPrefix(strings.ToLower(unit), "gb/sec") {
		return 0, host.ErrNotNumber
	}
	return gbits, nil
}
