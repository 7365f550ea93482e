package httpcache

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
)

func TestStaleResponses(t *testing.T) {
	down := fetchtest.Step{}.DialError()
	busy := answer(503, "busy")
	for _, c := range []struct {
		name    string
		cfg     Config
		first   []string
		second  fetchtest.Step
		request []string
		after   time.Duration
		want    string // result; "" = an error
	}{
		{"error, nothing permits", Config{}, []string{stale1}, down, nil, 2 * second, ""},
		{"503, nothing permits", Config{}, []string{stale1}, busy, nil, 2 * second, ResultMiss},
		{
			"error within stale-if-error",
			Config{},
			[]string{"Cache-Control: max-age=1, stale-if-error=60"},
			down, nil, 50 * second, ResultStale,
		},
		{
			"503 within stale-if-error",
			Config{},
			[]string{"Cache-Control: max-age=1, stale-if-error=60"},
			busy, nil, 50 * second, ResultStale,
		},
		{
			"503 past stale-if-error",
			Config{},
			[]string{"Cache-Control: max-age=1, stale-if-error=60"},
			busy, nil, 62 * second, ResultMiss,
		},
		{
			"501 is no such error",
			Config{},
			[]string{"Cache-Control: max-age=1, stale-if-error=60"},
			answer(501, ""), nil, 2 * second, ResultMiss,
		},
		{
			"the request's stale-if-error",
			Config{},
			[]string{stale1},
			busy,
			[]string{"Cache-Control: stale-if-error=60"},
			50 * second, ResultStale,
		},
		{
			"the configuration's",
			Config{StaleIfError: time.Minute},
			[]string{stale1},
			busy, nil,
			50 * second, ResultStale,
		},
		{
			"must-revalidate",
			Config{StaleIfError: time.Minute},
			[]string{"Cache-Control: max-age=1, must-revalidate, stale-if-error=60"},
			busy, nil, 2 * second,
			ResultMiss,
		},
		{
			"no-cache",
			Config{StaleIfError: time.Minute},
			[]string{"Cache-Control: max-age=1, no-cache, stale-if-error=60"},
			busy, nil, 2 * second,
			ResultMiss,
		},
		{
			"proxy-revalidate, shared",
			Config{Shared: true, StaleIfError: time.Minute},
			[]string{"Cache-Control: max-age=1, proxy-revalidate"},
			busy, nil, 2 * second, ResultMiss,
		},
		{
			"proxy-revalidate, private",
			Config{StaleIfError: time.Minute},
			[]string{"Cache-Control: max-age=1, proxy-revalidate"},
			busy, nil, 2 * second, ResultStale,
		},
		{
			"s-maxage, shared",
			Config{Shared: true, StaleIfError: time.Minute},
			[]string{"Cache-Control: s-maxage=1"},
			busy, nil, 2 * second, ResultMiss,
		},
		{
			"request no-cache",
			Config{StaleIfError: time.Minute},
			[]string{fresh60},
			busy,
			[]string{"Cache-Control: no-cache"},
			second, ResultMiss,
		},
		{
			"max-stale",
			Config{},
			[]string{stale1},
			busy,
			[]string{"Cache-Control: max-stale=60"},
			50 * second, ResultStale,
		},
		{
			"max-stale of any",
			Config{},
			[]string{stale1},
			busy,
			[]string{"Cache-Control: max-stale"},
			500 * second, ResultStale,
		},
		{
			"max-stale is over",
			Config{},
			[]string{stale1},
			busy,
			[]string{"Cache-Control: max-stale=10"},
			50 * second, ResultMiss,
		},
		{
			"max-stale and must-revalidate",
			Config{},
			[]string{"Cache-Control: max-age=1, must-revalidate"},
			busy,
			[]string{"Cache-Control: max-stale=60"},
			2 * second, ResultMiss,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.cfg, step(c.first...), c.second)
				r.do("GET", "/")
				pass(c.after)
				g, err := r.try(RequestOptions{}, "GET", "/", c.request...)
				if g.result != c.want || (err != nil) != (c.want == "") {
					t.Errorf("%+v, %v", g, err)
				}
				if c.want == ResultStale &&
					(g.body != "body" || !strings.Contains(g.header.Get("Cache-Status"), "ttl=-")) {
					t.Errorf("not marked: %+v", g)
				}
			})
		})
	}
	t.Run("an option accepts stale ones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1), busy)
			r.do("GET", "/")
			pass(10 * second)
			if g := r.with(RequestOptions{MaxStale: time.Minute}, "GET", "/"); g.result != ResultStale {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("a cancelled caller gets the error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StaleIfError: time.Hour}, step(stale1), fetchtest.Step{}.Hang())
			r.do("GET", "/")
			pass(2 * second)
			ctx, cancel := contextWithTimeout(t, second)
			defer cancel()
			if err := r.closed(ctx); err == nil {
				t.Error("an answer")
			}
		})
	})
}

