// The program together with a real Prometheus and a real Alertmanager. It is a
// module of its own so that `go test ./...` needs neither.
module github.com/rdmawatch/rdmawatch/test/e2e

go 1.26.0
