package faults

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A crowd while a device hangs: each gets a page or is refused, at once.
func TestCrowd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	release := r.block(r.file("mlx5_0", "ports/1/hw_counters/out_of_sequence"))
	p := serveShipped(t, r.sysfs(), "--collector.timeout=3s", "--collector.min-interval=0s", "--no-alerting.enabled")
	p.scrape()
	before := p.held()
	release()
	p.client.Transport = &http.Transport{DisableKeepAlives: true}
	var mu sync.Mutex
	statuses := map[string]int{}
	var wg sync.WaitGroup
	for range 1024 {
		wg.Go(func() {
			status, _, err := p.try("/metrics")
			mu.Lock()
			defer mu.Unlock()
			statuses[fmt.Sprint(status, err)]++
		})
	}
	wg.Wait()
	t.Logf("answers: %v", statuses)
	if statuses["200 <nil>"] == 0 || statuses["200 <nil>"]+statuses["503 <nil>"] != 1024 {
		t.Errorf("answers: %v", statuses)
	}
	before.descriptors += 40 // the counters of the device that answers again
	p.settles(before)
}

// dial connects until the test ends.
func (p *process) dial() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Who asks a thousand times and takes no answer holds a place among the scrapes
// for 30 s, no longer. The status page, which is not a scrape, is there meanwhile.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	p := serve(t, newRig(t).sysfs(), "--web.max-requests=4", "--alerting.interval=1s")
	before := p.held()
	request := strings.Repeat("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 1000)
	for range 8 {
		conn := p.dial()
		if err := conn.(*net.TCPConn).SetReadBuffer(1); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, request) }()
	}
	eventually(t, "the places are taken", func() bool {
		status, _, err := p.try("/metrics")
		return err == nil && status == http.StatusServiceUnavailable
	})
	if status, _, err := p.try("/api/v1/status"); err != nil || status != http.StatusOK {
		t.Errorf("the status beside slow readers: %d, %v", status, err)
	}
	eventually(t, "the slow ones are put out", func() bool {
		status, _, err := p.try("/metrics")
		return err == nil && status == http.StatusOK
	})
	p.settles(before)
}

// A connection on which half a request comes is closed.
func TestHalfARequest(t *testing.T) {
	t.Parallel()
	p := serve(t, newRig(t).sysfs(), "--no-alerting.enabled")
	before := p.held()
	var wg sync.WaitGroup
	for i := range 200 {
		conn := p.dial()
		if i%2 == 0 {
			if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\nX: "); err != nil {
				t.Fatal(err)
			}
		}
		wg.Go(func() {
			_ = conn.SetReadDeadline(time.Now().Add(patient))
			if _, err := io.Copy(io.Discard, conn); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a half-open connection is kept")
			}
		})
	}
	p.scrape()
	wg.Wait()
	p.settles(before)
}

// A header of a gigabyte is cut off long before, and costs no memory.
func TestHugeHeader(t *testing.T) {
	t.Parallel()
	p := serveShipped(t, newRig(t).sysfs(), "--no-alerting.enabled")
	p.scrape()
	was := p.resident()
	conn := p.dial()
	if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\nX: "); err != nil {
		t.Fatal(err)
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(conn).ReadString('\n')
		answer <- line
	}()
	chunk, sent := []byte(strings.Repeat("x", 64<<10)), 0
	for sent < 1<<30 {
		n, err := conn.Write(chunk)
		sent += n
		if err != nil {
			break
		}
	}
	t.Logf("took %d KiB before it hung up; resident memory was %d KiB and is %d KiB", sent>>10, was>>10, p.resident()>>10)
	if sent > 32<<20 { // most of it is in the buffers of the sockets
		t.Errorf("took %d bytes", sent)
	}
	if line := <-answer; line != "" && !strings.Contains(line, "431") {
		t.Errorf("answered %q", line)
	}
	if grown := p.resident() - was; grown > 8<<20 {
		t.Errorf("grew by %d bytes", grown)
	}
	p.scrape()
}

// Clients that leave in the middle of an answer, with a reset.
func TestClientsThatLeave(t *testing.T) {
	t.Parallel()
	p := serveShipped(t, newRig(t).sysfs(), "--collector.min-interval=0s")
	before := p.held()
	for range 300 {
		conn := p.dial()
		if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	p.settles(before)
}

// Where certificates are asked for, who has none, or one that nobody signed,
// sees nothing.
func TestWrongCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := newAuthority(t, "ours")
	ca.issue(t, dir, "server")
	own := ca.issue(t, dir, "client")
	foreign := newAuthority(t, "theirs").issue(t, dir, "other")
	write(t, filepath.Join(dir, "ca.pem"), ca.pem)
	write(t, filepath.Join(dir, "web.yml"), []byte("tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n"))
	p := serve(t, newRig(t).sysfs(), "--no-alerting.enabled", "--web.config.file="+filepath.Join(dir, "web.yml"))
	for name, c := range map[string]struct {
		certificates []tls.Certificate
		trust        bool
		want         bool
	}{
		"own":                    {[]tls.Certificate{own}, true, true},
		"none":                   {nil, true, false},
		"of another authority":   {[]tls.Certificate{foreign}, true, false},
		"server is not believed": {[]tls.Certificate{own}, false, false},
	} {
		config := &tls.Config{RootCAs: newAuthority(t, "nobody").pool, Certificates: c.certificates}
		if c.trust {
			config.RootCAs = ca.pool
		}
		client := &http.Client{Timeout: patient, Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
		resp, err := client.Get("https://" + p.address + "/metrics")
		if err == nil {
			resp.Body.Close()
		}
		if got := err == nil && resp.StatusCode == http.StatusOK; got != c.want {
			t.Errorf("certificate %s: served %t, want %t: %v", name, got, c.want, err)
		}
	}
}

// A wrong password costs a comparison, at most; many of them leave nothing
// behind and let the right one through.
func TestWrongPasswords(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "web.yml")
	// Of "correct horse", at the least cost.
	write(t, config, []byte("basic_auth_users:\n  prometheus: $2a$04$xu7HmUldU.OKL9h8/T3jWeR06uNejUWPg0wyDe4lD.wvQ1vfU65lK\n"))
	p := serveShipped(t, newRig(t).sysfs(), "--no-alerting.enabled", "--web.config.file="+config)
	ask := func(password string) int {
		req, err := http.NewRequest(http.MethodGet, "http://"+p.address+"/metrics", nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		req.SetBasicAuth("prometheus", password)
		resp, err := p.client.Do(req)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	ask("correct horse")
	was := entries(t, p.cmd.Process.Pid, "fd")
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if status := ask(fmt.Sprint("wrong", i)); status != http.StatusUnauthorized {
				t.Errorf("status %d", status)
			}
		})
	}
	wg.Wait()
	if status := ask("correct horse"); status != http.StatusOK {
		t.Errorf("the right password: status %d", status)
	}
	p.client.CloseIdleConnections()
	eventually(t, "connections are closed", func() bool { return entries(t, p.cmd.Process.Pid, "fd") <= was+8 })
}
