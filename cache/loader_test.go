package cache

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestContextEndsOnlyItsOwnWait: a reader's context ends its own waiting and nothing else.
func TestContextEndsOnlyItsOwnWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type valueKey struct{}
		var calls atomic.Int64
		var seen any
		c := open(t, Options[string, string]{Load: func(ctx context.Context, _ string) (string, error) {
			calls.Add(1)
			seen = ctx.Value(valueKey{})
			select {
			case <-time.After(2 * time.Second):
				return "v", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}})

		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Get(ended, "k"); !errors.Is(err, context.Canceled) || calls.Load() != 0 {
			t.Fatalf("ended context: %v, %d loads", err, calls.Load())
		}

		// The first caller leaves, the second stays.
		first, cancel := context.WithTimeout(context.WithValue(t.Context(), valueKey{}, "trace"), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		start := time.Now()
		wg.Go(func() {
			if _, err := c.Get(first, "k"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("first: %v", err)
			}
			if d := time.Since(start); d != time.Second {
				t.Errorf("first left after %v", d)
			}
		})
		synctest.Wait()
		wg.Go(func() { want(t, c, "k", "v") })
		wg.Wait()
		if calls.Load() != 1 || seen != "trace" {
			t.Fatalf("%d loads, context value %v", calls.Load(), seen)
		}

		// All leave: the load goes on and fills the cache.
		alone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Get(alone, "k2"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		pass(time.Second)
		synctest.Wait()
		if v, ok := c.Peek("k2"); !ok || v != "v" {
			t.Fatal("the abandoned load did not fill the cache")
		}
	})
}

// TestOneLoadPerColdKey: 1 000 readers of a cold key, one load.
func TestOneLoadPerColdKey(t *testing.T) {
	for _, took := range []time.Duration{0, time.Second} {
		t.Run(took.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				c := open(t, Options[string, int]{MaxEntries: 10, Load: func(context.Context, string) (int, error) {
					if took > 0 {
						pass(took)
					}
					return int(calls.Add(1)), nil
				}})
				var wg sync.WaitGroup
				for range 1000 {
					wg.Go(func() { want(t, c, "k", 1) })
				}
				wg.Wait()
				if n := calls.Load(); n != 1 {
					t.Fatalf("%d loads", n)
				}
			})
		})
	}
}

// TestBrokenLoaderReleasesAllReaders: panic, Goexit and a loader that asks for itself release
// all waiters with an error that says so.
func TestBrokenLoaderReleasesAllReaders(t *testing.T) {
	boom := errors.New("boom")
	var c *Cache[string, string]
	for _, tc := range []struct {
		name string
		load func(ctx context.Context, k string) (string, error)
		is   error
		text string
	}{
		{"panic", func(context.Context, string) (string, error) { panic("with a value") }, nil, `cache load "k": loader panicked: with a value`},
		{"panic with an error", func(context.Context, string) (string, error) { panic(boom) }, boom, "loader panicked: boom"},
		{"Goexit", func(context.Context, string) (string, error) {
			runtime.Goexit()
			return "", nil
		}, errGoexit, ""},
		{"a nil pointer as an error", func(context.Context, string) (string, error) { return "", (*wrappedError)(nil) }, nil, `cache load "k": error of the loader panicked: runtime error`},
		{"own key", func(ctx context.Context, k string) (string, error) { return c.Get(ctx, k) }, errOwnKey, ""},
		{"own key by way of another", func(ctx context.Context, k string) (string, error) {
			if k == "k" {
				return c.Get(ctx, "other")
			}
			return c.Get(ctx, "k")
		}, errOwnKey, ""},
		{"own key after its removal", func(ctx context.Context, k string) (string, error) {
			if err := c.Delete(ctx, k); err != nil {
				return "", err
			}
			return c.Get(ctx, k)
		}, errOwnKey, ""},
		{"own key with a loader of the call", func(ctx context.Context, k string) (string, error) {
			return c.GetOrLoad(ctx, k, func(context.Context, string) (string, error) { return "", nil })
		}, errOwnKey, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				c = open(t, Options[string, string]{Load: func(ctx context.Context, k string) (string, error) {
					pass(time.Second)
					return tc.load(ctx, k)
				}, Logger: textLogger(&log)})
				var wg sync.WaitGroup
				for range 100 {
					wg.Go(func() {
						_, err := c.Get(t.Context(), "k")
						e, ok := errors.AsType[*LoadError](err)
						if !ok || e.Key != "k" || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.text) {
							t.Errorf("error %v", err)
						}
					})
				}
				wg.Wait()
				synctest.Wait() // the goroutine of the load ends after its readers are released
				if s := c.Stats(); s.Loading != 0 || s.LoadFailures == 0 && s.Overtaken == 0 {
					t.Errorf("stats %+v", s)
				}
				if strings.HasPrefix(tc.name, "panic") && !strings.Contains(log.String(), "loader_test.go") {
					t.Errorf("the log does not tell where it panicked: %s", log.String())
				}
			})
		})
	}
}

// wrappedError is an error as many are. A loader that returns a nil pointer to it has failed, and
// says so with an error that panics when it is asked for more.
type wrappedError struct{ err error }

func (e *wrappedError) Error() string { return e.err.Error() }

func (e *wrappedError) Unwrap() error { return e.err }

