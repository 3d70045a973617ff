package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-kit/log"
	"github.com/prometheus/prometheus/model/labels"
)

// notice makes a notice from "firing Down a" or "firing Down a again".
func notice(text string) Notice {
	parts := strings.Fields(text)
	return Notice{
		Labels: labels.FromStrings("alertname", parts[1], "device", parts[2]),
		Status: Status(parts[0]), Repeated: len(parts) > 3,
	}
}

// far is a receiver behind a mailbox whose answers the test gives: the errors
// in turn, then none. It runs in a bubble of its own time.
type far struct {
	t       *testing.T
	box     *Mailbox
	errs    []error
	tries   []string // "0s: firing Down a, firing Down b"
	begin   time.Time
	settled int
	log     strings.Builder
}

func newFar(t *testing.T, repeats bool, errs ...error) *far {
	f := &far{t: t, errs: errs, begin: time.Now()}
	f.box = NewMailbox("far", repeats, log.NewLogfmtLogger(&f.log), func(_ context.Context, batch []Notice) error {
		var told []string
		for _, n := range batch {
			told = append(told, what(n))
		}
		f.tries = append(f.tries, fmt.Sprint(time.Since(f.begin), ": ", strings.Join(told, ", ")))
		if len(f.errs) == 0 {
			return nil
		}
		err := f.errs[0]
		f.errs = f.errs[1:]
		return err
	})
	return f
}

// run lets the mailbox work for some time.
func (f *far) run(how time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), how)
	defer cancel()
	f.box.Run(ctx, func() { f.settled++ })
}

func (f *far) offer(texts ...string) {
	for _, text := range texts {
		f.box.Offer(notice(text))
	}
}

func (f *far) want(tries ...string) {
	f.t.Helper()
	if !slices.Equal(f.tries, tries) {
		f.t.Errorf("tries\n%s\nwant\n%s", strings.Join(f.tries, "\n"), strings.Join(tries, "\n"))
	}
}

var errDown = errors.New("connection refused")

func TestMailbox(t *testing.T) {
	for _, c := range []struct {
		name    string
		repeats bool
		offered []string
		errs    []error
		want    []string
		counts  Counts
	}{
		{"what is offered is sent, in order", true,
			[]string{"firing Down b", "firing Down a"}, nil,
			[]string{"0s: firing Down b, firing Down a"}, Counts{Sent: 2}},
		{"a repetition goes to those who need it", true,
			[]string{"firing Down a again"}, nil, []string{"0s: firing Down a again"}, Counts{Sent: 1}},
		{"and not to others", false,
			[]string{"firing Down a again"}, nil, nil, Counts{}},
		{"of one alert the latest counts", true,
			[]string{"firing Down a", "firing Down b", "resolved Down a"}, nil,
			[]string{"0s: resolved Down a, firing Down b"}, Counts{Sent: 2}},
		{"a failure is tried again, less and less often", true,
			[]string{"firing Down a"}, []error{errDown, errDown, errDown},
			[]string{"0s: firing Down a", "1s: firing Down a", "3s: firing Down a", "7s: firing Down a"}, Counts{Sent: 1, Failed: 3}},
		{"what was refused is given up", true,
			[]string{"firing Down a"}, []error{fmt.Errorf("%w: bad label", errRefused)},
			[]string{"0s: firing Down a"}, Counts{Failed: 1, Dropped: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFar(t, c.repeats, c.errs...)
				f.offer(c.offered...)
				f.run(time.Hour)
				f.want(c.want...)
				if got := f.box.Counts(); got != c.counts {
					t.Errorf("counts %+v, want %+v", got, c.counts)
				}
			})
		})
	}
}

// A receiver that is away for an hour is told how things are when it returns.
func TestMailboxReceiverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFar(t, true)
		for range 80 { // every wait is a minute at last
			f.errs = append(f.errs, errDown)
		}
		f.offer("firing Down a", "firing Down b", "firing Loss c")
		go func() {
			time.Sleep(10 * time.Minute)
			f.offer("firing Down a again", "resolved Down b")
			time.Sleep(10 * time.Minute)
			f.offer("firing Slow d", "firing Down a again")
		}()
		f.run(3 * time.Hour)
		last := f.tries[len(f.tries)-1]
		_, told, _ := strings.Cut(last, ": ")
		all := strings.Split(told, ", ")
		slices.Sort(all)
		if got, want := strings.Join(all, ", "), "firing Down a again, firing Loss c, firing Slow d, resolved Down b"; got != want {
			t.Errorf("told in the end: %s\nwant %s", got, want)
		}
		if c := f.box.Counts(); c.Waiting != 0 || c.Dropped != 0 || c.Sent != 4 {
			t.Errorf("counts %+v", c)
		}
		if n := strings.Count(f.log.String(), "\n"); n != 2 || !strings.Contains(f.log.String(), "takes alerts again") {
			t.Errorf("want two lines of log, one for the failure and one for its end:\n%s", f.log.String())
		}
	})
}

