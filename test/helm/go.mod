module github.com/rdmawatch/rdmawatch/test/helm

go 1.26.0
