package limit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pass(d time.Duration) { <-time.After(d) }

func gcra(t *testing.T, r Rate, burst int) *GCRA {
	t.Helper()
	g, err := NewGCRA(r, burst)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRateIsExactOverAnHour(t *testing.T) {
	for _, c := range []struct {
		rate  Rate
		burst int
		want  int // within an hour, the burst included
	}{
		{Rate{10, time.Second}, 1, 36_001},
		{Rate{10, time.Second}, 10, 36_010},
		{Rate{1, time.Minute}, 5, 65},
		{Rate{100, time.Hour}, 1, 101},
	} {
		g, start := gcra(t, c.rate, c.burst), time.Now()
		n := 0
		for at := time.Duration(0); at <= time.Hour; at += 10 * time.Millisecond {
			for g.AllowN(start.Add(at), 1) {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%v, burst %d: %d in an hour, want %d", c.rate, c.burst, n, c.want)
		}
	}
}

func TestClockThatStepsBackGrantsNothing(t *testing.T) {
	g, now := gcra(t, Rate{1, time.Second}, 2), time.Now()
	if !g.AllowN(now, 2) || g.AllowN(now.Add(-time.Hour), 1) || g.AllowN(now, 1) || !g.AllowN(now.Add(time.Second), 1) {
		t.Error("the clock's way changed what is admitted")
	}
}

func TestMoreThanABurstNeverFits(t *testing.T) {
	g, now := gcra(t, Rate{1, time.Second}, 3), time.Now()
	if _, ok := g.ReserveN(now, 4); ok || g.AllowN(now, -1) || !g.AllowN(now, 0) || g.AllowN(now, 4) || !g.AllowN(now, 3) {
		t.Error("what fits is another")
	}
	if w, ok := g.ReserveN(now, 2); !ok || w < 1900*time.Millisecond || w > 2*time.Second {
		t.Errorf("%v %t", w, ok)
	}
}

func TestSetRateKeepsTheDebt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gcra(t, Rate{1, time.Second}, 10)
		for range 10 {
			g.Allow()
		}
		if err := g.SetRate(Rate{10, time.Second}, 10); err != nil {
			t.Fatal(err)
		}
		if g.Allow() || g.Stats().Available != 0 {
			t.Errorf("the debt is forgotten: %+v", g.Stats())
		}
		pass(500 * time.Millisecond)
		if s := g.Stats(); s.Available != 5 || s.Rate.Events != 10 || s.Denied != 1 {
			t.Errorf("%+v", s)
		}
		if g.SetRate(Rate{}, 1) == nil {
			t.Error("a rate that is none")
		}
	})
}

func TestWaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gcra(t, Rate{1, time.Second}, 1)
		start := time.Now()
		var order []int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if err := g.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				if at := time.Since(start); at != time.Duration(i)*time.Second {
					t.Errorf("%d came after %v", i, at)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		for i, v := range order {
			if i != v {
				t.Fatalf("order %v", order)
			}
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gcra(t, Rate{1, time.Hour}, 1)
		g.Allow()
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		if err := g.Wait(ctx); !errors.Is(err, context.Canceled) || time.Since(start) > time.Second+time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		pass(time.Hour - time.Second)
		if !g.Allow() {
			t.Error("the place of one who left is not given back")
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start = time.Now()
		if err := g.Wait(ctx); !errors.Is(err, ErrRateLimited) || time.Since(start) != 0 {
			t.Errorf("a wait that cannot end in time was begun: %v after %v", err, time.Since(start))
		}
	})
}

// Who leaves may give back nothing but a place of its own, which the arrival time alone does not
// tell: at another rate it may be that of others who have come since.
func TestWhoLeavesGivesBackNobodyElsesPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gcra(t, Rate{10, time.Second}, 1)
		g.Allow()
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- g.Wait(ctx) }() // its turn is after 100 ms, and the arrival time 200 ms from now
		synctest.Wait()
		if err := g.SetRate(Rate{20, time.Second}, 1); err != nil { // the arrival time is 100 ms from now
			t.Fatal(err)
		}
		start, turns := time.Now(), make(chan time.Duration, 3)
		wait := func() {
			if err := g.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			turns <- time.Since(start)
		}
		for range 2 { // the second makes the arrival time 200 ms from now
			go wait()
			synctest.Wait()
		}
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		go wait()
		for _, want := range []time.Duration{100, 150, 200} {
			if at := <-turns; at != want*time.Millisecond {
				t.Errorf("a turn after %v, want %d ms", at, want)
			}
		}
	})
}

