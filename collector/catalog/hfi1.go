package catalog

var hfi1 = Page{
	Driver: "hfi1",
	Bound:  []string{"hfi1"},
}
