package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/alecthomas/kingpin/v2"

	"github.com/rdmawatch/rdmawatch/alerts"
	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// ruleFlags say which rules are evaluated.
type ruleFlags struct {
	files    *[]string
	set      *[]string
	runbooks *string
}

func addRuleFlags(cmd *kingpin.CmdClause) ruleFlags {
	return ruleFlags{
		files:    cmd.Flag("alerting.rules", "Rule file to evaluate besides the bundled ones; a rule of the same name replaces the bundled one. Repeatable.").PlaceHolder("FILE").Strings(),
		runbooks: cmd.Flag("alerting.runbook-url", "Where the links to runbooks lead: URL/<alert>. Default: this project's pages; with --web.external-url, the ones that this program serves.").PlaceHolder("URL").String(),
		set:      cmd.Flag("alerting.set", "Another value for a threshold of the bundled rules (see rdmawatch rules list). Repeatable.").PlaceHolder("NAME=VALUE").Strings(),
	}
}

// groups loads the bundled rules and the own ones.
func (f *ruleFlags) groups() ([]*engine.Group, error) {
	settings, err := alerts.ParseSettings(*f.set)
	if err != nil {
		return nil, err
	}
	groups, err := alerts.Groups(settings)
	if err != nil {
		return nil, err
	}
	alerts.MoveRunbooks(groups, *f.runbooks)
	own, err := readRules(*f.files)
	if err != nil {
		return nil, err
	}
	groups = engine.Replace(groups, own)
	return groups, engine.CheckNames(groups)
}

func readRules(files []string) ([]*engine.Group, error) {
	var groups []*engine.Group
	var failed []error
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			failed = append(failed, fmt.Errorf("reading a rule file: %w", err))
			continue
		}
		parsed, err := engine.ParseRules(file, content)
		if err != nil {
			failed = append(failed, err)
		}
		groups = append(groups, parsed...)
	}
	failed = append(failed, engine.CheckNames(groups), engine.CheckSpans(engine.NodeScope(groups)))
	return groups, errors.Join(failed...)
}

func addRules(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	rules := app.Command("rules", "The bundled alert rules.")

	list := rules.Command("list", "List the alerts: symptom, severity, scope; then the thresholds a site can change.")
	commands[list.FullCommand()] = func(stdout, _ io.Writer) error { return listRules(stdout) }

	print := rules.Command("print", "Print the bundled rules for a Prometheus server.")
	set := print.Flag("set", "Another value for a threshold. Repeatable.").PlaceHolder("NAME=VALUE").Strings()
	runbooks := print.Flag("runbook-url", "Where the links to runbooks lead: URL/<alert>. Default: this project's pages.").PlaceHolder("URL").String()
	format := print.Flag("format", "Form: rules (a rule file) or prometheusrule (an object for the Prometheus operator).").Default("rules").Enum("rules", "prometheusrule")
	commands[print.FullCommand()] = func(stdout, _ io.Writer) error {
		settings, err := alerts.ParseSettings(*set)
		if err != nil {
			return err
		}
		return alerts.Print(stdout, settings, *runbooks, *format == "prometheusrule")
	}

	page := rules.Command("runbook", "Print what to do about an alert.")
	alert := page.Arg("alert", "Name of the alert.").Required().String()
	commands[page.FullCommand()] = func(stdout, _ io.Writer) error { return printRunbook(stdout, *alert) }

	check := rules.Command("check", "Check rule files as the daemon would load them.")
	files := check.Arg("file", "Rule files.").Required().ExistingFiles()
	commands[check.FullCommand()] = func(stdout, _ io.Writer) error { return checkRules(stdout, *files) }
}

func printRunbook(w io.Writer, alert string) error {
	content, err := alerts.File("runbooks/" + alert + ".md")
	if err != nil {
		return fmt.Errorf("no runbook for an alert %q; see rdmawatch rules list", alert)
	}
	_, err = w.Write(content)
	return err
}

func listRules(w io.Writer) error {
	groups, err := alerts.Groups(nil)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ALERT\tSEVERITY\tSCOPE\tSYMPTOM")
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Alert, r.Severity(), r.Labels.Get("scope"), r.Annotations.Get("symptom"))
			}
		}
	}
	thresholds, err := alerts.Thresholds()
	if err != nil {
		return err
	}
	fmt.Fprintln(table, "\nTHRESHOLD\tVALUE\tUNIT\tWHY")
	for _, t := range thresholds {
		fmt.Fprintf(table, "%s\t%g\t%s\t%s\n", t.Name, t.Value, t.Unit, t.Why)
	}
	return table.Flush()
}

// checkRules says of each rule what the daemon would make of it.
func checkRules(w io.Writer, files []string) error {
	own, err := readRules(files)
	if err != nil {
		return err
	}
	node := engine.NodeScope(own)
	for _, g := range own {
		for _, setting := range g.Ignored {
			fmt.Fprintf(w, "%s: group %s: %s is for a server only, the daemon evaluates at --alerting.interval\n", g.File, g.Name, setting)
		}
		for _, r := range g.Rules {
			note := fmt.Sprintf("looks back %s", r.Span())
			if !slices.ContainsFunc(node, func(n *engine.Group) bool { return slices.Contains(n.Rules, r) }) {
				note = "scope fleet: for a central Prometheus only, the daemon leaves it out"
			}
			fmt.Fprintf(w, "%s: %s: %s\n", g.File, r.Name(), note)
		}
	}
	return nil
}
