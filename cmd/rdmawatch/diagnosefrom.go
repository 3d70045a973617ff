package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rdmawatch/rdmawatch/diagnose"
)

// statusPath is where a running rdmawatch tells its report.
const statusPath = "/api/v1/status"

// Limits of what is asked of another rdmawatch: a report of a big node is some
// hundred kilobytes.
const (
	askTimeout = 10 * time.Second
	askSize    = 32 << 20
)

// ask gets the report of a running rdmawatch.
func ask(ctx context.Context, address string) (*diagnose.Report, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	u = u.JoinPath(statusPath)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the rdmawatch given by --from: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %q; is it an rdmawatch that has evaluated its rules?", u.Redacted(), answer.Status)
	}
	var report diagnose.Report
	if err := json.NewDecoder(io.LimitReader(answer.Body, askSize)).Decode(&report); err != nil {
		return nil, fmt.Errorf("%s gave no report: %w", u.Redacted(), err)
	}
	if report.Version != diagnose.Version {
		return nil, fmt.Errorf("%s gave a report of version %d, this rdmawatch knows version %d", u.Redacted(), report.Version, diagnose.Version)
	}
	if err := report.Check(); err != nil {
		return nil, fmt.Errorf("%s gave no report: %w", u.Redacted(), err)
	}
	return &report, nil
}
