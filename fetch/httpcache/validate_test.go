package httpcache

import (
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
)

const (
	second  = time.Second
	stale1  = "Cache-Control: max-age=1"
	fresh60 = "Cache-Control: max-age=60"
)

func not(fields ...string) fetchtest.Step { return answer(304, "", fields...) }

func TestValidation(t *testing.T) {
	t.Run("by tag and date; the 304 gives new fields and freshness", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT", "X: old", "Content-Type: text/plain"),
				not(fresh60, `Etag: "a"`, "X: new", "Content-Length: 9", "Content-Encoding: gzip", "Content-Range: x", "Content-Md5: y", "Connection: Z", "Z: 1"))
			r.do("GET", "/")
			pass(2 * second)
			g := r.do("GET", "/")
			q := r.tr.Requests()[1].Header
			if q.Get("If-None-Match") != `"a"` || q.Get("If-Modified-Since") != "Mon, 01 Jan 1990 00:00:00 GMT" {
				t.Errorf("asked with %v", q)
			}
			if g.result != ResultRevalidated || g.status != 200 || g.body != "body" || g.header.Get("X") != "new" || g.header.Get("Content-Length") != "4" ||
				g.header.Get("Content-Encoding")+g.header.Get("Content-Range")+g.header.Get("Content-Md5")+g.header.Get("Z") != "" || g.header.Get("Content-Type") != "text/plain" {
				t.Errorf("%+v", g)
			}
			pass(50 * second)
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("X") != "new" || g.header.Get("Age") != "50" {
				t.Errorf("later: %+v", g)
			}
		})
	})
	t.Run("no-cache is asked for each time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: no-cache, max-age=60", `Etag: "a"`), not(`Etag: "a"`))
			for range 3 {
				r.do("GET", "/")
			}
			if r.asked() != 3 {
				t.Errorf("asked %d times", r.asked())
			}
		})
	})
	t.Run("a full answer replaces", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`), answer(200, "new", fresh60, `Etag: "b"`))
			r.do("GET", "/")
			pass(2 * second)
			r.do("GET", "/")
			if g := r.do("GET", "/"); g.body != "new" || g.result != ResultHit || r.asked() != 2 {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("all variants' tags are sent, and the 304 says which it is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(200, "one", fresh60, `Etag: "1"`, "Vary: Foo"), answer(200, "two", fresh60, `Etag: W/"2"`, "Vary: Foo"), not(`Etag: W/"2"`, fresh60))
			r.do("GET", "/", "Foo: 1")
			r.do("GET", "/", "Foo: 2")
			g := r.do("GET", "/", "Foo: 3")
			if tags := r.tr.Requests()[2].Header.Get("If-None-Match"); tags != `W/"2", "1"` {
				t.Errorf("sent %s", tags)
			}
			if g.body != "two" || g.status != 200 {
				t.Errorf("%+v", g)
			}
			if g := r.do("GET", "/", "Foo: 3"); g.result != ResultHit || g.body != "two" {
				t.Errorf("then %+v", g)
			}
		})
	})
	t.Run("a 304 that is about none of several leads to one unconditional request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(200, "one", fresh60, `Etag: "1"`, "Vary: Foo"), answer(200, "two", stale1, `Etag: "2"`, "Vary: Foo"), not(`Etag: "3"`), answer(200, "three", fresh60, `Etag: "3"`, "Vary: Foo"))
			r.do("GET", "/", "Foo: 1")
			r.do("GET", "/", "Foo: 2")
			pass(2 * second)
			g := r.do("GET", "/", "Foo: 2")
			if g.body != "three" || r.asked() != 4 || r.tr.Requests()[3].Header.Get("If-None-Match") != "" {
				t.Errorf("%+v after %d", g, r.asked())
			}
		})
	})
	t.Run("a 304 to the only tag is about that one, whatever it is called", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a-gzip"`), not(fresh60, `Etag: "a"`))
			r.do("GET", "/")
			pass(2 * second)
			r.do("GET", "/")
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("Etag") != `"a-gzip"` || r.asked() != 2 {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("a weak tag of the 304 does not select a strong one of another", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`), not(fresh60))
			r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/"); g.result != ResultRevalidated {
				t.Errorf("a 304 without validators: %+v", g)
			}
		})
	})
	t.Run("by Last-Modified, by Date where there is none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1), not(fresh60))
			first := r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/"); g.result != ResultRevalidated || r.tr.Requests()[1].Header.Get("If-Modified-Since") != first.header.Get("Date") {
				t.Errorf("%+v", g)
			}
		})
	})
}

func TestCallersConditions(t *testing.T) {
	const lm = "Mon, 01 Jan 1990 00:00:00 GMT"
	for _, c := range []struct {
		name   string
		fields []string
		want   int
	}{
		{"tag", []string{`If-None-Match: "a"`}, 304},
		{"tag of a list", []string{`If-None-Match: "x", W/"a", "y"`}, 304},
		{"any", []string{"If-None-Match: *"}, 304},
		{"other tag", []string{`If-None-Match: "b"`}, 200},
		{"date", []string{"If-Modified-Since: " + lm}, 304},
		{"later date", []string{"If-Modified-Since: Tue, 02 Jan 1990 00:00:00 GMT"}, 304},
		{"earlier date", []string{"If-Modified-Since: Sun, 31 Dec 1989 00:00:00 GMT"}, 200},
		{"tag before date", []string{`If-None-Match: "b"`, "If-Modified-Since: " + lm}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step(fresh60, `Etag: "a"`, "Last-Modified: "+lm, "Content-Type: text/plain", "Vary: Foo"))
				r.do("GET", "/")
				g := r.do("GET", "/", c.fields...)
				if g.status != c.want || r.asked() != 1 {
					t.Errorf("%d after %d", g.status, r.asked())
				}
				if g.status == 304 && (g.body != "" || g.header.Get("Etag") != `"a"` || g.header.Get("Content-Type") != "" || g.header.Get("Vary") != "Foo" || g.header.Get("Date") == "" || g.header.Get("Cache-Control") == "") {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("stale: own and stored tags are sent, and the answer is the caller's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`), not(fresh60, `Etag: "a"`), not(`Etag: "mine"`))
			r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/", `If-None-Match: "mine"`); g.status != 200 || g.body != "body" || r.tr.Requests()[1].Header.Get("If-None-Match") != `"a", "mine"` {
				t.Errorf("%+v", g)
			}
			if g := r.do("GET", "/", `If-None-Match: "a"`); g.status != 304 || r.asked() != 2 {
				t.Errorf("%+v", g)
			}
			pass(61 * second)
			if g := r.do("GET", "/", `If-None-Match: "mine"`); g.status != 304 || g.result != ResultMiss {
				t.Errorf("about the caller's own: %+v", g)
			}
		})
	})
	t.Run("nothing stored: passed on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, not(`Etag: "a"`))
			if g := r.do("GET", "/", `If-None-Match: "a"`); g.status != 304 || r.tr.Requests()[0].Header.Get("If-None-Match") != `"a"` {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("If-Match is for the origin alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60, `Etag: "a"`), answer(412, ""))
			r.do("GET", "/")
			if g := r.do("GET", "/", `If-Match: "b"`); g.status != 412 {
				t.Errorf("%+v", g)
			}
		})
	})
}

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
		{"error within stale-if-error", Config{}, []string{"Cache-Control: max-age=1, stale-if-error=60"}, down, nil, 50 * second, ResultStale},
		{"503 within stale-if-error", Config{}, []string{"Cache-Control: max-age=1, stale-if-error=60"}, busy, nil, 50 * second, ResultStale},
		{"503 past stale-if-error", Config{}, []string{"Cache-Control: max-age=1, stale-if-error=60"}, busy, nil, 62 * second, ResultMiss},
		{"501 is no such error", Config{}, []string{"Cache-Control: max-age=1, stale-if-error=60"}, answer(501, ""), nil, 2 * second, ResultMiss},
		{"the request's stale-if-error", Config{}, []string{stale1}, busy, []string{"Cache-Control: stale-if-error=60"}, 50 * second, ResultStale},
		{"the configuration's", Config{StaleIfError: time.Minute}, []string{stale1}, busy, nil, 50 * second, ResultStale},
		{"must-revalidate", Config{StaleIfError: time.Minute}, []string{"Cache-Control: max-age=1, must-revalidate, stale-if-error=60"}, busy, nil, 2 * second, ResultMiss},
		{"no-cache", Config{StaleIfError: time.Minute}, []string{"Cache-Control: max-age=1, no-cache, stale-if-error=60"}, busy, nil, 2 * second, ResultMiss},
		{"proxy-revalidate, shared", Config{Shared: true, StaleIfError: time.Minute}, []string{"Cache-Control: max-age=1, proxy-revalidate"}, busy, nil, 2 * second, ResultMiss},
		{"proxy-revalidate, private", Config{StaleIfError: time.Minute}, []string{"Cache-Control: max-age=1, proxy-revalidate"}, busy, nil, 2 * second, ResultStale},
		{"s-maxage, shared", Config{Shared: true, StaleIfError: time.Minute}, []string{"Cache-Control: s-maxage=1"}, busy, nil, 2 * second, ResultMiss},
		{"request no-cache", Config{StaleIfError: time.Minute}, []string{fresh60}, busy, []string{"Cache-Control: no-cache"}, second, ResultMiss},
		{"max-stale", Config{}, []string{stale1}, busy, []string{"Cache-Control: max-stale=60"}, 50 * second, ResultStale},
		{"max-stale of any", Config{}, []string{stale1}, busy, []string{"Cache-Control: max-stale"}, 500 * second, ResultStale},
		{"max-stale is over", Config{}, []string{stale1}, busy, []string{"Cache-Control: max-stale=10"}, 50 * second, ResultMiss},
		{"max-stale and must-revalidate", Config{}, []string{"Cache-Control: max-age=1, must-revalidate"}, busy, []string{"Cache-Control: max-stale=60"}, 2 * second, ResultMiss},
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
				if c.want == ResultStale && (g.body != "body" || !strings.Contains(g.header.Get("Cache-Status"), "ttl=-")) {
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
			req, err := http.NewRequestWithContext(ctx, "GET", "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := r.rt.RoundTrip(req); err == nil {
				_ = resp.Body.Close()
				t.Error("an answer")
			}
		})
	})
}

