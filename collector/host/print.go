package host

import (
	"fmt"
	"strconv"
	"strings"
)

// The functions below write answers of the kernel as the tools print them, as
// far as they are known here. They are the reverse of the functions that parse
// those texts.

// printStats writes the text of `ethtool -S`.
func printStats(names []string, values []uint64) string {
	var b strings.Builder
	b.WriteString("NIC statistics:\n")
	for i, name := range names {
		fmt.Fprintf(&b, "     %s: %d\n", oneLine(name), values[i])
	}
	return b.String()
}

// oneLine keeps a name from being taken for two lines.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name)
}

// printPause writes the text of `ethtool -I -a`.
func printPause(netdev string, p Pause) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Pause parameters for %s:\nRX:\t\t%s\nTX:\t\t%s\n", netdev, onOff(p.RX), onOff(p.TX))
	if p.TXFrames == nil && p.RXFrames == nil && p.StormEvents == nil {
		return b.String()
	}
	b.WriteString("Statistics:\n")
	for _, count := range [...]struct {
		name  string
		value *uint64
	}{{"tx_pause_frames", p.TXFrames}, {"rx_pause_frames", p.RXFrames}, {"tx_pause_storm_events", p.StormEvents}} {
		if count.value != nil {
			fmt.Fprintf(&b, "  %s: %d\n", count.name, *count.value)
		}
	}
	return b.String()
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// printFEC writes the text of `ethtool -I --show-fec`.
func printFEC(netdev string, f FEC) string {
	var b strings.Builder
	fmt.Fprintf(&b, "FEC parameters for %s:\nActive FEC encoding:", netdev)
	if f.Active == nil {
		b.WriteString(" None")
	}
	for _, mode := range f.Active {
		switch mode {
		case "none":
			mode = "Off"
		case "baser":
			mode = "BaseR"
		default:
			mode = strings.ToUpper(mode)
		}
		b.WriteString(" " + mode)
	}
	b.WriteString("\n")
	if f.CorrectedBlocks == nil && f.UncorrectableBlocks == nil && f.CorrectedBits == nil {
		return b.String()
	}
	b.WriteString("Statistics:\n")
	for _, count := range [...]struct {
		name   string
		values []uint64
	}{{"corrected_blocks", f.CorrectedBlocks}, {"uncorrectable_blocks", f.UncorrectableBlocks}, {"corrected_bits", f.CorrectedBits}} {
		for i, value := range count.values {
			if i == 0 {
				fmt.Fprintf(&b, "  %s: %d\n", count.name, value)
			} else {
				fmt.Fprintf(&b, "    Lane %d: %d\n", i-1, value)
			}
		}
	}
	return b.String()
}

// printLinkState writes the end of the text of `ethtool -I`.
func printLinkState(netdev string, l LinkState) string {
	detected := "no"
	if l.Up {
		detected = "yes"
	}
	if l.DownReason != "" {
		detected += " (" + printedReason(l.DownReason) + ")"
	}
	text := fmt.Sprintf("Settings for %s:\n\tLink detected: %s\n", netdev, detected)
	if l.DownCount != nil {
		text += fmt.Sprintf("\tLink Down Events: %d\n", *l.DownCount)
	}
	return text
}

func printedReason(name string) string {
	for _, r := range downReasons {
		if r.name == name && name != "" {
			return r.printed
		}
	}
	if number, ok := strings.CutPrefix(name, "state_"); ok {
		if _, err := strconv.ParseUint(number, 10, 8); err == nil {
			return number
		}
	}
	return strings.ReplaceAll(name, "_", " ")
}

// printRDMALinks writes the lines of one device in the text of `rdma link`.
func printRDMALinks(device string, links []RDMALink) string {
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "link %s/%d", device, l.Port)
		if l.Netdev != "" {
			fmt.Fprintf(&b, " netdev %s", l.Netdev)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// printRDMADevice writes the line of one device in the text of `rdma dev`. Its
// index there is not known and not used.
func printRDMADevice(device string, dev RDMADevice) string {
	var b strings.Builder
	fmt.Fprintf(&b, "0: %s:", device)
	for _, word := range [...]struct{ key, value string }{{"protocol", dev.Protocol}, {"type", dev.Type}, {"parent", dev.Parent}} {
		if word.value != "" {
			fmt.Fprintf(&b, " %s %s", word.key, word.value)
		}
	}
	b.WriteString("\n")
	return b.String()
}
