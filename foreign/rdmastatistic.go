package foreign

import (
	"errors"
	"strings"
)

// `rdma statistic` prints a record a port: "link mlx5_0/1" and pairs of name and
// number. Its lines are long, wrapped by mail programs, one pair a line with
// -p, and optional counters stand among them or in a line of their own.

func takeRDMAStatistic(lines []string, _ *hint) int {
	f := strings.Fields(lines[0])
	if len(f) < 2 || f[0] != "link" || !isLink(f[1]) || !statisticRest(f[2:]) {
		return 0
	}
	return 1 + run(lines[1:], func(line string) bool {
		f := strings.Fields(line)
		return f[0] != "link" && (f[0] == "LQPN:" || statisticRest(strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "Optional-set:"))))
	})
}

// isLink recognises mlx5_0/1.
func isLink(word string) bool {
	device, port, ok := strings.Cut(word, "/")
	return ok && isName(device) && isNumber(port)
}

// statisticRest accepts what may follow in such a record: names and values in
// turn, the values mostly numbers.
func statisticRest(f []string) bool {
	if len(f)%2 != 0 {
		return false
	}
	for i := 0; i < len(f); i += 2 {
		if !isName(f[i]) || !isNumber(f[i+1]) && !ofQueuePair[f[i]] {
			return false
		}
	}
	return true
}

// ofQueuePair are the words by which a record is told to count some queue pairs
// only.
var ofQueuePair = map[string]bool{"cntn": true, "pid": true, "comm": true, "qp-type": true}

func parseRDMAStatistic(s *section, to *facts) error {
	var words []string
	for _, line := range s.lines {
		if text := strings.TrimSpace(line); !strings.HasPrefix(text, "LQPN:") {
			words = append(words, strings.Fields(strings.TrimPrefix(text, "Optional-set:"))...)
		}
	}
	device, port, _ := strings.Cut(words[1], "/")
	words = words[2:]
	for i := 0; i+1 < len(words); i += 2 {
		if ofQueuePair[words[i]] {
			return errors.New("counts some queue pairs only, not the port")
		}
		to.set(rdmaDevice, device, "ports/"+port+"/hw_counters/"+words[i], words[i+1])
	}
	if len(words) == 0 {
		return errors.New("has no counters")
	}
	return nil
}
