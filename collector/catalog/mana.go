package catalog

var mana = Page{
	Driver:        "mana",
	Bound:         []string{"mana"},
	ConstantState: true,
}