func TestPlacesAreGivenBackByTheirOwners(t *testing.T) {
	g, now := gcra(t, Rate{1, time.Second}, 1), time.Now()
	s := g.set.Load()
	first, _, _ := g.reserve(now, 1, time.Hour)
	second, _, _ := g.reserve(now, 1, time.Hour)
	if g.giveBack(first, s); g.due.Load() != second {
		t.Error("the first, whom another has come behind, moved that one")
	}
	if g.giveBack(second, s); g.due.Load() != first {
		t.Error("the second's place is not given back")
	}
}

// Callers who come at one moment, of whom some leave: no two of the others are let in closer
// together than the rate says.
func TestWaitersWhoLeaveDoNotMoveOthers(t *testing.T) {
	for range 300 {
		synctest.Test(t, func(t *testing.T) {
			g := gcra(t, Rate{10, time.Second}, 1)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel)
			turns := make(chan time.Time, 24)
			var wg sync.WaitGroup
			for i := range cap(turns) {
				wg.Go(func() {
					if i >= cap(turns)/2 {
						if i%2 == 0 {
							pass(2 * time.Millisecond) // behind those who have left
						}
						if g.Wait(t.Context()) == nil {
							turns <- time.Now()
						}
						return
					}
					if g.Wait(ctx) == nil {
						turns <- time.Now()
					}
				})
			}
			wg.Wait()
			close(turns)
			var last time.Time
			for at := range turns {
				if d := at.Sub(last); d < 100*time.Millisecond {
					t.Fatalf("two within %v", d)
				}
				last = at
			}
		})
	}
}

func TestLimiterUnderConcurrentUse(t *testing.T) {
	g, now := gcra(t, Rate{1000, time.Second}, 1000), time.Now().Add(time.Second)
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5000 {
				if g.AllowN(now, 1) {
					admitted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := admitted.Load(); n != 1000 {
		t.Errorf("%d of a burst of 1000", n)
	}
}

func send(ctx context.Context, t *testing.T, rt http.RoundTripper, address string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		t.Error(cerr)
	}
	return err
}

func keyedOver(t *testing.T, c KeyedConfig, next http.RoundTripper) (*Keyed, http.RoundTripper) {
	t.Helper()
	k, err := NewKeyed(c)
	if err != nil {
		t.Fatal(err)
	}
	return k, k.Layer(next)
}

func TestKeysHaveTheirOwnRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		two := Rule{Rate: Rate{1, time.Hour}, Burst: 2}
		for _, c := range []struct {
			name  string
			cfg   KeyedConfig
			route bool
			want  []int // admitted of 5 each to http://a/x, http://a/y, http://b/x
		}{
			{"host, by default", KeyedConfig{Default: two}, false, []int{2, 0, 2}},
			{"one for all", KeyedConfig{Default: two, Key: Global}, false, []int{2, 0, 0}},
			{"route", KeyedConfig{Default: two, Key: ByRoute}, true, []int{2, 2, 0}},
			{"host and route", KeyedConfig{Default: two, Key: ByHostRoute}, true, []int{2, 2, 2}},
			{"a function", KeyedConfig{Default: two, Key: func(r *http.Request) string { return r.URL.Path }}, false, []int{2, 2, 0}},
			{"a rule", KeyedConfig{Default: two, Rules: map[string]Rule{"http://a": {Rate: Rate{1, time.Hour}, Burst: 4}}}, false, []int{4, 0, 2}},
			{"no default", KeyedConfig{Rules: map[string]Rule{"http://b": two}}, false, []int{5, 5, 2}},
		} {
			k, rt := keyedOver(t, c.cfg, fetchtest.Script())
			rejected := 0
			for i, address := range []string{"http://a/x", "http://a/y", "http://b/x"} {
				o := call.Options{}
				if c.route {
					o.Route = "GET " + address[len("http://a"):]
				}
				n := 0
				for range 5 {
					err := send(call.WithOptions(t.Context(), &o), t, rt, address)
					if err == nil {
						n++
					} else if !errors.Is(err, ErrRateLimited) {
						t.Error(err)
					} else {
						rejected++
					}
				}
				if n != c.want[i] {
					t.Errorf("%s: %d admitted to %s, want %d", c.name, n, address, c.want[i])
				}
			}
			if int(k.Rejected()) != rejected {
				t.Errorf("%s: %d counted, %d refused", c.name, k.Rejected(), rejected)
			}
		}
	})
}

