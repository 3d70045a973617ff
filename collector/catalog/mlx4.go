package catalog

var mlx4 = Page{
	Driver: "mlx4",
	Bound:  []string{"mlx4_core"},
}
