package catalog

// Metrics lists every metric rdmawatch can export, in the order of METRICS.md.
// One line each: this is the only place where a metric is named and explained.
func Metrics() []*Metric {
	return []*Metric{
		&receivedBytes,
		&transmittedBytes,
		&receivedPackets,
		&transmittedPackets,
		&receivedUnicastPackets,
		&transmittedUnicastPackets,
		&receivedMulticastPackets,
		&transmittedMulticastPackets,
		&transmittedBroadcastPackets,
		&receivedMulticastBytes,
		&transmittedMulticastBytes,
		&receivedGoodBytes,
		&receivedGoodPackets,
		&receivedErrorPackets,
		&receivedDiscardPackets,
		&transmittedErrorPackets,
		&transmittedDiscardPackets,
		&receivedTransportPackets,
		&transmittedTransportPackets,
		&receiveDropPackets,
		&transmitDropPackets,
		&clearToSendReceivedBytes,
		&clearToSendTransmittedBytes,
		&clearToSendReceivedPackets,
		&clearToSendTransmittedPackets,
		&requestsReceived,
		&requestsSent,
		&readResponsesReceived,
		&readResponsesSent,
		&receiveRequestsCompleted,
		&operationSentBytes,
		&operationReceivedBytes,
		&dctConnects,
		&memoryWindowBinds,
		&localInvalidates,
		&outOfSequence,
		&lossEvents,
		&sequenceNAKsSent,
		&rnrNAKsReceived,
		&rnrNAKsSent,
		&receiveBufferExhausted,
		&retransmittedPackets,
		&retransmittedBytes,
		&retransmissionEvents,
		&retriesExceeded,
		&duplicatePackets,
		&adaptiveRetransmissions,
		&adaptiveRetransmissionTimeouts,
		&slowRestarts,
		&slowRestartCNPs,
		&slowRestartTransitions,
		&impairedPaths,
		&readDepthLimits,
		&connectionResets,
		&ecnMarked,
		&cnpSent,
		&cnpReceived,
		&cnpHandled,
		&cnpIgnored,
		&rateLimitedQPs,
		&recoveredQPs,
		&rateIncreases,
		&reactionPointRate,
		&pacingEvents,
		&doorbellFIFO,
		&icrcErrors,
		&completionErrors,
		&completionFlushes,
		&transportErrors,
		&fatalErrors,
		&cqOverflows,
		&ipReceivedDiscards,
		&ipReceivedTruncated,
		&ipNoRoute,
		&ipReassemblies,
		&ipFragmentations,
		&tcpReceivedSegments,
		&tcpTransmittedSegments,
		&tcpErrors,
		&vlanErrors,
		&udpReceivedPackets,
		&udpTransmittedPackets,
		&activeObjects,
		&activeObjectsWatermark,
		&cqResizes,
		&commands,
		&commandErrors,
		&keepAlives,
		&symbolErrors,
		&linkRecoveries,
		&linkDowned,
		&receiveErrors,
		&receiveRemotePhysicalErrors,
		&receiveSwitchRelayErrors,
		&constraintErrors,
		&localLinkIntegrity,
		&bufferOverruns,
		&vl15Dropped,
		&transmitWait,
		&crcErrors,
		&laneErrors,
		&illegalBytes,
		&macFaults,
		&fecCorrectedBits,
		&fecCorrectedBlocks,
		&fecUncorrectableBlocks,
		&fecLaneCorrectedBits,
		&fecLaneCorrectedBlocks,
		&fecLaneUncorrectableBlocks,
		&receivedBits,
		&moduleFaults,
		&wireReceivedBytes,
		&wireTransmittedBytes,
		&wireReceivedPackets,
		&wireTransmittedPackets,
		&wireReceiveErrors,
		&receiveDiscards,
		&transmitDiscards,
		&transmitErrors,
		&bufferThreshold,
		&noHostDescriptor,
		&nicInternalDrops,
		&priorityReceivedBytes,
		&priorityTransmittedBytes,
		&priorityReceivedPackets,
		&priorityTransmittedPackets,
		&priorityDiscards,
		&priorityMarked,
		&pfcReceivedFrames,
		&pfcSentFrames,
		&pfcReceivedResumeFrames,
		&pfcSentResumeFrames,
		&pfcReceivedSeconds,
		&pfcSentSeconds,
		&pfcReceivedTransitions,
		&pfcSentTransitions,
		&pfcReceivedAll,
		&pfcSentAll,
		&globalPauseReceived,
		&globalPauseSent,
		&globalPauseReceivedResume,
		&globalPauseSentResume,
		&globalPauseReceivedSeconds,
		&globalPauseSentSeconds,
		&globalPauseTransitions,
		&macPauseReceived,
		&macPauseSent,
		&macControlReceived,
		&macControlSent,
		&pauseStorms,
		&pauseEnabled,
		&cosReceivedBytes,
		&cosTransmittedBytes,
		&cosReceivedPackets,
		&cosTransmittedPackets,
		&cosDiscardPackets,
		&cosDiscardBytes,
		&vportReceivedBytes,
		&vportTransmittedBytes,
		&vportReceivedPackets,
		&vportTransmittedPackets,
		&allowanceExceeded,
		&srdPackets,
		&srdUtilisation,
		&trackableConnections,
		&pcieStalledRatio,
		&pcieStalledSeconds,
		&pcieBufferOverflow,
		&pcieSignalIntegrity,
		&PCIeSpeed,
		&PCIeWidth,
		&PCIeMaxSpeed,
		&PCIeMaxWidth,
		&PCIeExpectedSpeed,
		&PCIeExpectedWidth,
		&PCIeBandwidth,
		&PCIePathBandwidth,
		&PCIeDegraded,
		&PCIeSlotLimited,
		&AERErrors,
		&PCIeInfo,
		&KernelEvents,
		&KernelHarmless,
		&KernelEventLast,
		&KernelLogLost,
		&DeviceInfo,
		&PortInfo,
		&PortState,
		&PortPhysicalState,
		&PortActive,
		&PortEverActive,
		&PortAdminUp,
		&PortRate,
		&PortBestRate,
		&OperationsUnchanged,
		&PortLID,
		&PortSMLID,
		&NetdevMTU,
		&CarrierChanges,
		&LinkDownReason,
		&FECActive,
		&BondMembers,
		&BondMembersActive,
		&CounterSaturated,
		&PortPKeys,
		&PortPKeyFull,
		&PortGIDs,
		&PortGIDIndex,
		&PortGIDChanges,
		&ConfigPFCEnabled,
		&ConfigSetting,
		&ConfigHash,
		&DCQCNNotificationPoint,
		&DCQCNReactionPoint,
		&DCQCNMinTimeBetweenCNPs,
		&DCQCNSeconds,
		&DCQCNRate,
		&DCQCNRatio,
		&DCQCNParameter,
		&UnmappedHW,
		&UnmappedPort,
		&UnmappedEthtool,
		&Devices,
		&CollectionDuration,
		&DeviceSkipped,
		&DeviceStalled,
		&DeviceLastRead,
		&DeviceFirstSeen,
		&DevicePresent,
		&CollectorSuccess,
		&CollectorDuration,
		&CollectorLastSuccess,
		&CollectorReads,
		&CollectorReadErrors,
		&CollectorSkipped,
	}
}

