package breaker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/origin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func one(t *testing.T, c Config) *Breaker {
	t.Helper()
	b, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// run makes a call that ends at once.
func run(b *Breaker, o Outcome, now time.Time) error {
	ticket, err := b.Allow(now)
	if err == nil {
		ticket.Done(o, 0, now)
	}
	return err
}

func get(t *testing.T, rt http.RoundTripper, ctx context.Context, url string) (*http.Response, error) { //nolint:revive // t comes first in tests
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rt.RoundTrip(req)
}

func closeResp(t *testing.T, resp *http.Response) {
	t.Helper()
	if resp != nil {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOneHostNeverBlocksAnother(t *testing.T) {
	s, err := NewSet(Config{})
	if err != nil {
		t.Fatal(err)
	}
	bad, good := s.Layer(fetchtest.Script(fetchtest.Step{}.DialError())), s.Layer(fetchtest.Script())
	for range 5 {
		resp, err := get(t, bad, t.Context(), "http://a.example/")
		closeResp(t, resp)
		if err == nil {
			t.Fatal("no error")
		}
	}
	for range 500 {
		resp, err := get(t, good, t.Context(), "http://b.example/")
		if err != nil {
			t.Fatal(err)
		}
		closeResp(t, resp)
	}
	if a, b := s.State("http://a.example"), s.State("http://b.example"); a != Open || b != Closed {
		t.Errorf("a %v, b %v", a, b)
	}
	resp, err := get(t, good, t.Context(), "http://A.example:80/x")
	closeResp(t, resp)
	oe, ok := errors.AsType[*OpenError](err)
	if !ok || !errors.Is(err, ErrOpen) || oe.Key != "http://a.example" || oe.RetryIn(time.Now()) <= 4*time.Second {
		t.Errorf("got %v", err)
	}
}

func TestSuccessesAgeOutFailures(t *testing.T) {
	b := one(t, Config{})
	now := b.win.epoch
	for range 100 { // four failures in a row, then a success: never five
		for range 4 {
			if err := run(b, Failure, now); err != nil {
				return // opened by the ratio, which the next lines look at
			}
		}
		if err := run(b, Success, now); err != nil {
			break
		}
	}
	if b.State() != Open {
		t.Error("80 % of failures did not open")
	}
	b = one(t, Config{})
	for i := range 200 { // 40 % of failures, spread over time
		now = now.Add(100 * time.Millisecond)
		o := Success
		if i%5 < 2 {
			o = Failure
		}
		if err := run(b, o, now); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	for range 4 {
		_ = run(b, Failure, now)
	}
	_ = run(b, Success, now)
	for range 19 { // what is older than the window counts no more: 19 of them are below MinCalls
		now = now.Add(time.Millisecond)
	}
	now = now.Add(10 * time.Second)
	for i := range 19 {
		o := Failure
		if i%4 == 3 {
			o = Success
		}
		if err := run(b, o, now); err != nil {
			t.Fatalf("opened at call %d, below MinCalls", i)
		}
	}
}

func TestWhatIsNoFailure(t *testing.T) {
	for code, want := range map[int]Outcome{200: Success, 302: Success, 404: Success, 408: Success, 429: Success, 500: Failure, 501: Success, 502: Failure, 503: Failure, 505: Success, 599: Failure} {
		if got := Default(&http.Response{StatusCode: code}, nil); got != want {
			t.Errorf("status %d: %v", code, got)
		}
	}
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{context.Canceled, Ignored},
		{call.Final("address denied"), Ignored},
		{call.ErrAttemptTimeout, Failure},
		{call.ErrTotalTimeout, Failure},
		{io.ErrUnexpectedEOF, Failure},
	} {
		if got := Default(nil, c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

func TestCallerCancellationIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewSet(Config{ConsecutiveFailures: 1})
		if err != nil {
			t.Fatal(err)
		}
		rt := s.Layer(fetchtest.Script(fetchtest.Step{}.Hang()))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		resp, err := get(t, rt, ctx, "http://a.example/")
		closeResp(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || s.State("http://a.example") != Closed {
			t.Errorf("%v, %v", err, s.State("http://a.example"))
		}
	})
}

func TestBodyThatBreaksIsAFailure(t *testing.T) {
	for _, c := range []struct {
		name string
		step fetchtest.Step
		read bool
		want State
	}{
		{"reset", fetchtest.Step{}.Body("body").ResetAfter(2), true, Open},
		{"short", fetchtest.Step{}.Body("body").WrongLength(9), true, Open},
		{"whole", fetchtest.Step{}.Body("body"), true, Closed},
		{"closed early", fetchtest.Step{}.Body("body").ResetAfter(2), false, Closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := NewSet(Config{ConsecutiveFailures: 1})
			if err != nil {
				t.Fatal(err)
			}
			tr := fetchtest.Script(c.step)
			resp, err := get(t, s.Layer(tr), t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			if c.read {
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			closeResp(t, resp)
			if got := s.State("http://a.example"); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			tr.AssertClosed(t)
		})
	}
}

func opened(t *testing.T, c Config) (b *Breaker, probe time.Time) {
	t.Helper()
	b = one(t, c)
	now := b.win.epoch
	for b.State() != Open {
		if err := run(b, Failure, now); err != nil {
			t.Fatal(err)
		}
	}
	return b, b.Until()
}

func TestHalfOpenAdmitsExactlyItsProbes(t *testing.T) {
	b, at := opened(t, Config{Probes: 3, CloseAfter: 10})
	if err := run(b, Success, at.Add(-time.Nanosecond)); !errors.Is(err, ErrOpen) {
		t.Fatalf("admitted before its time: %v", err)
	}
	var wg sync.WaitGroup
	admitted := make(chan Ticket, 100)
	for range 100 {
		wg.Go(func() {
			if ticket, err := b.Allow(at); err == nil {
				admitted <- ticket
			}
		})
	}
	wg.Wait()
	if len(admitted) != 3 || b.State() != HalfOpen {
		t.Fatalf("%d probes, %v", len(admitted), b.State())
	}
	(<-admitted).Done(Success, 0, at)
	if _, err := b.Allow(at); err != nil {
		t.Error("a slot that is free again is not given")
	}
}

func TestCancelledProbeReturnsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewSet(Config{ConsecutiveFailures: 1, OpenFor: time.Second, CloseAfter: 1})
		if err != nil {
			t.Fatal(err)
		}
		rt := s.Layer(fetchtest.Script(fetchtest.Step{}.DialError(), fetchtest.Step{}.Hang(), fetchtest.Step{}))
		resp, err := get(t, rt, t.Context(), "http://a.example/")
		closeResp(t, resp)
		if err == nil {
			t.Fatal("no error")
		}
		<-time.After(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		resp, err = get(t, rt, ctx, "http://a.example/") // the probe
		closeResp(t, resp)
		if !errors.Is(err, context.DeadlineExceeded) || s.State("http://a.example") != HalfOpen {
			t.Fatalf("%v, %v", err, s.State("http://a.example"))
		}
		resp, err = get(t, rt, t.Context(), "http://a.example/")
		closeResp(t, resp)
		if err != nil || s.State("http://a.example") != Closed {
			t.Errorf("%v, %v", err, s.State("http://a.example"))
		}
	})
}

func TestForgottenProbeIsReplaced(t *testing.T) {
	b, at := opened(t, Config{MaxOpenFor: 30 * time.Second})
	lost, err := b.Allow(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Allow(at.Add(29 * time.Second)); !errors.Is(err, ErrOpen) || err.Error() != "circuit open" {
		t.Errorf("a second probe was admitted, or refused by %v", err)
	}
	next, err := b.Allow(at.Add(30 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	lost.Done(Failure, 0, at.Add(31*time.Second))
	if b.State() != HalfOpen {
		t.Errorf("the lost probe's report counted: %v", b.State())
	}
	next.Done(Failure, 0, at.Add(31*time.Second))
	if b.State() != Open {
		t.Errorf("the new probe's did not: %v", b.State())
	}
}

func TestLateResultsAreDropped(t *testing.T) {
	b := one(t, Config{ConsecutiveFailures: 2, CloseAfter: 1})
	now := b.win.epoch
	late, err := b.Allow(now)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := run(b, Failure, now); err != nil {
			t.Fatal(err)
		}
	}
	at := b.Until()
	if err := run(b, Success, at); err != nil || b.State() != Closed {
		t.Fatal(err, b.State())
	}
	late.Done(Failure, 0, at)
	if err := run(b, Failure, at); err != nil || b.State() != Closed {
		t.Error("an outcome of an older generation was counted: with it the first failure of this one opened the breaker")
	}
	Ticket{}.Done(Failure, 0, at) // a refusal's ticket does nothing
}

func TestOpenTimeGrowsAndStartsAnew(t *testing.T) {
	b, at := opened(t, Config{OpenFor: 5 * time.Second, MaxOpenFor: 15 * time.Second, CloseAfter: 1})
	within := func(want time.Duration, from time.Time) {
		t.Helper()
		if got := b.Until().Sub(from); got < want*9/10 || got > want*11/10 {
			t.Errorf("open for %v, want %v give or take a tenth", got, want)
		}
	}
	within(5*time.Second, b.win.epoch)
	for _, want := range []time.Duration{10 * time.Second, 15 * time.Second, 15 * time.Second} {
		if err := run(b, Failure, at); err != nil {
			t.Fatal(err)
		}
		within(want, at)
		at = b.Until()
	}
	if err := run(b, Success, at); err != nil || b.State() != Closed {
		t.Fatal(err, b.State())
	}
	for range 5 {
		_ = run(b, Failure, at)
	}
	within(5*time.Second, at)
}

func TestSlowCallsOpen(t *testing.T) {
	b := one(t, Config{SlowCall: time.Second, MinCalls: 10, SlowRatio: 0.5})
	now := b.win.epoch
	for i := range 20 {
		ticket, err := b.Allow(now)
		if err != nil {
			if i < 10 {
				t.Fatalf("opened at call %d", i)
			}
			return
		}
		ticket.Done(Success, time.Duration(i%2)*time.Second, now)
	}
	t.Error("half of the calls slow, and closed")
}

func TestByHand(t *testing.T) {
	type change struct {
		key      string
		from, to State
	}
	var changes []change
	s, err := NewSet(Config{MaxKeys: 2, ConsecutiveFailures: 1, OnChange: func(key string, from, to State) { changes = append(changes, change{key, from, to}) }})
	if err != nil {
		t.Fatal(err)
	}
	rt := s.Layer(fetchtest.Script(fetchtest.Step{}.Status(500)))
	try := func(host string) error {
		resp, err := get(t, rt, t.Context(), "http://"+host+"/")
		closeResp(t, resp)
		return err
	}
	s.Isolate("http://a.example")
	s.ForceClose("http://b.example")
	for i := range 10 {
		if err := try("a.example"); !errors.Is(err, ErrOpen) {
			t.Errorf("isolated, got %v", err)
		}
		if err := try("b.example"); err != nil {
			t.Errorf("forced closed, got %v", err)
		}
		_ = try(fmt.Sprintf("c%d.example", i)) // pushes others out, not those set by hand
	}
	if got := s.States(); got["http://a.example"] != Isolated || got["http://b.example"] != Disabled {
		t.Errorf("states %v", got)
	}
	s.Reset("http://a.example")
	s.Reset("http://b.example")
	s.Reset("http://never.example")
	if err := try("a.example"); err != nil || s.State("http://a.example") != Open {
		t.Errorf("after the reset: %v, %v", err, s.State("http://a.example"))
	}
	s.Reset("http://a.example")
	want := []change{{"http://a.example", Closed, Isolated}, {"http://b.example", Closed, Disabled}}
	if !slices.Equal(changes[:2], want) {
		t.Errorf("changes %v", changes[:2])
	}
	if last := changes[len(changes)-1]; last != (change{"http://a.example", Open, Closed}) {
		t.Errorf("last change %v", last)
	}
	for st, text := range map[State]string{Closed: "closed", HalfOpen: "half-open", Open: "open", Isolated: "isolated", Disabled: "disabled", 9: "unknown"} {
		if st.String() != text {
			t.Errorf("%d is %q", st, st)
		}
	}
}

func TestOwnKey(t *testing.T) {
	s, err := NewSet(Config{ConsecutiveFailures: 1, Key: func(r *http.Request) string { return r.URL.Path }})
	if err != nil {
		t.Fatal(err)
	}
	rt := s.Layer(fetchtest.Script(fetchtest.Step{}.Status(500)))
	resp, err := get(t, rt, t.Context(), "http://a.example/x")
	closeResp(t, resp)
	if err != nil || s.State("/x") != Open || s.State("/y") != Closed {
		t.Errorf("%v, %v", err, s.States())
	}
}

func TestOffForOneCall(t *testing.T) {
	s, err := NewSet(Config{ConsecutiveFailures: 1})
	if err != nil {
		t.Fatal(err)
	}
	rt := s.Layer(fetchtest.Script(fetchtest.Step{}.Status(500)))
	ctx := call.New(call.WithOptions(t.Context(), &call.Options{Off: call.OffBreaker}), time.Now())
	for range 3 {
		resp, err := get(t, rt, ctx, "http://a.example/")
		closeResp(t, resp)
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(s.States()) != 0 {
		t.Errorf("%v", s.States())
	}
}

type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

func TestPanicReturnsTheSlot(t *testing.T) {
	s, err := NewSet(Config{ConsecutiveFailures: 1, OpenFor: time.Nanosecond, CloseAfter: 1})
	if err != nil {
		t.Fatal(err)
	}
	bad := s.Layer(fetchtest.Script(fetchtest.Step{}.DialError()))
	resp, err := get(t, bad, t.Context(), "http://a.example/")
	closeResp(t, resp)
	if err == nil {
		t.Fatal("no error")
	}
	<-time.After(time.Millisecond)
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic was swallowed")
			}
		}()
		resp, err := get(t, s.Layer(panicking{}), t.Context(), "http://a.example/")
		closeResp(t, resp)
		t.Errorf("returned %v", err)
	}()
	resp, err = get(t, s.Layer(fetchtest.Script()), t.Context(), "http://a.example/")
	closeResp(t, resp)
	if err != nil || s.State("http://a.example") != Closed {
		t.Errorf("%v, %v", err, s.State("http://a.example"))
	}
}

func TestSetOfBreakersIsBounded(t *testing.T) {
	s, err := NewSet(Config{MaxKeys: 100})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for i := range 100_000 {
		k := origin.Key{Host: strconv.Itoa(i)}
		s.reg.Release(s.reg.Acquire(setKey{origin: k}, now))
	}
	if got := s.reg.Len(); got > 100 {
		t.Errorf("%d breakers", got)
	}
}

func TestConfigIsRefused(t *testing.T) {
	for field, c := range map[string]Config{
		"FailureRatio": {FailureRatio: math.NaN()},
		"SlowRatio":    {SlowRatio: 1.5},
		"MinCalls":     {MinCalls: -1},
		"OpenFor":      {OpenFor: 2 * time.Minute, MaxOpenFor: time.Minute},
		"Buckets":      {Window: time.Second, Buckets: 101},
		"Window":       {Window: -1},
	} {
		_, err := New(c)
		if ce, ok := errors.AsType[*ConfigError](err); !ok || ce.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
		if _, err := NewSet(c); err == nil {
			t.Errorf("%s: a set was made", field)
		}
	}
	if _, err := New(Config{OpenFor: 10 * time.Minute}); err != nil {
		t.Errorf("a large value is no mistake: %v", err)
	}
}

// TestOpenForEver: the longest time there is ends no sooner for it.
func TestOpenForEver(t *testing.T) {
	for _, c := range []Config{{OpenFor: math.MaxInt64}, {MaxOpenFor: math.MaxInt64}} {
		c.ConsecutiveFailures = 1
		b, now := one(t, c), time.Now()
		for range 100 {
			ticket, err := b.Allow(now)
			if err != nil {
				t.Fatal(err)
			}
			ticket.Done(Failure, 0, now)
			if until := b.Until(); until.Sub(now) < time.Second {
				t.Fatalf("open until %v, which is %v from now", until, until.Sub(now))
			}
			if c.OpenFor > 0 {
				break
			}
			now = b.Until()
		}
	}
}

// TestWindowHalves fills a bucket beyond what its counters hold.
func TestWindowHalves(t *testing.T) {
	epoch := time.Now()
	w := newWindow(epoch, time.Second, 1)
	for i := range fullCount + 10 {
		w.add(epoch, i%2 == 0, i%4 == 0)
	}
	calls, failures, slow := w.sum(epoch)
	if calls < fullCount/2 || calls > fullCount || math.Abs(float64(failures)/float64(calls)-0.5) > 0.01 || math.Abs(float64(slow)/float64(calls)-0.25) > 0.01 {
		t.Errorf("%d calls, %d failures, %d slow", calls, failures, slow)
	}
}
