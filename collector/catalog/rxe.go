package catalog

var rxe = Page{
	Driver:       "rxe",
	ConstantRate: true,
}
