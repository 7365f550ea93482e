package collapse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"runtime"
	"strings"
	"sync"
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

func over(t *testing.T, c Config, next http.RoundTripper) (*Group, http.RoundTripper) {
	t.Helper()
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g, g.Layer(next)
}

// seen is what a caller sees besides the body.
type seen struct {
	Status        string
	Header        http.Header
	ContentLength int64
	own           bool
}

func get(ctx context.Context, t *testing.T, rt http.RoundTripper, fields ...string) (string, seen, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "GET", "http://a.example/x?y=z", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return "", seen{}, err
	}
	b, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		t.Error(cerr)
	}
	return string(b), seen{resp.Status, resp.Header, resp.ContentLength, resp.Request == req}, err
}

// crowd sends n identical requests at once.
func crowd(t *testing.T, rt http.RoundTripper, n int, each func(i int, body string, resp seen, err error)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			body, resp, err := get(t.Context(), t, rt)
			each(i, body, resp, err)
		})
	}
	wg.Wait()
}

func TestIdenticalRequestsAreOneAndEachCallerHasItsOwnResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat("0123456789", 1024)
		tr := fetchtest.Script(fetchtest.Step{}.Body(text).Header("A", "1").Delay(time.Second))
		g, rt := over(t, Config{}, tr)
		crowd(t, rt, 100, func(i int, body string, resp seen, err error) {
			if err != nil || body != text || resp.ContentLength != int64(len(text)) || resp.Status != "200 OK" || !resp.own || len(resp.Header["A"]) != 1 {
				t.Errorf("%d: %d bytes, %v", i, len(body), err)
				return
			}
			resp.Header["A"][0] = fmt.Sprint(i)
			resp.Header.Add("A", "more")
		})
		if n := len(tr.Requests()); n != 1 || g.Followers() != 99 || len(g.flights) != 0 {
			t.Errorf("%d requests, %d followers, %d flights are left", n, g.Followers(), len(g.flights))
		}
		if _, _, err := get(t.Context(), t, rt); err != nil || len(tr.Requests()) != 2 {
			t.Error("a later caller did not start anew")
		}
		tr.AssertClosed(t)
	})
}

