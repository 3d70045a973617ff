package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Configuration that is there to be copied is valid for the programs it is for.
func TestConfigurationIsValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../deploy/scale/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("deploy/scale has %d files: %v", len(files), err)
	}
	for _, file := range append(files, "../../deploy/stack/prometheus.yml") {
		args := []string{"check", "config", file}
		if filepath.Base(file) == "agent.yml" {
			args = []string{"check", "config", "--agent", file}
		}
		if said, err := exec.Command(program("PROMTOOL", "promtool"), args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, said)
		}
	}
	var whole []byte
	for _, part := range []string{"../../deploy/stack/alertmanager.yml", "../../alerts/inhibit.yaml"} {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, text...)
	}
	config := filepath.Join(t.TempDir(), "alertmanager.yml")
	if err := os.WriteFile(config, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(program("AMTOOL", "amtool"), "check-config", config).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "inhibit rules") {
		t.Errorf("alertmanager.yml with inhibit.yaml: %v\n%s", err, said)
	}
}
