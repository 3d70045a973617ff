package foreign

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// section is a piece of a text that is of one kind.
type section struct {
	source string // where it was read
	line   int    // the number of its first line
	lines  []string
	format *format
	hint
}

// hint is what stands around a section and may say whose it is.
type hint struct {
	command []string // words of the command above it
	fresh   bool     // nothing stands between
	heading string   // a line that begins with ## or the like
	fromDoc string   // the comments that the file begins with
	file    string   // its name
}

// after returns the word that follows one of some options of the command.
func (h *hint) after(options ...string) string {
	for i, word := range h.command {
		for _, o := range options {
			if word == o && i+1 < len(h.command) {
				return h.command[i+1]
			}
			if rest, ok := strings.CutPrefix(word, o+"="); ok && strings.HasPrefix(o, "--") {
				return rest
			}
		}
	}
	return ""
}

// runs reports whether the command above is one of some programs.
func (h *hint) runs(programs ...string) bool {
	if len(h.command) == 0 {
		return false
	}
	for _, p := range programs {
		if h.command[0] == p {
			return true
		}
	}
	return false
}

// deviceName matches names that the kernel and udev give to RDMA devices.
var deviceName = regexp.MustCompile(`\b(mlx[45]_(?:bond_)?\d+|bnxt_re(?:_bond)?\d+|(?:roce|rdma|iw)(?:p\d+|P\d+|s\d+|o\d+)\w*|ib(?:p\d+|s\d+|o\d+)\w*|opap\d\w*|irdma\d+|i40iw\d+|rxe\d+|siw\d+|hfi1_\d+|qib\d+|cxgb4_\d+|qedr\d+|hns_\d+|erdma_\d+|efa_\d+|ionic_\d+|mana_(?:ib_)?\d+|ocrdma\d+|usnic_\d+|mthca\d+|vmw_pvrdma\d+)(?:[/:](\d{1,3})\b|\s+port\s+(\d{1,3})\b)?`)

// device finds the RDMA device that is spoken of, and its port.
func (h *hint) device() (name, port string) {
	for _, text := range []string{strings.Join(h.command, " "), h.heading, h.file} {
		if name, port = findDevice(text); name != "" {
			return name, port
		}
	}
	// Comments at the top may name several; only a single one is a hint.
	found := map[string]bool{}
	for _, m := range deviceName.FindAllStringSubmatch(h.fromDoc, -1) {
		found[m[1]] = true
	}
	if len(found) == 1 {
		return findDevice(h.fromDoc)
	}
	return "", ""
}

func findDevice(text string) (name, port string) {
	m := deviceName.FindStringSubmatch(text)
	if m == nil {
		return "", ""
	}
	return m[1], m[2] + m[3]
}

// statistics reports whether the command above is ethtool -S.
func (h *hint) statistics() bool {
	return h.runs("ethtool") && (slices.Contains(h.command, "-S") || slices.Contains(h.command, "--statistics"))
}

// netdev finds the network interface that ethtool was asked for: its last word
// that is no option, before a pipe.
func (h *hint) netdev() string {
	if h.runs("ethtool") {
		for i := len(h.command) - 1; i > 0; i-- {
			word := h.command[i]
			if goodNetdev(word) && word[0] != '-' && word != "phy" && word != "all" {
				return word
			}
		}
	}
	if h.runs("mlnx_qos", "mlnx_tune") {
		return h.after("-i", "--interface")
	}
	return ""
}

var netdevName = regexp.MustCompile(`^[A-Za-z][\w.@-]{0,14}$`)

func goodNetdev(name string) bool { return netdevName.MatchString(name) }

// splitter takes a text apart.
type splitter struct {
	source   string
	around   hint
	sections []*section
	lines    int
	end      int         // how far the present chunk goes
	passed   map[int]int // by format: it is not asked before this line
	stray    int         // lines that belong to nothing
	unread   []string
}

// split takes a text apart into sections. Lines that no format claims are
// counted.
func split(source string, lines []string) *splitter {
	s := &splitter{source: source, lines: len(lines), passed: map[int]int{}, around: hint{file: path.Base(source), fromDoc: leadingComments(lines)}}
	s.around.command, s.around.fresh = commandOfFile(s.around.file), true
	for i := 0; i < len(lines); {
		if n := s.step(lines, i); n > 0 {
			i += n
			continue
		}
		if text := strings.TrimSpace(lines[i]); text != "" && text[0] != '#' && text != "```" {
			if s.stray++; len(s.unread) < 3 {
				s.unread = append(s.unread, text)
			}
			s.around.fresh = false
		}
		i++
	}
	return s
}