func TestRefusalSaysWhenItIsWorthAnotherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, rt := keyedOver(t, KeyedConfig{Default: Rule{Rate: Rate{1, 10 * time.Second}}}, fetchtest.Script())
		_ = send(t.Context(), t, rt, "http://a/")
		pass(3 * time.Second)
		err := send(t.Context(), t, rt, "http://a/")
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.RetryIn != 7*time.Second || refused.Key != "http://a" || err.Error() != "rate limited, free in 7s" {
			t.Errorf("%v", err)
		}
		if again, known := call.Retryable(err); again || !known || refused.Reason() != "rate limited" {
			t.Error("the retry layer would repeat it")
		}
	})
}

func TestCallersKeyComesFirst(t *testing.T) {
	_, rt := keyedOver(t, KeyedConfig{Default: Rule{Rate: Rate{1, time.Hour}}}, fetchtest.Script())
	for _, key := range []string{"", "mine", "other"} {
		if err := send(call.WithOptions(t.Context(), &call.Options{LimitKey: key}), t, rt, "http://a/"); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	if err := send(call.New(call.WithOptions(t.Context(), &call.Options{Off: call.OffLimit}), time.Now()), t, rt, "http://a/"); err != nil {
		t.Errorf("switched off: %v", err)
	}
	if err := send(t.Context(), t, rt, "http://a/"); !errors.Is(err, ErrRateLimited) {
		t.Error(err)
	}
}

func TestWaitingInsteadOfRefusing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, rt := keyedOver(t, KeyedConfig{Default: Rule{Rate: Rate{1, time.Second}}, MaxWait: 3 * time.Second}, fetchtest.Script())
		start := time.Now()
		for range 4 {
			if err := send(t.Context(), t, rt, "http://a/"); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 3*time.Second || k.Waited() != 3*time.Second {
			t.Errorf("it took %v, %v are counted", took, k.Waited())
		}
		for range 3 { // three wait one, two and three seconds
			go func() { _ = send(t.Context(), t, rt, "http://a/") }()
			synctest.Wait()
		}
		start = time.Now()
		if err := send(t.Context(), t, rt, "http://a/"); !errors.Is(err, ErrRateLimited) || time.Since(start) != 0 {
			t.Errorf("longer than MaxWait: %v after %v", err, time.Since(start))
		}
		st := call.New(t.Context(), time.Now())
		st.End = time.Now().Add(time.Second)
		if err := send(st, t, rt, "http://a/"); !errors.Is(err, ErrRateLimited) || time.Since(start) != 0 {
			t.Errorf("past the deadline: %v after %v", err, time.Since(start))
		}
		pass(5 * time.Second)
	})
}

type theirs struct{ allow bool }

func (l *theirs) Allow() bool { return l.allow }

type waiting struct{ theirs }

func (l *waiting) Wait(ctx context.Context) error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestLimitersOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			l    Allower
			wait time.Duration
			took time.Duration
			want error
		}{
			{&theirs{true}, 0, 0, nil},
			{&theirs{false}, time.Minute, 0, ErrRateLimited},
			{&waiting{}, 0, 0, ErrRateLimited},
			{&waiting{}, time.Minute, time.Second, nil},
			{&waiting{}, time.Millisecond, time.Millisecond, ErrRateLimited},
		} {
			k, rt := keyedOver(t, KeyedConfig{Default: Rule{Limiter: c.l}, MaxWait: c.wait}, fetchtest.Script())
			start := time.Now()
			if err := send(t.Context(), t, rt, "http://a/"); !errors.Is(err, c.want) || time.Since(start) != c.took {
				t.Errorf("%T, %v: %v after %v", c.l, c.wait, err, time.Since(start))
			}
			if changed, err := k.SetRate("http://a", Rate{1, time.Second}, 1); changed || err != nil {
				t.Error("the rate of a limiter of others was set")
			}
		}
	})
}

func TestKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, _ := keyedOver(t, KeyedConfig{Default: Rule{Rate: Rate{1, time.Second}}, MaxKeys: 10}, fetchtest.Script())
		for n := range 1000 {
			k.AllowN(time.Now(), fmt.Sprint(n), 1)
		}
		if k.Len() > 10 {
			t.Errorf("%d keys", k.Len())
		}
		if changed, err := k.SetRate("new", Rate{5, time.Second}, 5); !changed || err != nil || !k.AllowN(time.Now(), "new", 5) {
			t.Error("a key's rate was not set")
		}
	})
}

func bulkhead(t *testing.T, c BulkheadConfig, next http.RoundTripper) (*Bulkhead, http.RoundTripper) {
	t.Helper()
	b, err := NewBulkhead(c)
	if err != nil {
		t.Fatal(err)
	}
	return b, b.Layer(next)
}

func TestBulkheadHoldsItsBoundToTheEndOfBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Body("ab").Drip(1, time.Second))
		b, rt := bulkhead(t, BulkheadConfig{Max: 2, Queue: 2}, tr)
		var refused atomic.Int64
		start := time.Now()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if err := send(t.Context(), t, rt, "http://a/"); errors.Is(err, ErrOverloaded) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if _, n, w := b.State("http://a"); n != 2 || w != 2 {
			t.Errorf("%d in flight, %d wait", n, w)
		}
		if err := send(t.Context(), t, rt, "http://b/"); err != nil {
			t.Errorf("another host: %v", err)
		}
		wg.Wait()
		if _, n, w := b.State("http://a"); refused.Load() != 1 || b.Rejected() != 1 || n != 0 || w != 0 || time.Since(start) != 2*time.Second {
			t.Errorf("%d refused, %d in flight, %d wait, %v", refused.Load(), n, w, time.Since(start))
		}
		tr.AssertClosed(t)
	})
}

func TestQueueIsLeftWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, rt := bulkhead(t, BulkheadConfig{Max: 1, Queue: 5, MaxWait: time.Minute}, fetchtest.Script(fetchtest.Step{}.Delay(time.Hour)))
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = send(ctx, t, rt, "http://a/") }()
		synctest.Wait()
		for _, c := range []struct {
			make func() (context.Context, context.CancelFunc)
			want error
			took time.Duration
		}{
			{func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Second) }, context.DeadlineExceeded, time.Second},
			{func() (context.Context, context.CancelFunc) { return t.Context(), func() {} }, ErrOverloaded, time.Minute},
			{func() (context.Context, context.CancelFunc) {
				st := call.New(t.Context(), time.Now())
				st.End = time.Now().Add(5 * time.Second)
				return st, func() {}
			}, ErrOverloaded, 5 * time.Second},
		} {
			ctx, cancel := c.make()
			start := time.Now()
			if err := send(ctx, t, rt, "http://a/"); !errors.Is(err, c.want) || time.Since(start) != c.took {
				t.Errorf("%v after %v, want %v after %v", err, time.Since(start), c.want, c.took)
			}
			cancel()
		}
		if _, n, w := b.State("http://a"); n != 1 || w != 0 {
			t.Errorf("%d in flight, %d wait", n, w)
		}
		stop()
		synctest.Wait()
	})
}

