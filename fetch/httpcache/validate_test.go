package httpcache

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
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
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`,
				"Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT", "X: old", "Content-Type: text/plain"),
				not(fresh60, `Etag: "a"`, "X: new", "Content-Length: 9", "Content-Encoding: gzip",
					"Content-Range: x", "Content-Md5: y", "Connection: Z", "Z: 1"))
			r.do("GET", "/")
			pass(2 * second)
			g := r.do("GET", "/")
			q := r.tr.Requests()[1].Header
			if q.Get("If-None-Match") != `"a"` ||
				q.Get("If-Modified-Since") != "Mon, 01 Jan 1990 00:00:00 GMT" {
				t.Errorf("asked with %v", q)
			}
			if g.result != ResultRevalidated || g.status != 200 || g.body != "body" ||
				g.header.Get("X") != "new" || g.header.Get("Content-Length") != "4" ||
				g.header.Get("Content-Encoding")+g.header.Get("Content-Range") != "" ||
				g.header.Get("Content-Md5")+g.header.Get("Z") != "" ||
				g.header.Get("Content-Type") != "text/plain" {
				t.Errorf("%+v", g)
			}
			pass(50 * second)
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("X") != "new" ||
				g.header.Get("Age") != "50" {
				t.Errorf("later: %+v", g)
			}
		})
	})
	t.Run("no-cache is asked for each time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: no-cache, max-age=60", `Etag: "a"`),
				not(`Etag: "a"`))
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
			r := newRig(t, Config{}, answer(200, "one", fresh60, `Etag: "1"`, "Vary: Foo"),
				answer(200, "two", fresh60, `Etag: W/"2"`, "Vary: Foo"), not(`Etag: W/"2"`, fresh60))
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
	t.Run("a 304 that is about none of several leads to one unconditional request",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, answer(200, "one", fresh60, `Etag: "1"`, "Vary: Foo"),
					answer(200, "two", stale1, `Etag: "2"`, "Vary: Foo"), not(`Etag: "3"`),
					answer(200, "three", fresh60, `Etag: "3"`, "Vary: Foo"))
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
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("Etag") != `"a-gzip"` ||
				r.asked() != 2 {
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
			if g := r.do("GET", "/"); g.result != ResultRevalidated ||
				r.tr.Requests()[1].Header.Get("If-Modified-Since") != first.header.Get("Date") {
				t.Errorf("%+v", g)
			}
		})
	})
}

// An update may change what selects a response, and forbid what was permitted.
func TestWhatAnUpdateSaysCounts(t *testing.T) {
	const (
		tag   = `Etag: "a"`
		other = "Accept-Language: de"
	)
	for _, c := range []struct {
		name    string
		shared  bool
		first   []string
		update  []string
		fields  []string // of the requests before
		third   []string // of the request after
		updates bool     // the third is answered from what was updated
	}{
		{"Vary, the same request", false, []string{stale1, tag}, []string{fresh60, "Vary: Accept-Language"}, []string{"Accept-Language: en"}, []string{"Accept-Language: en"}, true},
		{"Vary, another request", false, []string{stale1, tag}, []string{fresh60, "Vary: Accept-Language"}, []string{"Accept-Language: en"}, []string{other}, false},
		{"Vary less, another request", false, []string{stale1, tag, "Vary: Accept-Language, Foo"}, []string{fresh60, "Vary: Foo"}, nil, []string{other}, true},
		{"Vary *", false, []string{stale1, tag}, []string{fresh60, "Vary: *"}, nil, nil, false},
		{"no-store", false, []string{stale1, tag}, []string{"Cache-Control: no-store, max-age=60"}, nil, nil, false},
		{"private", false, []string{stale1, tag}, []string{"Cache-Control: private, max-age=60"}, nil, nil, true},
		{"private to a shared cache", true, []string{stale1, tag}, []string{"Cache-Control: private, max-age=60"}, nil, nil, false},
		{"no longer public", true, []string{"Cache-Control: public, max-age=1", tag}, []string{fresh60}, []string{"Authorization: a"}, []string{"Authorization: b"}, false},
		{"still public", true, []string{"Cache-Control: public, max-age=1", tag}, []string{"Cache-Control: public, max-age=60"}, []string{"Authorization: a"}, []string{"Authorization: b"}, true},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			t.Run(c.name+", by "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					update := not(append([]string{tag}, c.update...)...)
					if method == "HEAD" {
						update = answer(200, "", append([]string{tag}, c.update...)...).WrongLength(4)
					}
					r := newRig(t, Config{Shared: c.shared}, answer(200, "body", c.first...), update, answer(200, "new", "Cache-Control: no-store"))
					r.do("GET", "/", c.fields...)
					pass(2 * second)
					if g := r.do(method, "/", c.fields...); g.status != 200 || method == "GET" && g.body != "body" {
						t.Fatalf("the update: %+v", g)
					}
					want, asked := "body", 2
					if !c.updates {
						want, asked = "new", 3
					}
					if g := r.do("GET", "/", c.third...); g.body != want || r.asked() != asked {
						t.Errorf("then %+v, asked %d times", g, r.asked())
					}
				})
			})
		}
	}
	t.Run("a request's no-store leaves what is stored as it is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, tag, "X: old"), not(fresh60, tag, "X: new"), not(fresh60, tag))
			r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/", "Cache-Control: no-store"); g.body != "body" || g.header.Get("X") != "new" {
				t.Errorf("%+v", g)
			}
			if g := r.do("GET", "/"); g.result != ResultRevalidated || g.header.Get("X") != "old" {
				t.Errorf("then %+v", g)
			}
		})
	})
}

// Each update may add fields to those before; what has grown beyond what one response may have is
// asked for anew.
func TestUpdatesDoNotGrowWithoutEnd(t *testing.T) {
	for _, method := range []string{"GET", "HEAD"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const each = 100 << 10
				steps := []fetchtest.Step{step("Cache-Control: max-age=0", `Etag: "a"`)}
				for i := range 20 {
					grown := not(`Etag: "a"`, fmt.Sprintf("X-%d: %s", i, strings.Repeat("x", each)))
					if method == "HEAD" {
						grown = answer(200, "", `Etag: "a"`, fmt.Sprintf("X-%d: %s", i, strings.Repeat("x", each))).WrongLength(4)
					}
					steps = append(steps, grown)
				}
				r := newRig(t, Config{}, steps...)
				r.do("GET", "/")
				for range 20 {
					r.do(method, "/")
				}
				if b := r.cache.Stats().Bytes; b > maxUpdated+each {
					t.Errorf("%d bytes are stored", b)
				}
				again := 0
				for _, q := range r.tr.Requests()[1:] {
					if q.Method == "GET" && q.Header.Get("If-None-Match") == "" {
						again++
					}
				}
				if method == "GET" && again == 0 {
					t.Error("it was never asked for anew")
				}
			})
		})
	}
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
				r := newRig(t, Config{},
					step(fresh60, `Etag: "a"`, "Last-Modified: "+lm, "Content-Type: text/plain", "Vary: Foo"))
				r.do("GET", "/")
				g := r.do("GET", "/", c.fields...)
				if g.status != c.want || r.asked() != 1 {
					t.Errorf("%d after %d", g.status, r.asked())
				}
				if g.status == 304 && (g.body != "" || g.header.Get("Etag") != `"a"` ||
					g.header.Get("Content-Type") != "" || g.header.Get("Vary") != "Foo" ||
					g.header.Get("Date") == "" || g.header.Get("Cache-Control") == "") {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("stale: own and stored tags are sent, and the answer is the caller's", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`), not(fresh60, `Etag: "a"`),
				not(`Etag: "mine"`))
			r.do("GET", "/")
			pass(2 * second)
			if g := r.do("GET", "/", `If-None-Match: "mine"`); g.status != 200 || g.body != "body" ||
				r.tr.Requests()[1].Header.Get("If-None-Match") != `"a", "mine"` {
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
			if g := r.do("GET", "/", `If-None-Match: "a"`); g.status != 304 ||
				r.tr.Requests()[0].Header.Get("If-None-Match") != `"a"` {
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

func TestHead(t *testing.T) {
	t.Run("answered from a stored GET", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60))
			r.do("GET", "/")
			if g := r.do("HEAD", "/"); g.result != ResultHit || g.body != "" ||
				g.header.Get("Content-Length") != "4" || g.status != 200 {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("one that agrees brings the GET up to date", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(stale1, `Etag: "a"`, "X: old"),
				step(fresh60, `Etag: "a"`, "X: new"))
			r.do("GET", "/")
			pass(2 * second)
			r.do("HEAD", "/")
			if g := r.do("GET", "/"); g.result != ResultHit || g.header.Get("X") != "new" || r.asked() != 2 {
				t.Errorf("%+v", g)
			}
		})
	})
	for name, head := range map[string]fetchtest.Step{
		"another tag":    step(fresh60, `Etag: "b"`),
		"another length": answer(200, "longer body", fresh60, `Etag: "a"`),
	} {
		t.Run("one with "+name+" makes it stale", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step("Cache-Control: max-age=1, stale-if-error=600", `Etag: "a"`),
					head, answer(200, "new", fresh60))
				r.do("GET", "/")
				pass(2 * second)
				r.do("HEAD", "/")
				if g := r.do("GET", "/"); g.body != "new" ||
					r.tr.Requests()[2].Header.Get("If-None-Match") != `"a"` {
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
