package call

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

func request(t *testing.T, ctx context.Context) *http.Request { //nolint:revive // t comes first in tests
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/p?q=secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestStateTravelsAsContext(t *testing.T) {
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
	s := New(WithOptions(parent, &Options{MaxAttempts: 7}), time.Now())
	child, stop := context.WithTimeout(s, time.Hour)
	defer stop()
	if From(child) != s || child.Value(key{}) != "v" || s.Options.MaxAttempts != 7 || From(parent) != nil {
		t.Error("the state or the caller's values are not found")
	}
	cancel()
	<-child.Done()
	if !errors.Is(s.Err(), context.Canceled) {
		t.Errorf("got %v", s.Err())
	}
	req := request(t, t.Context())
	with, st := Of(req)
	if with == req || From(req.Context()) != nil || From(with.Context()) != st || st.Options == nil {
		t.Error("a request without state got none, or the original has it")
	}
	if again, same := Of(with); again != with || same != st {
		t.Error("a second state")
	}
}

func TestAttemptsBesideEachOtherHaveTheirOwnRecords(t *testing.T) {
	s := New(t.Context(), time.Now())
	s.Begin(Try{N: 1, Of: 3})
	extra := WithTry(s, Try{N: 1, Of: 3, Hedge: true})
	s.Begin(Try{N: 2, Of: 3}) // the call went on while the extra leg still runs
	child, stop := context.WithCancel(extra)
	defer stop()
	if a, ok := TryOf(child); !ok || a.N != 1 || !a.Hedge {
		t.Errorf("the extra leg's record: %+v", a)
	}
	if a, ok := TryOf(s); !ok || a.N != 2 || a.Hedge {
		t.Errorf("the call's record: %+v", a)
	}
	if From(child) != s {
		t.Error("the extra leg lost its call")
	}
	if _, ok := TryOf(t.Context()); ok {
		t.Error("an attempt without a call")
	}
}

func TestLogIsSafeAndCopied(t *testing.T) {
	s := New(t.Context(), time.Now())
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			s.Begin(Try{N: i, Of: 10, Start: time.Now()})
			s.Record(Attempt{N: i})
			s.AddHop(&url.URL{Path: "/x"})
			s.SetStop("y")
			_, _ = TryOf(s)
			_ = s.RequestID() + s.Key("")
		})
	}
	wg.Wait()
	list := s.Attempts()
	list[0].Reason = "changed"
	if len(list) != 10 || s.Attempts()[0].Reason != "" || len(s.Hops()) != 10 || s.Stop() != "y" {
		t.Errorf("%d attempts, %d hops, %q", len(list), len(s.Hops()), s.Stop())
	}
	if id, key := s.RequestID(), s.Key(""); id != s.RequestID() || key != s.Key("") || s.Key("given") != "given" {
		t.Error("ids change")
	}
}

func TestRequestIDsAreUnique(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	// Hashes are quicker to keep than ids, and two equal ids have one hash. That two unlike ones
	// share it happens once in 30 million runs.
	seen, seed := make(map[uint64]struct{}, n), maphash.MakeSeed()
	for range n {
		seen[maphash.String(seed, randomHex())] = struct{}{} // what RequestID returns
	}
	if len(seen) != n {
		t.Errorf("%d ids of %d", len(seen), n)
	}
}

func TestEmit(t *testing.T) {
	s := New(WithOptions(t.Context(), &Options{Route: "GET /p"}), time.Now())
	if s.Observed() {
		t.Error("nobody listens")
	}
	var got Event
	s.Observers = []Func{func(ctx context.Context, e *Event) {
		got = *e
		if From(ctx) != s {
			t.Error("not the call's context")
		}
	}}
	s.Emit(request(t, s), &Event{Kind: KindStart, Err: errors.New("bad value secret")})
	if got.URL != "http://a.example/p?q=_" || got.Origin != "http://a.example" || got.Route != "GET /p" || got.Method != "GET" || got.ErrorText() != "bad value _" {
		t.Errorf("%+v", got)
	}
	s.Emit(nil, &Event{Kind: KindStop})
	if got.URL != "" || got.ErrorText() != "" {
		t.Errorf("%+v", got)
	}
}

func TestSentinels(t *testing.T) {
	for _, err := range []error{ErrAttemptTimeout, ErrTotalTimeout, ErrBodyIdle} {
		var netErr interface {
			Timeout() bool
			Temporary() bool
		}
		if wrapped := fmt.Errorf("x: %w", err); !errors.Is(wrapped, context.DeadlineExceeded) || !errors.As(wrapped, &netErr) || !netErr.Timeout() || !netErr.Temporary() || err.Error() == "" {
			t.Errorf("%v", err)
		}
	}
	if errors.Is(ErrAttemptTimeout, ErrTotalTimeout) {
		t.Error("one is the other")
	}
	if again, known := Retryable(fmt.Errorf("x: %w", Final("no"))); again || !known {
		t.Error("final is not")
	}
	if _, known := Retryable(errors.New("x")); known {
		t.Error("known")
	}
}

func TestCheck(t *testing.T) {
	var inner, c Check
	inner.Count("A", -1)
	inner.Ratio("B", math.NaN())
	inner.Ratio("B", -0.1)
	inner.Duration("C", -1)
	inner.Count("D", 0)
	inner.Ratio("E", 1)
	inner.Duration("F", 1)
	c.Join("X.", inner.Err())
	c.Join("Y.", nil)
	c.Join("Z.", errors.New("other"))
	want := "config X.A: got -1, want 0 for the default, or a positive number\n" +
		"config X.B: got NaN, want 0 for the default, or a ratio of at most 1\n" +
		"config X.B: got -0.1, want 0 for the default, or a ratio of at most 1\n" +
		"config X.C: got -1ns, want 0 for the default, or a positive duration\nother"
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if (&Check{}).Err() != nil {
		t.Error("an error out of nothing")
	}
}
