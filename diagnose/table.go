package diagnose

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The colours of severities, beside their names.
var colors = map[string]string{Critical: "\x1b[1;31m", Warning: "\x1b[1;33m", Info: "\x1b[36m"}

// paint colours the first occurrence of a word in a line.
func (p *page) paint(severity, word, line string) string {
	color := colors[severity]
	if !p.style.Color || color == "" {
		return line
	}
	return strings.Replace(line, word, color+word+"\x1b[0m", 1)
}

// ports writes a line for each port, or a few where columns do not fit.
func (p *page) ports(r *Report) {
	ports := r.Ports
	p.line("")
	switch {
	case len(ports) == 0 && r.Read != nil:
		p.text("", "  ", "None of the texts tells of an RDMA device.")
		return
	case len(ports) == 0:
		p.text("", "  ", "No RDMA device was found. Is its driver loaded? (ls /sys/class/infiniband)")
		return
	}
	rows := [][]string{{"PORT", "NETDEV", "STATE", "RATE", "PCIE GT/S", "IN", "OUT", "WORST"}}
	for i := range ports {
		rows = append(rows, p.row(&ports[i]))
	}
	widths := columns(rows)
	if total(widths) > p.style.Width {
		p.cards(ports)
		return
	}
	for i, row := range rows {
		p.line(p.joined(row, widths, i))
	}
}

func (p *page) row(port *Port) []string {
	pcie := "-"
	if port.PCIe != nil {
		pcie = p.clean(strings.Replace(port.PCIe.Text, " GT/s", "", 1))
	}
	return []string{
		p.clean(port.name()), p.clean(or(port.Netdev, "-")), p.clean(or(port.State, "-")), bits(port.RateBytesPerSecond), pcie,
		bits(port.ReceivedBytesPerSecond), bits(port.TransmittedBytesPerSecond), p.clean(port.worst()),
	}
}

func (port *Port) name() string {
	if port.Port == "" {
		return port.Device
	}
	return port.Device + "/" + port.Port
}

// worst is the severity of the worst finding: the bad ones in capitals.
func (port *Port) worst() string {
	switch {
	case port.Worst == nil:
		return "-"
	case port.Worst.Severity == Info:
		return Info
	}
	return strings.ToUpper(port.Worst.Severity)
}

// bits is a rate as people speak of links.
func bits(bytesPerSecond *float64) string {
	if bytesPerSecond == nil {
		return "-"
	}
	return si(*bytesPerSecond*8, "b/s")
}

func columns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func total(widths []int) int {
	sum := len(widths) - 1
	for _, w := range widths {
		sum += w
	}
	return sum
}

// joined puts the cells of a row below each other's columns; numbers to the
// right.
func (p *page) joined(row []string, widths []int, place int) string {
	var cells []string
	for i, cell := range row {
		gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i == 3 || i == 5 || i == 6 {
			cells = append(cells, gap+cell)
			continue
		}
		if i == len(row)-1 && place > 0 {
			cell = p.paint(strings.ToLower(cell), cell, cell)
		}
		cells = append(cells, cell+gap)
	}
	return strings.Join(cells, " ")
}

// cards writes each port as a few lines, where a table does not fit.
func (p *page) cards(ports []Port) {
	for i := range ports {
		port := &ports[i]
		row := p.row(port)
		lines := wrap(row[0]+" "+strings.TrimPrefix(row[1], "-")+" "+row[2]+" "+strings.TrimPrefix(row[7], "-"), p.style.Width-2)
		for j, line := range lines {
			if j == len(lines)-1 && port.Worst != nil {
				line = p.paint(port.Worst.Severity, row[7], line)
			}
			p.line(strings.Repeat("  ", min(j, 1)) + line)
		}
		p.text("  ", "    ", fmt.Sprintf("rate %s, in %s, out %s, PCIe %s", row[3], row[5], row[6], row[4]))
	}
}
