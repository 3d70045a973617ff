package catalog

// PortCounters are the files of ports/N/counters.
func PortCounters() []Row { return nil }

// PortCountersExt are the files of ports/N/counters_ext, which old kernels
// have beside counters.
func PortCountersExt() []Row { return nil }
