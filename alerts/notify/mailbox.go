package notify

import (
	"context"
	"errors"
	"slices"
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

	mu      sync.Mutex
	waiting map[string]Notice
	order   []string // fingerprints, oldest first
	flying  []Notice // being sent
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
		name: name, send: send, logger: logger, repeats: repeats,
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

// take removes the oldest notices from the mailbox, to be sent.
func (m *Mailbox) take() []Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.order), maxBatch)
	m.flying = make([]Notice, 0, n)
	for _, key := range m.order[:n] {
		m.flying = append(m.flying, m.waiting[key])
		delete(m.waiting, key)
	}
	m.order = m.order[n:]
	return m.flying
}

// Waiting returns the notices that the receiver has not taken yet, to be kept
// over a restart.
func (m *Mailbox) Waiting() []Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.flying)
	for _, key := range m.order {
		all = append(all, m.waiting[key])
	}
	return all
}

// Counts returns what became of the notices so far.
func (m *Mailbox) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	c.Waiting = len(m.order) + len(m.flying)
	return c
}

// Waits between tries grow from one to the other.
const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// Run sends what is offered until ctx ends. What is being sent then has a
// moment to arrive, so that it need not be sent again after a restart. Run calls
// settled whenever notices have left the mailbox.
func (m *Mailbox) Run(ctx context.Context, settled func()) {
	sending, stop := lingering(ctx)
	defer stop()
	wait := firstWait
	for ctx.Err() == nil {
		batch := m.take()
		if len(batch) == 0 {
			select {
			case <-m.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := m.send(sending, batch)
		if err != nil && ctx.Err() != nil {
			return // what was being sent still counts as waiting
		}
		if m.book(batch, err, wait) {
			settled()
		}
		if err == nil {
			wait = firstWait
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		wait = min(2*wait, lastWait)
	}
}

// lastMoment is how long after the end what is being sent may take.
const lastMoment = time.Second

// lingering returns a context that ends a moment after ctx.
func lingering(ctx context.Context) (context.Context, func()) {
	later, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastMoment, cancel) })
	return later, func() { stop(); cancel() }
}

// book counts a try and puts back what was not taken, unless something newer
// waits already. What the receiver refused is given up. It reports whether the
// notices are gone.
func (m *Mailbox) book(batch []Notice, err error, wait time.Duration) (gone bool) {
	m.log(err, wait)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying = nil
	if err == nil {
		m.counts.Sent += uint64(len(batch))
		return true
	}
	m.counts.Failed += uint64(len(batch))
	if errors.Is(err, errRefused) {
		m.counts.Dropped += uint64(len(batch))
		return true
	}
	for _, n := range batch {
		if _, newer := m.waiting[n.Fingerprint()]; !newer {
			m.put(n)
		}
	}
	return false
}

// log tells of the first failure and of the first success after.
func (m *Mailbox) log(err error, wait time.Duration) {
	switch {
	case err != nil && wait == firstWait:
		level.Warn(m.logger).Log("msg", "receiver does not take alerts; trying again", "receiver", m.name, "err", err)
	case err == nil && wait > firstWait:
		level.Info(m.logger).Log("msg", "receiver takes alerts again", "receiver", m.name)
	}
}
