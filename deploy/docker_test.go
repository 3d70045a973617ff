package deploy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rdmawatch/rdmawatch/collector"
)

// The table of what a container must be given has a row for every collector, and
// names every capability and device file that the collector asks for.
func TestContainerNeeds(t *testing.T) {
	const page = "docker/README.md"
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|(.*)$").FindAllStringSubmatch(string(content), -1) {
		rows[m[1]] = m[2]
	}
	for _, s := range collector.Sources() {
		row, ok := rows[s.Name]
		if !ok {
			t.Errorf("%s has no row for the collector %s: say what a container must be given for it, and what it loses without", page, s.Name)
		}
		for _, what := range []*regexp.Regexp{capability, device} {
			for _, need := range what.FindAllString(s.Privilege, -1) {
				if ok && !strings.Contains(row, need) {
					t.Errorf("%s: the row of %s does not speak of %s", page, s.Name, need)
				}
			}
		}
		delete(rows, s.Name)
	}
	for name := range rows {
		t.Errorf("%s has a row for %s, which is no collector", page, name)
	}
}
