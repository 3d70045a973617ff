package collector

import (
	"io"
	"net/http/httptest"
	"testing"
)

// scrape serves one scrape and returns the page.
func scrape(t *testing.T, e *Exposition, query string) string {
	t.Helper()
	handler, err := e.Handler(4)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics"+query, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("status %d, error %v:\n%s", w.Code, err, body)
	}
	return string(body)
}
