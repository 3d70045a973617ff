package catalog

var erdma = Page{
	Driver: "erdma",
	Bound:  []string{"erdma"},
}
