package diagnose

import "slices"

// Keep leaves only what concerns some devices, by name; none means all. What
// concerns the whole node stays.
func (r *Report) Keep(devices []string) {
	if len(devices) == 0 {
		return
	}
	other := func(device string) bool { return device != "" && !slices.Contains(devices, device) }
	r.Ports = slices.DeleteFunc(r.Ports, func(p Port) bool { return other(p.Device) })
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return other(f.Device) })
	r.Unseen = slices.DeleteFunc(r.Unseen, func(u Unseen) bool { return other(u.Device) })
}

// KeepSeverity leaves only findings of a severity or a worse one.
func (r *Report) KeepSeverity(least string) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return Rank(f.Severity) < Rank(least) })
}

// Devices lists the devices that the report speaks of, also those that are
// gone and have a finding only.
func (r *Report) Devices() []string {
	var names []string
	note := func(device string) {
		if device != "" && !slices.Contains(names, device) {
			names = append(names, device)
		}
	}
	for _, p := range r.Ports {
		note(p.Device)
	}
	for _, f := range r.Findings {
		note(f.Device)
	}
	return names
}
