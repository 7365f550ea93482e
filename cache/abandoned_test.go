package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestHangingLoadersDoNotBlockOtherKeys: loaders that ignore their context give their places back
// at LoadTimeout, and at most two of one key run, however often it is read.
func TestHangingLoadersDoNotBlockOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		var calls atomic.Int64
		c := open(t, Options[string, string]{
			MaxLoads: 4,
			Load: func(_ context.Context, k string) (string, error) {
				if k != "good" {
					calls.Add(1)
					<-free
				}
				return "v", nil
			},
			Policy: plain(Policy{LoadTimeout: time.Second, ErrorBackoffMin: -1}),
		})
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { wantErr(t, c, fmt.Sprint("hangs", i), context.DeadlineExceeded) })
		}
		synctest.Wait()
		if s := c.Stats(); s.Loading != 4 || s.Abandoned != 0 {
			t.Fatalf("before the timeout: %+v", s)
		}
		wg.Wait()
		synctest.Wait()
		if s := c.Stats(); s.Loading != 0 || s.Abandoned != 4 {
			t.Fatalf("after the timeout: %+v", s)
		}
		want(t, c, "good", "v")

		wantErr(t, c, "hangs0", context.DeadlineExceeded)
		for range 100 {
			start := time.Now()
			wantErr(t, c, "hangs0", errAbandoned)
			if d := time.Since(start); d != 0 {
				t.Fatalf("a read that cannot be answered waited %v", d)
			}
		}
		if n := calls.Load(); n != 5 {
			t.Fatalf("%d loaders were called for 4 keys, want 4 and a second one of a key", n)
		}

		close(free)
		synctest.Wait()
		if s := c.Stats(); s.Loading != 0 || s.Abandoned != 0 {
			t.Fatalf("after the loaders returned: %+v", s)
		}
		want(t, c, "hangs0", "v")
		settled(c)
		for i := range c.shards {
			s := &c.shards[i]
			s.mu.Lock()
			if n := len(s.runs); n != 0 {
				t.Errorf("%d keys are still counted as running", n)
			}
			s.mu.Unlock()
		}
	})
}

// TestOvertakenLoadersOfOneKeyAreBounded: reads between writes begin loads of their own, but no
// more than two loaders of the key run; the third read waits for one of them.
func TestOvertakenLoadersOfOneKeyAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // of running and most
		var running, most int
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
		}
		var calls atomic.Int64
		c := open(t, Options[string, int]{MaxEntries: 10, Load: func(context.Context, string) (int, error) {
			count(1)
			defer count(-1)
			pass(time.Second)
			return int(calls.Add(1)), nil
		}})
		var wg sync.WaitGroup
		start := time.Now()
		for i := range 5 {
			wg.Go(func() {
				if _, err := c.Get(t.Context(), "k"); err != nil {
					t.Errorf("read %d: %v", i, err)
				}
			})
			synctest.Wait()
			if err := c.Delete(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
		}
		wg.Wait()
		if d := time.Since(start); most != 2 || calls.Load() != 5 || d != 3*time.Second {
			t.Fatalf("%d loaders, at most %d at a time, in %v; want 5, 2 and 3s", calls.Load(), most, d)
		}
	})
}

// TestLoaderCanceledIsNotCallerCanceled: context.Canceled is the end of the reader's own context
// and nothing else; what else the loader's error is stays visible.
func TestLoaderCanceledIsNotCallerCanceled(t *testing.T) {
	cause := &fs.PathError{Op: "read", Path: "origin", Err: context.Canceled}
	for name, load := range map[string]loader[string, string]{
		"returned": func(context.Context, string) (string, error) { return "", errors.Join(errOrigin, cause) },
		"panicked": func(context.Context, string) (string, error) { panic(errors.Join(errOrigin, cause)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, Options[string, string]{Load: load})
			for range 2 { // from the load, then from what is remembered of it
				_, err := c.Get(t.Context(), "k")
				if _, ok := errors.AsType[*LoadError](err); !ok || errors.Is(err, context.Canceled) {
					t.Errorf("error %v looks as if the caller had cancelled", err)
				}
				if e, ok := errors.AsType[*fs.PathError](err); !ok || e != cause || !errors.Is(err, errOrigin) {
					t.Errorf("the cause is lost: %v", err)
				}
			}
		})
	}
}

// TestBubbleTimeMovesTheCache: as the package comment says, a cache with its ordinary clock lives
// by the time of a synctest bubble.
func TestBubbleTimeMovesTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options[string, string]{Policy: Policy{TTL: time.Hour, Jitter: -1}})
		if err != nil {
			t.Fatal(err)
		}
		defer shut(t, c)
		set(t, c, "k", "v")
		pass(time.Hour - 2*clockTick)
		want(t, c, "k", "v")
		pass(3 * clockTick)
		wantErr(t, c, "k", ErrNotFound)
	})
}
