package host

import (
	"fmt"
	"strconv"
	"strings"
)

// parseDCB reads what `dcb -N ets show`, pfc, buffer and app print, one after
// the other: lines of a key and its numbered values, "prio-pfc 0:off 1:off ...".
func parseDCB(text string) (DCB, error) {
	var v DCB
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := v.parseLine(f[0], f[1:]); err != nil {
			return DCB{}, fmt.Errorf("%s: %w", f[0], err)
		}
	}
	if v.PFC == nil && v.ETS == nil && v.Buffers == nil {
		return DCB{}, fmt.Errorf("text has none of prio-pfc, prio-tc, prio-buffer")
	}
	v.sort()
	return v, nil
}

func (v *DCB) parseLine(key string, words []string) (err error) {
	switch key {
	case "prio-pfc":
		v.PFC = &[priorities8]bool{}
		err = numbered(words, func(i int, value string) (err error) { v.PFC[i], err = parseOnOff(value); return err })
	case "prio-tc":
		err = numbered(words, func(i int, value string) error { return parseByte(value, &v.ets().Class[i], priorities8-1) })
	case "tc-bw":
		err = numbered(words, func(i int, value string) error { return parseByte(value, &v.ets().Percent[i], 255) })
	case "tc-tsa":
		err = numbered(words, func(i int, value string) error { v.ets().Algorithm[i] = value; return nil })
	case "prio-buffer":
		err = numbered(words, func(i int, value string) error { return parseByte(value, &v.buffers().Buffer[i], priorities8-1) })
	case "buffer-size":
		err = numbered(words, func(i int, value string) (err error) { v.buffers().Bytes[i], err = parseSize(value); return err })
	case "dscp-prio":
		err = v.parseDSCP(words)
	}
	return err
}

func (v *DCB) ets() *ETS {
	if v.ETS == nil {
		v.ETS = &ETS{}
	}
	return v.ETS
}

func (v *DCB) buffers() *Buffers {
	if v.Buffers == nil {
		v.Buffers = &Buffers{}
	}
	return v.Buffers
}

func (v *DCB) parseDSCP(words []string) error {
	for _, word := range words {
		number, value, _ := strings.Cut(word, ":")
		var e DSCPPriority
		if err := parseByte(number, &e.DSCP, largestDSCP); err != nil {
			return err
		}
		if err := parseByte(value, &e.Priority, priorities8-1); err != nil {
			return err
		}
		v.DSCP = append(v.DSCP, e)
	}
	return nil
}

// numbered calls each for the words "0:value" up to "7:value".
func numbered(words []string, each func(i int, value string) error) error {
	for _, word := range words {
		number, value, _ := strings.Cut(word, ":")
		var i uint8
		if err := parseByte(number, &i, priorities8-1); err != nil {
			return err
		}
		if err := each(int(i), value); err != nil {
			return err
		}
	}
	return nil
}

func parseByte(text string, to *uint8, largest uint64) error {
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || n > largest {
		return fmt.Errorf("%q: %w", text, ErrNotNumber)
	}
	*to = uint8(n)
	return nil
}

// parseSize reads a size as iproute2 prints it (sprint_size): 130944b, 256Kb,
// 1Mb.
func parseSize(text string) (uint32, error) {
	factor := uint64(1)
	number, ok := strings.CutSuffix(text, "Kb")
	switch {
	case ok:
		factor = 1 << 10
	case strings.HasSuffix(text, "Mb"):
		number, factor = strings.TrimSuffix(text, "Mb"), 1<<20
	default:
		number = strings.TrimSuffix(text, "b")
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n*factor > 1<<32-1 {
		return 0, fmt.Errorf("%q: %w", text, ErrNotNumber)
	}
	return uint32(n * factor), nil
}

// printDCB writes what parseDCB reads, as dcb does. Lines of what is not used
// here, such as what the peer recommends, are left out; sizes are in bytes,
// which dcb rounds where they are almost whole.
func printDCB(v DCB) string {
	var b strings.Builder
	line := func(key string, value func(i int) any) {
		b.WriteString(key)
		for i := range priorities8 {
			fmt.Fprintf(&b, " %d:%v", i, value(i))
		}
		b.WriteString(" \n")
	}
	if e := v.ETS; e != nil {
		line("tc-bw", func(i int) any { return e.Percent[i] })
		line("tc-tsa", func(i int) any { return e.Algorithm[i] })
		line("prio-tc", func(i int) any { return e.Class[i] })
	}
	if v.PFC != nil {
		line("prio-pfc", func(i int) any {
			if v.PFC[i] {
				return "on"
			}
			return "off"
		})
	}
	if buffers := v.Buffers; buffers != nil {
		line("prio-buffer", func(i int) any { return buffers.Buffer[i] })
		line("buffer-size", func(i int) any { return strconv.Itoa(int(buffers.Bytes[i])) + "b" })
	}
	if len(v.DSCP) > 0 {
		b.WriteString("dscp-prio")
		for _, e := range v.DSCP {
			fmt.Fprintf(&b, " %d:%d", e.DSCP, e.Priority)
		}
		b.WriteString(" \n")
	}
	return b.String()
}
