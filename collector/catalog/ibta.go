package catalog

// PortCounters are the files of ports/N/counters: the InfiniBand performance
// counters (PMA) of the port, the same for every driver that has any. The 4, 8
// and 16 bit fields stick when full even on devices with extended counters.
// Where counters_ext exists too, its files must be among the names that
// Matcher.Find is told of: they replace the 32-bit ones.
//
// Only old kernels have port_rcv_discards; what it counted is not documented
// there, so it has no row.
func PortCounters() []Row {
	return []Row{
		// drivers/infiniband/core/sysfs.c, pma_attrs. port_xmit_data and
		// port_rcv_data count words of four bytes, whatever the lane count.
		{"symbol_error", &symbolErrors, "kind=pma", Events, Stick16, ""},
		{"link_error_recovery", &linkRecoveries, "kind=pma", Events, Stick8, ""},
		{"link_downed", &linkDowned, "kind=pma", Events, Stick8, ""},
		{"port_rcv_errors", &receiveErrors, "", Packets, Stick16, ""},
		{"port_rcv_remote_physical_errors", &receiveRemotePhysicalErrors, "", Packets, Stick16, ""},
		{"port_rcv_switch_relay_errors", &receiveSwitchRelayErrors, "", Packets, Stick16, ""},
		{"port_xmit_discards", &transmitDiscards, "kind=pma", Packets, Stick16, ""},
		{"port_xmit_constraint_errors", &constraintErrors, "direction=transmitted", Packets, Stick8, ""},
		{"port_rcv_constraint_errors", &constraintErrors, "direction=received", Packets, Stick8, ""},
		{"local_link_integrity_errors", &localLinkIntegrity, "", Events, Stick4, ""},
		{"excessive_buffer_overrun_errors", &bufferOverruns, "", Events, Stick4, ""},
		{"VL15_dropped", &vl15Dropped, "", Packets, Stick16, ""},
		{"port_xmit_data", &transmittedBytes, "", Words, Stick32Basic, "port_xmit_data_64"},
		{"port_rcv_data", &receivedBytes, "", Words, Stick32Basic, "port_rcv_data_64"},
		{"port_xmit_packets", &transmittedPackets, "", Packets, Stick32Basic, "port_xmit_packets_64"},
		{"port_rcv_packets", &receivedPackets, "", Packets, Stick32Basic, "port_rcv_packets_64"},
		{"port_xmit_wait", &transmitWait, "", Ticks, Stick32, ""},

		// drivers/infiniband/core/sysfs.c, pma_attrs_ext.
		{"unicast_xmit_packets", &transmittedUnicastPackets, "", Packets, Full, "port_unicast_xmit_packets"},
		{"unicast_rcv_packets", &receivedUnicastPackets, "", Packets, Full, "port_unicast_rcv_packets"},
		{"multicast_xmit_packets", &transmittedMulticastPackets, "", Packets, Full, "port_multicast_xmit_packets"},
		{"multicast_rcv_packets", &receivedMulticastPackets, "", Packets, Full, "port_multicast_rcv_packets"},
	}
}

// PortCountersExt are the files of ports/N/counters_ext, which old kernels
// have beside counters: the 64-bit fields of PortCountersExtended.
func PortCountersExt() []Row {
	return []Row{
		// The names as captures and tools of ConnectX-3 nodes show them; today's
		// drivers/infiniband/core/sysfs.c has them no more. Data in words.
		{"port_xmit_data_64", &transmittedBytes, "", Words, Full, ""},
		{"port_rcv_data_64", &receivedBytes, "", Words, Full, ""},
		{"port_xmit_packets_64", &transmittedPackets, "", Packets, Full, ""},
		{"port_rcv_packets_64", &receivedPackets, "", Packets, Full, ""},
		{"port_unicast_xmit_packets", &transmittedUnicastPackets, "", Packets, Full, ""},
		{"port_unicast_rcv_packets", &receivedUnicastPackets, "", Packets, Full, ""},
		{"port_multicast_xmit_packets", &transmittedMulticastPackets, "", Packets, Full, ""},
		{"port_multicast_rcv_packets", &receivedMulticastPackets, "", Packets, Full, ""},
	}
}