// TestBrokenCodecFailsItsKeyAlone: one whose errors panic when they are asked for more, one of keys
// that panics, and so a loader for many keys.
func TestBrokenCodecFailsItsKeyAlone(t *testing.T) {
	h := NewHub()
	o := Options[string, string]{Name: "n", Remote: h, Bus: h, Codec: failingCodec{}}
	c := open(t, o)
	load := func(context.Context, string) (string, error) { return "v", nil }
	_, err := c.GetOrLoad(t.Context(), "k", load)
	if e, ok := errors.AsType[*LoadError](err); !ok || !strings.Contains(err.Error(), "error of the codec panicked") {
		t.Errorf("a load that cannot be encoded: %v, %v", e, err)
	}
	if err := c.Set(t.Context(), "k", "v"); err == nil || !strings.Contains(err.Error(), "error of the codec panicked") {
		t.Errorf("a value that cannot be encoded: %v", err)
	}
	p := open(t, Options[string, string]{Name: "p", Remote: h, Bus: h, Codec: textCodec{}, Keys: panickingKeys{}})
	for what, read := range map[string]func() error{
		"Get":     func() error { _, err := p.Get(t.Context(), "k"); return err },
		"GetMany": func() error { _, err := p.GetMany(t.Context(), []string{"k", "l"}, nil); return err },
	} {
		if err := read(); err == nil || !strings.Contains(err.Error(), "codec of keys panicked") {
			t.Errorf("%s of a key without text: %v", what, err)
		}
	}
	if _, err := p.parse("k"); err == nil {
		t.Error("a text without key was taken")
	}
	keys := []string{"a", "b", "c"}
	_, err = c.GetMany(t.Context(), keys, func(context.Context, []string) (map[string]string, error) {
		return nil, (*wrappedError)(nil)
	})
	if e, ok := errors.AsType[*PartialError[string]](err); !ok || len(e.Errors) != len(keys) {
		t.Errorf("many keys: %v", err)
	}
}

// panickingKeys is a codec of keys that panics.
type panickingKeys struct{}

func (panickingKeys) Format(string) string { panic("no text") }

func (panickingKeys) Parse(string) (string, error) { panic("no key") }

// failingCodec fails with an error that panics when it is asked for more.
type failingCodec struct{}

func (failingCodec) ID() byte { return 33 }

func (failingCodec) Append([]byte, string) ([]byte, error) { return nil, (*wrappedError)(nil) }

func (failingCodec) Decode([]byte) (string, int, error) { return "", 0, (*wrappedError)(nil) }

// TestLoaderContextOutlivesLoad: a context that a loader leaves behind is an
// ordinary one once the load has ended.
func TestLoaderContextOutlivesLoad(t *testing.T) {
	var kept context.Context
	c := open(t, Options[string, string]{Load: func(ctx context.Context, _ string) (string, error) {
		kept = context.WithoutCancel(ctx)
		return "v", nil
	}})
	want(t, c, "k", "v")
	if err := c.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Get(kept, "k"); err != nil || v != "v" {
		t.Fatalf("%q, %v", v, err)
	}
}

// TestOriginDownIsAskedOncePerBackoff: with the origin failing all the time no read fails within
// hard life, and the origin is asked once per back-off and key.
func TestOriginDownIsAskedOncePerBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		start := time.Now()
		c := open(t, Options[string, string]{
			Load: func(context.Context, string) (string, error) {
				asked = append(asked, time.Since(start))
				return "", errOrigin
			},
			Policy: plain(Policy{TTL: 10 * time.Second, StaleIfError: 110 * time.Second, StaleWhileRevalidate: 20 * time.Second, ErrorBackoffMin: time.Second, ErrorBackoffMax: 16 * time.Second}),
		})
		set(t, c, "k", "v")
		for time.Since(start) < 120*time.Second {
			want(t, c, "k", "v")
			synctest.Wait()
			pass(250 * time.Millisecond)
		}
		var pauses []time.Duration
		for i := 1; i < len(asked); i++ {
			pauses = append(pauses, (asked[i] - asked[i-1]).Round(time.Second))
		}
		s := time.Second
		if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 16 * s, 16 * s, 16 * s, 16 * s}; asked[0] != 10*s || !slices.Equal(pauses, want) {
			t.Fatalf("asked at %v", asked)
		}
		// Hard life over: errors, and still not more than once per back-off.
		wantErr(t, c, "k", errOrigin)
		n := len(asked)
		for range 100 {
			wantErr(t, c, "k", errOrigin)
		}
		if len(asked) != n {
			t.Fatalf("asked %d times more within the back-off", len(asked)-n)
		}
	})
}

// TestBackoffDoublesWithoutValue: a key that never had a value backs off in
// the same way.
func TestBackoffDoublesWithoutValue(t *testing.T) {
	h := newManualClock()
	calls := 0
	c := open(t, Options[string, string]{clock: h.clock(), Policy: plain(Policy{}), Load: func(context.Context, string) (string, error) {
		calls++
		return "", errOrigin
	}})
	back := 100 * time.Millisecond
	for i := range 12 {
		wantErr(t, c, "k", errOrigin)
		h.advance(back - 1)
		wantErr(t, c, "k", errOrigin)
		if calls != i+1 {
			t.Fatalf("%d calls in back-off %d", calls, i)
		}
		h.advance(1)
		back = min(2*back, 30*time.Second)
	}
	set(t, c, "k", "v") // a value ends it
	want(t, c, "k", "v")
}

// spelled is a key whose text is the business of the program.
type spelled struct{ text func() string }

func (s *spelled) String() string { return s.text() }

// TestKeyTextMayUseTheCache: the text of a key, asked for to make an error, may
// come from the very cache that makes the error.
func TestKeyTextMayUseTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Options[*spelled, string]{Load: func(context.Context, *spelled) (string, error) { return "", errOrigin }})
		k := &spelled{}
		k.text = func() string {
			// The log asks too, perhaps when the test has ended already.
			if err := c.Delete(context.WithoutCancel(t.Context()), k); err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			return "a name"
		}
		_, err := c.Get(t.Context(), k)
		if e, ok := errors.AsType[*LoadError](err); !ok || e.Key != "a name" {
			t.Errorf("error %v", err)
		}
	})
}