// Of physical metrics see Metric.Physical.
const (
	physical = true
	shared   = false
)

// RDMA traffic of the function. Header accounting differs between vendors by a few percent; compare a port with itself.
var (
	receivedBytes                 = Metric{"rdma_received_bytes_total", Counter, Port, Responder, InBytes, nil, "RDMA data received by this function, in the accounting of its driver.", shared}
	transmittedBytes              = Metric{"rdma_transmitted_bytes_total", Counter, Port, Requester, InBytes, nil, "RDMA data sent by this function, in the accounting of its driver.", shared}
	receivedPackets               = Metric{"rdma_received_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA packets received by this function.", shared}
	transmittedPackets            = Metric{"rdma_transmitted_packets_total", Counter, Port, Requester, InPackets, nil, "RDMA packets sent by this function.", shared}
	receivedUnicastPackets        = Metric{"rdma_received_unicast_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA unicast packets received by this function.", shared}
	transmittedUnicastPackets     = Metric{"rdma_transmitted_unicast_packets_total", Counter, Port, Requester, InPackets, nil, "RDMA unicast packets sent by this function.", shared}
	receivedMulticastPackets      = Metric{"rdma_received_multicast_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA multicast packets received by this function.", shared}
	transmittedMulticastPackets   = Metric{"rdma_transmitted_multicast_packets_total", Counter, Port, Requester, InPackets, nil, "RDMA multicast packets sent by this function.", shared}
	transmittedBroadcastPackets   = Metric{"rdma_transmitted_broadcast_packets_total", Counter, Port, Requester, InPackets, nil, "Broadcast packets sent by this function.", shared}
	receivedMulticastBytes        = Metric{"rdma_received_multicast_bytes_total", Counter, Port, Responder, InBytes, nil, "RDMA multicast data received by this function.", shared}
	transmittedMulticastBytes     = Metric{"rdma_transmitted_multicast_bytes_total", Counter, Port, Requester, InBytes, nil, "RDMA multicast data sent by this function.", shared}
	receivedGoodBytes             = Metric{"rdma_received_good_bytes_total", Counter, Port, Responder, InBytes, nil, "RDMA data received without error by this function.", shared}
	receivedGoodPackets           = Metric{"rdma_received_good_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA packets received without error by this function.", shared}
	receivedErrorPackets          = Metric{"rdma_received_error_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA packets received with an error and not delivered.", shared}
	receivedDiscardPackets        = Metric{"rdma_received_discard_packets_total", Counter, Port, Responder, InPackets, nil, "RDMA packets received intact and dropped by this function.", shared}
	transmittedErrorPackets       = Metric{"rdma_transmitted_error_packets_total", Counter, Port, Requester, InPackets, nil, "RDMA packets that this function failed to send.", shared}
	transmittedDiscardPackets     = Metric{"rdma_transmitted_discard_packets_total", Counter, Port, Requester, InPackets, nil, "RDMA packets that this function dropped instead of sending.", shared}
	receivedTransportPackets      = Metric{"rdma_received_transport_packets_total", Counter, Port, Responder, InPackets, []string{"transport"}, "RDMA packets received, by transport service (rc, uc, ud, xrc).", shared}
	transmittedTransportPackets   = Metric{"rdma_transmitted_transport_packets_total", Counter, Port, Requester, InPackets, []string{"transport"}, "RDMA packets sent, by transport service (rc, uc, ud, xrc).", shared}
	receiveDropPackets            = Metric{"rdma_received_limit_drop_packets_total", Counter, Port, Responder, InPackets, []string{"kind"}, "Received packets dropped by a limit that the platform sets (disabled, bytes, packets).", shared}
	transmitDropPackets           = Metric{"rdma_transmitted_limit_drop_packets_total", Counter, Port, Requester, InPackets, []string{"kind"}, "Packets dropped before sending by a limit that the platform sets (disabled, bytes, packets).", shared}
	clearToSendReceivedBytes      = Metric{"rdma_clear_to_send_received_bytes_total", Counter, Port, Responder, InBytes, nil, "Data received in clear-to-send messages of collective libraries; may be part of the data received by this function.", shared}
	clearToSendTransmittedBytes   = Metric{"rdma_clear_to_send_transmitted_bytes_total", Counter, Port, Requester, InBytes, nil, "Data sent in clear-to-send messages of collective libraries; may be part of the data sent by this function.", shared}
	clearToSendReceivedPackets    = Metric{"rdma_clear_to_send_received_packets_total", Counter, Port, Responder, InPackets, nil, "Packets received with clear-to-send messages of collective libraries; may be part of the packets received by this function.", shared}
	clearToSendTransmittedPackets = Metric{"rdma_clear_to_send_transmitted_packets_total", Counter, Port, Requester, InPackets, nil, "Packets sent with clear-to-send messages of collective libraries; may be part of the packets sent by this function.", shared}
)

// Requests: what the application asked for.
var (
	requestsReceived         = Metric{"rdma_requests_received_total", Counter, Port, Responder, Count, []string{"operation"}, "Requests received from peers, by operation (write, read, atomic, send).", shared}
	requestsSent             = Metric{"rdma_requests_sent_total", Counter, Port, Requester, Count, []string{"operation"}, "Requests sent to peers, by operation (write, read, atomic, send, any).", shared}
	readResponsesReceived    = Metric{"rdma_read_responses_received_total", Counter, Port, Requester, Count, nil, "Responses to our read requests that arrived.", shared}
	readResponsesSent        = Metric{"rdma_read_responses_sent_total", Counter, Port, Responder, Count, nil, "Responses sent to read requests of peers.", shared}
	receiveRequestsCompleted = Metric{"rdma_receive_work_requests_completed_total", Counter, Port, Responder, Count, nil, "Receive work requests that an incoming send completed.", shared}
	operationSentBytes       = Metric{"rdma_operation_sent_bytes_total", Counter, Port, AnySide, InBytes, []string{"operation"}, "Payload sent, by the operation that carried it (send, write, read_response).", shared}
	operationReceivedBytes   = Metric{"rdma_operation_received_bytes_total", Counter, Port, AnySide, InBytes, []string{"operation"}, "Payload received, by the operation that carried it (send, write, read).", shared}
	dctConnects              = Metric{"rdma_dct_connects_total", Counter, Port, Responder, Count, nil, "Connect requests received by dynamically connected targets.", shared}
	memoryWindowBinds        = Metric{"rdma_memory_window_binds_total", Counter, Port, Requester, Count, nil, "Memory window bind operations.", shared}
	localInvalidates         = Metric{"rdma_local_invalidates_total", Counter, Port, Requester, Count, nil, "Local invalidate operations.", shared}
)

