package replay

import (
	"context"
	"fmt"
	"time"
)

// Recording is a node of which readings were taken, such as a capture.
type Recording struct {
	// Dir is a node fixture, at first as it was at the first reading.
	Dir string
	// Times are those of the readings.
	Times []time.Time
	// Advance brings the fixture to a later reading.
	Advance func(step int) error
}

// Play judges a recording as Run does a case: on a virtual clock, which shows
// the times of the readings.
func Play(ctx context.Context, r Recording, s Setup) (*Result, error) {
	p := newPlayer(&Case{}, r.Dir, s)
	if err := p.open(); err != nil {
		return nil, err
	}
	defer p.shut()
	for step, at := range r.Times {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if step > 0 {
			if err := r.Advance(step); err != nil {
				return nil, err
			}
			if p.host.Wake() {
				p.settle(ctx)
			}
		}
		p.now = at
		on, err := p.step(ctx, step, at.Sub(r.Times[0]))
		if err != nil {
			return nil, fmt.Errorf("reading %d: %w", step+1, err)
		}
		if !on {
			break
		}
	}
	return p.result, nil
}
