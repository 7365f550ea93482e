package httpcache

import (
	"net/url"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/quire/fetch/fetchtest"
)

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
		{
			"Content-Location in full", "POST", "/y",
			answer(201, "", "Content-Location: http://A.example:80/x"), true,
		},
		{
			"Location at another origin", "POST", "/y", answer(201, "", "Location: https://a.example/x"),
			false,
		},
		{"Location of an error", "POST", "/y", answer(500, "", "Location: /x"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step(fresh60, "Vary: Foo"), step(fresh60, "Vary: Foo"), step(fresh60),
					c.answer, step(fresh60))
				r.do("GET", "/x", "Foo: 1")
				r.do("GET", "/x", "Foo: 2")
				r.do("GET", "/x", "Authorization: me")
				r.do(c.method, c.path)
				for _, f := range []string{"Foo: 1", "Foo: 2", "Authorization: me"} {
					if gone := r.with(RequestOptions{OnlyIfCached: true}, "GET", "/x",
						f).status == 504; gone != c.gone {
						t.Errorf("%s: gone %t", f, gone)
					}
				}
			})
		})
	}
	t.Run("what was on its way is not stored", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh60).Delay(5*second), answer(200, ""),
				answer(200, "new", fresh60))
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
		{
			"by its full address",
			Config{},
			"POST", step(fresh60, "Content-Location: http://a.example/x"),
			true,
		},
		{"of another address", Config{}, "POST", step(fresh60, "Content-Location: /y"), false},
		{
			"of another origin",
			Config{},
			"POST", step(fresh60, "Content-Location: https://a.example/x"),
			false,
		},
		{"without an address", Config{}, "POST", step(fresh60), false},
		{
			"without explicit freshness",
			Config{},
			"POST",
			step(here, `Etag: "a"`, "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT"), false,
		},
		{
			"public is no freshness",
			Config{},
			"POST", step(here, "Cache-Control: public", `Etag: "a"`),
			false,
		},
		{"no-store", Config{}, "POST", step(here, "Cache-Control: max-age=60, no-store"), false},
		{
			"private in a shared cache",
			Config{Shared: true},
			"POST",
			step(here, "Cache-Control: max-age=60, private"), false,
		},
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
				if hit := second.result == ResultHit; hit != c.want || hit && second.body != first.body ||
					second.body == "before" {
					t.Errorf("%+v", second)
				}
			})
		})
	}
	t.Run("not when another has changed the target meanwhile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(200, "slow", fresh60, here).Delay(5*second), answer(200, ""),
				answer(200, "new"))
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