// Loss and recovery. The requester speaks of the path to the peer, the responder of what arrived here.
var (
	outOfSequence                  = Metric{"rdma_out_of_sequence_packets_total", Counter, Port, Responder, InPackets, nil, "Packets received whose packet sequence number was not the expected one.", shared}
	lossEvents                     = Metric{"rdma_loss_events_total", Counter, Port, Requester, Count, []string{"kind"}, "Losses seen by the sender: sequence_nak (the peer reported a gap), implied_nak (a response showed the gap), ack_timeout (no answer in time).", shared}
	sequenceNAKsSent               = Metric{"rdma_sequence_naks_sent_total", Counter, Port, Responder, Count, nil, "Negative acknowledgements sent because of a gap in the sequence numbers received.", shared}
	rnrNAKsReceived                = Metric{"rdma_rnr_naks_received_total", Counter, Port, Requester, Count, nil, "Receiver-not-ready answers received from peers while retries were left.", shared}
	rnrNAKsSent                    = Metric{"rdma_rnr_naks_sent_total", Counter, Port, Responder, Count, nil, "Receiver-not-ready answers sent to peers because no receive buffer was posted here.", shared}
	receiveBufferExhausted         = Metric{"rdma_receive_buffer_exhausted_packets_total", Counter, Port, Responder, InPackets, nil, "Packets that arrived while the application had posted no receive buffer.", shared}
	retransmittedPackets           = Metric{"rdma_retransmitted_packets_total", Counter, Port, Requester, InPackets, nil, "Packets sent again.", shared}
	retransmittedBytes             = Metric{"rdma_retransmitted_bytes_total", Counter, Port, Requester, InBytes, nil, "Data sent again.", shared}
	retransmissionEvents           = Metric{"rdma_retransmission_events_total", Counter, Port, Requester, Count, nil, "Times the sender went back and sent again; one event may resend many packets.", shared}
	retriesExceeded                = Metric{"rdma_retries_exceeded_total", Counter, Port, Requester, Count, []string{"kind"}, "Connections given up because retries ran out: transport (no answer), rnr (peer never ready). The queue pair goes to error.", shared}
	duplicatePackets               = Metric{"rdma_duplicate_packets_total", Counter, Port, AnySide, InPackets, []string{"kind"}, "Packets received a second time: request (a peer resent to us), response (we had resent, the answer came twice).", shared}
	adaptiveRetransmissions        = Metric{"rdma_adaptive_retransmissions_total", Counter, Port, Requester, Count, nil, "Retransmissions started by the adaptive RoCE timer.", shared}
	adaptiveRetransmissionTimeouts = Metric{"rdma_adaptive_retransmission_timeouts_total", Counter, Port, Requester, Count, nil, "Adaptive retransmissions that ran into a timeout themselves.", shared}
	slowRestarts                   = Metric{"rdma_slow_restarts_total", Counter, Port, Requester, Count, nil, "Times a sender restarted slowly after an idle period or a loss.", shared}
	slowRestartCNPs                = Metric{"rdma_slow_restart_cnp_packets_total", Counter, Port, Requester, InPackets, nil, "Congestion notification packets that slow restart generated.", shared}
	slowRestartTransitions         = Metric{"rdma_slow_restart_transitions_total", Counter, Port, Requester, Count, nil, "Changes of a sender into the slow restart state.", shared}
	impairedPaths                  = Metric{"rdma_impaired_connection_events_total", Counter, Port, Requester, Count, nil, "Times the device judged a connection to a remote endpoint impaired.", shared}
	readDepthLimits                = Metric{"rdma_read_depth_limit_events_total", Counter, Port, AnySide, Count, []string{"kind"}, "Times a read had to wait at the limit of outstanding reads: ord (outbound), ird (inbound).", shared}
	connectionResets               = Metric{"rdma_tcp_resets_sent_total", Counter, Port, AnySide, Count, nil, "TCP connections reset by this adapter (iWARP).", shared}
)

// Congestion control.
var (
	ecnMarked         = Metric{"rdma_ecn_marked_packets_total", Counter, Port, NotificationPoint, InPackets, nil, "RDMA packets received with a congestion mark (ECN, FECN) that a switch had set.", shared}
	cnpSent           = Metric{"rdma_cnp_sent_packets_total", Counter, Port, NotificationPoint, InPackets, nil, "Congestion notification packets sent to peers whose packets arrived marked.", shared}
	cnpReceived       = Metric{"rdma_cnp_received_packets_total", Counter, Port, ReactionPoint, InPackets, nil, "Congestion notification packets received from peers, handled or not.", shared}
	cnpHandled        = Metric{"rdma_cnp_handled_packets_total", Counter, Port, ReactionPoint, InPackets, nil, "Congestion notification packets received and acted on by slowing a sender.", shared}
	cnpIgnored        = Metric{"rdma_cnp_ignored_packets_total", Counter, Port, ReactionPoint, InPackets, nil, "Congestion notification packets received and not acted on.", shared}
	rateLimitedQPs    = Metric{"rdma_rate_limited_queue_pair_events_total", Counter, Port, ReactionPoint, Count, nil, "Times a queue pair was slowed down by congestion control.", shared}
	recoveredQPs      = Metric{"rdma_rate_recovered_queue_pair_events_total", Counter, Port, ReactionPoint, Count, nil, "Times a queue pair came back to full rate after congestion.", shared}
	rateIncreases     = Metric{"rdma_rate_increase_events_total", Counter, Port, ReactionPoint, Count, nil, "Steps by which congestion control raised a rate.", shared}
	reactionPointRate = Metric{"rdma_reaction_point_rate", Gauge, Port, ReactionPoint, Count, nil, "Rate that congestion control allows at the moment, in the driver's own unit, which is not documented.", shared}
	pacingEvents      = Metric{"rdma_doorbell_pacing_events_total", Counter, Port, Host, Count, []string{"kind"}, "Doorbell pacing by the driver: reschedule, complete, alert.", shared}
	doorbellFIFO      = Metric{"rdma_doorbell_fifo_register", Gauge, Port, Host, Count, nil, "Raw value of the doorbell FIFO register, not a count.", shared}
)

// Integrity and errors that an application sees.
var (
	icrcErrors        = Metric{"rdma_icrc_error_packets_total", Counter, Port, Responder, InPackets, nil, "Packets received whose end-to-end checksum (ICRC) was wrong although every link had accepted them.", physical}
	completionErrors  = Metric{"rdma_completion_errors_total", Counter, Port, AnySide, Count, []string{"side"}, "Work requests that completed with an error, flushed ones included.", shared}
	completionFlushes = Metric{"rdma_completion_flush_errors_total", Counter, Port, AnySide, Count, []string{"side"}, "Work requests flushed after their queue pair had failed or was closed; harmless when a job ends.", shared}
	transportErrors   = Metric{"rdma_transport_errors_total", Counter, Port, AnySide, Count, []string{"side", "kind"}, "Requests refused or failed, by side and kind (remote_access, invalid_request, local_length, local_protection and so on).", shared}
	fatalErrors       = Metric{"rdma_fatal_errors_total", Counter, Port, Host, Count, []string{"kind"}, "Errors from which the device did not recover a queue pair or itself: unrecoverable, or total, of which hardware is a part.", shared}
	cqOverflows       = Metric{"rdma_completion_queue_overflows_total", Counter, Port, Host, Count, nil, "Completion queues that overflowed.", shared}
)

