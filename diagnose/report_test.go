package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRank(t *testing.T) {
	var ranks []int
	for _, severity := range []string{"", "page", Info, Warning, Critical} {
		ranks = append(ranks, Rank(severity))
	}
	if want := []int{0, 0, 1, 2, 3}; !slices.Equal(ranks, want) {
		t.Errorf("ranks %v, want %v", ranks, want)
	}
}

func TestSortFindings(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	wanted := []Finding{
		{Verdict: "critical", Severity: Critical, State: firing, Area: "transport"},
		{Verdict: "nearest to the hardware", Severity: Warning, State: firing, Area: "pcie", Since: late},
		{Verdict: "link, first", Severity: Warning, State: firing, Area: "link", Since: early, Device: "mlx5_9"},
		{Verdict: "link, first, later device", Severity: Warning, State: firing, Area: "link", Since: early, Device: "mlx5_10"},
		{Verdict: "link, later", Severity: Warning, State: firing, Area: "link", Since: late},
		{Verdict: "an area of one's own", Severity: Warning, State: firing, Area: "mine"},
		{Verdict: "over", Severity: Warning, State: firing, Area: "pcie", QuietSince: &late},
		{Verdict: "info", Severity: Info, State: firing},
		{Verdict: "pending", Severity: Critical, State: "pending"},
		{Verdict: "explained", Severity: Critical, State: firing, SilencedBy: "RDMAX"},
	}
	got := slices.Clone(wanted)
	slices.Reverse(got)
	sortFindings(got)
	for i := range wanted {
		if got[i].Verdict != wanted[i].Verdict {
			t.Errorf("place %d: %s, want %s", i+1, got[i].Verdict, wanted[i].Verdict)
		}
	}
}

func TestWorst(t *testing.T) {
	for _, c := range []struct{ name, findings, want string }{
		{"nothing", "", ""},
		{"the worst", "info/firing warning/firing info/firing", Warning},
		{"what is pending does not count", "warning/firing critical/pending", Warning},
		{"nothing but pending", "critical/pending", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Report{}
			for pair := range strings.FieldsSeq(c.findings) {
				severity, state, _ := strings.Cut(pair, "/")
				r.Findings = append(r.Findings, Finding{Severity: severity, State: state})
			}
			if got := r.Worst(); got != c.want {
				t.Errorf("worst %q, want %q", got, c.want)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	r := sampleReport()
	r.Findings = append(r.Findings, Finding{Alert: "Node", Severity: Info})
	r.Keep(nil)
	if len(r.Ports) != 2 {
		t.Errorf("%d ports left of all", len(r.Ports))
	}
	r.Keep([]string{"mlx5_1"})
	if len(r.Ports) != 1 || len(r.Findings) != 2 || len(r.Unseen) != 2 {
		t.Errorf("ports %v, findings %v, unseen %v; want those of mlx5_1 and of the node", r.Ports, r.Findings, r.Unseen)
	}
	r.KeepSeverity(Warning)
	if len(r.Findings) != 1 || r.Findings[0].Device != "mlx5_1" {
		t.Errorf("findings %v, want the warning", r.Findings)
	}
}
