package hedge

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func pass(d time.Duration) { <-time.After(d) }

func over(t *testing.T, c Config, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l(next)
}

type outcome struct {
	status int
	body   string
	err    error
	st     *call.State
	took   time.Duration
}

func do(ctx context.Context, t *testing.T, rt http.RoundTripper, method string, body io.Reader) outcome {
	t.Helper()
	st := call.New(ctx, time.Now())
	st.Begin(call.Try{N: 2, Of: 3, Start: time.Now()})
	req, err := http.NewRequestWithContext(st, method, "http://a.example/", body)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return outcome{err: err, st: st, took: time.Since(start)}
	}
	took := time.Since(start)
	b, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		t.Error(cerr)
	}
	return outcome{resp.StatusCode, string(b), err, st, took}
}

var (
	slow = fetchtest.Step{}.Body("slow").Delay(10 * time.Second)
	fast = fetchtest.Step{}.Body("fast").Delay(time.Second)
	bad  = fetchtest.Step{}.Status(503).Body("bad")
	down = fetchtest.Step{}.DialError()
)

func TestFirstGoodAnswerWins(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []fetchtest.Step
		extra int
		body  string
		took  time.Duration
		sent  int
	}{
		{"the first in time", []fetchtest.Step{fast}, 0, "fast", time.Second, 1},
		{"the extra one", []fetchtest.Step{slow, fast}, 0, "fast", 3 * time.Second, 2},
		{"the first all the same", []fetchtest.Step{slow, slow}, 0, "slow", 10 * time.Second, 2},
		{"the extra one fails: the first is waited for", []fetchtest.Step{slow, down}, 0, "slow", 10 * time.Second, 2},
		{"the extra one is 503: the first is waited for", []fetchtest.Step{slow, bad}, 0, "slow", 10 * time.Second, 2},
		{"the first is 503 late: the extra one is waited for", []fetchtest.Step{bad.Delay(3 * time.Second), slow}, 0, "slow", 12 * time.Second, 2},
		{"an early failure is not hedged", []fetchtest.Step{bad}, 0, "bad", 0, 1},
		{"both 503: the first", []fetchtest.Step{bad.Body("first").Delay(4 * time.Second), bad.Delay(3 * time.Second)}, 0, "first", 5 * time.Second, 2},
		{"three legs", []fetchtest.Step{slow, slow, fast}, 2, "fast", 5 * time.Second, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := fetchtest.Script(c.steps...)
				o := do(t.Context(), t, over(t, Config{Delay: 2 * time.Second, Extra: c.extra}, tr), "GET", nil)
				if o.err != nil || o.body != c.body || o.took != c.took || len(tr.Requests()) != c.sent {
					t.Errorf("%+v, %d sent", o, len(tr.Requests()))
				}
				synctest.Wait()
				tr.AssertClosed(t)
				log := o.st.Attempts()
				if len(log) != c.sent-1 {
					t.Fatalf("%d extra legs in the log", len(log))
				}
				for _, a := range log {
					if !a.Hedge || a.N != 2 || a.Delay < 2*time.Second {
						t.Errorf("%+v", a)
					}
				}
			})
		})
	}
}

func TestBothLegsFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Delay(3*time.Second).DialError(), down)
		late := roundTrip(func(r *http.Request) (*http.Response, error) {
			if try, _ := call.TryOf(r.Context()); !try.Hedge {
				pass(3 * time.Second)
				return nil, errors.New("the first leg's")
			}
			return tr.RoundTrip(r)
		})
		if o := do(t.Context(), t, over(t, Config{Delay: time.Second}, late), "GET", nil); o.err == nil || o.err.Error() != "the first leg's" {
			t.Errorf("%v", o.err)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOnlyRepeatableRequestsAreDoubled(t *testing.T) {
	for _, c := range []struct {
		method string
		body   io.Reader
		keyed  bool
		want   int
	}{
		{"GET", nil, false, 2},
		{"HEAD", nil, false, 2},
		{"PUT", strings.NewReader("x"), false, 2},
		{"QUERY", nil, false, 2},
		{"PUT", io.MultiReader(strings.NewReader("x")), false, 1}, // no GetBody
		{"POST", strings.NewReader("x"), false, 1},
		{"PATCH", nil, false, 1},
		{"POST", strings.NewReader("x"), true, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			tr := fetchtest.Script(slow, fast)
			rt := over(t, Config{Delay: time.Second}, tr)
			do(t.Context(), t, roundTrip(func(r *http.Request) (*http.Response, error) {
				call.From(r.Context()).SetOut(c.keyed)
				return rt.RoundTrip(r)
			}), c.method, c.body)
			synctest.Wait()
			got := tr.Requests()
			if len(got) != c.want {
				t.Errorf("%s (keyed %t): sent %d times", c.method, c.keyed, len(got))
			}
			for _, r := range got {
				if c.body != nil && string(r.Body) != "x" {
					t.Errorf("%s: body %q", c.method, r.Body)
				}
			}
		})
	}
}

type budget struct{ left atomic.Int64 }

func (b *budget) Withdraw(*http.Request, time.Time) bool { return b.left.Add(-1) >= 0 }

func TestExtraRequestsSpendFromTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{}
		b.left.Store(2)
		tr := fetchtest.Script(slow)
		rt := over(t, Config{Delay: time.Second, Spender: b}, tr)
		for range 5 {
			do(t.Context(), t, rt, "GET", nil)
		}
		if n := len(tr.Requests()); n != 7 {
			t.Errorf("%d requests for 5 calls and a budget of 2", n)
		}
	})
}

// What is not sent is not paid for, and a body that is not sent is closed.
func TestBudgetPaysForWhatIsSentAlone(t *testing.T) {
	for name, c := range map[string]struct {
		budget, left int64
		broken       bool
	}{"a body that cannot be had again": {1, 1, true}, "a spent budget": {0, -1, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &budget{}
				b.left.Store(c.budget)
				tr := fetchtest.Script(slow)
				rt := over(t, Config{Delay: time.Second, Spender: b}, tr)
				req, err := http.NewRequestWithContext(t.Context(), "PUT", "http://a.example/", strings.NewReader("x"))
				if err != nil {
					t.Fatal(err)
				}
				opened, closed := 0, 0
				req.GetBody = func() (io.ReadCloser, error) {
					if c.broken {
						return nil, errors.New("gone")
					}
					opened++
					return closer{strings.NewReader("x"), func() { closed++ }}, nil
				}
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if err := resp.Body.Close(); err != nil {
					t.Error(err)
				}
				if left := b.left.Load(); left != c.left || len(tr.Requests()) != 1 || opened != closed {
					t.Errorf("%d are left, want %d; %d requests, %d bodies opened, %d closed", left, c.left, len(tr.Requests()), opened, closed)
				}
			})
		})
	}
}

type closer struct {
	io.Reader
	then func()
}

func (c closer) Close() error { c.then(); return nil }

func TestDelayIsTheOriginsLivePercentile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Delay(20 * time.Millisecond))
		rt := over(t, Config{}, roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Slow") != "" {
				return fetchtest.Script(slow).RoundTrip(r)
			}
			return tr.RoundTrip(r)
		}))
		send := func(slowly bool) time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "GET", "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if slowly {
				req.Header.Set("Slow", "1")
			}
			start := time.Now()
			resp, err := rt.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			return time.Since(start)
		}
		for range 100 {
			send(false)
		}
		if n := len(tr.Requests()); n != 100 {
			t.Fatalf("%d requests while warming up", n)
		}
		probe, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		pass(time.Second) // a percentile is computed now and then
		d, ok := rt.(*transport).delay(probe)
		if !ok || d < 19*time.Millisecond || d > 22*time.Millisecond {
			t.Errorf("the delay is %v", d)
		}
		send(true) // both legs are slow; cancelled, they count as what they took
		synctest.Wait()
	})
}

func TestCancellationEndsAllLegs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Hang())
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		o := do(ctx, t, over(t, Config{Delay: time.Second}, tr), "GET", nil)
		if !errors.Is(o.err, context.DeadlineExceeded) || o.took != 5*time.Second || len(tr.Requests()) != 2 {
			t.Errorf("%+v, %d sent", o, len(tr.Requests()))
		}
		synctest.Wait()
		tr.AssertClosed(t)
	})
}

func TestPanicBelowComesOutInItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if p := recover(); p != "boom" {
				t.Errorf("recovered %v", p)
			}
		}()
		do(t.Context(), t, over(t, Config{Delay: time.Second}, roundTrip(func(*http.Request) (*http.Response, error) { panic("boom") })), "GET", nil)
	})
}

func TestSwitchedOffForOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(slow)
		do(call.WithOptions(t.Context(), &call.Options{Off: call.OffHedge}), t, over(t, Config{Delay: time.Second}, tr), "GET", nil)
		if n := len(tr.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestConfigIsRefused(t *testing.T) {
	var typed *budget
	for field, c := range map[string]Config{
		"Percentile": {Percentile: 0.4}, "Delay": {Delay: -1}, "Min": {Min: 2 * time.Second, Max: time.Second}, "Extra": {Extra: -1}, "WarmUp": {WarmUp: -1}, "Spender": {Spender: typed},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "config "+field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, c := range []Config{{}, {Max: time.Millisecond}, {Min: time.Minute}} {
		if _, err := New(c); err != nil {
			t.Error(err)
		}
	}
}

// A request is its caller's again once the response is closed (http.RoundTripper), also while a leg
// that lost still runs.
func TestCallerChangesItsRequestWhileALoserRuns(t *testing.T) {
	for _, loser := range []int32{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			release, sent := make(chan struct{}), make(chan string, 1)
			var n atomic.Int32
			rt := over(t, Config{Delay: time.Second}, roundTrip(func(req *http.Request) (*http.Response, error) {
				if n.Add(1) == loser {
					<-release
					sent <- req.Header.Get("Authorization") + " " + req.URL.String()
					return nil, errors.New("late")
				}
				pass(2 * time.Second)
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), Request: req}, nil
			}))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/a", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "a")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			for _, r := range []*http.Request{req, resp.Request} {
				r.Header.Set("Authorization", "b")
				r.URL.Path = "/b"
			}
			close(release)
			if got := <-sent; got != "a http://a.example/a" {
				t.Errorf("leg %d sends %s", loser, got)
			}
		})
	}
}
