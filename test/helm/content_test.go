package helm_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The rules are compared with alerts/rules itself, so that neither the copy in
// the chart nor Helm's templates lose one or touch an expression.
func TestRules(t *testing.T) {
	want := repositoryRules(t)
	all := renderedRules(t, "--set", "prometheusRule.enabled=true")
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%d rules of the chart are not the %d of alerts/rules", len(all), len(want))
	}
	labels := 0
	for _, r := range all {
		labels += strings.Count(r.Annotations["summary"], "{{ $labels.")
	}
	if labels < len(all)/2 {
		t.Errorf("Helm took Prometheus' templates for its own: %d are left", labels)
	}
	var fleet []monitoringv1.Rule
	for _, r := range want {
		if r.Alert == "" || r.Labels["scope"] == "fleet" {
			if r.Alert != "" {
				r.Annotations["runbook_url"] = "https://a.example/rb/" + r.Alert
			}
			fleet = append(fleet, r)
		}
	}
	got := renderedRules(t, "--set", "prometheusRule.enabled=true,prometheusRule.alerts=fleet,prometheusRule.runbookURL=https://a.example/rb/")
	if !reflect.DeepEqual(got, fleet) {
		t.Errorf("with alerts=fleet there are %d rules, want the %d that compare nodes or record", len(got), len(fleet))
	}
}

func repositoryRules(t *testing.T) []monitoringv1.Rule {
	t.Helper()
	files, err := filepath.Glob("../../alerts/rules/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []monitoringv1.Rule
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var spec monitoringv1.PrometheusRuleSpec
		if err := yaml.UnmarshalStrict(content, &spec); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, g := range spec.Groups {
			all = append(all, g.Rules...)
		}
	}
	if len(all) < 60 {
		t.Fatalf("only %d rules in alerts/rules", len(all))
	}
	return all
}

func renderedRules(t *testing.T, args ...string) []monitoringv1.Rule {
	t.Helper()
	var all []monitoringv1.Rule
	for _, o := range render(t, args...) {
		if o.Kind == "PrometheusRule" {
			for _, g := range decode[monitoringv1.PrometheusRule](t, o).Spec.Groups {
				all = append(all, g.Rules...)
			}
		}
	}
	return all
}

