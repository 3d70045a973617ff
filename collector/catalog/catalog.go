// Package catalog is what rdmawatch knows about counters: which file of which
// driver means what, in which unit, and where it sticks or wraps.
//
// It is pure data: no files, no clocks, no Prometheus types. A metric is a
// line in metrics.go, a counter is a line on its driver's page (mlx5.go,
// bnxt.go, ...), and arithmetic on a counter happens only in its Unit.
package catalog

import (
	"slices"
	"strings"
)

// Type is the Prometheus type of a metric.
type Type uint8

// The types a metric can have. Untyped is for counters of which we know only
// the name.
const (
	Counter Type = iota
	Gauge
	Untyped
)

func (t Type) String() string { return [...]string{"counter", "gauge", "untyped"}[t] }

// Scope says which labels every series of a metric carries before its own.
type Scope uint8

// Node metrics have no label of their own, Device metrics carry device, Port
// metrics carry device and port. A counter that a driver keeps for a whole
// device but which is a Port metric elsewhere has an empty port.
const (
	Node Scope = iota
	Device
	Port
)

var scopeLabels = [...][]string{Node: nil, Device: {"device"}, Port: {"device", "port"}}

// Side is from whose view a counter counts.
type Side uint8

// Requester posted the request, Responder received it. The notification point
// sees ECN marks and sends CNPs, the reaction point receives them and slows
// down. Wire is the physical port, Host is the PCIe side and the node itself.
// AnySide metrics name the side in a label.
const (
	Host Side = iota
	Requester
	Responder
	NotificationPoint
	ReactionPoint
	Wire
	AnySide
)

func (s Side) String() string {
	return [...]string{"host", "requester", "responder", "notification point", "reaction point", "wire", "label `side`"}[s]
}

// Metric is one metric family as it appears on /metrics.
type Metric struct {
	Name   string
	Type   Type
	Scope  Scope
	Side   Side
	Unit   Base     // what the value is measured in; its word ends the name
	Labels []string // after those of the scope
	Help   string   // one sentence: what is counted, from whose view
	// Physical metrics count at the physical port or PCIe link, which several
	// functions share; they are exported by the function that owns it only.
	Physical bool
}

// LabelNames lists all labels of a series of m, in order.
func (m *Metric) LabelNames() []string {
	return append(append([]string(nil), scopeLabels[m.Scope]...), m.Labels...)
}

// LabelIndex is the place of a label in LabelNames, -1 if there is none of that
// name.
func (m *Metric) LabelIndex(name string) int {
	scope := scopeLabels[m.Scope]
	if i := slices.Index(scope, name); i >= 0 {
		return i
	}
	if i := slices.Index(m.Labels, name); i >= 0 {
		return len(scope) + i
	}
	return -1
}

// Row is one counter of one driver: the name the kernel gives it and the
// metric it is exported as. Several rows may feed one series; their values are
// added (two names for parts of one thing). One name may have several rows
// with different metrics (a part and the whole).
type Row struct {
	// Name is the file in sysfs or the string of `ethtool -S`. {label} stands
	// for a decimal number, which becomes the label's value.
	Name   string
	Metric *Metric
	Labels string // fixed labels: "side=requester,kind=remote_access"
	Unit   Unit   // what the driver counts in
	Width  Width  // where the field sticks or wraps
	Unless string // the row is void where this name exists as well
}

// Page is all we know of one driver.
type Page struct {
	Driver string // the RDMA driver, as in drivers/infiniband/hw
	// Bound lists the names under which the PCI function is bound, as the
	// link device/driver shows them: RDMA drivers often sit on top of the
	// Ethernet driver, which owns the function.
	Bound []string
	// Software marks drivers without hardware: they run on any interface.
	Software bool
	// FirstRead is the hw_counters file that must be read first, so that the
	// kernel caches the set for the others; "" where any order is as good.
	FirstRead string
	// SumsPorts marks drivers whose device set of hw_counters is the sum of the
	// ports' sets, under the same names: what a port has is then not read again
	// at device level.
	SumsPorts bool
	// ConstantState marks drivers that report ACTIVE, LinkUp and one rate
	// whatever happens; their link state says nothing.
	ConstantState bool
	// PortErrors tells on which ports the error files of ports/N/counters hold
	// counts; on others they are placeholders that always read 0.
	PortErrors Ports
	// Freezes marks drivers that never ask the device for statistics again once
	// it has failed to answer.
	Freezes bool
	// ConstantRate marks drivers whose rate file is a constant.
	ConstantRate bool
	HW           []Row // hw_counters, port and device level
	Ethtool      []Row // `ethtool -S` of the driver's network interface
}

// Ports is a kind of ports.
type Ports uint8

// The kinds that matter to port errors. OnInfiniBand leaves out VFs as well.
const (
	Always Ports = iota
	OnInfiniBand
	Never
)

// Pages lists every driver rdmawatch knows.
func Pages() []*Page {
	return []*Page{
		&mlx5, &mlx4, &bnxt, &irdma, &efa, &hns, &mana, &ionic, &erdma, &hfi1, &cxgb4, &qedr, &rxe, &ena, &siw,
		&ocrdma, &qib, &mthca, &usnic, &pvrdma,
	}
}

// ForDriver finds the page of a driver by its RDMA name or by the name its PCI
// function is bound under; nil if nothing is known of it.
func ForDriver(name string) *Page {
	for _, p := range Pages() {
		if p.Driver == name {
			return p
		}
		for _, b := range p.Bound {
			if b == name {
				return p
			}
		}
	}
	return nil
}

// LabelValues puts the fixed labels of r and the captured ones into the order
// of the metric's own labels.
func (r *Row) LabelValues(captured map[string]string) []string {
	values := make([]string, len(r.Metric.Labels))
	for i, name := range r.Metric.Labels {
		values[i] = captured[name]
		for pair := range strings.SplitSeq(r.Labels, ",") {
			if k, v, ok := strings.Cut(pair, "="); ok && k == name {
				values[i] = v
			}
		}
	}
	return values
}
