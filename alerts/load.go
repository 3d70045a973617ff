package alerts

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"go.yaml.in/yaml/v3"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// Threshold is a number in the rules that a site may want to change.
type Threshold struct {
	Name   string   `yaml:"name"`
	Value  float64  `yaml:"value"`
	Unit   string   `yaml:"unit"`
	Alerts []string `yaml:"alerts"` // whose expressions have the number; a recorded metric may be named as well
	Why    string   `yaml:"why"`
}

// Thresholds lists them.
func Thresholds() ([]Threshold, error) {
	content, err := File("thresholds.yaml")
	if err != nil {
		return nil, err
	}
	var list []Threshold
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(&list); err != nil {
		return nil, fmt.Errorf("thresholds.yaml: %w", err)
	}
	return list, nil
}

// Settings are thresholds that a site has changed, by name.
type Settings map[string]float64

// ParseSettings reads NAME=VALUE pairs and refuses names that do not exist.
func ParseSettings(pairs []string) (Settings, error) {
	list, err := Thresholds()
	if err != nil {
		return nil, err
	}
	settings := Settings{}
	for _, pair := range pairs {
		name, text, _ := strings.Cut(pair, "=")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, fmt.Errorf("%q is not NAME=VALUE with a number", pair)
		}
		if !slices.ContainsFunc(list, func(t Threshold) bool { return t.Name == name }) {
			var names []string
			for _, t := range list {
				names = append(names, t.Name)
			}
			return nil, fmt.Errorf("no threshold %q; there are %s", name, strings.Join(names, ", "))
		}
		settings[name] = value
	}
	return settings, nil
}

// Groups returns the bundled rules with a site's thresholds.
func Groups(set Settings) ([]*engine.Group, error) {
	var groups []*engine.Group
	for _, file := range RuleFiles() {
		content, err := File(file)
		if err != nil {
			return nil, err
		}
		parsed, err := engine.ParseRules(file, content)
		if err != nil {
			return nil, err
		}
		groups = append(groups, parsed...)
	}
	if err := engine.CheckNames(groups); err != nil {
		return nil, err
	}
	return groups, Apply(groups, set)
}

// Apply puts a site's thresholds into the expressions of groups.
func Apply(groups []*engine.Group, set Settings) error {
	list, err := Thresholds()
	if err != nil {
		return err
	}
	for _, g := range groups {
		for _, r := range g.Rules {
			numbers := map[float64]float64{}
			for _, t := range list {
				if value, changed := set[t.Name]; changed && slices.Contains(t.Alerts, r.Name()) {
					numbers[t.Value] = value
				}
			}
			if len(numbers) > 0 {
				r.Replace(numbers)
			}
		}
	}
	return nil
}

// RunbookBase is where the annotation runbook_url of the bundled rules leads.
const RunbookBase = "https://github.com/rdmawatch/rdmawatch/blob/main/alerts/runbooks/"

// MoveRunbooks makes runbook_url of the bundled rules lead to another place,
// one that serves <base>/<Alert> as rdmawatch itself does below /runbooks.
func MoveRunbooks(groups []*engine.Group, base string) {
	for _, g := range groups {
		for _, r := range g.Rules {
			if moved, ok := movedRunbook(r.Annotations.Get("runbook_url"), base); ok {
				r.Annotations = labels.NewBuilder(r.Annotations).Set("runbook_url", moved).Labels()
			}
		}
	}
}

func movedRunbook(was, base string) (moved string, ok bool) {
	page, ok := strings.CutPrefix(was, RunbookBase)
	return strings.TrimSuffix(base, "/") + "/" + strings.TrimSuffix(page, ".md"), ok && base != ""
}

// Inhibitions returns which alert silences which.
func Inhibitions() ([]engine.Inhibition, error) {
	content, err := File("inhibit.yaml")
	if err != nil {
		return nil, err
	}
	return engine.ParseInhibitions(content)
}
