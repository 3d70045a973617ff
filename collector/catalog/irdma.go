package catalog

var irdma = Page{
	Driver: "irdma",
	Bound:  []string{"ice", "i40e", "idpf", "i40iw"},
}