// iWARP and IP level counters of drivers that keep them.
var (
	ipReceivedDiscards     = Metric{"rdma_ip_received_discard_packets_total", Counter, Port, Responder, InPackets, []string{"version"}, "IP packets received and discarded by the RDMA engine.", shared}
	ipReceivedTruncated    = Metric{"rdma_ip_received_truncated_packets_total", Counter, Port, Responder, InPackets, []string{"version"}, "IP packets received shorter than their header says.", shared}
	ipNoRoute              = Metric{"rdma_ip_no_route_packets_total", Counter, Port, Requester, InPackets, []string{"version"}, "IP packets not sent for want of a route.", shared}
	ipReassemblies         = Metric{"rdma_ip_received_fragment_packets_total", Counter, Port, Responder, InPackets, []string{"version"}, "IP fragments received that needed reassembly.", shared}
	ipFragmentations       = Metric{"rdma_ip_transmitted_fragment_packets_total", Counter, Port, Requester, InPackets, []string{"version"}, "IP packets sent that needed fragmentation.", shared}
	tcpReceivedSegments    = Metric{"rdma_tcp_received_segments_total", Counter, Port, Responder, InSegments, nil, "TCP segments received by the RDMA engine (iWARP).", shared}
	tcpTransmittedSegments = Metric{"rdma_tcp_transmitted_segments_total", Counter, Port, Requester, InSegments, nil, "TCP segments sent by the RDMA engine (iWARP).", shared}
	tcpErrors              = Metric{"rdma_tcp_received_error_segments_total", Counter, Port, Responder, InSegments, []string{"kind"}, "TCP segments received with an error (option, protocol).", shared}
	vlanErrors             = Metric{"rdma_vlan_error_packets_total", Counter, Port, Responder, InPackets, nil, "Packets received with a VLAN tag that does not belong here.", shared}
	udpReceivedPackets     = Metric{"rdma_udp_received_packets_total", Counter, Port, Responder, InPackets, nil, "UDP packets received by the RDMA engine; RoCE v2 is carried in UDP.", shared}
	udpTransmittedPackets  = Metric{"rdma_udp_transmitted_packets_total", Counter, Port, Requester, InPackets, nil, "UDP packets sent by the RDMA engine; RoCE v2 is carried in UDP.", shared}
)

// Objects and commands of the device.
var (
	activeObjects          = Metric{"rdma_active_objects", Gauge, Port, Host, Count, []string{"kind"}, "Objects in use on the device, by kind (qp, cq, mr and so on), as its driver counts them.", shared}
	activeObjectsWatermark = Metric{"rdma_active_objects_watermark", Gauge, Port, Host, Count, []string{"kind"}, "Most objects in use at one time since the driver was loaded, by kind (qp, cq, mr and so on).", shared}
	cqResizes              = Metric{"rdma_completion_queue_resizes_total", Counter, Port, Host, Count, nil, "Completion queues resized.", shared}
	commands               = Metric{"rdma_device_commands_total", Counter, Port, Host, Count, []string{"outcome"}, "Administrative commands to the device (submitted, completed, failed, unanswered).", shared}
	commandErrors          = Metric{"rdma_device_command_errors_total", Counter, Port, Host, Count, []string{"kind"}, "Administrative operations that failed, by what was asked for (alloc_pd, create_qp, create_cq, reg_mr, alloc_ucontext, create_ah, mmap).", shared}
	keepAlives             = Metric{"rdma_device_keepalives_received_total", Counter, Port, Host, Count, nil, "Keep-alive messages received from the device.", shared}
)

// Physical port: link and signal. kind says which layer counted, since one port may have several counters for one thing.
var (
	symbolErrors                = Metric{"rdma_port_symbol_errors_total", Counter, Port, Wire, Count, []string{"kind"}, "Symbol errors on the link that no FEC repaired: pma (InfiniBand port counters), phy, pcs, mac.", physical}
	linkRecoveries              = Metric{"rdma_port_link_recoveries_total", Counter, Port, Wire, Count, []string{"kind"}, "Times the link lost its training and recovered by itself, by counting layer (pma, phy).", physical}
	linkDowned                  = Metric{"rdma_port_link_downed_total", Counter, Port, Wire, Count, []string{"kind"}, "Times the link went down, by counting layer: pma, phy, netlink (ethtool), carrier (network interface), driver.", physical}
	receiveErrors               = Metric{"rdma_port_receive_error_packets_total", Counter, Port, Wire, InPackets, nil, "Packets received with an error at the port (InfiniBand port counters).", physical}
	receiveRemotePhysicalErrors = Metric{"rdma_port_receive_remote_physical_error_packets_total", Counter, Port, Wire, InPackets, nil, "Packets received that an earlier hop had already marked as bad.", physical}
	receiveSwitchRelayErrors    = Metric{"rdma_port_receive_switch_relay_error_packets_total", Counter, Port, Wire, InPackets, nil, "Packets received that could not be forwarded by the switch this port belongs to.", physical}
	constraintErrors            = Metric{"rdma_port_constraint_error_packets_total", Counter, Port, Wire, InPackets, []string{"direction"}, "Packets dropped by partition or raw-packet checks at the port (received, transmitted).", physical}
	localLinkIntegrity          = Metric{"rdma_port_local_link_integrity_errors_total", Counter, Port, Wire, Count, nil, "Times local errors on the link crossed the limit the port is set to.", physical}
	bufferOverruns              = Metric{"rdma_port_buffer_overrun_errors_total", Counter, Port, Wire, Count, nil, "Times consecutive flow-control periods overran the receive buffer of the port.", physical}
	vl15Dropped                 = Metric{"rdma_port_vl15_dropped_packets_total", Counter, Port, Wire, InPackets, nil, "Subnet management packets (VL15) received and dropped for want of a buffer.", physical}
	transmitWait                = Metric{"rdma_port_transmit_wait_ticks_total", Counter, Port, Wire, InTicks, nil, "Ticks in which data was ready and nothing could be sent for want of credits; the length of a tick is the device's own.", physical}
	crcErrors                   = Metric{"rdma_port_crc_error_packets_total", Counter, Port, Wire, InPackets, nil, "Frames received at the physical port with a wrong frame checksum.", physical}
	laneErrors                  = Metric{"rdma_port_lane_raw_errors_total", Counter, Port, Wire, Count, []string{"lane"}, "Raw errors on a lane before error correction; normal on fast links.", physical}
	illegalBytes                = Metric{"rdma_port_illegal_bytes_total", Counter, Port, Wire, InBytes, nil, "Bytes received that are not legal in the line code.", physical}
	macFaults                   = Metric{"rdma_port_mac_faults_total", Counter, Port, Wire, Count, []string{"kind"}, "Link faults seen by the MAC: local (our receiver), remote (reported by the far end).", physical}
	fecCorrectedBits            = Metric{"rdma_port_fec_corrected_bits_total", Counter, Port, Wire, InBits, nil, "Bits received wrong and corrected by FEC; normal on fast links.", physical}
	fecCorrectedBlocks          = Metric{"rdma_port_fec_corrected_blocks_total", Counter, Port, Wire, InBlocks, nil, "FEC codewords received with errors and corrected.", physical}
	fecUncorrectableBlocks      = Metric{"rdma_port_fec_uncorrectable_blocks_total", Counter, Port, Wire, InBlocks, nil, "FEC codewords received with more errors than FEC can correct; their packets are lost.", physical}
	fecLaneCorrectedBits        = Metric{"rdma_port_fec_lane_corrected_bits_total", Counter, Port, Wire, InBits, []string{"lane"}, "Bits received wrong on a lane and corrected by FEC.", physical}
	fecLaneCorrectedBlocks      = Metric{"rdma_port_fec_lane_corrected_blocks_total", Counter, Port, Wire, InBlocks, []string{"lane"}, "FEC codewords of a lane received with errors and corrected.", physical}
	fecLaneUncorrectableBlocks  = Metric{"rdma_port_fec_lane_uncorrectable_blocks_total", Counter, Port, Wire, InBlocks, []string{"lane"}, "FEC codewords of a lane received with more errors than FEC can correct.", physical}
	receivedBits                = Metric{"rdma_port_received_bits_total", Counter, Port, Wire, InBits, nil, "Bits received at the physical port, as the base of error ratios.", physical}
	moduleFaults                = Metric{"rdma_port_module_faults_total", Counter, Port, Wire, Count, []string{"kind"}, "Events of the cable or module in the cage: unplug, bus_stuck, high_temperature, bad_shorted.", physical}
)

