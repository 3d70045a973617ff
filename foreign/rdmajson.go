package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// What the rdma program prints with -j: a list of objects, each with ifname.

func takeRDMAJSON(lines []string, around *hint) int {
	head := strings.TrimSpace(lines[0])
	if !strings.HasPrefix(head, "[") || !strings.Contains(strings.Join(lines[:min(3, len(lines))], " "), `"ifname"`) {
		return 0
	}
	depth := 0
	for i, line := range lines {
		depth += brackets(line)
		if depth <= 0 {
			return i + 1
		}
		if text := strings.TrimSpace(line); i > 0 && text != "" && !strings.ContainsAny(text, `"{}[]`) {
			return i // cut, and something else begins
		}
	}
	return len(lines)
}

// brackets counts those opened minus those closed, outside of strings.
func brackets(line string) int {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	return depth
}

func parseRDMAJSON(s *section, to *facts) error {
	var records []map[string]any
	d := json.NewDecoder(strings.NewReader(strings.Join(s.lines, "\n")))
	d.UseNumber()
	if err := d.Decode(&records); err != nil {
		return fmt.Errorf("is cut or damaged: %w", err)
	}
	for _, r := range records {
		jsonRecord(r, to)
	}
	if len(to.sketch) == 0 {
		return errors.New("has nothing of links or counters")
	}
	return nil
}

func jsonRecord(r map[string]any, to *facts) {
	text := func(name string) string {
		v, _ := r[name].(string)
		return v
	}
	device, port := text("ifname"), ""
	if n, ok := r["port"].(json.Number); ok {
		port = n.String()
	}
	for name := range ofQueuePair {
		if _, ok := r[name]; ok {
			return
		}
	}
	switch {
	case r["physical_state"] != nil:
		link(to, device, port, text("state"), text("physical_state"), text("netdev"))
	case r["node_guid"] != nil:
		for file, name := range map[string]string{"fw_ver": "fw", "node_guid": "node_guid", "sys_image_guid": "sys_image_guid"} {
			to.set(rdmaDevice, device, file, text(name))
		}
	case port != "":
		for name, v := range r {
			n, ok := v.(json.Number)
			if _, err := strconv.ParseUint(n.String(), 10, 64); !ok || err != nil || name == "port" || name == "ifindex" {
				continue
			}
			if knownNames().anyHW(name) || len(r) > 5 {
				to.set(rdmaDevice, device, "ports/"+port+"/hw_counters/"+name, n.String())
			}
		}
	}
}
