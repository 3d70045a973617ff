package catalog

// Drivers without hw_counters. What they have are the port counters, and on
// Ethernet what their network interface counts, which is not mapped.

// Emulex OneConnect. It answers every request for port counters with the same
// structure, in which only the traffic is filled in
// (drivers/infiniband/hw/ocrdma/ocrdma_stats.c).
var ocrdma = Page{Driver: "ocrdma", Bound: []string{"be2net"}, PortErrors: Never}

// QLogic InfiniBand, before Omni-Path. Its port counters are kept by the driver
// from chip registers (drivers/infiniband/hw/qib/qib_mad.c).
var qib = Page{Driver: "qib", Bound: []string{"ib_qib"}}

// Mellanox InfiniHost, before ConnectX. Its firmware answers for the port
// counters (drivers/infiniband/hw/mthca/mthca_mad.c).
var mthca = Page{Driver: "mthca", Bound: []string{"ib_mthca"}}

// Cisco usNIC. It has no counters (drivers/infiniband/hw/usnic).
var usnic = Page{Driver: "usnic", Bound: []string{"enic"}}

// VMware's paravirtual RDMA. It has no counters
// (drivers/infiniband/hw/vmw_pvrdma).
var pvrdma = Page{Driver: "vmw_pvrdma", Bound: []string{"vmw_pvrdma", "pvrdma"}}
