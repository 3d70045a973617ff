package catalog

var ena = Page{
	Driver: "ena",
	Bound:  []string{"ena"},
}
