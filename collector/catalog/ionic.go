package catalog

var ionic = Page{
	Driver: "ionic",
	Bound:  []string{"ionic"},
}