// Physical port: traffic and drops, Ethernet included.
var (
	wireReceivedBytes      = Metric{"rdma_port_wire_received_bytes_total", Counter, Port, Wire, InBytes, nil, "All data received at the physical port, RDMA or not, all functions together.", physical}
	wireTransmittedBytes   = Metric{"rdma_port_wire_transmitted_bytes_total", Counter, Port, Wire, InBytes, nil, "All data sent at the physical port, RDMA or not, all functions together.", physical}
	wireReceivedPackets    = Metric{"rdma_port_wire_received_packets_total", Counter, Port, Wire, InPackets, nil, "All frames received at the physical port, RDMA or not, all functions together.", physical}
	wireTransmittedPackets = Metric{"rdma_port_wire_transmitted_packets_total", Counter, Port, Wire, InPackets, nil, "All frames sent at the physical port, RDMA or not, all functions together.", physical}
	wireReceiveErrors      = Metric{"rdma_port_wire_receive_errors_total", Counter, Port, Wire, Count, []string{"kind"}, "Frames received malformed at the physical port, by kind (length, out_of_range, oversize, too_long, mtu, undersize, runt, fragment, jabber, alignment, stomped, unsupported_opcode).", physical}
	receiveDiscards        = Metric{"rdma_port_receive_discard_packets_total", Counter, Port, Wire, InPackets, nil, "Frames received intact at the physical port and dropped for want of port buffer.", physical}
	transmitDiscards       = Metric{"rdma_port_transmit_discard_packets_total", Counter, Port, Wire, InPackets, []string{"kind"}, "Packets dropped at the port instead of being sent, by counting layer (pma, phy) or cause (link_down).", physical}
	transmitErrors         = Metric{"rdma_port_transmit_error_packets_total", Counter, Port, Wire, InPackets, nil, "Frames that failed to be sent at the physical port.", physical}
	bufferThreshold        = Metric{"rdma_port_buffer_threshold_passed_events_total", Counter, Port, Wire, Count, nil, "Times the receive buffer of the port was more than 85 % full.", physical}
	noHostDescriptor       = Metric{"rdma_port_no_host_descriptor_packets_total", Counter, Port, Host, InPackets, nil, "Ethernet frames dropped because the host had no receive descriptor ready; RDMA is not affected.", shared}
	nicInternalDrops       = Metric{"rdma_port_nic_internal_drop_packets_total", Counter, Port, Host, InPackets, []string{"kind"}, "Frames dropped inside the NIC: received ones (queue_full, steering_missed, interface_down, oversize) and those to be sent (tx_disabled, tx_policy, tx_mtu, tx_malformed, tx_dma).", shared}
)

// Physical port: priorities, PFC and pause. Received pause holds us, sent pause holds the peer.
var (
	priorityReceivedBytes      = Metric{"rdma_priority_received_bytes_total", Counter, Port, Wire, InBytes, []string{"priority"}, "All data received with this priority at the physical port.", physical}
	priorityTransmittedBytes   = Metric{"rdma_priority_transmitted_bytes_total", Counter, Port, Wire, InBytes, []string{"priority"}, "All data sent with this priority at the physical port.", physical}
	priorityReceivedPackets    = Metric{"rdma_priority_received_packets_total", Counter, Port, Wire, InPackets, []string{"priority"}, "All frames received with this priority at the physical port.", physical}
	priorityTransmittedPackets = Metric{"rdma_priority_transmitted_packets_total", Counter, Port, Wire, InPackets, []string{"priority"}, "All frames sent with this priority at the physical port.", physical}
	priorityDiscards           = Metric{"rdma_priority_receive_discard_packets_total", Counter, Port, Wire, InPackets, []string{"priority", "kind"}, "Frames received with this priority and dropped: port (no port buffer), buffer (no buffer of the priority), congestion.", physical}
	priorityMarked             = Metric{"rdma_priority_marked_packets_total", Counter, Port, Wire, InPackets, []string{"priority"}, "Frames received that the NIC itself marked with congestion because the host was slow.", physical}
	pfcReceivedFrames          = Metric{"rdma_pfc_received_frames_total", Counter, Port, Wire, InFrames, []string{"priority"}, "PFC pause frames received for this priority: the peer asked us to stop.", physical}
	pfcSentFrames              = Metric{"rdma_pfc_sent_frames_total", Counter, Port, Wire, InFrames, []string{"priority"}, "PFC pause frames sent for this priority: we asked the peer to stop.", physical}
	pfcReceivedResumeFrames    = Metric{"rdma_pfc_received_resume_frames_total", Counter, Port, Wire, InFrames, []string{"priority"}, "PFC resume (XON) frames received for this priority.", physical}
	pfcSentResumeFrames        = Metric{"rdma_pfc_sent_resume_frames_total", Counter, Port, Wire, InFrames, []string{"priority"}, "PFC resume (XON) frames sent for this priority.", physical}
	pfcReceivedSeconds         = Metric{"rdma_pfc_received_pause_seconds_total", Counter, Port, Wire, InSeconds, []string{"priority"}, "Time our transmitter was held on this priority by pause frames received.", physical}
	pfcSentSeconds             = Metric{"rdma_pfc_sent_pause_seconds_total", Counter, Port, Wire, InSeconds, []string{"priority"}, "Time we held the peer's transmitter on this priority by pause frames sent.", physical}
	pfcReceivedTransitions     = Metric{"rdma_pfc_received_transitions_total", Counter, Port, Wire, Count, []string{"priority"}, "Changes between paused and running of our transmitter on this priority.", physical}
	pfcSentTransitions         = Metric{"rdma_pfc_sent_transitions_total", Counter, Port, Wire, Count, []string{"priority"}, "Changes between pausing and releasing the peer on this priority.", physical}
	pfcReceivedAll             = Metric{"rdma_pfc_received_all_priorities_frames_total", Counter, Port, Wire, InFrames, nil, "PFC pause frames received, all priorities together.", physical}
	pfcSentAll                 = Metric{"rdma_pfc_sent_all_priorities_frames_total", Counter, Port, Wire, InFrames, nil, "PFC pause frames sent, all priorities together.", physical}
	globalPauseReceived        = Metric{"rdma_global_pause_received_frames_total", Counter, Port, Wire, InFrames, nil, "Global (not per-priority) pause frames received.", physical}
	globalPauseSent            = Metric{"rdma_global_pause_sent_frames_total", Counter, Port, Wire, InFrames, nil, "Global (not per-priority) pause frames sent.", physical}
	globalPauseReceivedResume  = Metric{"rdma_global_pause_received_resume_frames_total", Counter, Port, Wire, InFrames, nil, "Global resume (XON) frames received.", physical}
	globalPauseSentResume      = Metric{"rdma_global_pause_sent_resume_frames_total", Counter, Port, Wire, InFrames, nil, "Global resume (XON) frames sent.", physical}
	globalPauseReceivedSeconds = Metric{"rdma_global_pause_received_seconds_total", Counter, Port, Wire, InSeconds, nil, "Time our transmitter was held by global pause frames received.", physical}
	globalPauseSentSeconds     = Metric{"rdma_global_pause_sent_seconds_total", Counter, Port, Wire, InSeconds, nil, "Time we held the peer's transmitter by global pause frames sent.", physical}
	globalPauseTransitions     = Metric{"rdma_global_pause_received_transitions_total", Counter, Port, Wire, Count, nil, "Changes between paused and running of our transmitter under global pause.", physical}
	macPauseReceived           = Metric{"rdma_mac_pause_received_frames_total", Counter, Port, Wire, InFrames, nil, "IEEE 802.3 MAC control pause frames received.", physical}
	macPauseSent               = Metric{"rdma_mac_pause_sent_frames_total", Counter, Port, Wire, InFrames, nil, "IEEE 802.3 MAC control pause frames sent.", physical}
	macControlReceived         = Metric{"rdma_mac_control_received_frames_total", Counter, Port, Wire, InFrames, nil, "IEEE 802.3 MAC control frames received, pause and PFC among them.", physical}
	macControlSent             = Metric{"rdma_mac_control_sent_frames_total", Counter, Port, Wire, InFrames, nil, "IEEE 802.3 MAC control frames sent, pause and PFC among them.", physical}
	pauseStorms                = Metric{"rdma_pause_storm_events_total", Counter, Port, Wire, Count, []string{"kind"}, "Pause without end detected by the NIC: warning, error, continuous, continuous_roce, resumed, resumed_roce, netlink.", physical}
	pauseEnabled               = Metric{"rdma_port_pause_enabled", Gauge, Port, Wire, Count, []string{"direction"}, "1 if global pause is negotiated or set in this direction (received, sent), else 0.", physical}
	cosReceivedBytes           = Metric{"rdma_cos_received_bytes_total", Counter, Port, Wire, InBytes, []string{"cos"}, "All data received on this class-of-service queue.", physical}
	cosTransmittedBytes        = Metric{"rdma_cos_transmitted_bytes_total", Counter, Port, Wire, InBytes, []string{"cos"}, "All data sent on this class-of-service queue.", physical}
	cosReceivedPackets         = Metric{"rdma_cos_received_packets_total", Counter, Port, Wire, InPackets, []string{"cos"}, "All frames received on this class-of-service queue.", physical}
	cosTransmittedPackets      = Metric{"rdma_cos_transmitted_packets_total", Counter, Port, Wire, InPackets, []string{"cos"}, "All frames sent on this class-of-service queue.", physical}
	cosDiscardPackets          = Metric{"rdma_cos_receive_discard_packets_total", Counter, Port, Wire, InPackets, []string{"cos"}, "Frames received and dropped on this class-of-service queue.", physical}
	cosDiscardBytes            = Metric{"rdma_cos_receive_discard_bytes_total", Counter, Port, Wire, InBytes, []string{"cos"}, "Data received and dropped on this class-of-service queue.", physical}
)

