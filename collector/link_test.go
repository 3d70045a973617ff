package collector

import (
	"strings"
	"testing"
	"time"
)

const (
	pauseText = `Pause parameters for eth0:
Autonegotiate:	off
RX:		on
TX:		off
Statistics:
  tx_pause_frames: 3
  rx_pause_frames: 5
`
	fecText = `FEC parameters for eth0:
Supported/Configured FEC encodings: Auto
Active FEC encoding: RS
Statistics:
  corrected_blocks: 7
    Lane 0: 2
    Lane 1: 5
  uncorrectable_blocks: 11
`
	linkText = `Settings for eth0:
	Speed: Unknown!
	Link detected: no (No cable)
	Link Down Events: 13
`
)

const p1 = `{device="a0",port="1"`

var (
	pauseWant = values{
		`rdma_port_pause_enabled` + p1 + `,direction="received"}`: 1,
		`rdma_port_pause_enabled` + p1 + `,direction="sent"}`:     0,
		`rdma_mac_pause_sent_frames_total` + p1 + `}`:             3,
		`rdma_mac_pause_received_frames_total` + p1 + `}`:         5,
	}
	fecWant = values{
		`rdma_port_fec_active` + p1 + `,mode="rs"}`:                     1,
		`rdma_port_fec_corrected_blocks_total` + p1 + `}`:               7,
		`rdma_port_fec_lane_corrected_blocks_total` + p1 + `,lane="0"}`: 2,
		`rdma_port_fec_lane_corrected_blocks_total` + p1 + `,lane="1"}`: 5,
		`rdma_port_fec_uncorrectable_blocks_total` + p1 + `}`:           11,
	}
	linkWant = values{
		`rdma_port_link_downed_total` + p1 + `,kind="netlink"}`:   13,
		`rdma_port_link_down_reason` + p1 + `,reason="no_cable"}`: 1,
	}
)

// linkRig has an Ethernet port and texts of ethtool.
func linkRig(t *testing.T, pause, fec, link string) *rig {
	t.Helper()
	set := ethNIC("mlx5_core", statistics())
	for name, text := range map[string]string{"a": pause, "fec": fec, "link": link} {
		if text != "" {
			set["ethtool/eth0/"+name] = text
		}
	}
	return newRig(t, set, only("link"))
}

const linkSuccess = `rdma_collector_success{device="a0",collector="link"}`

func TestLink(t *testing.T) {
	for _, c := range []struct {
		name, pause, fec, link string
		want                   []values
		absent                 []string
		success                float64
	}{
		{"all", pauseText, fecText, linkText, []values{pauseWant, fecWant, linkWant}, []string{"rdma_pause_storm_events_total"}, 1},
		{"only pause", pauseText, "", "", []values{pauseWant}, []string{"rdma_port_fec", "rdma_port_link"}, 1},
		{"only FEC", "errno:EOPNOTSUPP", fecText, "errno:EOPNOTSUPP", []values{fecWant}, []string{"rdma_port_pause", "rdma_port_link"}, 1},
		{"only the link", "errno:EPERM", "errno:EOPNOTSUPP", linkText, []values{linkWant}, []string{"rdma_port_pause", "rdma_port_fec"}, 1},
		{"none", "", "", "", nil, []string{"rdma_port", "rdma_mac"}, 1},
		{"one fails", "errno:EIO", fecText, linkText, []values{fecWant, linkWant}, []string{"rdma_port_pause"}, 0},
		{"one is nonsense", pauseText, "FEC parameters", linkText, []values{pauseWant, linkWant}, []string{"rdma_port_fec"}, 0},
		{"no counts", "Pause parameters:\nRX: on\nTX: on\n", "Active FEC encoding: Off\n", "Settings:\n\tLink detected: yes\n",
			[]values{{`rdma_port_pause_enabled` + p1 + `,direction="sent"}`: 1, `rdma_port_fec_active` + p1 + `,mode="none"}`: 1}},
			[]string{"rdma_mac_pause", "rdma_port_fec_corrected", "rdma_port_link"}, 1},
		{"a pause storm", pauseText + "  tx_pause_storm_events: 17\n", "", "", []values{{`rdma_pause_storm_events_total` + p1 + `,kind="netlink"}`: 17}}, nil, 1},
		{"up has no reason", "", "", "Settings:\n\tLink detected: yes (No cable)\n", nil, []string{"rdma_port_link_down_reason"}, 1},
		{"down without a reason", "", "", "Settings:\n\tLink detected: no\n", nil, []string{"rdma_port_link_down_reason"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := linkRig(t, c.pause, c.fec, c.link)
			for range 2 {
				v := m.collect()
				for _, want := range c.want {
					v.want(t, want)
				}
				v.absent(t, c.absent...)
				v.want(t, values{linkSuccess: c.success})
			}
		})
	}
}

func TestLinkQuestionsSleepApart(t *testing.T) {
	const reads = `rdma_collector_reads_total{device="a0",collector="link"}`
	m := linkRig(t, pauseText, "errno:EOPNOTSUPP", "errno:EIO")
	m.collect().want(t, values{reads: 3})
	m.later(time.Minute)
	m.collect().want(t, values{reads: 5}) // FEC is not asked for; what failed is
	m.set("ethtool/eth0/fec", fecText)
	m.later(reprobeAfter - time.Minute - 1)
	m.collect().absent(t, "rdma_port_fec")
	m.later(1)
	m.collect().want(t, fecWant)
}

func TestLinkReasonChanges(t *testing.T) {
	m := linkRig(t, "", fecText, linkText)
	m.collect().want(t, linkWant)
	m.set("ethtool/eth0/link", "Settings:\n\tLink detected: no (Bad signal integrity)\n")
	m.set("ethtool/eth0/fec", strings.Replace(fecText, "RS", "BaseR", 1))
	v := m.collect()
	v.want(t, values{`rdma_port_link_down_reason` + p1 + `,reason="bad_signal_integrity"}`: 1, `rdma_port_fec_active` + p1 + `,mode="baser"}`: 1})
	if found := append(v.like("rdma_port_link_down_reason"), v.like("rdma_port_fec_active")...); len(found) != 2 {
		t.Errorf("%q, want one reason and one mode", found)
	}
}
