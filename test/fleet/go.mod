// A fleet that does not exist before a real Prometheus. It is a module of its
// own so that `go test ./...` does not need one.
module github.com/rdmawatch/rdmawatch/test/fleet

go 1.26.0
