package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-kit/log"
	"github.com/prometheus/prometheus/model/labels"
)

// sendTimeout bounds one try at one receiver.
const sendTimeout = 10 * time.Second

// Alertmanager makes a mailbox in front of an Alertmanager's API, version 2.
// base is its address with the path prefix it runs under, generator the page
// that shows our rules.
func Alertmanager(base *url.URL, generator string, client *http.Client, logger log.Logger) *Mailbox {
	target, name := base.JoinPath("/api/v2/alerts"), base.Redacted()
	return NewMailbox(name, true, logger, func(ctx context.Context, batch []Notice) error {
		alerts := make([]amAlert, len(batch))
		for i, n := range batch {
			alerts[i] = amAlert{n.Labels, n.Annotations, n.StartsAt, n.EndsAt, generator}
		}
		return post(ctx, client, name, target, alerts)
	})
}

// amAlert is an alert in Alertmanager's API.
type amAlert struct {
	Labels       labels.Labels `json:"labels"`
	Annotations  labels.Labels `json:"annotations"`
	StartsAt     time.Time     `json:"startsAt"`
	EndsAt       time.Time     `json:"endsAt,omitzero"`
	GeneratorURL string        `json:"generatorURL,omitempty"`
}

// Webhook makes a mailbox in front of a URL that takes what Alertmanager's own
// webhook receiver sends, version 4. It is told of changes only.
func Webhook(target *url.URL, generator string, client *http.Client, logger log.Logger) *Mailbox {
	name := webhookName(target)
	return NewMailbox(name, false, logger, func(ctx context.Context, batch []Notice) error {
		return post(ctx, client, name, target, webhookMessage(batch, generator))
	})
}

// webhookName tells webhooks apart without giving away where they are: services
// put their token into the path or the query, and the name is on /metrics.
func webhookName(target *url.URL) string {
	sum := fnv.New32a()
	io.WriteString(sum, target.String()) //nolint:errcheck // a hash takes everything
	return fmt.Sprintf("%s://%s/#%08x", target.Scheme, target.Host, sum.Sum32())
}

// message is the body of Alertmanager's webhook.
type message struct {
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
	Status            Status            `json:"status"`
	Receiver          string            `json:"receiver"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Alerts            []messageAlert    `json:"alerts"`
}

type messageAlert struct {
	Status       Status        `json:"status"`
	Labels       labels.Labels `json:"labels"`
	Annotations  labels.Labels `json:"annotations"`
	StartsAt     time.Time     `json:"startsAt"`
	EndsAt       time.Time     `json:"endsAt"`
	GeneratorURL string        `json:"generatorURL"`
	Fingerprint  string        `json:"fingerprint"`
}

func webhookMessage(batch []Notice, generator string) message {
	m := message{
		Version: "4", GroupKey: "{}:{}", Status: Resolved, Receiver: "rdmawatch",
		GroupLabels: map[string]string{}, ExternalURL: generator,
		CommonLabels: batch[0].Labels.Map(), CommonAnnotations: batch[0].Annotations.Map(),
	}
	for _, n := range batch {
		if n.Status == Firing {
			m.Status = Firing
			n.EndsAt = time.Time{} // Alertmanager gives no end of a firing alert
		}
		common(m.CommonLabels, n.Labels)
		common(m.CommonAnnotations, n.Annotations)
		m.Alerts = append(m.Alerts, messageAlert{n.Status, n.Labels, n.Annotations, n.StartsAt, n.EndsAt, generator, n.Fingerprint()})
	}
	return m
}

// common leaves in set what ls has as well.
func common(set map[string]string, ls labels.Labels) {
	for name, value := range set {
		if ls.Get(name) != value {
			delete(set, name)
		}
	}
}

// post sends body as JSON. Anything but success is an error that tells what
// the other side said. name is what the receiver is called in it.
func post(ctx context.Context, client *http.Client, name string, target *url.URL, body any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding alerts: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("preparing a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "rdmawatch")
	response, err := client.Do(request)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err // which does not name the URL
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	defer response.Body.Close()
	const enough = 512 // of what it said, for the log
	said, _ := io.ReadAll(io.LimitReader(response.Body, enough))
	if response.Request.Method != http.MethodPost {
		// To a page for logging in, most likely. Alerts do not get through.
		return fmt.Errorf("%s sends elsewhere: to %s", name, response.Request.URL.Host)
	}
	if response.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("%s answered %s: %s", name, response.Status, bytes.TrimSpace(said))
	if hopeless[response.StatusCode] {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// errRefused is wrapped by the error for notices that the receiver will not
// take, however often they are sent.
var errRefused = errors.New("refused")

// hopeless are the answers that mean "not this", however often it is sent. Any
// other may be of a proxy on the way, or change when an operator mends what the
// receiver asks for.
var hopeless = map[int]bool{
	http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true, http.StatusUnprocessableEntity: true,
}
