package notify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-kit/log"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
)

// request is what a server got.
type request struct {
	method, path string
	header       http.Header
	body         string
}

// server answers with a handler and hands out what it got. A nil handler
// answers with success.
func server(t *testing.T, answer http.HandlerFunc) (*url.URL, chan request) {
	t.Helper()
	got := make(chan request, 1000)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- request{r.Method, r.URL.Path, r.Header, string(body)}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, got
}

// status answers with a status and a text.
func status(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

const generator = "http://node-7:10055"

// fields lists the keys of an object of JSON.
func fields(t *testing.T, object map[string]any) []string {
	t.Helper()
	var all []string
	for name := range object {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// The body has the fields of postableAlerts in Alertmanager's
// api/v2/openapi.yaml: an array of labels, annotations, startsAt, endsAt (RFC
// 3339), generatorURL (a URI), sent to /alerts below /api/v2.
func TestAlertmanagerPayload(t *testing.T) {
	base, got := server(t, nil)
	box := Alertmanager(base.JoinPath("/prefix"), generator, http.DefaultClient, log.NewNopLogger())
	n := Notice{
		Labels:      labels.FromStrings("alertname", "RDMAPortDown", "device", "mlx5_0", "port", "1"),
		Annotations: labels.FromStrings("summary", `mlx5_0 <down> & "out"`),
		Status:      Firing, StartsAt: epoch.Add(123456789), EndsAt: epoch.Add(4 * time.Minute),
	}
	if err := box.send(t.Context(), []Notice{n, {Labels: labels.FromStrings("alertname", "Bare"), Status: Resolved, StartsAt: epoch, EndsAt: epoch}}); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.method != http.MethodPost || r.path != "/prefix/api/v2/alerts" || r.header.Get("Content-Type") != "application/json" || r.header.Get("User-Agent") != "rdmawatch" {
		t.Errorf("%s %s, headers %v", r.method, r.path, r.header)
	}
	var alerts []map[string]any
	if err := json.Unmarshal([]byte(r.body), &alerts); err != nil {
		t.Fatal(err)
	}
	want := `{"labels":{"alertname":"RDMAPortDown","device":"mlx5_0","port":"1"},"annotations":{"summary":"mlx5_0 \u003cdown\u003e \u0026 \"out\""},"startsAt":"2026-03-01T12:00:00.123456789Z","endsAt":"2026-03-01T12:04:00Z","generatorURL":"http://node-7:10055"}`
	if !strings.HasPrefix(r.body, "["+want+",") {
		t.Errorf("body\n%s\nwant\n[%s,", r.body, want)
	}
	allowed := []string{"annotations", "endsAt", "generatorURL", "labels", "startsAt"}
	for _, a := range alerts {
		if got := fields(t, a); !slices.Equal(got, allowed) {
			t.Errorf("fields %v, want %v", got, allowed)
		}
		for _, name := range []string{"startsAt", "endsAt"} {
			if _, err := time.Parse(time.RFC3339, a[name].(string)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, set := range []string{"labels", "annotations"} {
			for name, value := range a[set].(map[string]any) {
				if _, text := value.(string); !text {
					t.Errorf("%s: %s is %T, not text", set, name, value)
				}
			}
		}
	}
}

// A URI must not be empty; without an address of our own there is none.
func TestAlertmanagerWithoutGenerator(t *testing.T) {
	base, got := server(t, nil)
	box := Alertmanager(base, "", http.DefaultClient, log.NewNopLogger())
	if err := box.send(t.Context(), []Notice{notice("firing Down a")}); err != nil {
		t.Fatal(err)
	}
	if r := <-got; strings.Contains(r.body, "generatorURL") {
		t.Errorf("body %s", r.body)
	}
}

// The body is that of Alertmanager's webhook, version 4, as its documentation
// of <webhook_config> lists it.
func TestWebhookPayload(t *testing.T) {
	base, got := server(t, nil)
	target := base.JoinPath("/hook")
	box := Webhook(target, generator, http.DefaultClient, log.NewNopLogger())
	d := NewDispatcher(Config{Receivers: []Receiver{box}, Interval: 15 * time.Second, Resend: time.Minute, External: labels.FromStrings("cluster", "north")})
	d.Dispatch(firing("Down a critical", "Loss b critical"), nil, epoch)
	d.Dispatch(firing("Down a critical"), nil, epoch.Add(15*time.Second))
	if err := box.send(t.Context(), box.take()); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.method != http.MethodPost || r.path != "/hook" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s, headers %v", r.method, r.path, r.header)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(r.body), &m); err != nil {
		t.Fatal(err)
	}
	if got, want := fields(t, m), []string{"alerts", "commonAnnotations", "commonLabels", "externalURL", "groupKey", "groupLabels", "receiver", "status", "truncatedAlerts", "version"}; !slices.Equal(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
	for name, want := range map[string]any{
		"version": "4", "status": "firing", "receiver": "rdmawatch", "externalURL": generator, "truncatedAlerts": 0.0, "groupKey": "{}:{}",
		"groupLabels": map[string]any{}, "commonLabels": map[string]any{"cluster": "north", "severity": "critical"}, "commonAnnotations": map[string]any{},
	} {
		if fmt.Sprint(m[name]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, want %v", name, m[name], want)
		}
	}
	alerts := m["alerts"].([]any)
	if len(alerts) != 2 {
		t.Fatalf("%d alerts", len(alerts))
	}
	for i, want := range []map[string]any{
		{"status": "firing", "startsAt": "2026-03-01T12:00:00Z", "endsAt": "0001-01-01T00:00:00Z", "generatorURL": generator,
			"labels":      map[string]any{"alertname": "Down", "cluster": "north", "device": "a", "severity": "critical"},
			"annotations": map[string]any{"summary": "what a has"}},
		{"status": "resolved", "startsAt": "2026-03-01T12:00:00Z", "endsAt": "2026-03-01T12:00:15Z", "generatorURL": generator,
			"labels":      map[string]any{"alertname": "Loss", "cluster": "north", "device": "b", "severity": "critical"},
			"annotations": map[string]any{"summary": "what b has"}},
	} {
		a := alerts[i].(map[string]any)
		if print := a["fingerprint"].(string); len(print) != 16 || strings.Trim(print, "0123456789abcdef") != "" {
			t.Errorf("fingerprint %q, want 16 hexadecimal digits", print)
		}
		delete(a, "fingerprint")
		if fmt.Sprint(a) != fmt.Sprint(want) {
			t.Errorf("alert\n%v\nwant\n%v", a, want)
		}
	}
}

// A message in which nothing fires any more is resolved as a whole.
func TestWebhookResolved(t *testing.T) {
	m := webhookMessage([]Notice{notice("resolved Down a"), notice("resolved Down b")}, "")
	if m.Status != Resolved || m.CommonLabels["alertname"] != "Down" || len(m.CommonLabels) != 1 {
		t.Errorf("message %+v", m)
	}
}

// What an answer means: taken, try again, or never.
func TestAnswers(t *testing.T) {
	elsewhere, _ := server(t, status(200, "<html>Please log in</html>"))
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		want    string // in the error; "" for success
		refused bool
	}{
		{"200", status(200, ""), "", false},
		{"202 with text", status(202, "fine"), "", false},
		{"400", status(400, `{"code":601,"message":"bad label"}`), `answered 400 Bad Request: {"code":601,"message":"bad label"}`, true},
		{"413", status(413, ""), "answered 413", true},
		{"422", status(422, ""), "answered 422", true},
		{"401, which an operator may mend", status(401, ""), "answered 401", false},
		{"403", status(403, ""), "answered 403", false},
		{"404, while a proxy starts", status(404, ""), "answered 404", false},
		{"407 of a proxy", status(407, ""), "answered 407", false},
		{"429", status(429, "slow down"), "answered 429 Too Many Requests: slow down", false},
		{"500", status(500, "oops"), "answered 500 Internal Server Error: oops", false},
		{"503 with a long page", status(503, strings.Repeat("x", 1<<20)), "answered 503", false},
		{"a redirect to a page for logging in", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.String(), http.StatusFound)
		}, "sends elsewhere: to " + elsewhere.Host, false},
		{"a redirect that keeps the request", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.String(), http.StatusPermanentRedirect)
		}, "", false},
		{"no answer but garbage", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "\x00\x01SSH-2.0\r\n")
			_ = conn.Close()
		}, "malformed HTTP", false},
		{"a connection that is cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, _ := server(t, c.answer)
			err := Alertmanager(base, "", http.DefaultClient, log.NewNopLogger()).send(t.Context(), []Notice{notice("firing Down a")})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("error %v, want none", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one with %q", err, c.want)
			case err != nil && len(err.Error()) > 1000:
				t.Errorf("the error has %d characters", len(err.Error()))
			}
			if refused := errors.Is(err, errRefused); refused != c.refused {
				t.Errorf("refused: %t, want %t", refused, c.refused)
			}
		})
	}
}

