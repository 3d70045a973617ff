package collector

import (
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// zipping compresses what a handler answers, for those who ask. It keeps its
// compressors. gzhttp of the same module would do it too, and bring zstd and
// half a megabyte of program with it.
func zipping(h http.Handler) http.Handler {
	kept := sync.Pool{New: func() any {
		z, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		if err != nil {
			panic(err) // the level is a constant and valid
		}
		return z
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !wantsGzip(req.Header.Values("Accept-Encoding")) {
			h.ServeHTTP(w, req)
			return
		}
		z := &zipped{ResponseWriter: w, kept: &kept}
		defer z.close()
		h.ServeHTTP(z, req)
	})
}

// wantsGzip reads the header Accept-Encoding: gzip is wanted if it is named, by
// itself or by *, and not given the weight 0.
func wantsGzip(accepted []string) bool {
	other := false
	for part := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		wanted := true
		if name, q, ok := strings.Cut(parameters, "="); ok && strings.EqualFold(strings.TrimSpace(name), "q") {
			weight, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			wanted = err == nil && weight > 0
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return wanted
		case "*":
			other = wanted
		}
	}
	return other
}

// zipped is an answer that is compressed if it has the status 200. Errors are
// short.
type zipped struct {
	http.ResponseWriter
	kept *sync.Pool
	z    *gzip.Writer // nil: not compressed
	told bool         // the status is out
}

// WriteHeader implements http.ResponseWriter.
func (w *zipped) WriteHeader(status int) {
	if !w.told && status == http.StatusOK {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Del("Content-Length")
		w.z = w.kept.Get().(*gzip.Writer)
		w.z.Reset(w.ResponseWriter)
	}
	w.told = true
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *zipped) Write(p []byte) (int, error) {
	if !w.told {
		w.WriteHeader(http.StatusOK)
	}
	if w.z == nil {
		return w.ResponseWriter.Write(p)
	}
	return w.z.Write(p)
}

// close ends the answer and keeps the compressor for the next one.
func (w *zipped) close() {
	if w.z == nil {
		return
	}
	_ = w.z.Close() // a client that hung up
	w.kept.Put(w.z)
}
