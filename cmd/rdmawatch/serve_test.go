package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/rdmawatch/rdmawatch/fixtures"
)

// server is a served fixture.
type server struct {
	t       *testing.T
	address string
	client  *http.Client
	cancel  context.CancelFunc
	ended   chan error
	log     chan string // its lines, once it listens
}

// serve runs `rdmawatch serve` on a free port until the test ends.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	return serveBy(t, func(ctx context.Context, f *serveFlags, w io.Writer) error {
		return f.serve(ctx, f.log.logger(w))
	}, args...)
}

// serveBy has run serve on a free port until the test ends; it logs to w.
func serveBy(t *testing.T, run func(ctx context.Context, f *serveFlags, w io.Writer) error, args ...string) *server {
	t.Helper()
	app := kingpin.New("rdmawatch", "")
	f := newServeFlags(app.Command("serve", "").Default())
	args = append([]string{"serve", "--web.listen-address=127.0.0.1:0"}, args...)
	if _, err := app.Parse(args); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	s := &server{t: t, client: &http.Client{Timeout: 20 * time.Second}, cancel: cancel, ended: make(chan error, 1), log: make(chan string, 1000)}
	go func() {
		err := run(ctx, f, w)
		_ = w.Close()
		s.ended <- err
	}()
	listening := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			s.log <- lines.Text()
			if found := address.FindStringSubmatch(lines.Text()); found != nil {
				listening <- found[1]
			}
		}
		close(s.log)
	}()
	select {
	case s.address = <-listening:
	case err := <-s.ended:
		t.Fatalf("did not listen: %v", err)
	case <-time.After(5 * time.Minute): // the demo lives through half an hour first
		t.Fatal("does not listen")
	}
	t.Cleanup(func() {
		cancel()
		s.client.CloseIdleConnections()
		<-s.ended //nolint:errcheck // how it ended is not the question here
	})
	return s
}

// address is told in a line of either log format.
var address = regexp.MustCompile(`(?:Listening on.*|"address":")(127\.0\.0\.1:\d+)`)

func (s *server) request(method, path string, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	scheme := "http"
	if s.client.Transport != nil {
		scheme = "https"
	}
	req, err := http.NewRequest(method, scheme+"://"+s.address+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func (s *server) get(path string, headers ...string) string {
	s.t.Helper()
	status, body, _ := s.request(http.MethodGet, path, headers...)
	if status != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", path, status, body)
	}
	return body
}

// unmarked is a page of metrics of a fixture without the label that every line of
// it must have.
func unmarked(t *testing.T, page string) string {
	t.Helper()
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "#") && !marked.MatchString(line) {
			t.Errorf("not marked as simulated: %s", line)
		}
	}
	return marked.ReplaceAllString(page, "")
}

var marked = regexp.MustCompile(`(?m:\{simulated="true"\}|,simulated="true"|simulated="true",)`)

const roce = "cx6dx-mlx5-roce-5.15"

func TestServe(t *testing.T) {
	s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce))
	page := unmarked(t, s.get("/metrics"))
	for _, line := range []string{
		"rdma_devices 2\n", `rdma_collector_success{device="mlx5_0",collector="ethtool"} 1` + "\n", "# TYPE rdmawatch_build_info gauge\n",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("the page lacks %q", line)
		}
	}
	for _, absent := range []string{"go_goroutines", "process_open_fds", "promhttp_"} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %s without being asked", absent)
		}
	}
	if body := s.get("/metrics", "Accept", "application/openmetrics-text"); !strings.HasSuffix(body, "# EOF\n") {
		t.Error("no OpenMetrics")
	}
	for path, want := range map[string]string{"/-/healthy": "rdmawatch is running.\n", "/-/ready": "rdmawatch is ready.\n"} {
		if body := s.get(path); body != want {
			t.Errorf("%s: %q", path, body)
		}
	}
	// Without alerting the page shows what a scrape has read.
	for _, want := range []string{`href="metrics"`, "Alerting is switched off", "<b>mlx5_1</b>", "enp65s0f0np0", `id="simulated"`} {
		if page := s.get("/"); !strings.Contains(page, want) {
			t.Errorf("the status page lacks %s", want)
		}
	}
	for path, want := range map[string]int{
		"/nosuch": http.StatusNotFound, "/metrics/x": http.StatusNotFound, "/debug/pprof/": http.StatusNotFound,
		"/metrics?collect[]=nosuch": http.StatusBadRequest,
	} {
		if status, _, _ := s.request(http.MethodGet, path); status != want {
			t.Errorf("%s: status %d, want %d", path, status, want)
		}
	}
	if status, _, _ := s.request(http.MethodPost, "/metrics"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", status)
	}
	if status, _, _ := s.request(http.MethodHead, "/metrics"); status != http.StatusOK {
		t.Errorf("HEAD: status %d", status)
	}
}