// RDMA traffic as the Ethernet function counts it (mlx5 vport).
var (
	vportReceivedBytes      = Metric{"rdma_vport_received_bytes_total", Counter, Port, Responder, InBytes, []string{"cast"}, "RDMA data received by this function, Ethernet headers included, by cast (unicast, multicast).", shared}
	vportTransmittedBytes   = Metric{"rdma_vport_transmitted_bytes_total", Counter, Port, Requester, InBytes, []string{"cast"}, "RDMA data sent by this function, Ethernet headers included, by cast (unicast, multicast).", shared}
	vportReceivedPackets    = Metric{"rdma_vport_received_packets_total", Counter, Port, Responder, InPackets, []string{"cast"}, "RDMA packets received by this function, by cast (unicast, multicast).", shared}
	vportTransmittedPackets = Metric{"rdma_vport_transmitted_packets_total", Counter, Port, Requester, InPackets, []string{"cast"}, "RDMA packets sent by this function, by cast (unicast, multicast).", shared}
)

// Cloud instance limits.
var (
	allowanceExceeded    = Metric{"rdma_instance_allowance_exceeded_packets_total", Counter, Port, Host, InPackets, []string{"kind"}, "Packets queued or dropped because the instance exceeded its allowance (bandwidth_in, bandwidth_out, packet_rate, connections, link_local).", shared}
	srdPackets           = Metric{"rdma_ena_srd_packets_total", Counter, Port, Host, InPackets, []string{"kind"}, "Packets of the network interface and the SRD protocol: transmitted and received over it, eligible (sent over it or could have been).", shared}
	srdUtilisation       = Metric{"rdma_ena_srd_resource_utilization_ratio", Gauge, Port, Host, InRatio, nil, "Share of the SRD resources in use.", shared}
	trackableConnections = Metric{"rdma_instance_trackable_connections", Gauge, Port, Host, Count, nil, "Connections that the instance can still track before new ones fail.", shared}
)

// PCIe as the NIC counts it. Both ports of a card and all its functions may show the same numbers.
var (
	pcieStalledRatio    = Metric{"rdma_pcie_stalled_ratio", Gauge, Port, Host, InRatio, []string{"direction"}, "Share of the last second in which the NIC could not issue reads or writes for want of PCIe credits.", physical}
	pcieStalledSeconds  = Metric{"rdma_pcie_stalled_seconds_total", Counter, Port, Host, InSeconds, []string{"direction"}, "Seconds in which the NIC could not issue reads or writes for more than 30 % of the time.", physical}
	pcieBufferOverflow  = Metric{"rdma_pcie_buffer_overflow_packets_total", Counter, Port, Host, InPackets, nil, "Packets received and dropped because PCIe did not drain the NIC's buffer.", physical}
	pcieSignalIntegrity = Metric{"rdma_pcie_signal_integrity_errors_total", Counter, Port, Host, Count, []string{"direction"}, "PCIe link recoveries because of errors: received (seen by the NIC), transmitted (asked for by the far end).", physical}
)