func TestStaleWhileRevalidateAsksOnceInTheBackground(t *testing.T) {
	t.Run("one request for many callers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-while-revalidate=60", `Etag: "a"`), answer(200, "new", fresh60).Delay(5*second))
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
			r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-while-revalidate=10"), answer(200, "new", fresh60))
			r.do("GET", "/")
			pass(12 * second)
			if g := r.do("GET", "/"); g.body != "new" {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("must-revalidate forbids it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StaleWhileRevalidate: time.Hour}, step("Cache-Control: max-age=1, must-revalidate"), answer(200, "new", fresh60))
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
			r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-while-revalidate=60"), step(fresh60).Info(103, "Link", "x"))
			r.do("GET", "/")
			pass(2 * second)
			called := false
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { called = true }})
			req, err := http.NewRequestWithContext(call.New(ctx, time.Now()), "GET", "http://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := r.rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			synctest.Wait()
			if called || r.asked() != 2 {
				t.Errorf("called %t, asked %d", called, r.asked())
			}
		})
	})
}

func TestRequestDirectives(t *testing.T) {
	for _, c := range []struct {
		name    string
		request []string
		options RequestOptions
		want    string
		status  int
	}{
		{"max-age holds", []string{"Cache-Control: max-age=20"}, RequestOptions{}, ResultHit, 200},
		{"max-age is over", []string{"Cache-Control: max-age=5"}, RequestOptions{}, ResultRevalidated, 200},
		{"max-age that is none", []string{"Cache-Control: max-age=x"}, RequestOptions{}, ResultRevalidated, 200},
		{"min-fresh holds", []string{"Cache-Control: min-fresh=40"}, RequestOptions{}, ResultHit, 200},
		{"min-fresh does not", []string{"Cache-Control: min-fresh=55"}, RequestOptions{}, ResultRevalidated, 200},
		{"no-cache", []string{"Cache-Control: no-cache"}, RequestOptions{}, ResultRevalidated, 200},
		{"no-store may be answered", []string{"Cache-Control: no-store"}, RequestOptions{}, ResultHit, 200},
		{"only-if-cached, there", []string{"Cache-Control: only-if-cached"}, RequestOptions{}, ResultHit, 200},
		{"only-if-cached, no-cache", []string{"Cache-Control: only-if-cached, no-cache"}, RequestOptions{}, ResultMiss, 504},
		{"Pragma", []string{"Pragma: no-cache"}, RequestOptions{}, ResultRevalidated, 200},
		{"Pragma beside Cache-Control", []string{"Pragma: no-cache", "Cache-Control: max-age=100"}, RequestOptions{}, ResultHit, 200},
		{"option Refresh", nil, RequestOptions{Refresh: true}, ResultRevalidated, 200},
		{"option Bypass", nil, RequestOptions{Bypass: true}, ResultBypass, 304},
		{"option OnlyIfCached", nil, RequestOptions{OnlyIfCached: true}, ResultHit, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step(fresh60, `Etag: "a"`), not(fresh60, `Etag: "a"`))
				r.do("GET", "/")
				pass(10 * second)
				if g := r.with(c.options, "GET", "/", c.request...); g.result != c.want || g.status != c.status {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("only-if-cached without anything is 504 of our own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			if g := r.with(RequestOptions{OnlyIfCached: true}, "GET", "/"); g.status != 504 || r.asked() != 0 || !strings.Contains(g.header.Get("Cache-Status"), "only-if-cached") {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("immutable suppresses a reload while fresh, not a forced one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=60, immutable", `Etag: "a"`), not(`Etag: "a"`))
			r.do("GET", "/")
			if g := r.do("GET", "/", "Cache-Control: max-age=0"); g.result != ResultHit {
				t.Errorf("reload: %+v", g)
			}
			if g := r.do("GET", "/", "Cache-Control: no-cache"); g.result != ResultRevalidated {
				t.Errorf("forced: %+v", g)
			}
			pass(61 * second)
			if g := r.do("GET", "/"); g.result != ResultRevalidated {
				t.Errorf("stale: %+v", g)
			}
		})
	})
	t.Run("an option's TTL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step())
			r.with(RequestOptions{TTL: time.Minute}, "GET", "/")
			if g := r.do("GET", "/"); g.result != ResultHit {
				t.Errorf("%+v", g)
			}
		})
	})
}

func TestTTLOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		status int
		fields []string
		after  time.Duration
		want   bool
	}{
		{"nothing said", Config{}, 200, nil, 59 * second, true},
		{"over", Config{}, 200, nil, 60 * second, false},
		{"max-age=0 does not count", Config{}, 200, []string{"Cache-Control: max-age=0, must-revalidate, no-cache"}, 59 * second, true},
		{"no-store wins", Config{}, 200, []string{"Cache-Control: no-store"}, second, false},
		{"private wins in a shared cache", Config{Shared: true}, 200, []string{"Cache-Control: private"}, second, false},
		{"Vary * wins", Config{}, 200, []string{"Vary: *"}, second, false},
		{"only 200", Config{}, 404, []string{fresh60}, second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.cfg.Mode, c.cfg.TTL = TTLOnly, time.Minute
				if got := reused(t, c.cfg, c.after, answer(c.status, "x", c.fields...)); got != c.want {
					t.Errorf("reused: %t", got)
				}
			})
		})
	}
}

func TestHead(t *testing.T) {
	t.Run("answered from a stored GET", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60))
			r.do("GET", "/")
			if g := r.do("HEAD", "/"); g.result != ResultHit || g.body != "" || g.header.Get("Content-Length") != "4" || g.status != 200 {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("one that agrees brings the GET up to date", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`, "X: old"), step(fresh60, `Etag: "a"`, "X: new"))
			r.do("GET", "/")
			pass(2 * second)
			r.do("HEAD", "/")
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("X") != "new" || r.asked() != 2 {
				t.Errorf("%+v", g)
			}
		})
	})
	for name, head := range map[string]fetchtest.Step{"another tag": step(fresh60, `Etag: "b"`), "another length": answer(200, "longer body", fresh60, `Etag: "a"`)} {
		t.Run("one with "+name+" makes it stale", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-if-error=600", `Etag: "a"`), head, answer(200, "new", fresh60))
				r.do("GET", "/")
				pass(2 * second)
				r.do("HEAD", "/")
				if g := r.do("GET", "/"); g.body != "new" || r.tr.Requests()[2].Header.Get("If-None-Match") != `"a"` {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("an answer to HEAD is not stored", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60))
			r.do("HEAD", "/")
			if g := r.do("GET", "/"); g.result != ResultMiss || g.body != "body" {
				t.Errorf("%+v", g)
			}
		})
	})
}

func TestInvalidation(t *testing.T) {
	for _, c := range []struct {
		name, method, path string
		answer             fetchtest.Step
		gone               bool
	}{
		{"POST", "POST", "/x", answer(200, ""), true},
		{"PUT with 3xx", "PUT", "/x", answer(303, ""), true},
		{"an unknown method", "FROB", "/x", answer(200, ""), true},
		{"an error", "DELETE", "/x", answer(500, ""), false},
		{"a client's error", "DELETE", "/x", answer(404, ""), false},
		{"OPTIONS", "OPTIONS", "/x", answer(200, ""), false},
		{"QUERY", "QUERY", "/x", answer(200, ""), false},
		{"another path", "POST", "/y", answer(200, ""), false},
		{"Location", "POST", "/y", answer(201, "", "Location: /x"), true},
		{"Content-Location in full", "POST", "/y", answer(201, "", "Content-Location: http://A.example:80/x"), true},
		{"Location at another origin", "POST", "/y", answer(201, "", "Location: https://a.example/x"), false},
		{"Location of an error", "POST", "/y", answer(500, "", "Location: /x"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step(fresh60, "Vary: Foo"), step(fresh60, "Vary: Foo"), step(fresh60), c.answer, step(fresh60))
				r.do("GET", "/x", "Foo: 1")
				r.do("GET", "/x", "Foo: 2")
				r.do("GET", "/x", "Authorization: me")
				r.do(c.method, c.path)
				for _, f := range []string{"Foo: 1", "Foo: 2", "Authorization: me"} {
					if gone := r.with(RequestOptions{OnlyIfCached: true}, "GET", "/x", f).status == 504; gone != c.gone {
						t.Errorf("%s: gone %t", f, gone)
					}
				}
			})
		})
	}
	t.Run("what was on its way is not stored", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60).Delay(5*second), answer(200, ""), answer(200, "new", fresh60))
			var wg sync.WaitGroup
			wg.Go(func() { r.do("GET", "/x") })
			pass(second)
			r.do("POST", "/x")
			wg.Wait()
			if g := r.do("GET", "/x"); g.body != "new" {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("by hand", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60))
			for _, p := range []string{"/a", "/b/1", "/b/2?q", "/c"} {
				r.do("GET", p)
			}
			u, err := url.Parse("http://a.example/a")
			if err != nil {
				t.Fatal(err)
			}
			r.cache.Invalidate(t.Context(), u)
			if n, err := r.cache.Purge(t.Context(), "http://a.example/b/"); n != 2 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			if n, _ := r.cache.cfg.Store.(Sizer).Size(); n != 1 {
				t.Errorf("%d are left", n)
			}
		})
	})
}

func TestRanges(t *testing.T) {
	const tag = `Etag: "a"`
	whole := answer(200, "0123456789", fresh60, tag, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT")
	for _, c := range []struct {
		name   string
		fields []string
		status int
		body   string
		place  string
	}{
		{"first and last", []string{"Range: bytes=2-4"}, 206, "234", "bytes 2-4/10"},
		{"open", []string{"Range: bytes=7-"}, 206, "789", "bytes 7-9/10"},
		{"suffix", []string{"Range: bytes=-3"}, 206, "789", "bytes 7-9/10"},
		{"beyond the end", []string{"Range: bytes=8-99"}, 206, "89", "bytes 8-9/10"},
		{"out of range", []string{"Range: bytes=10-"}, 416, "", "bytes */10"},
		{"several", []string{"Range: bytes=0-1,4-5"}, 200, "0123456789", ""},
		{"another unit", []string{"Range: lines=0-1"}, 200, "0123456789", ""},
		{"If-Range with the tag", []string{"Range: bytes=2-4", `If-Range: "a"`}, 206, "234", "bytes 2-4/10"},
		{"If-Range with a weak tag", []string{"Range: bytes=2-4", `If-Range: W/"a"`}, 200, "0123456789", ""},
		{"If-Range with another tag", []string{"Range: bytes=2-4", `If-Range: "b"`}, 200, "0123456789", ""},
		{"If-Range with the date", []string{"Range: bytes=2-4", "If-Range: Mon, 01 Jan 1990 00:00:00 GMT"}, 206, "234", "bytes 2-4/10"},
		{"a condition comes first", []string{"Range: bytes=2-4", `If-None-Match: "a"`}, 304, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, whole)
				r.do("GET", "/")
				g := r.do("GET", "/", c.fields...)
				if g.status != c.status || g.body != c.body || g.header.Get("Content-Range") != c.place || r.asked() != 1 {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	part := func(from, to string, body, tag string) fetchtest.Step {
		return answer(206, body, fresh60, tag, "Content-Range: bytes "+from+"-"+to+"/10")
	}
	t.Run("parts are served within, joined, and make a whole", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, part("0", "3", "0123", tag), part("4", "9", "456789", tag))
			r.do("GET", "/", "Range: bytes=0-3")
			if g := r.do("GET", "/", "Range: bytes=1-2"); g.body != "12" || g.result != ResultHit || g.header.Get("Content-Range") != "bytes 1-2/10" {
				t.Errorf("within: %+v", g)
			}
			r.do("GET", "/", "Range: bytes=4-")
			if g := r.do("GET", "/"); g.body != "0123456789" || g.status != 200 || g.result != ResultHit || g.header.Get("Content-Range") != "" {
				t.Errorf("joined: %+v", g)
			}
		})
	})
	for name, second := range map[string]fetchtest.Step{
		"of another tag":  part("4", "9", "456789", `Etag: "b"`),
		"of a weak tag":   part("4", "9", "456789", `Etag: W/"a"`),
		"of no tag":       part("4", "9", "456789", "X: y"),
		"with a gap":      part("5", "9", "56789", tag),
		"of wrong length": part("4", "9", "4567", tag),
	} {
		t.Run("parts "+name+" are not joined", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, part("0", "3", "0123", tag), second, whole)
				r.do("GET", "/", "Range: bytes=0-3")
				r.do("GET", "/", "Range: bytes=4-9")
				if g := r.do("GET", "/"); g.result == ResultHit || g.body != "0123456789" {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	for name, c := range map[string]struct {
		step    fetchtest.Step
		request string
		want    string // "" = asked for again
	}{
		"without a tag":                 {part("4", "9", "456789", "X: y"), "bytes=6-", "6789"},
		"beyond what is stored":         {part("4", "7", "4567", "X: y"), "bytes=6-", ""},
		"of a part that is cut":         {part("4", "9", "4567", "X: y"), "bytes=5-6", "56"},
		"beyond where a part is cut":    {part("4", "9", "4567", "X: y"), "bytes=6-9", ""},
		"of more than there is room":    {part("4", "5", "4567", tag), "bytes=4-5", ""},
		"of an undeclared excess":       {part("4", "5", "4567", tag).Drip(1, 0), "bytes=4-5", ""},
		"of a part that counts in rows": {answer(206, "45", fresh60, tag, "Content-Range: rows 4-5/10"), "bytes=4-5", ""},
	} {
		t.Run("a part: "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, c.step, answer(206, "again", tag))
				r.do("GET", "/", "Range: bytes=4-9")
				g := r.do("GET", "/", "Range: "+c.request)
				if hit := g.result == ResultHit; hit != (c.want != "") || hit && (g.body != c.want || g.status != 206) {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("multipart/byteranges passes through", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(206, "--x", fresh60, tag, "Content-Type: multipart/byteranges; boundary=x"))
			if g := r.do("GET", "/", "Range: bytes=0-1,3-4"); g.body != "--x" || g.stored {
				t.Errorf("%+v", g)
			}
		})
	})
}

// RFC 9110, section 9.3.3: explicit freshness, and a Content-Location that is the target's own.
func TestAnswerToPostIsStoredForGet(t *testing.T) {
	const here = "Content-Location: /x"
	for _, c := range []struct {
		name   string
		cfg    Config
		method string
		answer fetchtest.Step
		want   bool
	}{
		{"as a GET would return it", Config{}, "POST", step(fresh60, here), true},
		{"by its full address", Config{}, "POST", step(fresh60, "Content-Location: http://a.example/x"), true},
		{"of another address", Config{}, "POST", step(fresh60, "Content-Location: /y"), false},
		{"of another origin", Config{}, "POST", step(fresh60, "Content-Location: https://a.example/x"), false},
		{"without an address", Config{}, "POST", step(fresh60), false},
		{"without explicit freshness", Config{}, "POST", step(here, `Etag: "a"`, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT"), false},
		{"public is no freshness", Config{}, "POST", step(here, "Cache-Control: public", `Etag: "a"`), false},
		{"no-store", Config{}, "POST", step(here, "Cache-Control: max-age=60, no-store"), false},
		{"private in a shared cache", Config{Shared: true}, "POST", step(here, "Cache-Control: max-age=60, private"), false},
		{"of a creation", Config{}, "POST", answer(201, "x", fresh60, here), false},
		{"of PUT", Config{}, "PUT", step(fresh60, here), false},
		{"by time alone", Config{Mode: TTLOnly, TTL: second}, "POST", step(fresh60, here), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.cfg, answer(200, "before", fresh60), c.answer, answer(200, "after"))
				r.do("GET", "/x")
				first := r.do(c.method, "/x")
				second := r.do("GET", "/x")
				if hit := second.result == ResultHit; hit != c.want || hit && second.body != first.body || second.body == "before" {
					t.Errorf("%+v", second)
				}
			})
		})
	}
	t.Run("not when another has changed the target meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(200, "slow", fresh60, here).Delay(5*second), answer(200, ""), answer(200, "new"))
			var wg sync.WaitGroup
			wg.Go(func() { r.do("POST", "/x") })
			pass(second)
			r.do("DELETE", "/x")
			wg.Wait()
			if g := r.do("GET", "/x"); g.body != "new" {
				t.Errorf("%+v", g)
			}
		})
	})
}

func TestTargetedFields(t *testing.T) {
	shared := Config{Shared: true}
	for _, c := range []struct {
		name   string
		cfg    Config
		fields []string
		want   bool
	}{
		{"outweighs Cache-Control", shared, []string{"CDN-Cache-Control: max-age=60", "Cache-Control: no-store"}, true},
		{"hides Expires", shared, []string{"CDN-Cache-Control: must-revalidate", "Expires: Thu, 01 Jan 2099 00:00:00 GMT"}, false},
		{"no-store", shared, []string{"CDN-Cache-Control: no-store", fresh60}, false},
		{"the last duplicate wins", shared, []string{"CDN-Cache-Control: max-age=0, max-age=60"}, true},
		{"a string is no number", shared, []string{`CDN-Cache-Control: max-age="60"`, fresh60}, false},
		{"a decimal is no integer", shared, []string{"CDN-Cache-Control: max-age=60.0", fresh60}, false},
		{"negative", shared, []string{"CDN-Cache-Control: max-age=-1", fresh60}, false},
		{"?0 is off", shared, []string{"CDN-Cache-Control: no-store=?0, max-age=60"}, true},
		{"upper case does not parse: as if absent", shared, []string{"CDN-Cache-Control: Max-Age=0", fresh60}, true},
		{"empty: as if absent", shared, []string{"CDN-Cache-Control: ", fresh60}, true},
		{"does not parse: as if absent", shared, []string{"CDN-Cache-Control: max-age=0, &", fresh60}, true},
		{"unknown members, parameters", shared, []string{"CDN-Cache-Control: a=1;b, max-age=60;c"}, true},
		{"not for a private cache", Config{}, []string{"CDN-Cache-Control: max-age=60"}, false},
		{"names of one's own, in order", Config{Shared: true, Targeted: []string{"Mine-Cache-Control", "CDN-Cache-Control"}}, []string{"CDN-Cache-Control: max-age=0", "mine-cache-control: max-age=60"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := reused(t, c.cfg, second, step(c.fields...)); got != c.want {
					t.Errorf("reused: %t", got)
				}
			})
		})
	}
}

func TestInterimResponsesReachTheCallerAndAreNotStored(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60).Info(103, "Link", "</a>").Info(103, "Link", "</b>"))
	var links []string
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
		links = append(links, h.Get("Link"))
		return nil
	}})
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 || resp.Header.Get("Link") != "" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
		readAll(t, resp)
	}
	if strings.Join(links, " ") != "</a> </b>" {
		t.Errorf("hooks got %q", links)
	}
}

func TestCacheStatus(t *testing.T) {
	t.Run("what was done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StatusName: "here"}, step("Cache-Control: max-age=60", `Etag: "a"`, "Cache-Status: upstream; hit", "Vary: Foo"), step(fresh60, "Vary: Foo"), not(fresh60, `Etag: "a"`), answer(200, ""))
			for _, c := range []struct {
				after  time.Duration
				method string
				field  string
				want   string
			}{
				{0, "GET", "Foo: 1", "upstream; hit|here; fwd=uri-miss; fwd-status=200; stored"},
				{10 * second, "GET", "Foo: 1", "upstream; hit|here; hit; ttl=50"},
				{0, "GET", "Foo: 2", "here; fwd=vary-miss; fwd-status=200; stored"},
				{51 * second, "GET", "Foo: 1", "upstream; hit|here; fwd=stale; fwd-status=304; ttl=60"},
				{0, "POST", "Foo: 1", "here; fwd=method; fwd-status=200"},
			} {
				pass(c.after)
				if got := strings.Join(r.do(c.method, "/", c.field).header.Values("Cache-Status"), "|"); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	})
}

var errStore = errors.New("store is down")
