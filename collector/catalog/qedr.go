package catalog

var qedr = Page{
	Driver: "qedr",
	Bound:  []string{"qede"},
}
