package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
	sloggokit "github.com/tjhop/slog-gokit"
)

// logFlags are the flags node_exporter has for logging.
type logFlags struct {
	level, format *string
}

func addLogFlags(cmd *kingpin.CmdClause) logFlags {
	return logFlags{
		level:  cmd.Flag("log.level", "Least severity that is logged: debug, info, warn, error.").Default("info").Enum("debug", "info", "warn", "error"),
		format: cmd.Flag("log.format", "Form of the log: logfmt, json.").Default("logfmt").Enum("logfmt", "json"),
	}
}

// logger logs to w in the form and from the severity the flags say.
func (f logFlags) logger(w io.Writer) log.Logger {
	w = log.NewSyncWriter(w)
	logger := log.NewLogfmtLogger(w)
	if *f.format == "json" {
		logger = log.NewJSONLogger(w)
	}
	logger = level.NewFilter(logger, level.Allow(level.ParseDefault(*f.level, level.InfoValue())))
	return log.With(logger, "ts", log.DefaultTimestampUTC)
}

// asSlog is logger for libraries that want the standard library's.
func asSlog(logger log.Logger) *slog.Logger {
	return slog.New(untimed{sloggokit.NewGoKitHandler(logger, nil)})
}

// untimed leaves out the time of slog's records: the logger has one.
type untimed struct{ slog.Handler }

func (h untimed) Handle(ctx context.Context, r slog.Record) error {
	r.Time = time.Time{}
	return h.Handler.Handle(ctx, r)
}

func (h untimed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return untimed{h.Handler.WithAttrs(attrs)}
}
func (h untimed) WithGroup(name string) slog.Handler { return untimed{h.Handler.WithGroup(name)} }
