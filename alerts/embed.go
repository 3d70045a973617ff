// Package alerts is the diagnosis matrix: alert rules as plain Prometheus rule
// files, a runbook for each, and which alert silences which. What an operator
// loads into Prometheus is what rdmawatch evaluates on the node.
package alerts

import (
	"embed"
	"io/fs"
)

//go:embed rules runbooks inhibit.yaml thresholds.yaml
var files embed.FS

// File returns one of the bundled files: "rules/link.yaml",
// "runbooks/RDMAPortDown.md", "inhibit.yaml", "thresholds.yaml".
func File(name string) ([]byte, error) { return files.ReadFile(name) }

// RuleFiles lists the bundled rule files, sorted: "rules/congestion.yaml" and
// so on.
func RuleFiles() []string { return list("rules/*.yaml") }

// Runbooks lists the bundled runbooks, sorted.
func Runbooks() []string { return list("runbooks/RDMA*.md") }

func list(pattern string) []string {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil // the pattern is constant and well formed
	}
	return names
}
