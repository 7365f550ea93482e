package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// TestCloseLeavesNoGoroutine leaves no goroutine, and nothing works afterwards.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	c, err := New(Options[string, string]{Load: func(context.Context, string) (string, error) { return "v", nil }})
	if err != nil {
		t.Fatal(err)
	}
	want(t, c, "k", "v")
	set(t, c, "k2", "v")
	for range 3 {
		shut(t, c)
	}
	if _, ok := c.Peek("k"); ok {
		t.Error("peek after close")
	}
	if _, ok := PeekBytes(c, []byte("k")); ok {
		t.Error("peek after close")
	}
	wantErr(t, c, "k", ErrClosed)
	wantErr(t, c, "other", ErrClosed)
	_, swErr := c.SetWith(t.Context(), "k", "v", WriteOptions{})
	_, golErr := c.GetOrLoad(t.Context(), "k", nil)
	for i, err := range []error{c.Set(t.Context(), "k", "v"), swErr, golErr, c.Delete(t.Context(), "k"), c.Clear(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("call %d after close: %v", i, err)
		}
	}
	if s := c.Stats(); s.Entries != 0 || s.Hits+s.Misses != 1 {
		t.Errorf("stats after close: %+v", s)
	}
}

// TestCloseWaitsForLoads: for running loads, whose readers get their results, as
// long as its context allows; then the loads are cut.
func TestCloseWaitsForLoads(t *testing.T) {
	for _, patience := range []time.Duration{time.Minute, time.Second} {
		t.Run(patience.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := New(Options[string, string]{clock: bubbleClock(), Load: func(ctx context.Context, _ string) (string, error) {
					select {
					case <-time.After(5 * time.Second):
						return "v", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}})
				if err != nil {
					t.Fatal(err)
				}
				patient := patience > 5*time.Second
				var wg sync.WaitGroup
				wg.Go(func() {
					v, err := c.Get(t.Context(), "k")
					if patient && (err != nil || v != "v") || !patient && !errors.Is(err, ErrClosed) {
						t.Errorf("reader: %q, %v", v, err)
					}
				})
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				start := time.Now()
				err = c.Close(ctx)
				if d := time.Since(start); patient && (err != nil || d != 5*time.Second) || !patient && (!errors.Is(err, context.DeadlineExceeded) || d != time.Second) {
					t.Errorf("close: %v after %v", err, d)
				}
				wg.Wait()
				shut(t, c)
			})
		})
	}
}