func TestStaleWhileRevalidateAsksOnceInTheBackground(t *testing.T) {
	t.Run("one request for many callers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{},
				step("Cache-Control: max-age=1, stale-while-revalidate=60", `Etag: "a"`),
				answer(200, "new", fresh60).Delay(5*second))
			r.do("GET", "/")
			pass(2 * second)
			start := time.Now()
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if g := r.do("GET", "/"); g.body != "body" || g.result != ResultStale {
						t.Errorf("%+v", g)
					}
				})
			}
			wg.Wait()
			if took := time.Since(start); took > 0 {
				t.Errorf("callers waited %v", took)
			}
			pass(6 * second)
			if g := r.do("GET", "/"); g.body != "new" || g.result != ResultHit || r.asked() != 2 {
				t.Errorf("%+v after %d", g, r.asked())
			}
		})
	})
	t.Run("past the window the caller waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-while-revalidate=10"),
				answer(200, "new", fresh60))
			r.do("GET", "/")
			pass(12 * second)
			if g := r.do("GET", "/"); g.body != "new" {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("must-revalidate forbids it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StaleWhileRevalidate: time.Hour},
				step("Cache-Control: max-age=1, must-revalidate"), answer(200, "new", fresh60))
			r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/"); g.body != "new" {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("it is bounded in time, and Close ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StaleWhileRevalidate: time.Hour}, step(stale1), fetchtest.Step{}.Hang())
			r.do("GET", "/")
			pass(2 * second)
			r.do("GET", "/")
			pass(backgroundWait + second)
			r.do("GET", "/") // the first has ended, so this one starts another, which the rig's Close ends
			synctest.Wait()
			if r.asked() != 3 {
				t.Errorf("asked %d times", r.asked())
			}
		})
	})
	t.Run("the caller's trace hooks are not called", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-while-revalidate=60"),
				step(fresh60).Info(103, "Link", "x"))
			r.do("GET", "/")
			pass(2 * second)
			called := false
			ctx := httptrace.WithClientTrace(t.Context(),
				&httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { called = true }})
			if err := r.closed(call.New(ctx, time.Now())); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if called || r.asked() != 2 {
				t.Errorf("called %t, asked %d", called, r.asked())
			}
		})
	})
}

// A request is its caller's again when it has its stale answer, while the one in the background is
// still to be sent: what he makes of it then must not be stored as what he asked for first.
func TestCallerChangesItsRequestDuringRevalidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		n := 0
		rt := cache.Layer(roundTrip(func(req *http.Request) (*http.Response, error) {
			if n++; n == 2 {
				<-release
			}
			text := req.Header.Get("Authorization") + " " + req.URL.Path
			h := http.Header{"Cache-Control": {"max-age=1, stale-while-revalidate=60"}}
			return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(text)), ContentLength: -1, Request: req}, nil
		}))
		ask := func(want string) *http.Request {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/a", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "a")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != want || resp.Body.Close() != nil {
				t.Errorf("got %q, %v", b, err)
			}
			return req
		}
		ask("a /a")
		pass(2 * time.Second)
		req := ask("a /a")
		req.Header.Set("Authorization", "b")
		req.URL.Path = "/b"
		close(release)
		synctest.Wait()
		ask("a /a")
		if err := cache.Close(t.Context()); err != nil || n != 2 {
			t.Errorf("%d requests, %v", n, err)
		}
	})
}
