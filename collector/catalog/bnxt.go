package catalog

var bnxt = Page{
	Driver: "bnxt_re",
	Bound:  []string{"bnxt_en"},
}
