package catalog

var hns = Page{
	Driver: "hns",
	Bound:  []string{"hns3", "hns_roce_hw_v2"},
}
