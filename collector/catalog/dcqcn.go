package catalog

// DCQCN are the settings of congestion control that the out-of-tree mlx5
// driver shows in /sys/class/net/*/ecn/roce_np and roce_rp. Units are those of
// NVIDIA's documentation of the parameters; alpha and g are fixed-point
// numbers with ten bits of fraction. rpg_gd is a shift, rpg_threshold a count
// of periods, and the unit of rpg_byte_reset is not documented.
func DCQCN() []Row {
	return []Row{
		{"min_time_between_cnps", &DCQCNMinTimeBetweenCNPs, "", Microseconds, Full, ""},
		{"cnp_dscp", &DCQCNParameter, "parameter=cnp_dscp", Events, Full, ""},
		{"cnp_802p_prio", &DCQCNParameter, "parameter=cnp_802p_prio", Events, Full, ""},
		{"clamp_tgt_rate", &DCQCNParameter, "parameter=clamp_tgt_rate", Events, Full, ""},
		{"clamp_tgt_rate_after_time_inc", &DCQCNParameter, "parameter=clamp_tgt_rate_after_time_inc", Events, Full, ""},
		{"rpg_time_reset", &DCQCNSeconds, "parameter=rpg_time_reset", Microseconds, Full, ""},
		{"rpg_byte_reset", &DCQCNParameter, "parameter=rpg_byte_reset", Events, Full, ""},
		{"rpg_threshold", &DCQCNParameter, "parameter=rpg_threshold", Events, Full, ""},
		{"rpg_max_rate", &DCQCNRate, "parameter=rpg_max_rate", MegabitsPerSecond, Full, ""},
		{"rpg_ai_rate", &DCQCNRate, "parameter=rpg_ai_rate", MegabitsPerSecond, Full, ""},
		{"rpg_hai_rate", &DCQCNRate, "parameter=rpg_hai_rate", MegabitsPerSecond, Full, ""},
		{"rpg_gd", &DCQCNParameter, "parameter=rpg_gd", Events, Full, ""},
		{"rpg_min_dec_fac", &DCQCNRatio, "parameter=rpg_min_dec_fac", Percent, Full, ""},
		{"rpg_min_rate", &DCQCNRate, "parameter=rpg_min_rate", MegabitsPerSecond, Full, ""},
		{"rate_to_set_on_first_cnp", &DCQCNRate, "parameter=rate_to_set_on_first_cnp", MegabitsPerSecond, Full, ""},
		{"dce_tcp_g", &DCQCNRatio, "parameter=dce_tcp_g", Per1024, Full, ""},
		{"dce_tcp_rtt", &DCQCNSeconds, "parameter=dce_tcp_rtt", Microseconds, Full, ""},
		{"rate_reduce_monitor_period", &DCQCNSeconds, "parameter=rate_reduce_monitor_period", Microseconds, Full, ""},
		{"initial_alpha_value", &DCQCNRatio, "parameter=initial_alpha_value", Per1024, Full, ""},
	}
}
