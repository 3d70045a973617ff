// Package helm_test renders the Helm chart and holds it to the types of
// Kubernetes and of the Prometheus operator. It is a module of its own, so that
// these never reach the go.mod of the exporter.
package helm_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	monitoringv1alpha1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	helm  = "../../build/helm"
	chart = "../../deploy/helm/rdmawatch"
)

// object is one document that the chart renders.
type object struct {
	metav1.TypeMeta
	Metadata metav1.ObjectMeta `json:"metadata"`
	text     string
}

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(helm, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// Neither what is configured on this machine nor a cluster counts.
	cmd.Env = append(os.Environ(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_CACHE_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir(), "KUBECONFIG=/dev/null")
	err := cmd.Run()
	return stdout.String() + stderr.String(), err
}

// render is what the chart gives with some arguments.
func render(t *testing.T, args ...string) []object {
	t.Helper()
	out, err := run(t, append([]string{"template", "rdmawatch", chart, "--namespace", "monitoring", "--kube-version", "1.30.0"}, args...)...)
	if err != nil {
		t.Fatalf("helm template %v: %v\n%s", args, err, out)
	}
	var objects []object
	for _, text := range strings.Split("\n"+out, "\n---\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		o := object{text: text + "\n"}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatalf("not YAML: %v\n%s", err, text)
		}
		objects = append(objects, o)
	}
	return objects
}

// decode reads a document as what it says it is. A field that the type does not
// have, or a key twice, is an error.
func decode[T any](t *testing.T, o object) *T {
	t.Helper()
	v := new(T)
	if err := yaml.UnmarshalStrict([]byte(o.text), v); err != nil {
		t.Errorf("%s %s: %v", o.Kind, o.Metadata.Name, err)
	}
	return v
}

// valid reads a document as the type that the API server would.
func valid(t *testing.T, o object) {
	t.Helper()
	switch o.APIVersion + " " + o.Kind {
	case "apps/v1 DaemonSet":
		decode[appsv1.DaemonSet](t, o)
	case "v1 Service":
		decode[corev1.Service](t, o)
	case "v1 ConfigMap":
		decode[corev1.ConfigMap](t, o)
	case "monitoring.coreos.com/v1 PodMonitor":
		decode[monitoringv1.PodMonitor](t, o)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		decode[monitoringv1.ServiceMonitor](t, o)
	case "monitoring.coreos.com/v1 PrometheusRule":
		decode[monitoringv1.PrometheusRule](t, o)
	case "monitoring.coreos.com/v1alpha1 AlertmanagerConfig":
		decode[monitoringv1alpha1.AlertmanagerConfig](t, o)
	default:
		t.Errorf("%s %s is none of the kinds that were looked at", o.APIVersion, o.Kind)
	}
	if wrong := validation.IsDNS1123Subdomain(o.Metadata.Name); len(wrong) > 0 {
		t.Errorf("%s: %v", o.Metadata.Name, wrong)
	}
	for key, value := range o.Metadata.Labels {
		if wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(wrong) > 0 {
			t.Errorf("%s: label %s=%s: %v", o.Metadata.Name, key, value, wrong)
		}
	}
	if o.Metadata.Namespace != "monitoring" {
		t.Errorf("%s %s is in namespace %q", o.Kind, o.Metadata.Name, o.Metadata.Namespace)
	}
}

// cases are the values files that are rendered; "" is none.
func cases(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no values files: %v", err)
	}
	all := map[string]string{"prometheus-operator": chart + "/values-prometheus-operator.yaml"}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = file
	}
	return all
}

func TestLint(t *testing.T) {
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			if out, err := run(t, "lint", "--strict", chart, "-f", file); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestGolden(t *testing.T) {
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, o := range render(t, "-f", file) {
				valid(t, o)
				if !repeated(o) {
					got.WriteString("---" + shortened(o))
				}
			}
			path := "testdata/" + name + ".golden"
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("%s differs; `make test-helm UPDATE=1` writes it\n%s", path, difference(string(want), got.String()))
			}
		})
	}
}

// repeated is an object that looks as another one does: of the rules and the
// dashboards one each is enough, and a new file of them changes no golden.
func repeated(o object) bool {
	rules := o.Kind == "PrometheusRule" && !strings.HasSuffix(o.Metadata.Name, "-fleet")
	return rules || strings.Contains(o.Metadata.Name, "-dashboard-") && !strings.HasSuffix(o.Metadata.Name, "-node")
}

// shortened leaves out what is copied from the repository: other tests compare it
// whole.
func shortened(o object) string {
	switch o.Kind {
	case "PrometheusRule", "ConfigMap", "AlertmanagerConfig":
		for _, from := range []string{"\nspec:\n", "\ndata:\n"} {
			if head, _, cut := strings.Cut("\n"+o.text, from); cut {
				return head + from + "  # left out here\n"
			}
		}
	}
	return "\n" + o.text
}

// difference shows the first line that is not the same.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is the beginning of the other"
}
