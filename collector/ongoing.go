package collector

import (
	"context"

	"github.com/rdmawatch/rdmawatch/collector/node"
)

// ongoing is a reading in a goroutine of its own, of which there is never more
// than one: who hangs is not asked twice.
type ongoing struct {
	running chan []node.Sample // the one under way, nil if none
	late    bool               // it is not of this collection
}

// start begins a reading unless an earlier one is still under way. What a late
// one brings is too old to use.
func (g *ongoing) start(read func() []node.Sample) {
	if g.running != nil {
		select {
		case <-g.running:
		default:
			g.late = true
			return
		}
	}
	g.late = false
	done := make(chan []node.Sample, 1) // so that a late reading can end
	g.running = done
	go func() { done <- read() }()
}

// answer waits for the reading until ctx or everything ends. One that has ended
// counts even if the time is up: another before it may have used that up.
func (g *ongoing) answer(ctx context.Context, end <-chan struct{}) (samples []node.Sample, answered bool) {
	if g.late {
		return nil, false
	}
	select {
	case samples = <-g.running:
		answered = true
	default:
		select {
		case samples = <-g.running:
			answered = true
		case <-ctx.Done():
		case <-end:
		}
	}
	if answered {
		g.running = nil
	}
	return samples, answered
}

// settle waits until the reading under way has returned, or ctx ends.
func (g *ongoing) settle(ctx context.Context) {
	if g.running == nil {
		return
	}
	select {
	case <-g.running:
		g.running = nil
	case <-ctx.Done():
	}
}

// afterwards calls f at once, or when the reading under way has returned.
func (g *ongoing) afterwards(f func()) {
	if g.running == nil {
		f()
		return
	}
	running := g.running
	go func() {
		<-running
		f()
	}()
}
