package e2e

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"
)

// alert is what Prometheus, rdmawatch and Alertmanager have in common.
type alert struct {
	Labels map[string]string `json:"labels"`
}

func (a alert) is(name, device string) bool {
	return a.Labels["alertname"] == name && (device == "" || a.Labels["device"] == device)
}

// received is an alert as Alertmanager has it.
type received struct {
	alert
	Fingerprint string    `json:"fingerprint"`
	StartsAt    time.Time `json:"startsAt"`
	Status      struct {
		State       string   `json:"state"`
		InhibitedBy []string `json:"inhibitedBy"`
	} `json:"status"`
}

// fetch is the status and the text of a page; 0 if there is no answer.
func fetch(address string) (int, []byte) {
	answer, err := http.Get(address)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil
	}
	return answer.StatusCode, text
}

// ask reads the JSON of a page. No answer leaves what is asked for empty.
func ask(t *testing.T, address string, into any) {
	t.Helper()
	status, text := fetch(address)
	if status != http.StatusOK {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v in %s", address, err, text)
	}
}

// firing are the alerts that fire in a Prometheus or in an rdmawatch.
func firing(t *testing.T, p *process) []alert {
	t.Helper()
	var answer struct {
		Data struct {
			Alerts []struct {
				alert
				State string `json:"state"`
			} `json:"alerts"`
		} `json:"data"`
	}
	ask(t, "http://"+p.address+"/api/v1/alerts", &answer)
	var found []alert
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" {
			found = append(found, a.alert)
		}
	}
	return found
}

// fires reports whether an alert fires there.
func fires(t *testing.T, p *process, name, device string) bool {
	t.Helper()
	return find(firing(t, p), name, device) != nil
}

func find(alerts []alert, name, device string) *alert {
	for i := range alerts {
		if alerts[i].is(name, device) {
			return &alerts[i]
		}
	}
	return nil
}

// inAlertmanager are the alerts of a name and a device, whatever their state.
func inAlertmanager(t *testing.T, p *process, name, device string) []received {
	t.Helper()
	var all, found []received
	ask(t, "http://"+p.address+"/api/v2/alerts", &all)
	for _, a := range all {
		if a.is(name, device) {
			found = append(found, a)
		}
	}
	return found
}

// value is the sum of what a query gives, and whether it gives anything.
func value(t *testing.T, p *process, query string) (float64, bool) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	ask(t, "http://"+p.address+"/api/v1/query?query="+url.QueryEscape(query), &answer)
	sum := 0.0
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	return sum, len(answer.Data.Result) > 0
}

// people is who gets the messages of Alertmanager.
type people struct {
	url string

	mu   sync.Mutex
	told []message
}

// message is one of Alertmanager's webhook.
type message struct {
	Status      string            `json:"status"`
	GroupLabels map[string]string `json:"groupLabels"`
	Alerts      []struct {
		alert
		Status string `json:"status"`
	} `json:"alerts"`
}

func newPeople(t *testing.T) *people {
	p := &people{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, m)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// times is how often people were told of an alert with a status.
func (p *people) times(name, device, status string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, m := range p.told {
		for _, a := range m.Alerts {
			if a.is(name, device) && a.Status == status {
				n++
			}
		}
	}
	return n
}

// begins is how often an alert was news: it fires in a message and did not in
// the one before.
func (p *people) begins(name, device string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	before := map[string]bool{}
	for _, m := range p.told {
		for _, a := range m.Alerts {
			key := a.Labels["instance"] + a.Labels["device"]
			if a.is(name, device) {
				if a.Status == "firing" && !before[key] {
					n++
				}
				before[key] = a.Status == "firing"
			}
		}
	}
	return n
}

// names are the alerts that people were told of.
func (p *people) names() map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[string]bool{}
	for _, m := range p.told {
		for _, a := range m.Alerts {
			names[a.Labels["alertname"]] = true
		}
	}
	return maps.Clone(names)
}
