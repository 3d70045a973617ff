package catalog

var cxgb4 = Page{
	Driver: "cxgb4",
	Bound:  []string{"cxgb4", "iw_cxgb4"},
}