// Services have the token of a webhook in its path or query: it is in no error
// and in no name, and two webhooks of one service have two names.
func TestNoTokenInText(t *testing.T) {
	base, _ := server(t, status(500, ""))
	other := base.JoinPath("/services/T0/other")
	base = base.JoinPath("/services/T0/hunter2")
	base.RawQuery = "token=hunter2"
	box := Webhook(base, "", http.DefaultClient, log.NewNopLogger())
	err := box.send(t.Context(), []Notice{notice("firing Down a")})
	base.Host = "127.0.0.1:1"
	err2 := Webhook(base, "", http.DefaultClient, log.NewNopLogger()).send(t.Context(), []Notice{notice("firing Down a")})
	if err == nil || err2 == nil {
		t.Fatal("no error")
	}
	for _, text := range []string{box.Name(), err.Error(), err2.Error()} {
		if strings.Contains(text, "hunter2") || !strings.HasPrefix(text, "http://127.0.0.1:") {
			t.Errorf("the text is %q", text)
		}
	}
	if second := Webhook(other, "", http.DefaultClient, log.NewNopLogger()).Name(); second == box.Name() {
		t.Errorf("both are %s", second)
	}
}

// A password in the address is in no error and in no name.
func TestNoPasswordInText(t *testing.T) {
	base, got := server(t, status(500, ""))
	base.User = url.UserPassword("alice", "hunter2")
	box := Alertmanager(base, "", http.DefaultClient, log.NewNopLogger())
	err := box.send(t.Context(), []Notice{notice("firing Down a")})
	r := <-got
	if r.header.Get("Authorization") != "Basic YWxpY2U6aHVudGVyMg==" {
		t.Errorf("authorization %q", r.header.Get("Authorization"))
	}
	base.Host = "127.0.0.1:1"
	err2 := Webhook(base, "", http.DefaultClient, log.NewNopLogger()).send(t.Context(), []Notice{notice("firing Down a")})
	for _, text := range []string{box.Name(), err.Error(), err2.Error()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("the password is in %q", text)
		}
	}
}