func TestOnlyIdenticalRequestsAreOne(t *testing.T) {
	for name, pair := range map[string][2][]string{
		"Authorization":     {{"Authorization: a"}, {"Authorization: b"}},
		"Cookie":            {{"Cookie: a"}, {"Cookie: b"}},
		"Accept":            {{"Accept: a"}, {"Accept: b"}},
		"one line of two":   {{"A: b", "A: c"}, {"A: b, c"}},
		"name and value":    {{"A: bc"}, {"Ab: c"}},
		"there and absent":  {{"X-User: a"}, nil},
		"tracing, the same": {{"Traceparent: a"}, {"Traceparent: b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := fetchtest.Script(fetchtest.Step{}.Delay(time.Second))
				_, rt := over(t, Config{}, tr)
				var wg sync.WaitGroup
				for _, fields := range pair {
					wg.Go(func() {
						if _, _, err := get(t.Context(), t, rt, fields...); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				want := 2
				if strings.HasSuffix(name, "the same") {
					want = 1
				}
				if n := len(tr.Requests()); n != want {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
	t.Run("the key names what is asked for", func(t *testing.T) {
		seen := make(map[string]*url.URL)
		for _, u := range []*url.URL{
			{Path: "/p"}, {Path: "/p", ForceQuery: true}, {Path: "/p", RawQuery: "?"}, {Opaque: "//a.example/one"}, {Opaque: "//a.example/two"},
		} {
			u.Scheme, u.Host = "http", "a.example"
			k, ok := KeyOf((&http.Request{Method: http.MethodGet, URL: u}).WithContext(t.Context()))
			if other := seen[string(k)]; !ok || other != nil {
				t.Errorf("%s has the key of %s", u, other)
			}
			seen[string(k)] = u
		}
	})
	t.Run("a condition of one's own does not mix bodies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, rt := over(t, Config{When: func(*http.Request) bool { return true }}, roundTrip(func(r *http.Request) (*http.Response, error) {
				<-time.After(time.Second)
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r.Body, Request: r}, nil // what was asked for
			}))
			var wg sync.WaitGroup
			for _, asked := range []string{"a", "b"} {
				wg.Go(func() {
					req, err := http.NewRequestWithContext(t.Context(), "POST", "http://a.example/search", strings.NewReader(asked))
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := rt.RoundTrip(req)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(resp.Body)
					if cerr := resp.Body.Close(); err != nil || cerr != nil || string(got) != asked {
						t.Errorf("asked for %q, got %q, %v", asked, got, err)
					}
				})
			}
			wg.Wait()
		})
	})
	t.Run("bodies that a key of one's own calls identical are sent once, and all are closed", func(t *testing.T) {
		for name, c := range map[string]struct {
			field string
			sent  int
		}{"shared": {"max-age=1", 1}, "for one alone": {"no-store", 3}} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tr := fetchtest.Script(fetchtest.Step{}.Header("Cache-Control", c.field).Body("found").Delay(time.Second))
					_, rt := over(t, Config{
						When: func(*http.Request) bool { return true },
						Key:  func(r *http.Request) ([]byte, bool) { return []byte(r.URL.Path), true },
					}, tr)
					var wg sync.WaitGroup
					var opened, closed atomic.Int64
					body := func() io.ReadCloser {
						opened.Add(1)
						return closer{strings.NewReader("asked"), func() { closed.Add(1) }}
					}
					for range 3 {
						wg.Go(func() {
							req, err := http.NewRequestWithContext(t.Context(), "QUERY", "http://a.example/search", body())
							if err != nil {
								t.Error(err)
								return
							}
							req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
							resp, err := rt.RoundTrip(req)
							if err != nil {
								t.Error(err)
								return
							}
							if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "found" {
								t.Errorf("%q, %v", b, err)
							}
							if err := resp.Body.Close(); err != nil {
								t.Error(err)
							}
						})
					}
					wg.Wait()
					for _, r := range tr.Requests() {
						if string(r.Body) != "asked" {
							t.Errorf("sent %q", r.Body)
						}
					}
					if n := len(tr.Requests()); n != c.sent || opened.Load() != closed.Load() {
						t.Errorf("sent %d times, want %d; %d bodies opened, %d closed", n, c.sent, opened.Load(), closed.Load())
					}
				})
			})
		}
	})
	t.Run("the key hides credentials", func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "hunter2")
		if k, ok := KeyOf(req); !ok || strings.Contains(string(k), "hunter2") {
			t.Errorf("%q", k)
		}
	})
	t.Run("other methods and bodies go alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tr := fetchtest.Script(fetchtest.Step{}.Delay(time.Second))
			_, rt := over(t, Config{}, tr)
			var wg sync.WaitGroup
			for _, method := range []string{"POST", "POST", "GET", "GET"} {
				wg.Go(func() {
					req, err := http.NewRequestWithContext(t.Context(), method, "http://a.example/", strings.NewReader("x"))
					if err != nil {
						t.Error(err)
						return
					}
					resp, err := rt.RoundTrip(req)
					if err != nil {
						t.Error(err)
						return
					}
					_ = resp.Body.Close()
				})
			}
			wg.Wait()
			if n := len(tr.Requests()); n != 4 {
				t.Errorf("%d requests", n)
			}
		})
	})
}

func TestFirstCallersCancellationIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Body("x").Delay(time.Minute))
		_, rt := over(t, Config{}, tr)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, _, err := get(ctx, t, rt); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		pass(time.Second)
		wg.Go(func() {
			if body, _, err := get(t.Context(), t, rt); err != nil || body != "x" {
				t.Errorf("the second: %q %v", body, err)
			}
		})
		pass(time.Second)
		start := time.Now()
		cancel()
		wg.Wait()
		if len(tr.Requests()) != 1 || time.Since(start) != 58*time.Second {
			t.Errorf("%d requests, %v", len(tr.Requests()), time.Since(start))
		}
		tr.AssertClosed(t)
	})
}