// The waits grow to a minute and no further, and begin anew after a success.
func TestMailboxBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFar(t, true, errDown, errDown, errDown, errDown, errDown, errDown, errDown, errDown, nil, errDown)
		f.offer("firing Down a")
		go func() {
			time.Sleep(10 * time.Minute)
			f.offer("firing Down b")
		}()
		f.run(time.Hour)
		var at []string
		for _, try := range f.tries {
			when, _, _ := strings.Cut(try, ":")
			at = append(at, when)
		}
		if got, want := strings.Join(at, " "), "0s 1s 3s 7s 15s 31s 1m3s 2m3s 3m3s 10m0s 10m1s"; got != want {
			t.Errorf("tries at %s, want %s", got, want)
		}
	})
}

// What is being sent while something newer about the same alert is offered
// does not come back when it fails.
func TestMailboxNewerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var box *Mailbox
		box = NewMailbox("far", true, log.NewNopLogger(), func(_ context.Context, batch []Notice) error {
			told = append(told, what(batch[0]))
			if len(told) > 1 {
				return nil
			}
			box.Offer(notice("resolved Down a"))
			return errDown
		})
		box.Offer(notice("firing Down a"))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		box.Run(ctx, func() {})
		if got := strings.Join(told, ", "); got != "firing Down a, resolved Down a" {
			t.Errorf("told %s", got)
		}
	})
}

// The mailbox is bounded: the oldest notice makes room for a new one.
func TestMailboxBound(t *testing.T) {
	box := NewMailbox("far", true, log.NewNopLogger(), nil)
	for i := range maxWaiting + 7 {
		box.Offer(notice(fmt.Sprint("firing Down d", i)))
	}
	if c := box.Counts(); c.Waiting != maxWaiting || c.Dropped != 7 {
		t.Errorf("counts %+v, want %d waiting and 7 dropped", c, maxWaiting)
	}
	all := box.Waiting()
	if first, last := what(all[0]), what(all[len(all)-1]); first != "firing Down d7" || last != fmt.Sprint("firing Down d", maxWaiting+6) {
		t.Errorf("waiting from %s to %s", first, last)
	}
}

// Batches are small, and all of them arrive.
func TestMailboxBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		box := NewMailbox("far", true, log.NewNopLogger(), func(_ context.Context, batch []Notice) error {
			sizes = append(sizes, len(batch))
			return nil
		})
		for i := range 150 {
			box.Offer(notice(fmt.Sprint("firing Down d", i)))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		box.Run(ctx, func() {})
		if !slices.Equal(sizes, []int{64, 64, 22}) {
			t.Errorf("batches of %v", sizes)
		}
	})
}

// Offer returns at once while the receiver hangs, and what is being sent
// counts as waiting.
func TestMailboxOfferDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := NewMailbox("far", true, log.NewNopLogger(), func(ctx context.Context, _ []Notice) error {
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithCancel(context.Background())
		go box.Run(ctx, func() {})
		begin := time.Now()
		for _, device := range []string{"a", "b", "c"} {
			box.Offer(notice("firing Down " + device))
			synctest.Wait()
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("offering took %s", waited)
		}
		if c := box.Counts(); c.Waiting != 3 {
			t.Errorf("counts %+v, want 3 waiting", c)
		}
		cancel()
		time.Sleep(lastMoment)
		synctest.Wait()
		var left []string
		for _, n := range box.Waiting() {
			left = append(left, what(n))
		}
		if got := strings.Join(left, ", "); got != "firing Down a, firing Down b, firing Down c" {
			t.Errorf("left at the end: %s", got)
		}
	})
}

// The end of the program is no failure of the receiver. What is being sent has
// a moment to arrive, and counts as waiting if it does not.
func TestMailboxEnd(t *testing.T) {
	for name, c := range map[string]struct {
		takes   time.Duration
		settled int
		counts  Counts
	}{
		"arrives in time":        {1500 * time.Millisecond, 1, Counts{Sent: 1, Waiting: 1}},
		"does not arrive":        {time.Hour, 0, Counts{Waiting: 2}},
		"arrived before the end": {500 * time.Millisecond, 2, Counts{Sent: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFar(t, true)
				f.box.send = func(ctx context.Context, _ []Notice) error {
					select {
					case <-time.After(c.takes):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				f.offer("firing Down a")
				go func() {
					time.Sleep(100 * time.Millisecond)
					f.offer("firing Down b")
				}()
				f.run(time.Second)
				if got := f.box.Counts(); got != c.counts || f.settled != c.settled || f.log.String() != "" {
					t.Errorf("counts %+v, settled %d times, log %q", got, f.settled, f.log.String())
				}
				if ended := time.Since(f.begin); ended > 2*time.Second {
					t.Errorf("ended after %s", ended)
				}
			})
		})
	}
}

// Settled is called when notices have left, not when they stay.
func TestMailboxSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFar(t, true, errDown, nil, errRefused)
		f.offer("firing Down a")
		go func() {
			time.Sleep(time.Minute)
			f.offer("firing Down b")
		}()
		f.run(time.Hour)
		if f.settled != 2 {
			t.Errorf("settled %d times, want 2: one sent, one refused", f.settled)
		}
	})
}
