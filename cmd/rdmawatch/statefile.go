package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	told    string // what was told when it was last written
	failing bool
}

// state is the content of the file.
type state struct {
	Version int                  `json:"version"`
	SavedAt time.Time            `json:"saved_at"`
	Alerts  []engine.SavedAlert  `json:"alerts"`
	Told    []notify.SavedNotice `json:"told"`
	Devices json.RawMessage      `json:"devices"`
}

const stateVersion = 1

// maxStateSize bounds what is read: 10,000 alerts and 256 devices stay well
// below it.
const maxStateSize = 64 << 20

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
		d.engine.Restore(s.Alerts, now)
	}
	d.dispatcher.Restore(s.Told)
}

func (f *stateFile) read() (*state, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
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

// save writes the file if something has changed that a receiver was told of,
// if it is due, or if it must be. An error is logged once.
func (f *stateFile) save(d *daemon, now time.Time, must bool) {
	if f.path == "" {
		return
	}
	s := state{Version: stateVersion, SavedAt: now, Alerts: d.engine.Save(), Told: d.dispatcher.Told()}
	told := fmt.Sprint(s.Alerts, s.Told)
	if !must && told == f.told && now.Sub(f.written) < saveAfter && !now.Before(f.written) {
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
		f.written, f.told = now, told
	}
}

// write replaces the file in one step, so that it is whole at any moment.
func write(path string, s state) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // fails once it has been renamed
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