// One receiver that hangs, fails or refuses delays neither the others nor the
// one who tells, and hears everything when it returns.
func TestReceiversAreApart(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	bad := map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		},
		"fails":    status(500, ""),
		"refuses":  status(400, ""),
		"is noise": status(200, "\x00garbage"),
	}
	var receivers []Receiver
	for _, answer := range bad {
		base, _ := server(t, answer)
		box := Alertmanager(base, "", http.DefaultClient, log.NewNopLogger())
		go box.Run(t.Context(), func() {})
		receivers = append(receivers, box)
	}
	var good []chan request
	for range 2 {
		base, got := server(t, nil)
		box := Alertmanager(base, "", http.DefaultClient, log.NewNopLogger())
		go box.Run(t.Context(), func() {})
		receivers, good = append(receivers, box), append(good, got)
	}
	d := NewDispatcher(Config{Receivers: receivers, MinSeverity: "info", Interval: 15 * time.Second, Resend: time.Minute})
	for i := range 10 {
		var alerts []engine.Alert
		for j := range 20 {
			alerts = append(alerts, firing(fmt.Sprintf("Down d%d-%d critical", i, j))...)
		}
		d.Dispatch(alerts, nil, epoch.Add(time.Duration(i)*15*time.Second))
	}
	for _, got := range good {
		state := map[string]string{} // by device, as the receiver believes
		for len(state) < 200 || strings.Contains(fmt.Sprint(state), "d8-0:firing") {
			r := <-got
			var alerts []amAlert
			if err := json.Unmarshal([]byte(r.body), &alerts); err != nil {
				t.Fatal(err)
			}
			for _, a := range alerts {
				state[a.Labels.Get("device")] = "firing"
				if !a.EndsAt.After(epoch.Add(3 * time.Minute)) {
					state[a.Labels.Get("device")] = "over"
				}
			}
		}
		if state["d9-19"] != "firing" || state["d0-0"] != "over" {
			t.Errorf("the receiver believes %v", state)
		}
	}
}
