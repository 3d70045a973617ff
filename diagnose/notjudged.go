package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/collector/catalog"
	"github.com/rdmawatch/rdmawatch/collector/node"
)

// remembering are metrics that say something only after rdmawatch has watched
// for long.
var remembering = []string{catalog.DevicePresent.Name, catalog.OperationsUnchanged.Name, catalog.PortBestRate.Name}

// notJudged groups the rules that found nothing, and whose finding nothing
// proves nothing, by the reason. Rules about what this node does not have are
// not among them.
func (b *builder) notJudged() []NotJudged {
	has := map[string]bool{}
	b.Now.All(func(s node.Sample) { has[s.Series.Metric.Name] = true })
	active := map[string]bool{}
	for i := range b.alerts {
		active[b.alerts[i].Name()] = true
	}
	list := []NotJudged{}
	for _, g := range b.groups {
		for _, r := range g.Rules {
			if r.Alert == "" || active[r.Alert] || !b.applies(r, has) {
				continue
			}
			if why := b.why(r); why != "" {
				list = addNotJudged(list, why, r.Alert)
			}
		}
	}
	return list
}

func addNotJudged(list []NotJudged, why, alert string) []NotJudged {
	i := slices.IndexFunc(list, func(n NotJudged) bool { return n.Why == why })
	if i < 0 {
		return append(list, NotJudged{Why: why, Alerts: []string{alert}})
	}
	list[i].Alerts = append(list[i].Alerts, alert)
	return list
}

// why tells why a rule could not be judged; "" if it was.
func (b *builder) why(r *engine.Rule) string {
	if err := b.status[r].Err; err != nil {
		return fmt.Sprintf("the rule failed: %v", err)
	}
	short := b.Short[r]
	watched := b.Now.Time.Sub(b.Engine.Since())
	switch {
	case short != nil && slices.ContainsFunc(short.Whole.Metrics(), func(m string) bool { return slices.Contains(remembering, m) }):
		return "needs the memory of a running rdmawatch"
	case short != nil && short.Partial && b.Window == 0:
		return "one sample, of which there is no rate"
	case short != nil && short.Partial:
		return fmt.Sprintf("looks back farther than %s", span(b.Window))
	case short == nil && b.Engine.Window(r) > watched+time.Minute:
		return "looks back farther than rdmawatch has run"
	}
	return ""
}

// applies reports whether the node has what a rule looks at.
func (b *builder) applies(r *engine.Rule, has map[string]bool) bool {
	return b.hasAll(r, has, map[*engine.Rule]bool{})
}

func (b *builder) hasAll(r *engine.Rule, has map[string]bool, seen map[*engine.Rule]bool) bool {
	seen[r] = true
	for _, m := range r.Needs() {
		recorded := b.recorders(m)
		any := has[m]
		for _, other := range recorded {
			any = any || !seen[other] && b.hasAll(other, has, seen)
		}
		if !any {
			return false
		}
	}
	return true
}

// recorders lists the rules that record a metric.
func (b *builder) recorders(metric string) []*engine.Rule {
	var all []*engine.Rule
	for _, g := range b.groups {
		for _, r := range g.Rules {
			if r.Record == metric {
				all = append(all, r)
			}
		}
	}
	return all
}

// span is a time as Prometheus writes it, in whole seconds.
func span(d time.Duration) string {
	if d = d.Round(time.Second); d == 0 {
		return "0s"
	}
	return model.Duration(d).String()
}
