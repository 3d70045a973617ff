package catalog

// Netdev are the files of a port's network interface, /sys/class/net/*, that
// count (net/core/net-sysfs.c). The kernel keeps them itself, for every driver.
func Netdev() []Row {
	return []Row{
		{"mtu", &NetdevMTU, "", Bytes, Full, ""},
		{"carrier_changes", &CarrierChanges, "", Events, Full, ""},
		{"carrier_down_count", &linkDowned, "kind=carrier", Events, Full, ""},
	}
}

// EthtoolNetlink are the standard statistics of the ethtool netlink family,
// which every driver that fills them fills alike. The names are ours:
// message, attribute (include/uapi/linux/ethtool_netlink.h), and the lane
// where the attribute has one.
func EthtoolNetlink() []Row {
	return []Row{
		{"pause/rx", &pauseEnabled, "direction=received", Events, Full, ""},
		{"pause/tx", &pauseEnabled, "direction=sent", Events, Full, ""},
		{"pause/rx_frames", &macPauseReceived, "", Frames, Full, ""},
		{"pause/tx_frames", &macPauseSent, "", Frames, Full, ""},
		{"pause/tx_pause_storm_events", &pauseStorms, "kind=netlink", Events, Full, ""},
		{"fec/corrected", &fecCorrectedBlocks, "", Blocks, Full, ""},
		{"fec/uncorr", &fecUncorrectableBlocks, "", Blocks, Full, ""},
		{"fec/corr_bits", &fecCorrectedBits, "", Bits, Full, ""},
		{"fec/corrected/lane{lane}", &fecLaneCorrectedBlocks, "", Blocks, Full, ""},
		{"fec/uncorr/lane{lane}", &fecLaneUncorrectableBlocks, "", Blocks, Full, ""},
		{"fec/corr_bits/lane{lane}", &fecLaneCorrectedBits, "", Bits, Full, ""},
		{"linkstate/ext_down_cnt", &linkDowned, "kind=netlink", Events, Full, ""},
	}
}
