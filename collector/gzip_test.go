package collector

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestWantsGzip(t *testing.T) {
	for name, c := range map[string]struct {
		header []string
		want   bool
	}{
		"no header":             {nil, false},
		"Prometheus":            {[]string{"gzip"}, true},
		"a browser":             {[]string{"gzip, deflate, br, zstd"}, true},
		"other codings":         {[]string{"deflate, br"}, false},
		"capitals and blanks":   {[]string{" GZIP ; Q = 0.5"}, true},
		"refused":               {[]string{"gzip;q=0"}, false},
		"refused, anything not": {[]string{"*, gzip;q=0.000"}, false},
		"anything":              {[]string{"br;q=1, *;q=0.1"}, true},
		"nothing else":          {[]string{"identity, *;q=0"}, false},
		"two lines":             {[]string{"br", "gzip"}, true},
		"a weight of letters":   {[]string{"gzip;q=high"}, false},
		"a longer name":         {[]string{"xgzip, gzipx"}, false},
	} {
		if got := wantsGzip(c.header); got != c.want {
			t.Errorf("%s: %q: %v, want %v", name, c.header, got, c.want)
		}
	}
}

func TestZipping(t *testing.T) {
	long := strings.Repeat("rdma_port_active 1\n", 1000)
	h := zipping(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch req.URL.Path {
		case "/page":
			w.Header().Set("Content-Length", "19000")
			w.Write([]byte(long[:9500]))
			w.Write([]byte(long[9500:]))
		case "/error":
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
	}))
	for range 3 { // a compressor that is used again
		w := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, "/page", nil)
		req.Header.Set("Accept-Encoding", "gzip")
		h.ServeHTTP(w, req)
		if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Content-Length") != "" || w.Body.Len() > 1000 {
			t.Fatalf("%d bytes with %v", w.Body.Len(), w.Header())
		}
		r, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != long {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(long))
		}
	}
	for path, want := range map[string]string{"/error": "later\n", "/nothing": ""} {
		w := httptest.NewRecorder()
		req := httptest.NewRequest(http.MethodGet, path, nil)
		req.Header.Set("Accept-Encoding", "gzip")
		h.ServeHTTP(w, req)
		if w.Header().Get("Content-Encoding") != "" || w.Body.String() != want || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %q with %v", path, w.Body, w.Header())
		}
	}
}
