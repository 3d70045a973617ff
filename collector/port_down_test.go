package collector

import (
	"testing"
	"time"
)

// Reading the state of a port without a link makes some kernels log a line, so
// it is not read again while its interface says that nothing has changed.
func TestStateOfAPortWithoutALinkIsKept(t *testing.T) {
	const (
		state   = "ports/1/state"
		netdev  = "sys/class/net/eth0/"
		changes = netdev + "carrier_changes"
	)
	start := func(t *testing.T) *rig {
		m := newRig(t, join(
			nic("a0", "bnxt_en", "0000:01:00.0", fileSet{
				"ports/1/link_layer": "Ethernet\n", state: "1: DOWN\n", "ports/1/phys_state": "2: Polling\n",
			}),
			iface("eth0", "0000:01:00.0", fileSet{"flags": "0x1003\n", "carrier": "0\n", "carrier_changes": "3\n", "speed": "-1\n"}),
		), only("port"))
		m.collect().want(t, values{portState_: 1, portPhys: 2, portActive: 0})
		// The file says something else from now on: who reads it, sees it.
		m.set(classFile("a0", state), "4: ACTIVE\n")
		return m
	}
	for _, c := range []struct {
		name string
		then func(*rig)
		want float64
	}{
		{"nothing has changed", func(m *rig) { m.later(15 * time.Second) }, 1},
		{"a carrier came and went", func(m *rig) { m.later(15 * time.Second); m.set(changes, "5\n") }, 4},
		{"there is a carrier", func(m *rig) { m.later(15 * time.Second); m.set(netdev+"carrier", "1\n") }, 4},
		{"the interface was switched off", func(m *rig) { m.later(15 * time.Second); m.set(netdev+"flags", "0x1002\n") }, 4},
		{"a minute has passed", func(m *rig) { m.later(stateAge) }, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := start(t)
			c.then(m)
			m.collect().want(t, values{portState_: c.want})
		})
	}
}

// Without an interface that tells, and on InfiniBand, the state is read each
// time.
func TestStateWithoutProofIsRead(t *testing.T) {
	for name, set := range map[string]fileSet{
		"no interface": nic("a0", "bnxt_en", "0000:01:00.0", fileSet{"ports/1/link_layer": "Ethernet\n", "ports/1/state": "1: DOWN\n"}),
		"InfiniBand": join(
			nic("a0", "mlx5_core", "0000:01:00.0", fileSet{"ports/1/state": "1: DOWN\n"}),
			iface("ib0", "0000:01:00.0", fileSet{"flags": "0x1003\n", "carrier": "0\n", "carrier_changes": "3\n"})),
	} {
		t.Run(name, func(t *testing.T) {
			m := newRig(t, set, only("port"))
			m.collect().want(t, values{portState_: 1})
			m.set(classFile("a0", "ports/1/state"), "4: ACTIVE\n")
			m.later(time.Second)
			m.collect().want(t, values{portState_: 4})
		})
	}
}
