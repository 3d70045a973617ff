package notify

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-kit/log"
	"github.com/go-kit/log/level"
)

// Counts is what became of the notices of a mailbox.
type Counts struct {
	Sent, Failed, Dropped uint64
	Waiting               int
}

// Mailbox holds the notices that a receiver has not taken yet. Of one alert
// only the latest notice is kept, so a receiver that was away for an hour is
// told how things are, not how they were. It is bounded: the oldest notice is
// dropped for a new one.
type Mailbox struct {
	name   string
	send   func(context.Context, []Notice) error
	logger log.Logger
	// repeats are notices that say nothing new; Alertmanager needs them.
	repeats bool
	// after waits between tries; time.After outside tests.
	after func(time.Duration) <-chan time.Time

	mu      sync.Mutex
	waiting map[string]Notice
	order   []string // fingerprints, oldest first
	counts  Counts
	wake    chan struct{}
}

// Sizes of a mailbox and of what is sent at a time.
const (
	maxWaiting = 10_000
	maxBatch   = 64
)

// NewMailbox makes a mailbox in front of send, which may block and may fail:
// what it fails to send is tried again.
func NewMailbox(name string, repeats bool, logger log.Logger, send func(context.Context, []Notice) error) *Mailbox {
	return &Mailbox{
		name: name, send: send, logger: logger, repeats: repeats, after: time.After,
		waiting: map[string]Notice{}, wake: make(chan struct{}, 1),
	}
}

// Name tells receivers apart in metrics and logs.
func (m *Mailbox) Name() string { return m.name }

// Offer implements Receiver.
func (m *Mailbox) Offer(n Notice) {
	if n.Repeated && !m.repeats {
		return
	}
	m.mu.Lock()
	m.put(n)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Mailbox) put(n Notice) {
	key := n.Fingerprint()
	if _, waits := m.waiting[key]; !waits {
		if len(m.order) >= maxWaiting {
			delete(m.waiting, m.order[0])
			m.order = m.order[1:]
			m.counts.Dropped++
		}
		m.order = append(m.order, key)
	}
	m.waiting[key] = n
}

// take removes the oldest notices from the mailbox.
func (m *Mailbox) take() []Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.order), maxBatch)
	batch := make([]Notice, 0, n)
	for _, key := range m.order[:n] {
		batch = append(batch, m.waiting[key])
		delete(m.waiting, key)
	}
	m.order = m.order[n:]
	return batch
}

// back returns what could not be sent, unless something newer waits already.
func (m *Mailbox) back(batch []Notice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range batch {
		if _, newer := m.waiting[n.Fingerprint()]; !newer {
			m.put(n)
		}
	}
}

// drop gives notices up that the receiver refused. A firing alert is offered
// again in any case.
func (m *Mailbox) drop(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Dropped += uint64(n)
}

// Counts returns what became of the notices so far.
func (m *Mailbox) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.Waiting = len(m.order)
	return c
}

// Waits between tries grow from one to the other.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// Run sends what is offered until ctx ends.
func (m *Mailbox) Run(ctx context.Context) {
	wait := firstWait
	for {
		batch := m.take()
		if len(batch) == 0 {
			select {
			case <-m.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := m.send(ctx, batch)
		m.book(len(batch), err, wait)
		if err == nil {
			wait = firstWait
			continue
		}
		if errors.Is(err, errRefused) {
			m.drop(len(batch))
		} else {
			m.back(batch)
		}
		select {
		case <-m.after(wait):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, lastWait)
	}
}

// book counts a try, and logs the first failure and the first success after.
func (m *Mailbox) book(n int, err error, wait time.Duration) {
	m.mu.Lock()
	if err == nil {
		m.counts.Sent += uint64(n)
	} else {
		m.counts.Failed += uint64(n)
	}
	m.mu.Unlock()
	switch {
	case err != nil && wait == firstWait:
		level.Warn(m.logger).Log("msg", "receiver does not take alerts; trying again", "receiver", m.name, "err", err)
	case err == nil && wait > firstWait:
		level.Info(m.logger).Log("msg", "receiver takes alerts again", "receiver", m.name)
	}
}
