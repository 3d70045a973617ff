package collector

import (
	"path"
	"strings"

	"github.com/rdmawatch/rdmawatch/collector/host"
)

// answer is what is known of a question that is asked once per registration.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// isRestricted recognises the limited functions of the ConnectX-7 bridges on
// HGX and DGX B200, B300 and GB200, which belong to the fabric manager. Reading
// their counters makes the firmware refuse a command and the kernel log it,
// for every file. NVIDIA's Fabric Manager User Guide tells them by the text
// SW_MNG in the vital product data. That file is readable for root only; others
// know such a function by its first refused register (counterDir.canary), which
// costs one line in the log.
func isRestricted(d *host.Door, t *target) answer {
	if t.driver != "mlx5" || t.function != "pf" {
		return no
	}
	const largest = 32 << 10 // of vital product data, PCI Local Bus Specification 3.0, appendix I
	vpd, err := d.ReadLong(path.Join(t.pciPath, "vpd"), largest)
	switch {
	case err == nil && strings.Contains(vpd, "SW_MNG"):
		return yes
	case host.Denied(err) && t.memory.refused:
		return yes
	case host.Denied(err):
		return unknown
	}
	return no
}
