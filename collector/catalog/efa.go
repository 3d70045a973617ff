package catalog

var efa = Page{
	Driver:        "efa",
	Bound:         []string{"efa"},
	ConstantState: true,
	ConstantRate:  true,
}
