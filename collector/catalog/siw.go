package catalog

var siw = Page{
	Driver:       "siw",
	ConstantRate: true,
}
