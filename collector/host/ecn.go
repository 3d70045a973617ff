package host

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"

	"github.com/prometheus/procfs/sysfs"
)

// ECN is how an interface takes part in DCQCN, the congestion control of RoCE.
type ECN struct {
	// Which priorities answer marked packets (notification point) and which
	// slow down (reaction point).
	NotificationPoint, ReactionPoint map[int]bool
	// Parameters are the settings by the driver's file name.
	Parameters map[string]uint64
}

// ecnParameters are the files that procfs reads, and where it puts them.
var ecnParameters = [...]struct {
	file  string
	value func(*sysfs.EcnIface) uint64
}{
	{"roce_np/min_time_between_cnps", func(e *sysfs.EcnIface) uint64 { return e.RoceNpEcn.MinTimeBetweenCnps }},
	{"roce_np/cnp_dscp", func(e *sysfs.EcnIface) uint64 { return e.RoceNpEcn.CnpDscp }},
	{"roce_np/cnp_802p_prio", func(e *sysfs.EcnIface) uint64 { return e.RoceNpEcn.Cnp802pPriority }},
	{"roce_rp/dce_tcp_g", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.DceTCPG }},
	{"roce_rp/dce_tcp_rtt", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.DceTCPRtt }},
	{"roce_rp/initial_alpha_value", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.InitialAlphaValue }},
	{"roce_rp/rate_to_set_on_first_cnp", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RateToSetOnFirstCnp }},
	{"roce_rp/rate_reduce_monitor_period", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RateReduceMonitorPeriod }},
	{"roce_rp/rpg_min_dec_fac", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgMinDecFac }},
	{"roce_rp/rpg_min_rate", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgMinRate }},
	{"roce_rp/rpg_gd", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgGd }},
	{"roce_rp/rpg_time_reset", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgTimeReset }},
	{"roce_rp/rpg_byte_reset", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgByteReset }},
	{"roce_rp/rpg_threshold", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgThreshold }},
	{"roce_rp/rpg_ai_rate", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgAiRate }},
	{"roce_rp/rpg_hai_rate", func(e *sysfs.EcnIface) uint64 { return e.RoceRpEcn.RpgHaiRate }},
	{"roce_rp/clamp_tgt_rate", func(e *sysfs.EcnIface) uint64 {
		if e.RoceRpEcn.ClampTgtRate {
			return 1
		}
		return 0
	}},
	{"roce_rp/rpg_max_rate", nil},
	{"roce_rp/clamp_tgt_rate_after_time_inc", nil},
}

// ECN reads the settings that the out-of-tree mlx5 driver shows below
// /sys/class/net/<interface>/ecn. The error is fs.ErrNotExist where there are
// none.
func (d *Door) ECN(netdev string) (ECN, error) {
	if err := checkNetdev(netdev); err != nil {
		return ECN{}, err
	}
	dir := path.Join("class/net", netdev, "ecn")
	if err := d.checkECN(dir); err != nil {
		return ECN{}, fmt.Errorf("reading ECN settings of %s: %w", netdev, err)
	}
	d.recordECN(dir)
	info, err := parseECN(path.Join(d.host.sysPath, dir))
	if d.count(err) != nil {
		// One odd file costs procfs the whole directory. Without its help every
		// file is read by itself, here and, as if it were zero, below.
		info = &sysfs.EcnIface{}
		info.RoceNpEcn.Ecn = d.enabled(path.Join(dir, "roce_np/enable"))
		info.RoceRpEcn.Ecn = d.enabled(path.Join(dir, "roce_rp/enable"))
	}
	ecn := ECN{
		NotificationPoint: priorities(info.RoceNpEcn.Ecn),
		ReactionPoint:     priorities(info.RoceRpEcn.Ecn),
		Parameters:        map[string]uint64{},
	}
	for _, p := range ecnParameters {
		var value uint64
		if p.value != nil {
			value = p.value(info)
		}
		if value == 0 {
			// procfs leaves at zero what it does not know, does not find or is
			// not allowed to read. Only the file tells that it is a zero.
			text, err := d.Read(path.Join(dir, p.file))
			if err != nil {
				continue
			}
			if value, err = ParseCounter([]byte(text)); err != nil {
				continue
			}
		}
		ecn.Parameters[path.Base(p.file)] = value
	}
	return ecn, nil
}

// checkECN looks whether what procfs will open is there and within the tree.
func (d *Door) checkECN(dir string) error {
	for _, point := range [...]string{"roce_np", "roce_rp"} {
		enable := path.Join(dir, point, "enable")
		if !d.Exists(enable) {
			return fs.ErrNotExist
		}
		names, err := d.List(enable)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !d.Exists(path.Join(enable, name)) {
				return fmt.Errorf("%s: %w", path.Join(enable, name), ErrOutside)
			}
		}
	}
	return nil
}

// recordECN reads for the recorder what procfs is about to read by itself. It
// is not the reader's doing and not counted as that.
func (d *Door) recordECN(dir string) {
	if d.host.recorder == nil {
		return
	}
	aside := d.host.Door()
	for _, part := range [...]string{"roce_np", "roce_np/enable", "roce_rp", "roce_rp/enable"} {
		names, err := aside.List(path.Join(dir, part))
		if err != nil {
			continue
		}
		for _, name := range names {
			if name != "enable" {
				_, _ = aside.Read(path.Join(dir, part, name)) // its error is recorded
			}
		}
	}
}

// parseECN lets procfs read the directory. It panics on a file that is empty
// or no number, as the driver's are when its query failed.
func parseECN(dir string) (info *sysfs.EcnIface, err error) {
	defer func() {
		if recover() != nil {
			info, err = nil, ErrNotNumber
		}
	}()
	return sysfs.ParseEcnIfaceInfo(dir)
}

// enabled reads for which priorities a point is on; those that cannot be read
// are absent.
func (d *Door) enabled(dir string) map[uint8]bool {
	names, err := d.List(dir)
	if err != nil {
		return nil
	}
	on := map[uint8]bool{}
	for _, name := range names {
		priority, err := strconv.ParseUint(name, 10, 3)
		if err != nil {
			continue
		}
		text, err := d.Read(path.Join(dir, name))
		if value, parseErr := ParseCounter([]byte(text)); err == nil && parseErr == nil && value <= 1 {
			on[uint8(priority)] = value == 1
		}
	}
	return on
}

func priorities(enabled map[uint8]bool) map[int]bool {
	byNumber := make(map[int]bool, len(enabled))
	for priority, on := range enabled {
		byNumber[int(priority)] = on
	}
	return byNumber
}
