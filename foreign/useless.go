package foreign

import (
	"regexp"
	"strings"
)

// Texts that people attach and of which nothing can be made. They are
// recognised to say so.

func takeModule(lines []string, _ *hint) int {
	return first(lines, func(line string) bool {
		name, value, _ := pair(line)
		return name == "Identifier" && strings.HasPrefix(value, "0x")
	}, func(line string) bool { _, _, ok := pair(line); return ok })
}

func takeMlxlink(lines []string, _ *hint) int {
	switch {
	case strings.TrimSpace(lines[0]) == "{" && strings.Contains(strings.Join(lines[:min(6, len(lines))], "\n"), `"output"`):
		depth := 0
		for i, line := range lines {
			if depth += brackets(line); depth <= 0 {
				return i + 1
			}
		}
		return len(lines)
	case strings.HasPrefix(lines[0], "Operational Info"), strings.HasPrefix(lines[0], "Physical Counters and BER Info"):
		return 1 + run(lines[1:], func(line string) bool {
			_, _, ok := pair(line)
			return ok || strings.HasPrefix(line, "---") || strings.HasSuffix(line, "Info")
		})
	}
	return 0
}

var kernelLine = regexp.MustCompile(`^(?:<\d+>)?\[ *[\w :.]+\] |^\w{3} +\d+ [\d:]+ \S+ kernel: |^[\w-]+ [0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]: |^mlx[45]_\w+: |^mlx[45]_\w+:\d+:\(|^mlx[45]_core `)

func takeKernelLog(lines []string, _ *hint) int { return run(lines, kernelLine.MatchString) }

var applicationLine = regexp.MustCompile(`NET/(?:IB|OFI|Plugin)|NCCL (?:WARN|INFO)|ibv_\w+ ?\(|ibv_\w+ failed|synd 0x|UCX +(?:ERROR|WARN)|retry count exceeded`)

func takeApplicationLog(lines []string, _ *hint) int { return run(lines, applicationLine.MatchString) }

var promLine = regexp.MustCompile(`^(?:# (?:HELP|TYPE) )?[a-zA-Z_:][\w:]*(?:\{[^}]*\})? [-+0-9.eEInfNa]+(?: \d+)?$`)

func takePrometheus(lines []string, _ *hint) int {
	if !strings.Contains(lines[0], "{") && !strings.HasPrefix(lines[0], "# HELP ") {
		return 0
	}
	return run(lines, func(line string) bool { return promLine.MatchString(line) || strings.HasPrefix(line, "# HELP ") })
}

func takeACS(lines []string, _ *hint) int {
	return run(lines, func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.HasPrefix(text, "ACSCtl:") || strings.HasPrefix(text, "ACSCap:")
	})
}

func takePerftest(lines []string, _ *hint) int {
	rule := func(line string) bool { return strings.HasPrefix(line, "------------") }
	test := func(line string) bool {
		return strings.HasPrefix(line, " #bytes") || strings.Contains(line, "BW Test") || strings.Contains(line, "Latency Test")
	}
	if !rule(lines[0]) && !test(lines[0]) {
		return 0
	}
	return 1 + run(lines[1:], func(line string) bool { return rule(line) || line[0] == ' ' })
}

// takeResource takes rdma resource and the settings of rdma statistic.
func takeResource(lines []string, _ *hint) int {
	return run(lines, func(line string) bool {
		f := strings.Fields(line)
		if len(f) < 4 {
			return false
		}
		switch {
		case f[0] == "link" && isLink(f[1]), f[0] == "dev" && isName(f[1]):
			return !statisticRest(f[2:]) && f[2] != "state"
		case strings.HasSuffix(f[0], ":") && isLink(strings.TrimSuffix(f[1], ":")): // 2/1: mlx5_2/1: qp auto off
			return true
		}
		return strings.HasSuffix(f[0], ":") && isNumber(strings.TrimSuffix(f[0], ":")) && f[2] == "pd"
	})
}

// takeNames takes a list of names of counters, one a line.
func takeNames(lines []string, _ *hint) int {
	known, asked := 0, 0
	n := run(lines, func(line string) bool {
		name := strings.TrimSpace(line)
		if asked++; asked <= 1000 && (knownNames().anyHW(name) || knownNames().anyEthtool(name)) {
			known++
		}
		return isName(name)
	})
	if known*2 < min(n, 1000) {
		return -n
	}
	return n
}