func TestPanicBelowGivesThePlaceBack(t *testing.T) {
	b, rt := bulkhead(t, BulkheadConfig{Max: 1}, exploding{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = send(t.Context(), t, rt, "http://a/")
	}()
	if _, n, _ := b.State("http://a"); n != 0 {
		t.Errorf("%d in flight", n)
	}
}

type exploding struct{}

func (exploding) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

// server takes so many requests at once, a second each, and refuses what is more.
type server struct {
	capacity atomic.Int64
	inside   atomic.Int64
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	n := s.inside.Add(1)
	defer s.inside.Add(-1)
	resp := &http.Response{StatusCode: 200, Body: http.NoBody, Request: req, Header: http.Header{}}
	if n > s.capacity.Load() {
		pass(10 * time.Millisecond)
		resp.StatusCode = 503
		return resp, nil
	}
	select {
	case <-time.After(time.Second + time.Duration(rand.Int64N(int64(200*time.Millisecond)))): //nolint:gosec // load, not secrecy
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

func TestAdaptiveBoundFollowsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.capacity.Store(10)
		b, err := NewAdaptive(AdaptiveConfig{Min: 2, Queue: 100, MaxWait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		rt := b.Layer(s)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_ = send(t.Context(), t, rt, "http://a/")
					}
				}
			})
		}
		limit := func() float64 { l, _, _ := b.State("http://a"); return l }
		pass(60 * time.Second)
		for range 60 {
			pass(time.Second)
			if l := limit(); l < 8 || l > 14 {
				t.Errorf("the bound is %.1f, the capacity 10", l)
			}
		}
		s.capacity.Store(0)
		pass(2 * time.Minute)
		if l := limit(); l < 2 || l > 3 {
			t.Errorf("in an outage the bound is %.1f, its minimum 2", l)
		}
		s.capacity.Store(10)
		pass(3 * time.Minute)
		if l := limit(); l < 8 || l > 14 {
			t.Errorf("after it the bound is %.1f", l)
		}
		close(stop)
		wg.Wait()
		before := limit()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		for range 50 {
			_ = send(ctx, t, rt, "http://a/")
		}
		if l := limit(); l != before {
			t.Errorf("cancelled calls moved it from %.1f to %.1f", before, l)
		}
	})
}

func TestConfigsAreRefused(t *testing.T) {
	var typed *theirs
	for _, c := range []struct {
		want string
		err  error
	}{
		{"Rate.Events", func() error { _, err := NewGCRA(Rate{0, time.Second}, 1); return err }()},
		{"Rate.Per", func() error { _, err := NewGCRA(Rate{1, 0}, 1); return err }()},
		{"Rate:", func() error { _, err := NewGCRA(Rate{10, time.Nanosecond}, 1); return err }()},
		{"Burst", func() error { _, err := NewGCRA(Rate{1, time.Second}, -1); return err }()},
		{"Default.Rate.Per", KeyedConfig{Default: Rule{Rate: Rate{Events: 1}}}.Validate()},
		{"Default.Rate.Events", KeyedConfig{Default: Rule{Burst: 1}}.Validate()},
		{"Default.Limiter", KeyedConfig{Default: Rule{Limiter: typed}}.Validate()},
		{`Rules["x"].Rate.Events`, KeyedConfig{Rules: map[string]Rule{"x": {}}}.Validate()},
		{"MaxWait", KeyedConfig{MaxWait: -1}.Validate()},
		{"Max:", BulkheadConfig{}.Validate()},
		{"Queue", BulkheadConfig{Max: 1, Queue: -1}.Validate()},
		{"Backoff", AdaptiveConfig{Backoff: 1}.Validate()},
		{"Initial", AdaptiveConfig{Min: 5, Max: 10, Initial: 3}.Validate()},
		{"Initial", AdaptiveConfig{Min: 5, Max: 4}.Validate()},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), "config "+c.want) {
			t.Errorf("%s: %v", c.want, c.err)
		}
	}
	if err := (AdaptiveConfig{Min: 50}).Validate(); err != nil {
		t.Error(err)
	}
}

// A goroutine that does not run for a while after it has read the clock is behind those that did. A
// full bucket has room for it all the same.
func TestWhoIsHeldUpIsNotRefused(t *testing.T) {
	g, err := NewGCRA(Rate{1, time.Millisecond}, 10)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	late := now.Add(time.Second)
	if !g.AllowN(late, 1) {
		t.Fatal("the first is refused")
	}
	clock := func() time.Time { return late }
	for _, limit := range []time.Duration{0, time.Second} {
		if _, wait, ok := g.reserveBy(now, clock, limit); !ok || wait != 0 {
			t.Errorf("%v, %t: refused, or made to wait", wait, ok)
		}
	}
}

// An admission by key looks at one line of a processor's cache of its entry, 64 bytes at an address
// that is a multiple of it: entries of 128 bytes begin at one.
func TestEntryOfAKeyFitsIntoCacheLines(t *testing.T) {
	var e origin.Entry[string, keyed]
	due := unsafe.Offsetof(e.Value) + unsafe.Offsetof(e.Value.own) + unsafe.Offsetof(e.Value.own.due)
	if size := unsafe.Sizeof(e); unsafe.Sizeof(uintptr(0)) == 8 && (size != 128 || due+8 > 64) {
		t.Errorf("an entry takes %d bytes, and its arrival time is at %d", size, due)
	}
}