func TestLastCallersCancellationEndsTheRequest(t *testing.T) {
	for name, step := range map[string]fetchtest.Step{
		"before the headers": fetchtest.Step{}.Hang(),
		"in the body":        fetchtest.Step{}.Body("xyz").Delay(time.Millisecond).Drip(1, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := fetchtest.Script(step)
				g, rt := over(t, Config{}, tr)
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						if _, _, err := get(ctx, t, rt); !errors.Is(err, context.Canceled) {
							t.Error(err)
						}
					})
				}
				pass(time.Second)
				cancel()
				wg.Wait()
				synctest.Wait()
				if len(tr.Requests()) != 1 || len(g.flights) != 0 {
					t.Errorf("%d requests, %d flights", len(tr.Requests()), len(g.flights))
				}
				tr.AssertClosed(t)
			})
		})
	}
}

func TestPanicBelowReachesEveryCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, rt := over(t, Config{}, roundTrip(func(*http.Request) (*http.Response, error) {
			pass(time.Second)
			panic("boom")
		}))
		crowd(t, rt, 5, func(_ int, _ string, _ seen, err error) {
			if err == nil || !strings.Contains(err.Error(), "panic: boom") {
				t.Errorf("got %v", err)
			}
		})
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A caller that cannot be cancelled leads without a goroutine of its own; nothing else is
// different.
func TestCallersThatCannotLeave(t *testing.T) {
	large := strings.Repeat("0123456789", 10)
	answer := func(body string, fields ...string) roundTrip {
		return func(req *http.Request) (*http.Response, error) {
			pass(time.Second)
			resp := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: req}
			for _, f := range fields {
				resp.Header.Set(f, "a=b")
			}
			return resp, nil
		}
	}
	for name, c := range map[string]struct {
		next     roundTrip
		body     string
		fails    string
		requests int
	}{
		"shared":    {answer("x"), "x", "", 1},
		"for one":   {answer("x", "Set-Cookie"), "x", "", 5},
		"too large": {answer(large), large, "", 5},
		"panics":    {func(*http.Request) (*http.Response, error) { pass(time.Second); panic("boom") }, "", "panic: boom", 1},
		"fails":     {func(*http.Request) (*http.Response, error) { pass(time.Second); return nil, io.ErrUnexpectedEOF }, "", "unexpected EOF", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int64
				g, rt := over(t, Config{MaxBuffer: 50}, roundTrip(func(req *http.Request) (*http.Response, error) {
					requests.Add(1)
					return c.next(req)
				}))
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						body, _, err := get(context.WithoutCancel(t.Context()), t, rt)
						if c.fails == "" && (err != nil || body != c.body) || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
							t.Errorf("%q, %v", body, err)
						}
					})
				}
				wg.Wait()
				if n := requests.Load(); n != int64(c.requests) || len(g.flights) != 0 {
					t.Errorf("%d requests, %d flights are left", n, len(g.flights))
				}
			})
		})
	}
}

func TestEndOfTheGoroutineBelowReachesEveryCaller(t *testing.T) {
	for name, leaves := range map[string]bool{"can leave": true, "cannot leave": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, rt := over(t, Config{}, roundTrip(func(*http.Request) (*http.Response, error) {
					pass(time.Second)
					runtime.Goexit()
					return nil, io.EOF
				}))
				ctx := t.Context()
				if !leaves {
					ctx = context.WithoutCancel(ctx)
				}
				var told atomic.Int64
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						if _, _, err := get(ctx, t, rt); err != nil && strings.Contains(err.Error(), "goroutine was ended") {
							told.Add(1)
						}
					})
				}
				wg.Wait()
				if n := told.Load(); n < 4 { // the one that is ended itself is not told
					t.Errorf("%d of 5 were told", n)
				}
			})
		})
	}
}

func TestFailureIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Delay(time.Second).Body("x").ResetAfter(0))
		_, rt := over(t, Config{}, tr)
		crowd(t, rt, 50, func(_ int, _ string, _ seen, err error) {
			if err == nil {
				t.Error("no error")
			}
		})
		if n := len(tr.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		tr.AssertClosed(t)
	})
}

