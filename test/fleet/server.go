package main

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// fleet serves the pages of all nodes, and says where they are.
type fleet struct {
	model   model
	size    int
	began   time.Time
	address string
	buffers sync.Pool
}

// serve listens on a free port of loopback.
func (f *fleet) serve() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.address = listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("/targets", f.targets)
	mux.HandleFunc("/node/{n}", f.page)
	go func() { _ = http.Serve(listener, mux) }()
	return nil
}

// targets is what Prometheus' discovery over HTTP asks for.
func (f *fleet) targets(w http.ResponseWriter, _ *http.Request) {
	type group struct {
		Targets []string          `json:"targets"`
		Labels  map[string]string `json:"labels"`
	}
	groups := make([]group, f.size)
	for i := range groups {
		n := node(i)
		groups[i] = group{[]string{f.address}, map[string]string{
			"__metrics_path__": "/node/" + strconv.Itoa(i), "instance": n.instance(), "cluster": n.cluster(), "leaf": n.leaf(),
		}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(groups)
}

func (f *fleet) page(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 || n >= f.size {
		http.NotFound(w, r)
		return
	}
	if node(n) == absent && time.Since(f.began) > faultsAt {
		http.Error(w, "this node is gone", http.StatusServiceUnavailable)
		return
	}
	b, _ := f.buffers.Get().(*[]byte)
	if b == nil {
		b = new([]byte)
	}
	defer f.buffers.Put(b)
	*b = f.model.write((*b)[:0], node(n), time.Since(f.began))
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write(*b)
}
