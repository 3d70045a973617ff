// The pages in a browser. It is a module of its own so that what drives the
// browser never reaches the go.mod of the exporter.
module github.com/rdmawatch/rdmawatch/test/browser

go 1.26.0

require (
	github.com/chromedp/cdproto v0.160.3
	github.com/chromedp/chromedp v0.23.1
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
