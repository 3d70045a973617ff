package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Sizes of the fleet's parts. Of a cluster of 50 nodes five are one in ten: the
// rules that compare nodes want eight nodes for a median and five for a fabric.
const (
	perCluster = 50
	perLeaf    = 10
)

// node is a number; what is odd about it follows from that.
type node int

func (n node) instance() string { return fmt.Sprintf("node-%05d", int(n)) }
func (n node) cluster() string  { return fmt.Sprintf("c%d", int(n)/perCluster) }
func (n node) leaf() string     { return fmt.Sprintf("leaf-%d", int(n)/perLeaf) }

// The odd ones: for each rule that compares nodes, who must make it fire.
const (
	lossy    node = 7            // of 50 nodes the one that loses packets
	oldCard  node = 13           // one card with another firmware
	paused   node = 23           // all its ports are held by pause: one in ten of its leaf
	absent   node = 37           // does not answer
	shakenLo node = perCluster   // six nodes of the second cluster lose links at once
	shakenHi node = shakenLo + 5 //
	muted         = perCluster   // and no notification reaches a sender of that cluster
	faultsAt      = 60 * time.Second
)

// factor is how busy a node is, from 0.8 to 1.2.
func (n node) factor() float64 {
	_, fraction := math.Modf(float64(n) * math.Phi)
	return 0.8 + 0.4*fraction
}

// change is a sample of the model as this node shows it.
func (n node) change(l line, age time.Duration) (series string, value float64) {
	t := age.Seconds()
	value = l.value + l.rate*n.factor()*t
	if strings.HasSuffix(l.name, "_last_timestamp_seconds") {
		value = l.value + l.rate*t
	}
	series = l.series
	first := strings.Contains(series, `device="mlx5_0"`)
	late := max(0, (age - faultsAt).Seconds())
	switch {
	case n == lossy && first && l.name == "rdma_loss_events_total" && strings.Contains(series, "sequence_nak"):
		value += 500 * late
	case n == oldCard && first && l.name == "rdma_device_info":
		series = strings.Replace(series, `firmware="28.`, `firmware="27.`, 1)
	case n == paused && l.name == "rdma_pfc_received_pause_seconds_total":
		value += 0.7 * late
	case n >= shakenLo && n <= shakenHi && l.name == "rdma_port_link_downed_total" && late > 0:
		value++
	case int(n)/perCluster == muted/perCluster && l.name == "rdma_cnp_received_packets_total":
		value = l.value + l.rate*0.01*t
	}
	if l.whole {
		value = math.Trunc(value)
	}
	return series, value
}