// step takes what begins at line i and returns how many lines that are.
func (s *splitter) step(lines []string, i int) int {
	line := lines[i]
	if command, ok := prompt(line); ok {
		s.around.command, s.around.fresh, s.around.heading = command, true, ""
		return 1
	}
	if heading, ok := strings.CutPrefix(strings.TrimSpace(line), "##"); ok {
		s.around.command, s.around.heading = nil, strings.TrimLeft(heading, "# ")
		return 1
	}
	if strings.TrimSpace(line) == "" {
		return 1
	}
	if i >= s.end {
		for s.end = i + 1; s.end < len(lines) && s.end-i < maxSection && !boundary(lines[s.end]); s.end++ {
		}
	}
	for number, f := range formats() {
		if i < s.passed[number] {
			continue
		}
		n := f.take(lines[i:s.end], &s.around)
		if n < 0 {
			s.passed[number] = i - n
		}
		if n > 0 {
			s.sections = append(s.sections, &section{source: s.source, line: i + 1, lines: lines[i : i+n], format: f, hint: s.around})
			s.around.fresh = false
			return n
		}
	}
	return 0
}

// maxSection bounds how many lines a text of one kind may have.
const maxSection = 200_000

func boundary(line string) bool {
	if len(line) < 3 || !strings.ContainsAny(line[:1], "#$[%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ(") {
		return false
	}
	if strings.HasPrefix(line, "##") {
		return true
	}
	_, ok := prompt(line)
	return ok
}

func leadingComments(lines []string) string {
	n := 0
	for n < len(lines) && strings.HasPrefix(lines[n], "# ") {
		n++
	}
	return strings.Join(lines[:n], "\n")
}

var (
	plainPrompt = regexp.MustCompile(`^[$%#] (\S.*)$`)
	hostPrompt  = regexp.MustCompile(`^(?:\([^)]{1,40}\) ?)?(?:\[[\w.-]+@[^\]]{1,80}\]|[\w.-]+@[\w.-]+[: ]?[^$#%>]{0,80}?) ?[$#%] ?(\S.*)$`)
)

// programs are those whose output is known, and those that are met around it.
// A line that begins with # is a comment unless it runs one of them.
var programs = map[string]bool{
	"ethtool": true, "rdma": true, "ibstat": true, "ibstatus": true, "ibv_devinfo": true, "ibv_devices": true, "lspci": true,
	"show_gids": true, "mlnx_qos": true, "perfquery": true, "ibdev2netdev": true, "grep": true, "cat": true, "head": true,
	"tail": true, "sh": true, "bash": true, "for": true, "dmesg": true, "journalctl": true, "mlxlink": true, "ip": true, "find": true,
	"show_counters": true, "ls": true, "date": true, "tc": true, "mlxconfig": true, "ibdiagnet": true, "show_drop": true,
}

// prompt recognises a line at which somebody typed a command.
func prompt(line string) (command []string, ok bool) {
	if len(line) > 500 {
		return nil, false
	}
	text, bare := "", false
	if m := plainPrompt.FindStringSubmatch(line); m != nil {
		text, bare = m[1], line[0] != '$'
	} else if strings.ContainsRune(line, '@') {
		if m := hostPrompt.FindStringSubmatch(line); m != nil {
			text = m[1]
		}
	}
	if text == "" {
		return nil, false
	}
	text, _, _ = strings.Cut(text, "|")
	words := strings.Fields(text)
	for len(words) > 1 && (words[0] == "sudo" || words[0] == "watch" || words[0] == "-n" || words[0] == "time") {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil, false
	}
	words[0] = path.Base(words[0])
	if bare && !programs[words[0]] {
		return nil, false
	}
	return words, true
}

// fileCommand matches file names that are commands, as sosreport writes them
// (ethtool_-S_eth0, perfquery_-C_mlx5_0_-P_1) and people do (ethtool-S-eth0.txt).
var (
	fileEthtool = regexp.MustCompile(`^(?:.*_)?ethtool[_ -]+(?:-?I[_ -]+)?-?(S|a|i|m|-show-fec)[_ -]+([A-Za-z][\w@-]*)(?:[._-]\d[\w.-]*)?(?:[.](?:txt|log|out))?$`)
	filePerf    = regexp.MustCompile(`^perfquery_-C_(.+)_-P_(\d+)`)
	fileOther   = regexp.MustCompile(`^(ibstat|ibstatus|ibv_devinfo|lspci|show_gids|mlnx_qos|ibdev2netdev|rdma)\b`)
)

func commandOfFile(name string) []string {
	if m := filePerf.FindStringSubmatch(name); m != nil {
		return []string{"perfquery", "-C", m[1], "-P", m[2]}
	}
	if m := fileEthtool.FindStringSubmatch(name); m != nil && goodNetdev(m[2]) {
		return []string{"ethtool", "-" + m[1], m[2]}
	}
	if m := fileOther.FindStringSubmatch(name); m != nil {
		return []string{m[1]}
	}
	return nil
}