// PCIe link and path, from the kernel.
var (
	PCIeSpeed         = Metric{"rdma_pcie_link_transfers_per_second", Gauge, Device, Host, InTransfersPerSec, []string{"pci"}, "Speed per lane at which the NIC's PCIe link runs.", physical}
	PCIeWidth         = Metric{"rdma_pcie_link_width_lanes", Gauge, Device, Host, InLanes, []string{"pci"}, "Lanes that the NIC's PCIe link uses.", physical}
	PCIeMaxSpeed      = Metric{"rdma_pcie_link_max_transfers_per_second", Gauge, Device, Host, InTransfersPerSec, []string{"pci"}, "Highest speed per lane that the NIC itself can do.", physical}
	PCIeMaxWidth      = Metric{"rdma_pcie_link_max_width_lanes", Gauge, Device, Host, InLanes, []string{"pci"}, "Most lanes that the NIC itself can use.", physical}
	PCIeExpectedSpeed = Metric{"rdma_pcie_link_expected_transfers_per_second", Gauge, Device, Host, InTransfersPerSec, []string{"pci"}, "Highest speed per lane that both ends of the NIC's PCIe link can do.", physical}
	PCIeExpectedWidth = Metric{"rdma_pcie_link_expected_width_lanes", Gauge, Device, Host, InLanes, []string{"pci"}, "Most lanes that both ends of the NIC's PCIe link can use.", physical}
	PCIeBandwidth     = Metric{"rdma_pcie_link_bytes_per_second", Gauge, Device, Host, InBytesPerSecond, []string{"pci"}, "Bandwidth of the NIC's PCIe link in one direction after line coding; packet headers take about a tenth of it.", physical}
	PCIePathBandwidth = Metric{"rdma_pcie_path_bytes_per_second", Gauge, Device, Host, InBytesPerSecond, []string{"pci", "hop"}, "Bandwidth of the slowest link between the NIC and the root port in one direction after line coding; hop names that link.", physical}
	PCIeDegraded      = Metric{"rdma_pcie_link_degraded", Gauge, Device, Host, Count, []string{"pci"}, "1 if the NIC's PCIe link runs slower or narrower than both of its ends can do, else 0.", physical}
	PCIeSlotLimited   = Metric{"rdma_pcie_slot_limited", Gauge, Device, Host, Count, []string{"pci"}, "1 if the slot offers the NIC less speed or fewer lanes than the NIC can use, else 0.", physical}
	AERErrors         = Metric{"rdma_pcie_aer_errors_total", Counter, Device, Host, Count, []string{"pci", "end", "severity", "error"}, "PCIe errors recorded at an end of the NIC's link (nic, upstream), by severity (correctable, nonfatal, fatal) and error.", physical}
	PCIeInfo          = Metric{"rdma_pcie_info", Gauge, Device, Host, InInfo, []string{"pci", "slot", "upstream", "root_port", "virtual"}, "Where the NIC sits on PCIe: its function, slot, the port above it and the root port; virtual is true in a machine whose PCIe link is emulated.", physical}
)

// What the kernel's log says of the devices.
var (
	KernelEvents    = Metric{"rdma_kernel_events_total", Counter, Device, Host, Count, []string{"pci", "event"}, "Messages of the kernel's log about the device since rdmawatch started, by what they say; see catalog/kernellog.go.", shared}
	KernelHarmless  = Metric{"rdma_kernel_harmless_events_total", Counter, Device, Host, Count, []string{"pci", "event"}, "Messages of the kernel's log about the device that ask for nothing, such as a cable that was plugged in.", shared}
	KernelEventLast = Metric{"rdma_kernel_event_last_timestamp_seconds", Gauge, Device, Host, InTimestamp, []string{"pci", "event"}, "When the kernel's log said so last, also before rdmawatch started.", shared}
	KernelLogLost   = Metric{"rdma_kernel_log_lost_messages_total", Counter, Node, Host, Count, nil, "Messages of the kernel's log that were overwritten before they could be read.", shared}
)

// Devices and ports.
var (
	DeviceInfo          = Metric{"rdma_device_info", Gauge, Device, Host, InInfo, []string{"driver", "firmware", "board_id", "hca_type", "hw_rev", "node_type", "node_guid", "sys_image_guid", "node_desc", "pci", "numa_node", "function", "parent"}, "Identity of an RDMA device; function is pf, vf, sf or virtual, empty if not known, parent names the device of which this is a plane.", shared}
	PortInfo            = Metric{"rdma_port_info", Gauge, Port, Host, InInfo, []string{"link_layer", "netdev", "phys_port_name", "kind", "bond", "role"}, "Identity of a port; ports of equal role (driver, board, link layer) ought to look alike; kind is physical, vf, sf, representor, bond, bond_member, plane or virtual.", shared}
	PortState           = Metric{"rdma_port_state", Gauge, Port, Wire, Count, nil, "Logical state of the port: 1 down, 2 initializing, 3 armed, 4 active, 5 active-defer.", shared}
	PortPhysicalState   = Metric{"rdma_port_physical_state", Gauge, Port, Wire, Count, nil, "Physical state of the port: 1 sleep, 2 polling, 3 disabled, 4 training, 5 link up, 6 error recovery, 7 test.", shared}
	PortActive          = Metric{"rdma_port_active", Gauge, Port, Wire, Count, nil, "1 if the port is active, else 0; absent where the driver reports a constant.", shared}
	PortEverActive      = Metric{"rdma_port_ever_active", Gauge, Port, Wire, Count, nil, "1 if the port has been active since the device was registered, else 0; kept over a restart of rdmawatch.", shared}
	PortAdminUp         = Metric{"rdma_port_admin_up", Gauge, Port, Host, Count, nil, "1 if the port is switched on (interface up, or physical state not disabled), else 0.", shared}
	PortRate            = Metric{"rdma_port_rate_bytes_per_second", Gauge, Port, Wire, InBytesPerSecond, nil, "Rate at which the port's link runs in one direction; only while it is active.", shared}
	PortBestRate        = Metric{"rdma_port_best_rate_bytes_per_second", Gauge, Port, Wire, InBytesPerSecond, nil, "Highest rate at which the port's link has run since the device was registered.", shared}
	OperationsUnchanged = Metric{"rdma_port_operation_counters_unchanged_seconds", Gauge, Port, Host, InSeconds, nil, "How long the operation counters of a driver that may stop asking its device have stood still, once they have moved (bnxt_re).", shared}
	PortLID             = Metric{"rdma_port_lid", Gauge, Port, Wire, Count, nil, "Local identifier that the subnet manager assigned; 0 is none.", shared}
	PortSMLID           = Metric{"rdma_port_sm_lid", Gauge, Port, Wire, Count, nil, "Local identifier of the subnet manager; 0 is none.", shared}
	NetdevMTU           = Metric{"rdma_port_netdev_mtu_bytes", Gauge, Port, Host, InBytes, nil, "MTU of the port's network interface.", shared}
	CarrierChanges      = Metric{"rdma_port_carrier_changes_total", Counter, Port, Wire, Count, nil, "Changes of the carrier of the port's network interface, both up and down.", shared}
	LinkDownReason      = Metric{"rdma_port_link_down_reason", Gauge, Port, Wire, Count, []string{"reason"}, "1 for the reason the kernel gives for a link that is down.", physical}
	FECActive           = Metric{"rdma_port_fec_active", Gauge, Port, Wire, Count, []string{"mode"}, "1 for the FEC mode in use on the link (none, rs, baser, llrs).", physical}
	BondMembers         = Metric{"rdma_port_bond_members", Gauge, Port, Host, Count, nil, "Network interfaces that belong to the bond under this port.", shared}
	BondMembersActive   = Metric{"rdma_port_bond_members_active", Gauge, Port, Host, Count, nil, "Network interfaces of the bond under this port whose link is up.", shared}
	CounterSaturated    = Metric{"rdma_port_counter_saturated", Gauge, Port, Wire, Count, []string{"counter"}, "1 if the counter of this name stands at the limit of its field, where its rate of 0 proves nothing, else 0.", physical}
)

