package host

import (
	"fmt"
	"strconv"
	"strings"
)

// parsePause reads the text of `ethtool -I -a`.
func parsePause(text string) (Pause, error) {
	var p Pause
	known := false
	for key, value := range keyValues(text) {
		var err error
		switch key {
		case "RX":
			p.RX, err = parseOnOff(value)
			known = true
		case "TX":
			p.TX, err = parseOnOff(value)
		case "rx_pause_frames":
			p.RXFrames, err = parseCount(value)
		case "tx_pause_frames":
			p.TXFrames, err = parseCount(value)
		case "tx_pause_storm_events":
			p.StormEvents, err = parseCount(value)
		}
		if err != nil {
			return Pause{}, fmt.Errorf("%s: %w", key, err)
		}
	}
	if !known {
		return Pause{}, fmt.Errorf("text has no line RX")
	}
	return p, nil
}

// parseFEC reads the text of `ethtool -I --show-fec`.
func parseFEC(text string) (FEC, error) {
	var f FEC
	var counts *[]uint64 // those that lines of lanes belong to
	known := false
	for key, value := range keyValues(text) {
		lane := strings.HasPrefix(key, "Lane ")
		if !lane {
			counts = nil
		}
		switch key {
		case "Active FEC encoding", "Active FEC encodings": // netlink, ioctl
			f.Active, known = parseFECModes(value), true
		case "corrected_blocks":
			counts = &f.CorrectedBlocks
		case "uncorrectable_blocks":
			counts = &f.UncorrectableBlocks
		case "corrected_bits":
			counts = &f.CorrectedBits
		}
		if counts == nil {
			continue
		}
		v, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return FEC{}, fmt.Errorf("%s: %w", key, ErrNotNumber)
		}
		if !lane {
			*counts = nil
		}
		*counts = append(*counts, v)
	}
	if !known {
		return FEC{}, fmt.Errorf("text has no line Active FEC encoding")
	}
	return f, nil
}

// parseFECModes reads names as ethtool prints them. Off is a mode that was
// chosen; None is that the driver does not say.
func parseFECModes(text string) []string {
	var modes []string
	for _, mode := range strings.Fields(text) {
		switch mode = strings.ToLower(mode); mode {
		case "none":
		case "off":
			modes = append(modes, "none")
		default:
			modes = append(modes, mode)
		}
	}
	return modes
}

// parseLinkState reads the end of the text of `ethtool -I`.
func parseLinkState(text string) (LinkState, error) {
	var l LinkState
	known := false
	for key, value := range keyValues(text) {
		switch key {
		case "Link detected":
			word, reason, _ := strings.Cut(value, " ")
			if word != "yes" && word != "no" {
				return LinkState{}, fmt.Errorf("link detected: %q is neither yes nor no", value)
			}
			l.Up, known = word == "yes", true
			l.DownReason = parseDownReason(reason)
		case "Link Down Events":
			count, err := parseCount(value)
			if err != nil {
				return LinkState{}, fmt.Errorf("%s: %w", key, err)
			}
			l.DownCount = count
		}
	}
	if !known {
		return LinkState{}, fmt.Errorf("text has no line Link detected")
	}
	return l, nil
}

// parseDownReason reads "(Cable issue, Unsupported cable)". What comes after
// the comma is left out.
func parseDownReason(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
	text, _, _ = strings.Cut(text, ",")
	for _, r := range downReasons {
		if r.printed == text {
			return r.name
		}
	}
	if _, err := strconv.ParseUint(text, 10, 8); err == nil {
		return "state_" + text // one that this ethtool did not know
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " ", "_")
}

// keyValues goes through the lines "key: value" of a text.
func keyValues(text string) func(yield func(key, value string) bool) {
	return func(yield func(key, value string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			key, value, ok := strings.Cut(line, ":")
			if ok && !yield(strings.TrimSpace(key), strings.TrimSpace(value)) {
				return
			}
		}
	}
}

func parseOnOff(text string) (bool, error) {
	switch text {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", text)
}

func parseCount(text string) (*uint64, error) {
	v, err := ParseCounter([]byte(text))
	if err != nil {
		return nil, err
	}
	return &v, nil
}