func TestServeFlags(t *testing.T) {
	s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce), "--web.telemetry-path=/rdma/metrics", "--web.runtime-metrics",
		"--no-collector.ethtool", "--collector.device-exclude=mlx5_1", "--collector.hw_counters.device-include=none")
	page := unmarked(t, s.get("/rdma/metrics"))
	for _, want := range []string{"go_goroutines ", "process_open_fds ", `rdma_device_skipped{device="mlx5_1",reason="excluded"} 1`, `collector="port"} 1`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, absent := range []string{`device="mlx5_1",port=`, `collector="ethtool"`, `collector="hw_counters"`} {
		if strings.Contains(page, absent) {
			t.Errorf("the page has %s", absent)
		}
	}
	if status, _, _ := s.request(http.MethodGet, "/rdma/metrics?collect[]=ethtool"); status != http.StatusBadRequest {
		t.Errorf("a collector that is off: status %d", status)
	}
	if status, _, _ := s.request(http.MethodGet, "/metrics"); status != http.StatusNotFound {
		t.Errorf("the usual path: status %d", status)
	}
	if !strings.Contains(s.get("/"), `href="rdma/metrics"`) {
		t.Error("the status page does not link to the metrics")
	}
	s = serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce), "--web.telemetry-path=/")
	if !strings.Contains(unmarked(t, s.get("/")), "rdma_devices 2\n") {
		t.Error("no metrics at /")
	}
}

// A node without RDMA is served like any other.
func TestServeWithoutDevices(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "root/sys/class"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--no-alerting.enabled", "--path.rootfs", filepath.Join(dir, "root"))
	for range 3 {
		if page := s.get("/metrics"); !strings.Contains(page, "rdma_devices 0\n") {
			t.Errorf("page:\n%s", page)
		}
	}
	s.cancel()
	told := 0
	for line := range s.log {
		if strings.Contains(line, "no RDMA devices") {
			told++
		}
		if strings.Contains(line, "simulated") {
			t.Errorf("%s", line)
		}
	}
	if told != 1 {
		t.Errorf("told %d times that there are no devices, want once", told)
	}
}

// Every line has one time, whoever wrote it.
func TestLogLines(t *testing.T) {
	for _, format := range []string{"logfmt", "json"} {
		s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce), "--log.format="+format)
		s.get("/metrics")
		s.cancel()
		n, simulated := 0, false
		for line := range s.log {
			n++
			simulated = simulated || strings.Contains(line, "simulated")
			times := len(regexp.MustCompile(`(^|[ ,{])"?(ts|time)"?[=:]`).FindAllString(line, -1))
			if times != 1 {
				t.Errorf("%d times in %s", times, line)
			}
			if format != "json" {
				continue
			}
			var fields map[string]any
			if err := json.Unmarshal([]byte(line), &fields); err != nil || fields["ts"] == nil || fields["msg"] == nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if n < 4 || !simulated {
			t.Errorf("%d lines, told to be simulated: %t", n, simulated)
		}
	}
}

func TestStop(t *testing.T) {
	s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce))
	s.get("/metrics")
	begin := time.Now()
	s.cancel()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
	s.ended <- nil
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %s to end", took)
	}
	if _, err := net.DialTimeout("tcp", s.address, time.Second); err == nil {
		t.Error("still listens")
	}
}

