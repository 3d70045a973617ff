package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
	"github.com/prometheus/common/version"
	"github.com/prometheus/exporter-toolkit/web"
	"github.com/prometheus/exporter-toolkit/web/kingpinflag"
)

// defaultAddress is the port registered for rdmawatch in Prometheus' list of
// default port allocations, once it is.
const defaultAddress = ":10055"

type serveFlags struct {
	collectorFlags
	alerting       alertingFlags
	log            logFlags
	web            *web.FlagConfig
	path           *string
	maxRequests    *int
	runtimeMetrics *bool
	lifecycle      *bool

	// past, if set by a command, is what goes on before the page opens. The
	// daemon is nil without alerting.
	past func(context.Context, *daemon)
}

func addServe(app *kingpin.Application, commands map[string]func(stdout, stderr io.Writer) error) {
	cmd := app.Command("serve", "Serve the metrics of this node (the default command).").Default()
	f := newServeFlags(cmd)
	// As in node_exporter: reading is system calls, which cost more when several
	// processors make them at once, and a node has better use for the others. A
	// read that hangs holds up nothing all the same, since the runtime gives its
	// processor away.
	processors := cmd.Flag("runtime.gomaxprocs", "Processors that Go code runs on at a time (GOMAXPROCS).").Envar("GOMAXPROCS").Default("1").Int()
	commands[cmd.FullCommand()] = func(_, stderr io.Writer) error {
		if *processors < 1 {
			return fmt.Errorf("--runtime.gomaxprocs is %d, it must be at least 1", *processors)
		}
		runtime.GOMAXPROCS(*processors)
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return f.serve(ctx, f.log.logger(stderr))
	}
}

func newServeFlags(cmd *kingpin.CmdClause) *serveFlags {
	return &serveFlags{
		collectorFlags: addCollectorFlags(cmd),
		alerting:       addAlertingFlags(cmd),
		log:            addLogFlags(cmd),
		web:            kingpinflag.AddFlags(cmd, defaultAddress),
		path:           cmd.Flag("web.telemetry-path", "Path under which the metrics are.").Default("/metrics").String(),
		maxRequests:    cmd.Flag("web.max-requests", "Scrapes served at a time; more are refused with status 503.").Default("40").Int(),
		lifecycle:      cmd.Flag("web.enable-lifecycle", "Allow reloading the rules by POST /-/reload.").Bool(),
		runtimeMetrics: cmd.Flag("web.runtime-metrics", "Export metrics of the Go runtime and of the process as well.").Bool(),
	}
}

func (f *serveFlags) serve(ctx context.Context, logger log.Logger) error {
	if *f.maxRequests < 1 {
		return fmt.Errorf("--web.max-requests is %d, it must be at least 1", *f.maxRequests)
	}
	level.Info(logger).Log("msg", "starting rdmawatch", "version", version.Info(), "build", version.BuildContext())
	runner, closeRunner, err := f.runner(logger)
	if err != nil {
		return err
	}
	defer closeRunner()
	d, err := f.alerting.newDaemon(runner, f.simulated(), logger)
	if err != nil {
		return err
	}
	site, err := f.site(runner, d)
	if err != nil {
		return err
	}
	handler, err := f.handler(runner, d, site)
	if err != nil {
		return err
	}
	if f.past != nil {
		f.past(ctx, d)
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, runner.Stop) // no NIC holds up the end
	defer f.start(ctx, d)()
	defer cancel() // first: a server that fails ends the daemon too
	server := &http.Server{
		Handler:           handler,
		Protocols:         onlyHTTP1(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(asSlog(logger).Handler(), slog.LevelWarn),
	}
	return listen(ctx, server, f.web, logger)
}

// onlyHTTP1 is what the server speaks: a scrape is a single request. `make build`
// leaves HTTP/2 out, which is half a megabyte of the program, and without this
// the server would still offer it.
func onlyHTTP1() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	return &p
}

// start runs the daemon, if there is one, and makes SIGHUP reload its rules;
// without one SIGHUP does nothing, rather than end the program. The function it
// returns waits until the daemon has saved its state.
func (f *serveFlags) start(ctx context.Context, d *daemon) (wait func()) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for range hangup {
			if d != nil {
				_ = d.askReload(ctx) // the daemon logs what came of it
			}
		}
	}()
	go func() {
		defer close(done)
		if d != nil {
			d.run(ctx)
		}
	}()
	return func() {
		<-done
		signal.Stop(hangup)
		close(hangup)
	}
}

// listen serves until ctx ends, then lets running requests finish for a while.
func listen(ctx context.Context, server *http.Server, flags *web.FlagConfig, logger log.Logger) error {
	served := make(chan error, 1)
	go func() { served <- web.ListenAndServe(server, flags, asSlog(logger)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving HTTP (see --web.listen-address and --web.config.file): %w", err)
	case <-ctx.Done():
	}
	level.Info(logger).Log("msg", "stopping")
	const grace = time.Second // to be gone in 2 s, on a busy machine as well
	ending, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stopping the HTTP server: %w", err)
	}
	return nil
}
