package httpcache

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestDirectives(t *testing.T) {
	for _, c := range []struct {
		name    string
		request []string
		options RequestOptions
		want    string
		status  int
	}{
		{"max-age holds", []string{"Cache-Control: max-age=20"}, RequestOptions{}, ResultHit, 200},
		{
			"max-age is over",
			[]string{"Cache-Control: max-age=5"},
			RequestOptions{},
			ResultRevalidated,
			200,
		},
		{
			"max-age that is none",
			[]string{"Cache-Control: max-age=x"},
			RequestOptions{},
			ResultRevalidated, 200,
		},
		{"min-fresh holds", []string{"Cache-Control: min-fresh=40"}, RequestOptions{}, ResultHit, 200},
		{
			"min-fresh does not",
			[]string{"Cache-Control: min-fresh=55"},
			RequestOptions{},
			ResultRevalidated, 200,
		},
		{"no-cache", []string{"Cache-Control: no-cache"}, RequestOptions{}, ResultRevalidated, 200},
		{
			"no-store may be answered",
			[]string{"Cache-Control: no-store"},
			RequestOptions{},
			ResultHit,
			200,
		},
		{
			"only-if-cached, there",
			[]string{"Cache-Control: only-if-cached"},
			RequestOptions{},
			ResultHit,
			200,
		},
		{
			"only-if-cached, no-cache",
			[]string{"Cache-Control: only-if-cached, no-cache"},
			RequestOptions{},
			ResultMiss, 504,
		},
		{"Pragma", []string{"Pragma: no-cache"}, RequestOptions{}, ResultRevalidated, 200},
		{
			"Pragma beside Cache-Control",
			[]string{"Pragma: no-cache", "Cache-Control: max-age=100"},
			RequestOptions{},
			ResultHit, 200,
		},
		{"option Refresh", nil, RequestOptions{Refresh: true}, ResultRevalidated, 200},
		{"option Bypass", nil, RequestOptions{Bypass: true}, ResultBypass, 304},
		{"option OnlyIfCached", nil, RequestOptions{OnlyIfCached: true}, ResultHit, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Config{}, step(fresh60, `Etag: "a"`), not(fresh60, `Etag: "a"`))
				r.do("GET", "/")
				pass(10 * second)
				if g := r.with(c.options, "GET", "/", c.request...); g.result != c.want ||
					g.status != c.status {
					t.Errorf("%+v", g)
				}
			})
		})
	}
	t.Run("only-if-cached without anything is 504 of our own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{})
			if g := r.with(RequestOptions{OnlyIfCached: true}, "GET", "/"); g.status != 504 ||
				r.asked() != 0 || !strings.Contains(g.header.Get("Cache-Status"), "only-if-cached") {
				t.Errorf("%+v", g)
			}
		})
	})
	t.Run("immutable suppresses a reload while fresh, not a forced one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, step("Cache-Control: max-age=60, immutable", `Etag: "a"`),
				not(`Etag: "a"`))
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

func TestTargetedFields(t *testing.T) {
	shared := Config{Shared: true}
	for _, c := range []struct {
		name   string
		cfg    Config
		fields []string
		want   bool
	}{
		{
			"outweighs Cache-Control", shared,
			[]string{"CDN-Cache-Control: max-age=60", "Cache-Control: no-store"},
			true,
		},
		{
			"hides Expires", shared,
			[]string{"CDN-Cache-Control: must-revalidate", "Expires: Thu, 01 Jan 2099 00:00:00 GMT"},
			false,
		},
		{"no-store", shared, []string{"CDN-Cache-Control: no-store", fresh60}, false},
		{"the last duplicate wins", shared, []string{"CDN-Cache-Control: max-age=0, max-age=60"}, true},
		{"a string is no number", shared, []string{`CDN-Cache-Control: max-age="60"`, fresh60}, false},
		{"a decimal is no integer", shared, []string{"CDN-Cache-Control: max-age=60.0", fresh60}, false},
		{"negative", shared, []string{"CDN-Cache-Control: max-age=-1", fresh60}, false},
		{"?0 is off", shared, []string{"CDN-Cache-Control: no-store=?0, max-age=60"}, true},
		{
			"upper case does not parse: as if absent", shared,
			[]string{"CDN-Cache-Control: Max-Age=0", fresh60},
			true,
		},
		{"empty: as if absent", shared, []string{"CDN-Cache-Control: ", fresh60}, true},
		{
			"does not parse: as if absent", shared,
			[]string{"CDN-Cache-Control: max-age=0, &", fresh60},
			true,
		},
		{"unknown members, parameters", shared, []string{"CDN-Cache-Control: a=1;b, max-age=60;c"}, true},
		{"not for a private cache", Config{}, []string{"CDN-Cache-Control: max-age=60"}, false},
		{
			"names of one's own, in order",
			Config{Shared: true, Targeted: []string{"Mine-Cache-Control", "CDN-Cache-Control"}},
			[]string{"CDN-Cache-Control: max-age=0", "mine-cache-control: max-age=60"},
			true,
		},
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
		{
			"max-age=0 does not count",
			Config{},
			200,
			[]string{"Cache-Control: max-age=0, must-revalidate, no-cache"},
			59 * second, true,
		},
		{"no-store wins", Config{}, 200, []string{"Cache-Control: no-store"}, second, false},
		{
			"private wins in a shared cache",
			Config{Shared: true},
			200,
			[]string{"Cache-Control: private"},
			second, false,
		},
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
