package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/diagnose"
)

// envelope is what Prometheus' API puts around an answer.
type envelope struct {
	Status string `json:"status"`
	Data   any    `json:"data"`
}

// apiAlert is an alert as /api/v1/alerts of Prometheus shows it.
type apiAlert struct {
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	State           string            `json:"state"`
	ActiveAt        time.Time         `json:"activeAt"`
	KeepFiringSince *time.Time        `json:"keepFiringSince,omitempty"`
	Value           string            `json:"value"`
}

func apiAlerts(alerts []engine.Alert) envelope {
	list := []apiAlert{}
	for _, a := range alerts {
		if a.State == engine.Resolved {
			continue
		}
		shown := apiAlert{
			Labels: a.Labels.Map(), Annotations: a.Annotations.Map(), State: string(a.State),
			ActiveAt: a.ActiveAt, Value: strconv.FormatFloat(a.Value, 'e', -1, 64),
		}
		if !a.KeepFiringSince.IsZero() {
			shown.KeepFiringSince = &a.KeepFiringSince
		}
		list = append(list, shown)
	}
	return envelope{"success", map[string]any{"alerts": list}}
}

func apiFindings(report *diagnose.Report) envelope {
	findings := report.Findings
	if findings == nil {
		findings = []diagnose.Finding{}
	}
	return envelope{"success", map[string]any{"findings": findings}}
}

// asJSON makes a page of a value.
func asJSON(v any) *page {
	return &page{kind: jsonKind, make: func() ([]byte, error) {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetIndent("", "  ")
		err := encoder.Encode(v)
		return b.Bytes(), err
	}}
}
