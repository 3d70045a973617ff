package engine

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"
)

// Inhibition says that alerts of one kind silence those of another kind while
// they fire, if both have equal values of some labels.
type Inhibition struct {
	Source, Target []*labels.Matcher
	Equal          []string
}

// ParseInhibitions reads a file with the inhibit_rules of an Alertmanager
// configuration.
func ParseInhibitions(content []byte) ([]Inhibition, error) {
	var file struct {
		Rules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string `yaml:"equal"`
		} `yaml:"inhibit_rules"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading inhibit rules: %w", err)
	}
	var inhibitions []Inhibition
	for i, r := range file.Rules {
		source, err := parseMatchers(r.Source)
		if err != nil {
			return nil, fmt.Errorf("inhibit rule %d: source_matchers: %w", i+1, err)
		}
		target, err := parseMatchers(r.Target)
		if err != nil {
			return nil, fmt.Errorf("inhibit rule %d: target_matchers: %w", i+1, err)
		}
		inhibitions = append(inhibitions, Inhibition{source, target, r.Equal})
	}
	return inhibitions, nil
}

// parseMatchers reads matchers as Alertmanager writes them: name = "value".
func parseMatchers(texts []string) ([]*labels.Matcher, error) {
	if len(texts) == 0 {
		return nil, fmt.Errorf("there are none, which would match every alert")
	}
	return newParser().ParseMetricSelector("{" + strings.Join(texts, ",") + "}")
}

// Inhibit tells which of the alerts are silenced, and by which alert. Only
// firing alerts silence, and none silences itself.
func Inhibit(inhibitions []Inhibition, alerts []Alert) map[int]*Alert {
	silenced := map[int]*Alert{}
	for _, rule := range inhibitions {
		sources := rule.sources(alerts)
		if len(sources) == 0 {
			continue
		}
		for t := range alerts {
			target := &alerts[t]
			if silenced[t] != nil || target.State != Firing || !matches(target.Labels, rule.Target) {
				continue
			}
			source := sources[rule.place(target)]
			by := source.first
			if matches(target.Labels, rule.Source) {
				by = source.firstOther // not itself, nor its equals
			}
			if by != nil {
				silenced[t] = by
			}
		}
	}
	return silenced
}

// source is the first alert that silences others in one place, and the first
// of those that this rule could not silence in turn.
type source struct{ first, firstOther *Alert }

func (rule *Inhibition) sources(alerts []Alert) map[string]source {
	sources := map[string]source{}
	for i := range alerts {
		a := &alerts[i]
		if a.State != Firing || !matches(a.Labels, rule.Source) {
			continue
		}
		place := rule.place(a)
		s := sources[place]
		if s.first == nil {
			s.first = a
		}
		if s.firstOther == nil && !matches(a.Labels, rule.Target) {
			s.firstOther = a
		}
		sources[place] = s
	}
	return sources
}

// place is what an alert must have in common with another one.
func (rule *Inhibition) place(a *Alert) string {
	var b strings.Builder
	for _, name := range rule.Equal {
		b.WriteString(a.Labels.Get(name))
		b.WriteByte(0xff) // in no label's value
	}
	return b.String()
}
