package render

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/internal/record"
)

// use renders for so long in a lane.
func (l *lane) use(ctx context.Context, d time.Duration) error {
	leave, err := l.enter(ctx)
	if err != nil {
		return err
	}
	<-time.After(d)
	leave()
	return nil
}

func TestABurstWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(4)
		var done sync.WaitGroup
		var running, most, refused atomic.Int32
		start := time.Now()
		for range 50 {
			done.Go(func() {
				leave, err := l.enter(t.Context())
				if err != nil {
					refused.Add(1)
					return
				}
				most.Store(max(most.Load(), running.Add(1)))
				<-time.After(100 * time.Millisecond)
				running.Add(-1)
				leave()
			})
		}
		done.Wait()
		if refused.Load() != 0 || most.Load() != 4 {
			t.Errorf("%d refused, %d at once, want none and 4", refused.Load(), most.Load())
		}
		if took := time.Since(start); took != 1300*time.Millisecond {
			t.Errorf("50 took %v, want 13 rounds", took)
		}
	})
}

func TestWhoWouldWaitTooLongIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(2)
		for range 100 { // the lane learns that a rendering takes a second
			if err := l.use(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		var done sync.WaitGroup
		var taken, refused atomic.Int32
		start := time.Now()
		for range 100 {
			done.Go(func() {
				before := time.Now()
				switch err := l.use(t.Context(), time.Second); {
				case err == nil:
					taken.Add(1)
				case !errors.Is(err, record.ErrOverload) || time.Since(before) != 0:
					t.Errorf("after %v: %v", time.Since(before), err)
				default:
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		if !l.full() {
			t.Error("who asks is not told that it is full")
		}
		done.Wait()
		if l.full() {
			t.Error("it is still full")
		}
		// Two run, and as many wait as are served within five seconds.
		if taken.Load() != 12 || refused.Load() != 88 || time.Since(start) != 6*time.Second {
			t.Errorf("%d taken, %d refused within %v", taken.Load(), refused.Load(), time.Since(start))
		}
		// Afterwards there is room again.
		if err := l.use(t.Context(), time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(1)
		leave, err := l.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if err := l.use(ctx, 0); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		leave() // held for three seconds
		for range 100 {
			if err := l.use(t.Context(), 3*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if leave, err = l.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer leave()
		short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start = time.Now()
		if err := l.use(short, 0); !errors.Is(err, record.ErrOverload) || time.Since(start) != 0 {
			t.Errorf("%v after %v, want a refusal at once: the deadline comes first", err, time.Since(start))
		}
	})
}
