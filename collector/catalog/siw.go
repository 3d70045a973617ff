package catalog

// Software iWARP over TCP. It has neither hw_counters nor port counters, and
// the interface below counts it as ordinary TCP.
var siw = Page{
	Driver:       "siw",
	Software:     true,
	ConstantRate: true,
}