// Settings that ports of one role ought to have in common.
var (
	PortPKeys      = Metric{"rdma_port_partition_keys", Gauge, Port, Wire, Count, nil, "Partition keys of the port, each number once.", shared}
	PortPKeyFull   = Metric{"rdma_port_partition_full_member", Gauge, Port, Wire, Count, []string{"pkey"}, "1 if the port is a full member of the partition (number without the membership bit; 0x7fff is the default one), 0 if a limited one, which cannot talk to other limited members.", shared}
	PortGIDs       = Metric{"rdma_port_gids", Gauge, Port, Host, Count, []string{"type", "family"}, "Entries of the port's GID table by type (roce_v1, roce_v2) and by what they are made of: ipv4, ipv6 (global), link_local.", shared}
	PortGIDIndex   = Metric{"rdma_port_roce_v2_gid_index", Gauge, Port, Host, Count, nil, "Place in the GID table of the first RoCE v2 GID of the port's own interface that can be routed: an IPv4 address, or else a global IPv6 address.", shared}
	PortGIDChanges = Metric{"rdma_port_gid_table_changes_total", Counter, Port, Host, Count, nil, "Readings in which the port's GID table was another than in the reading before.", shared}

	ConfigPFCEnabled = Metric{"rdma_config_pfc_enabled", Gauge, Port, Wire, Count, []string{"priority"}, "1 if PFC holds packets of this priority back instead of dropping them, else 0; what the driver has in force, set by hand or learned by DCBX.", physical}
	ConfigSetting    = Metric{"rdma_config_setting_info", Gauge, Port, Host, InInfo, []string{"setting", "value"}, "A setting of the port in words: pfc, ets, dscp (a table of none means that the VLAN's priority counts), buffer, traffic_class, dcqcn_np, dcqcn_rp. Ports of one role ought to have equal values.", physical}
	ConfigHash       = Metric{"rdma_config_hash_info", Gauge, Port, Host, InInfo, []string{"hash"}, "A hash of all settings of the port that the collector qos reads; ports that are set up alike have the same.", physical}
)

// DCQCN parameters of the out-of-tree driver (mlx5, /sys/class/net/*/ecn).
var (
	DCQCNNotificationPoint  = Metric{"rdma_dcqcn_notification_point_enabled", Gauge, Port, NotificationPoint, Count, []string{"priority"}, "1 if congestion notification packets are sent for this priority, else 0.", physical}
	DCQCNReactionPoint      = Metric{"rdma_dcqcn_reaction_point_enabled", Gauge, Port, ReactionPoint, Count, []string{"priority"}, "1 if senders of this priority react to congestion notification packets, else 0.", physical}
	DCQCNMinTimeBetweenCNPs = Metric{"rdma_dcqcn_min_time_between_cnps_seconds", Gauge, Port, NotificationPoint, InSeconds, nil, "Least time between two congestion notification packets sent.", physical}
	DCQCNSeconds            = Metric{"rdma_dcqcn_period_seconds", Gauge, Port, ReactionPoint, InSeconds, []string{"parameter"}, "Periods of the reaction point's rate control, by the vendor's parameter name.", physical}
	DCQCNRate               = Metric{"rdma_dcqcn_rate_bytes_per_second", Gauge, Port, ReactionPoint, InBytesPerSecond, []string{"parameter"}, "Rates of the reaction point's rate control, by the vendor's parameter name.", physical}
	DCQCNRatio              = Metric{"rdma_dcqcn_ratio", Gauge, Port, ReactionPoint, InRatio, []string{"parameter"}, "Factors of the reaction point's rate control, by the vendor's parameter name.", physical}
	DCQCNParameter          = Metric{"rdma_dcqcn_parameter", Gauge, Port, AnySide, Count, []string{"parameter"}, "Other settings of DCQCN, by the vendor's parameter name and in its unit.", physical}
)

// Counters that the catalogue does not know, under their own names.
var (
	UnmappedHW      = Metric{"rdma_hw_counter", Untyped, Port, AnySide, Count, []string{"counter"}, "Value of a hw_counters file that the catalogue does not know.", shared}
	UnmappedPort    = Metric{"rdma_port_counter", Untyped, Port, Wire, Count, []string{"counter"}, "Value of a port counters file that the catalogue does not know.", shared}
	UnmappedEthtool = Metric{"rdma_ethtool_counter", Untyped, Port, AnySide, Count, []string{"counter"}, "Value of an ethtool statistic chosen by --collector.ethtool.raw-include.", shared}
)

// rdmawatch about itself.
var (
	Devices              = Metric{"rdma_devices", Gauge, Node, Host, Count, nil, "RDMA devices present on this node, skipped ones included.", shared}
	CollectionDuration   = Metric{"rdma_collection_duration_seconds", Gauge, Node, Host, InSeconds, nil, "How long the last reading of all devices took.", shared}
	DeviceSkipped        = Metric{"rdma_device_skipped", Gauge, Device, Host, Count, []string{"reason"}, "1 for a device that is not read: excluded (by flag), restricted (owned by the fabric manager).", shared}
	DeviceStalled        = Metric{"rdma_device_stalled", Gauge, Device, Host, Count, nil, "1 if reading the device did not return in time and is still waited for, else 0.", shared}
	DeviceLastRead       = Metric{"rdma_device_last_read_timestamp_seconds", Gauge, Device, Host, InTimestamp, nil, "When the device was last read to the end.", shared}
	DeviceFirstSeen      = Metric{"rdma_device_registered_timestamp_seconds", Gauge, Device, Host, InTimestamp, nil, "When this registration of the device was first seen; another driver load is another registration.", shared}
	DevicePresent        = Metric{"rdma_device_present", Gauge, Device, Host, Count, []string{"pci"}, "1 for a device that is there, 0 for one that was there for ten minutes or more since boot and is gone; VFs, subfunctions and software devices, which come and go on purpose, are left out.", shared}
	CollectorSuccess     = Metric{"rdma_collector_success", Gauge, Device, Host, Count, []string{"collector"}, "1 if the collector read this device without an unexpected error, else 0.", shared}
	CollectorDuration    = Metric{"rdma_collector_duration_seconds", Gauge, Device, Host, InSeconds, []string{"collector"}, "How long the collector's last reading of this device took.", shared}
	CollectorLastSuccess = Metric{"rdma_collector_last_success_timestamp_seconds", Gauge, Device, Host, InTimestamp, []string{"collector"}, "When the collector last read this device without an unexpected error.", shared}
	CollectorReads       = Metric{"rdma_collector_reads_total", Counter, Device, Host, Count, []string{"collector"}, "Reads of the machine by the collector: files, ioctls and netlink requests. Collector discovery finds out what the device is.", shared}
	CollectorReadErrors  = Metric{"rdma_collector_read_errors_total", Counter, Device, Host, Count, []string{"collector", "error"}, "Reads that failed, by error; what a driver does not offer counts once, when it is found out.", shared}
	CollectorSkipped     = Metric{"rdma_collector_skipped", Gauge, Device, Host, Count, []string{"collector", "reason"}, "1 for what a collector does not read of this device, and why: unsupported (there is nothing to read), permission (it may not).", shared}
)
