package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// page is one answer, made when first asked for and kept: everybody who asks
// gets the same bytes.
type page struct {
	kind string // its Content-Type
	make func() ([]byte, error)

	once          sync.Once
	plain, zipped []byte
	tag           string
	err           error
}

const (
	htmlKind = "text/html; charset=utf-8"
	jsonKind = "application/json"
	textKind = "text/plain; charset=utf-8"
)

func (p *page) render() {
	if p.plain, p.err = p.make(); p.err != nil {
		return
	}
	sum := sha256.Sum256(p.plain)
	p.tag = base64.RawURLEncoding.EncodeToString(sum[:12])
	p.zipped, p.err = zip(p.plain)
}

func zip(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// ServeHTTP answers with the kept bytes, or that the client has them already.
func (p *page) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.once.Do(p.render)
	if p.err != nil {
		http.Error(w, fmt.Sprintf("this page cannot be made: %v", p.err), http.StatusInternalServerError)
		return
	}
	body, tag := p.plain, `"`+p.tag+`"`
	h := w.Header()
	secure(h)
	h.Set("Cache-Control", "no-cache") // ask again, there may be a new round
	h.Add("Vary", "Accept-Encoding")   // beside what a handler before it says
	if acceptsGzip(req.Header.Get("Accept-Encoding")) {
		body, tag = p.zipped, `"`+p.tag+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if hasTag(req.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if req.Method != http.MethodHead {
		w.Write(body)
	}
}

// acceptsGzip understands what browsers and curl send; who says q=0 gets plain
// text.
func acceptsGzip(header string) bool {
	for _, coding := range strings.Split(header, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// hasTag reports whether If-None-Match names a tag. The comparison is the weak
// one, as RFC 9110 wants it there.
func hasTag(header, tag string) bool {
	for _, t := range strings.Split(header, ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == tag {
			return true
		}
	}
	return false
}

// secure says what a browser may do with a page: show it, and run the one
// script that is named by its sum. A sum and no nonce, because the kept bytes
// are the same for everybody.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
}

var policy = strings.Join([]string{
	"default-src 'none'",
	"style-src " + sumOf(string(style)),
	"script-src " + sumOf(string(script)),
	"img-src data:",
	"connect-src 'self'",
	"base-uri 'none'",
	"form-action 'none'",
	"frame-ancestors 'none'",
}, "; ")

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
