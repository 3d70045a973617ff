package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/collector"
	"github.com/rdmawatch/rdmawatch/collector/host"
)

// collectorFlags say what is read, and where.
type collectorFlags struct {
	sysfs, procfs, rootfs, replay *string
	timeout, minInterval          *time.Duration
	restricted                    *bool
	rawEthtool                    *string
	devices                       filterFlags
	sources                       map[string]*sourceFlags

	// Set by the commands that need them.
	recorder host.Recorder    // is given what is read
	clock    func() time.Time // instead of the real one
	opened   opened           // by runner
}

type filterFlags struct{ include, exclude *string }

type sourceFlags struct {
	on     *bool
	filter filterFlags
}

func addCollectorFlags(cmd *kingpin.CmdClause) collectorFlags {
	f := collectorFlags{
		sysfs:       cmd.Flag("path.sysfs", "Mount point of sysfs. Default: /sys below --path.rootfs.").String(),
		procfs:      cmd.Flag("path.procfs", "Mount point of procfs. Default: /proc below --path.rootfs.").String(),
		rootfs:      cmd.Flag("path.rootfs", "Mount point of the machine's root, in a container.").Default("/").String(),
		replay:      cmd.Flag("replay", "Read this node fixture (a directory) or capture (a .tar.gz) instead of this machine.").PlaceHolder("NODE").String(),
		timeout:     cmd.Flag("collector.timeout", "How long a scrape waits for a device; below the usual scrape timeout of 10s.").Default("5s").Duration(),
		minInterval: cmd.Flag("collector.min-interval", "How old a reading may be and still answer a scrape.").Default("1s").Duration(),
		restricted:  cmd.Flag("collector.read-restricted", "Read devices that NVIDIA's fabric manager owns too; each read is a line in the kernel log.").Bool(),
		rawEthtool:  cmd.Flag("collector.ethtool.raw-include", "Export unmapped ethtool statistics whose whole name matches, as rdma_ethtool_counter.").PlaceHolder("REGEXP").String(),
		devices:     addFilterFlags(cmd, "collector", "by any collector"),
		sources:     map[string]*sourceFlags{},
	}
	for _, s := range collector.Sources() {
		name := "collector." + s.Name
		f.sources[s.Name] = &sourceFlags{
			on:     cmd.Flag(name, fmt.Sprintf("Read %s.", s.What)).Default(fmt.Sprint(s.Default)).Bool(),
			filter: addFilterFlags(cmd, name, "by this collector"),
		}
	}
	return f
}

func addFilterFlags(cmd *kingpin.CmdClause, area, who string) filterFlags {
	return filterFlags{
		include: cmd.Flag(area+".device-include", fmt.Sprintf("Only devices whose whole name matches are read %s.", who)).PlaceHolder("REGEXP").String(),
		exclude: cmd.Flag(area+".device-exclude", fmt.Sprintf("Devices whose whole name matches are not opened %s.", who)).PlaceHolder("REGEXP").String(),
	}
}

func (f filterFlags) filter(area string) (collector.Filter, error) {
	include, err := collector.Anchor(*f.include)
	if err != nil {
		return collector.Filter{}, fmt.Errorf("--%s.device-include: %w", area, err)
	}
	exclude, err := collector.Anchor(*f.exclude)
	if err != nil {
		return collector.Filter{}, fmt.Errorf("--%s.device-exclude: %w", area, err)
	}
	return collector.Filter{Include: include, Exclude: exclude}, nil
}

// runner opens the machine and makes the runner that the flags describe. The
// function it returns closes both.
func (f *collectorFlags) runner(logger log.Logger) (*collector.Runner, func(), error) {
	c := collector.Config{
		Logger: logger, ReadRestricted: *f.restricted,
		Timeout: *f.timeout, MinInterval: *f.minInterval, Filters: map[string]collector.Filter{},
	}
	if c.Timeout <= 0 || c.MinInterval < 0 {
		return nil, nil, fmt.Errorf("--collector.timeout must be above zero and --collector.min-interval not below")
	}
	var err error
	if c.Devices, err = f.devices.filter("collector"); err != nil {
		return nil, nil, err
	}
	if c.RawEthtool, err = collector.Anchor(*f.rawEthtool); err != nil {
		return nil, nil, fmt.Errorf("--collector.ethtool.raw-include: %w", err)
	}
	for _, s := range collector.Sources() {
		flags := f.sources[s.Name]
		if c.Filters[s.Name], err = flags.filter.filter("collector." + s.Name); err != nil {
			return nil, nil, err
		}
		if *flags.on {
			c.Sources = append(c.Sources, s)
		}
	}
	if err := f.open(logger); err != nil {
		return nil, nil, err
	}
	c.Host, c.Now = f.opened.host, f.opened.clock
	if c.Host.Replay() {
		level.Warn(logger).Log("msg", "simulated: every value comes from a fixture, not from this machine", "fixture", *f.replay)
	}
	r := collector.NewRunner(c)
	return r, func() { r.Close(); f.opened.close() }, nil
}

// simulated reports whether what is read is no machine.
func (f *collectorFlags) simulated() bool { return *f.replay != "" }

// sysfsPath is where sysfs is: as told, or below the root. A container that
// was given the machine's files under /host but no flag is understood too.
func (f *collectorFlags) sysfsPath(logger log.Logger) string {
	if *f.sysfs != "" {
		return *f.sysfs
	}
	const mounted = "/host/sys"
	if *f.rootfs == "/" && !exists("/sys/class/infiniband") && exists(mounted+"/class/infiniband") {
		level.Info(logger).Log("msg", "reading the machine's sysfs; set --path.sysfs for another", "path", mounted)
		return mounted
	}
	return filepath.Join(*f.rootfs, "sys")
}

func (f *collectorFlags) procfsPath() string {
	if *f.procfs != "" {
		return *f.procfs
	}
	return filepath.Join(*f.rootfs, "proc")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
