package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-kit/log"
	"github.com/go-kit/log/level"

	"github.com/rdmawatch/rdmawatch/alerts/engine"
	"github.com/rdmawatch/rdmawatch/alerts/notify"
)

// stateFile keeps over a restart what must not be forgotten: which alerts fire
// and since when, whom that was told, and what is known of the devices.
type stateFile struct {
	path   string
	logger log.Logger

	written time.Time
	gist    string // of what was last written
	failing bool
}

// state is the content of the file.
type state struct {
	Version int                        `json:"version"`
	SavedAt time.Time                  `json:"saved_at"`
	Alerts  []engine.SavedAlert        `json:"alerts"`
	Told    []notify.Told              `json:"told"`
	Waiting map[string][]notify.Notice `json:"waiting"` // by receiver
	Devices json.RawMessage            `json:"devices"`
}

// gist is what must be written at once when it changes: which alerts there are,
// whether they fire, who has been told. Values and times may be a while old.
func (s *state) gist() string {
	var b strings.Builder
	for _, a := range s.Alerts {
		fmt.Fprintln(&b, a.Labels, a.State)
	}
	for _, t := range s.Told {
		fmt.Fprintln(&b, t.Notice.Labels)
	}
	for _, receiver := range slices.Sorted(maps.Keys(s.Waiting)) {
		for _, n := range s.Waiting[receiver] {
			fmt.Fprintln(&b, receiver, n.Labels, n.Status)
		}
	}
	return b.String()
}

const stateVersion = 1

// maxStateSize bounds what is read and written; 10,000 alerts and 256 devices
// stay below it.
const maxStateSize = 128 << 20

// saveAfter is how often the file is written when no alert changes.
const saveAfter = time.Minute

// restore reads the file. One that is damaged is set aside and never fatal.
func (f *stateFile) restore(d *daemon) {
	if f.path == "" {
		return
	}
	s, err := f.read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case errors.Is(err, errNoFile):
		level.Error(f.logger).Log("msg", "state file is not usable; starting without it", "file", f.path, "err", err)
		return
	case err != nil:
		aside := f.path + ".damaged"
		level.Error(f.logger).Log("msg", "state file is not usable; starting without it", "file", f.path, "set_aside_as", aside, "err", err)
		if err := os.Rename(f.path, aside); err != nil {
			level.Error(f.logger).Log("msg", "cannot set the state file aside", "err", err)
		}
		return
	}
	now := time.Now()
	if err := d.runner.Restore(s.Devices); err != nil {
		level.Warn(f.logger).Log("msg", "state file does not tell of the devices", "err", err)
	}
	if now.Sub(s.SavedAt) < engine.MaxOutage {
		d.engine.Restore(s.Alerts, s.SavedAt, now)
	}
	d.dispatcher.Restore(s.Told)
	for _, m := range d.mailboxes {
		for _, n := range s.Waiting[m.Name()] {
			m.Offer(n)
		}
	}
}

// errNoFile is the error for a path that is something else than a file.
var errNoFile = errors.New("it is not a regular file")

func (f *stateFile) read() (*state, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	if info.Size() > maxStateSize {
		return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxStateSize)
	}
	content, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	var s state
	if err := json.Unmarshal(content, &s); err != nil {
		return nil, err
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("its version is %d, not %d", s.Version, stateVersion)
	}
	return &s, nil
}

// save writes the file if its gist has changed, if it is due, or if it must be.
// An error is logged once.
func (f *stateFile) save(d *daemon, now time.Time, must bool) {
	if f.path == "" {
		return
	}
	s := state{Version: stateVersion, SavedAt: now, Alerts: d.engine.Save(now), Told: d.dispatcher.Told(), Waiting: map[string][]notify.Notice{}}
	for _, m := range d.mailboxes {
		if waiting := m.Waiting(); len(waiting) > 0 {
			s.Waiting[m.Name()] = waiting
		}
	}
	gist := s.gist()
	if !must && gist == f.gist && now.Sub(f.written) < saveAfter && !now.Before(f.written) {
		return
	}
	var err error
	if s.Devices, err = d.runner.Save(); err == nil {
		err = write(f.path, s)
	}
	if err != nil && !f.failing {
		level.Error(f.logger).Log("msg", "cannot write the state file; a restart would forget what fires", "file", f.path, "err", err)
	}
	if f.failing = err != nil; err == nil {
		f.written, f.gist = now, gist
	}
}

// write replaces the file in one step, so that it is whole at any moment.
func write(path string, s state) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if len(content) > maxStateSize {
		return fmt.Errorf("it would have %d bytes, more than %d", len(content), maxStateSize)
	}
	// Always the same name, so that nothing is left behind when the program is
	// killed in between.
	temporary := path + ".new"
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
