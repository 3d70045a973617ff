package catalog

var mlx5 = Page{
	Driver:    "mlx5",
	Bound:     []string{"mlx5_core"},
	FirstRead: "rx_write_requests",
}