// hanging is a node with a device that never answers.
func hanging(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	counters := filepath.Join(dir, "sys/class/infiniband/a0/ports/1/hw_counters")
	if err := os.MkdirAll(counters, 0o755); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(counters, "rx_bytes")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // let the reader go
		if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = w.Close()
		}
	})
	return dir
}

// A supervisor kills what has not ended in time, whatever a NIC does.
func TestStopWhileADeviceHangs(t *testing.T) {
	for _, alerting := range []string{"--no-alerting.enabled", "--alerting.enabled"} {
		t.Run(alerting, func(t *testing.T) {
			s := serve(t, "--replay", hanging(t), "--collector.timeout=1h", alerting)
			scraped := make(chan struct{})
			go func() {
				defer close(scraped)
				if resp, err := s.client.Get("http://" + s.address + "/metrics"); err == nil {
					resp.Body.Close()
				}
			}()
			for line := range s.log {
				if strings.Contains(line, "device found") {
					break
				}
			}
			begin := time.Now()
			s.cancel()
			if err := <-s.ended; err != nil {
				t.Error(err)
			}
			s.ended <- nil
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("took %s to end", took)
			}
			<-scraped
		})
	}
}

// The process itself, with a signal.
func TestSIGTERM(t *testing.T) {
	cmd := exec.Command("rdmawatch", "serve", "--web.listen-address=127.0.0.1:0", "--replay", fixtures.Node(roce))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !address.MatchString(lines.Text()) {
	}
	begin := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	stopping := false
	for lines.Scan() {
		stopping = stopping || strings.Contains(lines.Text(), "msg=stopping")
	}
	if err := cmd.Wait(); err != nil || !stopping {
		t.Errorf("ended with %v, said that it stops: %t", err, stopping)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %s to end", took)
	}
}

func TestPortInUse(t *testing.T) {
	s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce))
	got := command("serve", "--replay", fixtures.Node(roce), "--no-alerting.enabled", "--web.listen-address="+s.address)
	if got.status != 1 || !strings.Contains(got.stderr, "address already in use") || !strings.Contains(got.stderr, "--web.listen-address") {
		t.Errorf("status %d, stderr %q", got.status, got.stderr)
	}
}

// certificate writes a self-signed certificate for 127.0.0.1 and returns it.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rdmawatch test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

// bcryptHash is of "correct horse", at the least cost.
const bcryptHash = "$2a$04$xu7HmUldU.OKL9h8/T3jWeR06uNejUWPg0wyDe4lD.wvQ1vfU65lK"

func TestTLSAndBasicAuth(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	config := filepath.Join(dir, "web.yml")
	text := fmt.Sprintf("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prometheus: %s\n", bcryptHash)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--no-alerting.enabled", "--replay", fixtures.Node(roce), "--web.config.file", config)
	plain, err := http.Get("http://" + s.address + "/metrics")
	if err == nil {
		plain.Body.Close()
		if plain.StatusCode == http.StatusOK {
			t.Error("served without TLS")
		}
	}
	s.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	for password, want := range map[string]int{"": http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "correct horse": http.StatusOK} {
		req, err := http.NewRequest(http.MethodGet, "https://"+s.address+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			req.SetBasicAuth("prometheus", password)
		}
		resp, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || strings.Contains(string(body), "rdma_devices") != (want == http.StatusOK) {
			t.Errorf("password %q: status %d, want %d, error %v", password, resp.StatusCode, want, err)
		}
	}
	if status, _, _ := s.request(http.MethodGet, "/-/healthy"); status != http.StatusUnauthorized {
		t.Errorf("/-/healthy without a password: status %d", status)
	}
	// A client that prefers HTTP/2 must not be offered what make build leaves out.
	conn, err := tls.Dial("tcp", s.address, &tls.Config{RootCAs: pool, NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("protocol %q, want http/1.1", got)
	}
}