func TestDashboards(t *testing.T) {
	files, err := filepath.Glob("../../dashboards/*.json")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, o := range render(t, "--set", "dashboards.enabled=true,inhibition.configMap=false") {
		if o.Kind != "ConfigMap" {
			continue
		}
		found++
		if o.Metadata.Labels["grafana_dashboard"] != "1" {
			t.Errorf("%s: the sidecar does not see it", o.Metadata.Name)
		}
		for name, got := range decode[corev1.ConfigMap](t, o).Data {
			want, err := os.ReadFile("../../dashboards/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(t, []byte(got), want) {
				t.Errorf("%s is not dashboards/%s", o.Metadata.Name, name)
			}
		}
		// kubectl apply keeps the whole object in an annotation of 256 KiB.
		if len(o.text) > 256<<10 {
			t.Errorf("%s has %d bytes, too many for kubectl apply", o.Metadata.Name, len(o.text))
		}
	}
	if found != len(files) {
		t.Errorf("%d ConfigMaps for %d dashboards", found, len(files))
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

func TestInhibition(t *testing.T) {
	want, err := os.ReadFile("../../alerts/inhibit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range render(t, "--set", "inhibition.alertmanagerConfig=true") {
		switch o.Kind {
		case "ConfigMap":
			got := decode[corev1.ConfigMap](t, o).Data["inhibit.yaml"]
			if strings.TrimSpace(got) != strings.TrimSpace(string(want)) {
				t.Errorf("the snippet is not alerts/inhibit.yaml")
			}
		case "AlertmanagerConfig":
			rules := decode[monitoringv1alpha1.AlertmanagerConfig](t, o).Spec.InhibitRules
			if got, want := len(rules), bytes.Count(want, []byte("- source_matchers:")); got != want {
				t.Errorf("%d rules for the operator, want %d", got, want)
			}
			for _, r := range rules {
				for _, m := range append(r.SourceMatch, r.TargetMatch...) {
					if err := m.Validate(); err != nil {
						t.Errorf("%v: %v", m, err)
					}
				}
			}
		}
	}
}

// Helm keeps a release, chart and all, gzipped in a Secret: a MiB at most.
func TestReleaseFitsASecret(t *testing.T) {
	const limit = 1 << 20
	type file struct {
		Name string `json:"name"`
		Data []byte `json:"data"`
	}
	var release struct {
		Files    []file `json:"files"`
		Manifest string `json:"manifest"`
	}
	err := filepath.WalkDir(chart, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		release.Files = append(release.Files, file{path, content})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range render(t, "-f", chart+"/values-prometheus-operator.yaml") {
		release.Manifest += o.text
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(release); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	size := base64.StdEncoding.EncodedLen(b.Len())
	t.Logf("a release has %d KiB of %d", size>>10, limit>>10)
	if size > limit*3/4 {
		t.Errorf("a release has %d bytes, and %d are the most that fit", size, limit)
	}
}

func container(t *testing.T, args ...string) (corev1.PodSpec, corev1.Container) {
	t.Helper()
	for _, o := range render(t, args...) {
		if o.Kind == "DaemonSet" {
			pod := decode[appsv1.DaemonSet](t, o).Spec.Template.Spec
			return pod, pod.Containers[0]
		}
	}
	t.Fatal("no DaemonSet")
	return corev1.PodSpec{}, corev1.Container{}
}

func TestNoPrivilegeUnlessAsked(t *testing.T) {
	pod, c := container(t)
	s := c.SecurityContext
	if *s.RunAsUser == 0 || !*s.RunAsNonRoot || *s.AllowPrivilegeEscalation || s.Privileged != nil ||
		len(s.Capabilities.Add) > 0 || s.Capabilities.Drop[0] != "ALL" || !*s.ReadOnlyRootFilesystem {
		t.Errorf("the default may do more than read: %+v", s)
	}
	if pod.HostPID || pod.HostIPC || *pod.AutomountServiceAccountToken {
		t.Error("the default shares more of the node than its network")
	}
	for _, m := range c.VolumeMounts {
		if strings.HasPrefix(m.MountPath, "/host") && !m.ReadOnly {
			t.Errorf("%s is mounted to be written", m.MountPath)
		}
	}
}

// source is a line of the generated list of collectors.
type source struct {
	Name                  string
	Default               bool
	Capabilities, Devices []string
}

func TestPrivilegeOfACollectorAskedFor(t *testing.T) {
	content, err := os.ReadFile(chart + "/files/collectors.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var sources []source
	if err := yaml.UnmarshalStrict(content, &sources); err != nil {
		t.Fatal(err)
	}
	for _, want := range sources {
		_, c := container(t, "--set", "collectors."+want.Name+"=true")
		s := c.SecurityContext
		if needs := len(want.Devices) > 0; needs != (s.Privileged != nil && *s.Privileged) {
			t.Errorf("%s: privileged is %v, it needs %v", want.Name, s.Privileged, want.Devices)
		} else if needs {
			continue
		}
		var got []string
		for _, name := range s.Capabilities.Add {
			got = append(got, string(name))
		}
		if strings.Join(got, " ") != strings.Join(want.Capabilities, " ") {
			t.Errorf("%s: capabilities %v, want %v", want.Name, got, want.Capabilities)
		}
		if root := *s.RunAsUser == 0; root != (len(want.Capabilities) > 0) {
			t.Errorf("%s: runs as user %d, and Kubernetes gives capabilities to root only", want.Name, *s.RunAsUser)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, args := range map[string]string{
		"collector that is none":    "collectors.nosuch=true",
		"key that is none":          "collector.port=true",
		"port that is no number":    "port=http",
		"receiver that is no URL":   "evaluation.alertmanagers={alertmanager:9093}",
		"both monitors":             "podMonitor.enabled=true,serviceMonitor.enabled=true",
		"alerts of an unknown kind": "prometheusRule.alerts=some",
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := run(t, "template", chart, "--kube-version", "1.30.0", "--set", args); err == nil {
				t.Errorf("%s was accepted:\n%.200s", args, out)
			}
		})
	}
}