func TestResponsesForOneAreNotShared(t *testing.T) {
	for name, c := range map[string]struct {
		cfg   Config
		field string
		want  int // requests of 5 callers
	}{
		"Set-Cookie":       {Config{}, "Set-Cookie: a=b", 5},
		"no-store":         {Config{}, "Cache-Control: no-store", 5},
		"Vary *":           {Config{}, "Vary: a, *", 5},
		"private, Shared":  {Config{Shared: true}, "Cache-Control: private", 5},
		"private":          {Config{}, "Cache-Control: private", 1},
		"in a quoted text": {Config{}, `Cache-Control: a=", no-store"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				field, value, _ := strings.Cut(c.field, ": ")
				tr := fetchtest.Script(fetchtest.Step{}.Body("x").Header(field, value).Delay(time.Second))
				g, rt := over(t, c.cfg, tr)
				start := time.Now()
				all := func() {
					crowd(t, rt, 5, func(_ int, body string, _ seen, err error) {
						if err != nil || body != "x" {
							t.Errorf("%q %v", body, err)
						}
					})
				}
				all()
				if n := len(tr.Requests()); n != c.want || g.Followers() != int64(5-c.want) {
					t.Errorf("%d requests, %d followers", n, g.Followers())
				}
				if c.want == 5 {
					all() // nobody waits for anybody now
					if took := time.Since(start); took != 3*time.Second {
						t.Errorf("it took %v: they queued", took)
					}
					pass(passFor)
					all()
					if n := len(tr.Requests()); n != 15 || len(g.pass) != 1 {
						t.Errorf("%d requests, %d keys remembered", n, len(g.pass))
					}
				}
				tr.AssertClosed(t)
			})
		})
	}
}

func TestLargeBodyStreamsToTheFirst(t *testing.T) {
	for name, step := range map[string]fetchtest.Step{
		"declared":   fetchtest.Step{}.Body("0123456789"),
		"undeclared": fetchtest.Step{}.Body("0123456789").Drip(3, time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := fetchtest.Script(step.Delay(time.Second))
				g, rt := over(t, Config{MaxBuffer: 5}, tr)
				var bad atomic.Int64
				crowd(t, rt, 4, func(_ int, body string, _ seen, err error) {
					if err != nil || body != "0123456789" {
						bad.Add(1)
						t.Errorf("%q %v", body, err)
					}
				})
				if n := len(tr.Requests()); n != 4 || g.Followers() != 0 {
					t.Errorf("%d requests, %d followers", n, g.Followers())
				}
				tr.AssertClosed(t)
			})
		})
	}
	t.Run("alone it is not buffered at all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tr := fetchtest.Script(fetchtest.Step{}.Body("0123").Drip(1, time.Hour))
			_, rt := over(t, Config{}, tr)
			req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := resp.Body.Read(make([]byte, 9)); n != 1 || err != nil || time.Since(start) != 0 {
				t.Errorf("%d %v after %v", n, err, time.Since(start))
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			tr.AssertClosed(t)
		})
	})
}

func TestFollowersBeyondTheBoundStartAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Body("x").Delay(time.Second))
		_, rt := over(t, Config{MaxFollowers: 3}, tr)
		crowd(t, rt, 8, func(_ int, _ string, _ seen, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if n := len(tr.Requests()); n != 2 {
			t.Errorf("%d requests for 8 callers", n)
		}
	})
}

func TestInterimResponsesReachTheFirstCallerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Body("x").Info(103, "Link", "a").Delay(time.Second))
		_, rt := over(t, Config{}, tr)
		var first, second atomic.Int64
		traced := func(n *atomic.Int64) context.Context {
			return httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(int, textproto.MIMEHeader) error {
				n.Add(1)
				return nil
			}})
		}
		var wg sync.WaitGroup
		for _, n := range []*atomic.Int64{&first, &second} {
			wg.Go(func() {
				if _, _, err := get(traced(n), t, rt); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		if first.Load() != 1 || second.Load() != 0 {
			t.Errorf("%d and %d", first.Load(), second.Load())
		}
	})
}

func TestFollowerOutlivesTheFirstCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := fetchtest.Script(fetchtest.Step{}.Delay(time.Hour), fetchtest.Step{}.Body("x"))
		_, rt := over(t, Config{}, roundTrip(func(r *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithDeadlineCause(r.Context(), call.From(r.Context()).End, call.ErrTotalTimeout)
			t.Cleanup(cancel)
			resp, err := tr.RoundTrip(r.WithContext(ctx))
			if err != nil {
				err = context.Cause(ctx)
			}
			return resp, err
		}))
		var wg sync.WaitGroup
		for _, c := range []struct {
			total time.Duration
			want  error
		}{{10 * time.Second, call.ErrTotalTimeout}, {time.Minute, nil}, {5 * time.Second, call.ErrTotalTimeout}} {
			wg.Go(func() {
				st := call.New(t.Context(), time.Now())
				st.End = time.Now().Add(c.total)
				body, _, err := get(st, t, rt)
				if !errors.Is(err, c.want) || err == nil && body != "x" {
					t.Errorf("%v: %q %v", c.total, body, err)
				}
				if took := time.Since(st.Start); took > c.total {
					t.Errorf("%v: it took %v", c.total, took)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
	})
}

func TestConfigIsRefused(t *testing.T) {
	if _, err := New(Config{MaxBuffer: -1, MaxFollowers: -1}); err == nil || !strings.Contains(err.Error(), "MaxBuffer") || !strings.Contains(err.Error(), "MaxFollowers") {
		t.Errorf("got %v", err)
	}
}

type closer struct {
	io.Reader
	then func()
}

func (c closer) Close() error { c.then(); return nil }

// TestKeysForgetEarlierRequests makes keys one after another, which use the same memory.
func TestKeysForgetEarlierRequests(t *testing.T) {
	key := func(h http.Header) string {
		t.Helper()
		k, ok := KeyOf(&http.Request{Method: http.MethodGet, URL: &url.URL{Scheme: "https", Host: "a.example"}, Header: h})
		if !ok {
			t.Fatal("no key")
		}
		return string(k)
	}
	none, traced := key(nil), key(http.Header{"Traceparent": {"00-1"}})
	one := key(http.Header{"Authorization": {"one"}, "Accept": {"a", "b"}})
	if _, ok := KeyOf(&http.Request{Method: http.MethodGet, URL: &url.URL{}, Header: http.Header{"X-Long": {strings.Repeat("x", maxField)}}}); ok {
		t.Error("a key of more than the bound")
	}
	if none != traced || none != key(http.Header{}) || none != key(nil) {
		t.Error("fields of tracing make a difference")
	}
	if one == none || one != key(http.Header{"Accept": {"a", "b"}, "Authorization": {"one"}}) || one == key(http.Header{"Accept": {"a", "b"}, "Authorization": {"two"}}) ||
		one == key(http.Header{"Authorization": {"one"}, "Accept": {"a"}}) {
		t.Error("keys of other fields are the same, or those of the same differ")
	}
}

// The request that others share is not the one of the caller who came first: he may have left, and
// use his again for something else.
func TestWhoHasLeftChangesHisRequestWhileOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, rt := over(t, Config{}, roundTrip(func(req *http.Request) (*http.Response, error) {
			<-release
			text := req.Header.Get("Authorization") + " " + req.URL.String()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), ContentLength: -1, Request: req}, nil
		}))
		ctx, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/x?y=z", nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "a")
			if resp, err := rt.RoundTrip(req); !errors.Is(err, context.Canceled) {
				_ = resp.Body.Close()
				t.Errorf("got %v", err)
			}
			req.Header.Set("Authorization", "b")
			req.URL.RawQuery = "b"
		})
		synctest.Wait()
		wg.Go(func() {
			if body, _, err := get(t.Context(), t, rt, "Authorization: a"); err != nil || body != "a http://a.example/x?y=z" {
				t.Errorf("got %q, %v", body, err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		wg.Wait()
	})
}
