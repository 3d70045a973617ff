package helm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// Keeps the module in go.mod, of which files and no code are wanted.
	_ "github.com/prometheus-operator/prometheus-operator/pkg/versionutil"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

// operator is the module whose example folder has what a cluster is given: the
// definitions with their patterns, enumerations and required fields, which Go
// types do not have.
const operator = "github.com/prometheus-operator/prometheus-operator"

// TestCustomResourceDefinitions holds what the chart renders to the schemas of
// the operator as an API server would.
func TestCustomResourceDefinitions(t *testing.T) {
	schemas := definitions(t)
	for name, file := range cases(t) {
		t.Run(name, func(t *testing.T) {
			for _, o := range render(t, "-f", file) {
				if !strings.HasPrefix(o.APIVersion, "monitoring.coreos.com/") {
					continue
				}
				if wrong := against(t, schemas, o); wrong != "" {
					t.Errorf("%s %s: %s", o.Kind, o.Metadata.Name, wrong)
				}
			}
		})
	}
}

// The validation itself is no empty promise.
func TestCustomResourceDefinitionsRefuse(t *testing.T) {
	o := object{text: "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nspec: {groups: [{name: a, rules: [{alert: A, expr: up, for: soon}]}]}\n"}
	o.APIVersion, o.Kind = "monitoring.coreos.com/v1", "PrometheusRule"
	if wrong := against(t, definitions(t), o); !strings.Contains(wrong, "rules[0].for") {
		t.Errorf("a rule that waits for %q is refused with %q", "soon", wrong)
	}
}

func against(t *testing.T, schemas map[string]*apiextensions.JSONSchemaProps, o object) string {
	t.Helper()
	schema := schemas[o.APIVersion+" "+o.Kind]
	if schema == nil {
		return "no definition"
	}
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(o.text), &content); err != nil {
		t.Fatal(err)
	}
	if wrong := validation.ValidateCustomResource(nil, content, validator); len(wrong) > 0 {
		return wrong.ToAggregate().Error()
	}
	return ""
}

// definitions reads the schemas, by version and kind.
func definitions(t *testing.T) map[string]*apiextensions.JSONSchemaProps {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", operator).Output()
	if err != nil {
		t.Fatalf("where is %s: %v", operator, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "example/prometheus-operator-crd/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s: %v", dir, err)
	}
	schemas := map[string]*apiextensions.JSONSchemaProps{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range crd.Spec.Versions {
			out := new(apiextensions.JSONSchemaProps)
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, out, nil); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			schemas[crd.Spec.Group+"/"+v.Name+" "+crd.Spec.Names.Kind] = out
		}
	}
	return schemas
}
