package httpcache

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/internal/call"
	"example.com/quire/internal/httpfield"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// step is a 200 with a body and the fields "Name: value".
func step(fields ...string) fetchtest.Step { return answer(200, "body", fields...) }

func answer(status int, body string, fields ...string) fetchtest.Step {
	s := fetchtest.Step{}.Status(status).Body(body)
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		s = s.Header(name, value)
	}
	return s
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// at is a date so many seconds from now.
func at(seconds int) string {
	return httpfield.FormatDate(time.Now().Add(time.Duration(seconds) * time.Second))
}

// rig is a cache over a scripted origin.
type rig struct {
	t     *testing.T
	cache *Cache
	tr    *fetchtest.Transport
	rt    http.RoundTripper
}

func newRig(t *testing.T, c Config, steps ...fetchtest.Step) *rig {
	t.Helper()
	cache, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	tr := fetchtest.Script(steps...)
	r := &rig{t: t, cache: cache, tr: tr, rt: cache.Layer(tr)}
	t.Cleanup(func() {
		if err := cache.Close(context.Background()); err != nil {
			t.Error(err)
		}
		tr.AssertClosed(t)
	})
	return r
}

// got is what a caller sees.
type got struct {
	status int
	body   string
	header http.Header
	result string
	stored bool
}

func (r *rig) do(method, path string, fields ...string) got {
	r.t.Helper()
	return r.with(RequestOptions{}, method, path, fields...)
}

func (r *rig) with(o RequestOptions, method, path string, fields ...string) got {
	r.t.Helper()
	g, err := r.try(o, method, path, fields...)
	if err != nil {
		r.t.Fatal(err)
	}
	return g
}

func (r *rig) try(o RequestOptions, method, path string, fields ...string) (got, error) {
	r.t.Helper()
	ctx := call.WithOptions(r.t.Context(), &call.Options{Cache: o})
	st := call.New(ctx, time.Now())
	req, err := http.NewRequestWithContext(st, method, "http://a.example"+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := r.rt.RoundTrip(req)
	if err != nil {
		return got{}, err
	}
	b, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		r.t.Error(cerr)
	}
	info := st.Cache()
	return got{resp.StatusCode, string(b), resp.Header, info.Result, info.Stored}, err
}

// closed sends a GET with this context, and closes the answer's body unread.
func (r *rig) closed(ctx context.Context) error {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://a.example/", nil)
	if err != nil {
		r.t.Fatal(err)
	}
	resp, err := r.rt.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (r *rig) asked() int { return len(r.tr.Requests()) }

// reused tells, in a bubble, whether a second request so many seconds after the first is answered
// without the origin.
func reused(t *testing.T, c Config, after time.Duration, first fetchtest.Step,
	fields ...string,
) bool {
	t.Helper()
	r := newRig(t, c, first)
	r.do("GET", "/", fields...)
	pass(after)
	r.do("GET", "/", fields...)
	return r.asked() == 1
}

func TestWhatIsStored(t *testing.T) {
	fresh := "Cache-Control: max-age=60"
	for _, c := range []struct {
		name    string
		cfg     Config
		options RequestOptions
		step    fetchtest.Step
		request []string
		want    bool
	}{
		{
			"explicit freshness of any status",
			Config{},
			RequestOptions{},
			answer(599, "x", fresh), nil,
			true,
		},
		{
			"must-understand with a known status outweighs no-store",
			Config{},
			RequestOptions{},
			step("Cache-Control: max-age=60, no-store, must-understand"), nil, true,
		},
		{
			"must-understand with an unknown status",
			Config{},
			RequestOptions{},
			answer(299, "x", "Cache-Control: max-age=60, must-understand"), nil, false,
		},
		{
			"request no-store",
			Config{},
			RequestOptions{},
			step(fresh),
			[]string{"Cache-Control: no-store"},
			false,
		},
		{"option NoStore", Config{}, RequestOptions{NoStore: true}, step(fresh), nil, false},
		{"option Bypass", Config{}, RequestOptions{Bypass: true}, step(fresh), nil, false},
		{
			"Authorization in a shared cache",
			Config{Shared: true},
			RequestOptions{},
			step(fresh),
			[]string{"Authorization: x"},
			false,
		},
		{
			"Authorization with public",
			Config{Shared: true},
			RequestOptions{},
			step("Cache-Control: public, max-age=60"),
			[]string{"Authorization: x"},
			true,
		},
		{
			"Authorization with s-maxage",
			Config{Shared: true},
			RequestOptions{},
			step("Cache-Control: s-maxage=60"),
			[]string{"Authorization: x"},
			true,
		},
		{
			"Authorization with must-revalidate",
			Config{Shared: true},
			RequestOptions{},
			step("Cache-Control: must-revalidate, max-age=60"),
			[]string{"Authorization: x"},
			true,
		},
		{
			"Authorization in a private cache",
			Config{},
			RequestOptions{},
			step(fresh),
			[]string{"Authorization: x"},
			true,
		},
		{"Vary *", Config{}, RequestOptions{}, step(fresh, "Vary: *"), nil, false},
		{"Vary * among others", Config{}, RequestOptions{}, step(fresh, "Vary: a, *"), nil, false},
		{"larger than MaxEntry", Config{MaxEntry: 3}, RequestOptions{}, step(fresh), nil, false},
		{
			"larger than MaxEntry, length not declared",
			Config{MaxEntry: 3},
			RequestOptions{},
			step(fresh).Drip(2, 0), nil, false,
		},
		{
			"Cacheable says no",
			Config{Cacheable: func(*http.Request, *http.Response) bool { return false }},
			RequestOptions{},
			step(fresh), nil, false,
		},
		{
			"a key of one's own says no",
			Config{Key: func(*http.Request) (Key, bool) { return Key{}, false }},
			RequestOptions{},
			step(fresh), nil, false,
		},
		{"an empty body", Config{}, RequestOptions{}, answer(200, "", fresh), nil, true},
		{"204", Config{}, RequestOptions{}, answer(204, "", fresh), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, c.cfg, c.step)
				first := r.with(c.options, "GET", "/", c.request...)
				second := r.do("GET", "/", c.request...)
				if got := second.result == ResultHit; got != c.want {
					t.Errorf("reused: %t (%s)", got, second.header.Get("Cache-Status"))
				}
				if first.body != second.body || first.status != second.status {
					t.Errorf("%d %q, then %d %q", first.status, first.body, second.status, second.body)
				}
			})
		})
	}
}

func TestOnlyWholeResponsesAreStored(t *testing.T) {
	fresh := "Cache-Control: max-age=60"
	for name, s := range map[string]fetchtest.Step{
		"connection breaks":        step(fresh).ResetAfter(2),
		"shorter than declared":    step(fresh).WrongLength(9),
		"breaks without a length":  step(fresh).Drip(1, 0).ResetAfter(2),
		"breaks before the body":   step(fresh).ResetAfter(0),
		"breaks behind whole body": step(fresh).Drip(4, 0).ResetAfter(4),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{}, s, step(fresh))
			if g, err := r.try(RequestOptions{}, "GET", "/"); err == nil {
				t.Errorf("got %q", g.body)
			}
			if g := r.do("GET", "/"); g.body != "body" || r.asked() != 2 {
				t.Errorf("%q after %d requests", g.body, r.asked())
			}
		})
	}
	t.Run("the caller stops reading", func(t *testing.T) {
		r := newRig(t, Config{}, step(fresh))
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body.Read(make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if g := r.do("GET", "/"); g.result != ResultMiss || r.asked() != 2 {
			t.Errorf("%s after %d requests", g.result, r.asked())
		}
	})
}

func TestFieldsOfTheConnectionAreNotStored(t *testing.T) {
	r := newRig(t, Config{}, step("Cache-Control: max-age=60", "Connection: a, close", "A: 1", "B: 2",
		"Keep-Alive: x", "Te: x", "Upgrade: x",
		"Proxy-Authenticate: x", "Proxy-Authorization: x", "Proxy-Connection: x",
		"Proxy-Authentication-Info: x", "Trailer: x", "Set-Cookie: c"))
	r.do("GET", "/")
	g := r.do("GET", "/")
	for _, name := range []string{
		"Connection", "A", "Keep-Alive", "Te", "Upgrade", "Proxy-Authenticate", "Proxy-Authorization",
		"Proxy-Connection", "Proxy-Authentication-Info", "Trailer",
	} {
		if g.header.Get(name) != "" {
			t.Errorf("%s is stored", name)
		}
	}
	if g.header.Get("B") != "2" || g.header.Get("Set-Cookie") != "c" || g.result != ResultHit {
		t.Errorf("%v", g.header)
	}
}

func TestWhatIsAskedForIsNotMistakenForAnother(t *testing.T) {
	r := newRig(t, Config{}, answer(200, "1", "Cache-Control: max-age=60"), answer(200, "2", "Cache-Control: max-age=60"),
		answer(200, "3", "Cache-Control: max-age=60"), answer(200, "4", "Cache-Control: max-age=60"), answer(200, "5", "Cache-Control: max-age=60"))
	for want, u := range []*url.URL{
		{Path: "/p"}, {Path: "/p", ForceQuery: true}, {Path: "/p", RawQuery: "?"}, // /p, /p? and /p??
		{Opaque: "//a.example/one"}, {Opaque: "//a.example/two"}, // sent as they are
	} {
		u.Scheme, u.Host = "http", "a.example"
		resp, err := r.rt.RoundTrip((&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(readAll(t, resp)); got != strconv.Itoa(want+1) {
			t.Errorf("%s was answered with what belongs to request %s", u, got)
		}
	}
}

// What a request says counts among fields that say nothing, few or many.
func TestWhatARequestSaysIsFound(t *testing.T) {
	nothing := []string{"Accept: */*", "Accept-Encoding: gzip", "Accept-Language: en", "User-Agent: x", "X-A: 1", "X-B: 2"}
	for _, field := range []string{
		"Authorization: a", "Proxy-Authorization: a", "Cookie: a=1", "Cache-Control: no-cache", "Pragma: no-cache", "If-Match: *",
		"If-Unmodified-Since: Mon, 01 Jan 1990 00:00:00 GMT", "Upgrade: x",
	} {
		for n := range len(nothing) + 1 {
			r := newRig(t, Config{}, step(fresh60))
			r.do("GET", "/", nothing[:n]...)
			if g := r.do("GET", "/", nothing[:n]...); g.result != ResultHit {
				t.Errorf("%d fields: %+v", n, g)
			}
			if r.do("GET", "/", append(nothing[:n:n], field)...); r.asked() != 2 {
				t.Errorf("%s beside %d fields was not looked at", field, n)
			}
		}
	}
	for n := range len(nothing) + 1 {
		r := newRig(t, Config{}, step(fresh60, `Etag: "a"`))
		r.do("GET", "/")
		if g := r.do("GET", "/", append(nothing[:n:n], "Range: bytes=0-1")...); g.status != 206 || g.body != "bo" {
			t.Errorf("beside %d fields: %+v", n, g)
		}
		if g := r.do("GET", "/", append(nothing[:n:n], `If-None-Match: "a"`)...); g.status != 304 {
			t.Errorf("beside %d fields: %+v", n, g)
		}
	}
}

func TestUsersAreKeptApart(t *testing.T) {
	who := func(r *rig, fields ...string) string {
		r.t.Helper()
		return r.do("GET", "/me", fields...).body
	}
	fresh := "Cache-Control: max-age=60"
	steps := []fetchtest.Step{
		answer(200, "first", fresh, "Set-Cookie: s=1"), answer(200, "second", fresh),
		answer(200, "third", fresh), answer(200, "fourth", fresh),
	}
	t.Run("private, by credentials", func(t *testing.T) {
		r := newRig(t, Config{}, steps...)
		for _, c := range []struct{ field, want string }{
			{"Authorization: a", "first"},
			{"Authorization: b", "second"},
			{"Cookie: a", "third"},
			{"X: y", "fourth"},
			{"Authorization: a", "first"},
			{"Authorization: b", "second"},
			{"Cookie: a", "third"},
			{"X: z", "fourth"},
		} {
			if got := who(r, c.field); got != c.want {
				t.Errorf("%s: %q, want %q", c.field, got, c.want)
			}
		}
	})
	t.Run("two cookies are not one", func(t *testing.T) {
		r := newRig(t, Config{}, steps...)
		if who(r, "Cookie: ab") == who(r, "Cookie: a", "Cookie: b") {
			t.Error("the same partition")
		}
	})
	t.Run("by a function of one's own", func(t *testing.T) {
		r := newRig(t, Config{
			Shared: true, Partition: func(q *http.Request) []byte { return []byte(q.Header.Get("X-User")) },
		}, steps...)
		if who(r, "X-User: a") == who(r, "X-User: b") || who(r, "X-User: a") != "first" {
			t.Error("not by the function")
		}
	})
	t.Run("shared, with Authorization", func(t *testing.T) {
		r := newRig(t, Config{Shared: true}, steps...)
		if who(r, "Authorization: a") == who(r, "Authorization: b") {
			t.Error("one user's response for another")
		}
	})
	t.Run("shared, with Set-Cookie", func(t *testing.T) {
		cookie, old := "Set-Cookie: s=1", "Last-Modified: Mon, 01 Jan 1990 00:00:00 GMT"
		for _, c := range []struct {
			name   string
			config Config
			field  string
			stored bool
		}{
			{"heuristic freshness", Config{Shared: true}, old, false},
			{"a TTL", Config{Shared: true, TTL: time.Hour}, old, false},
			{"nothing but a TTL", Config{Shared: true, Mode: TTLOnly, TTL: time.Hour}, old, false},
			{"only validated", Config{Shared: true}, `Etag: "a"`, false},
			{"the origin says for how long", Config{Shared: true}, fresh, true}, // RFC 9111, section 7.3
			{"the origin says for all", Config{Shared: true}, "Cache-Control: public, s-maxage=60", true},
			{"one's own", Config{}, old, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				r := newRig(t, c.config, answer(200, "first", cookie, c.field), answer(200, "second", cookie, c.field))
				first, second := who(r), who(r)
				if stored := first == second; stored != c.stored {
					t.Errorf("%q, then %q", first, second)
				}
			})
		}
	})
	t.Run("a key holds no credentials", func(t *testing.T) {
		r := newRig(t, Config{})
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "hunter2")
		k, _ := r.cache.keyOf(req, req.Header)
		if s := k.String(); strings.Contains(s, "hunter2") || k.Partition == "" {
			t.Error(s)
		}
	})
}

func TestVary(t *testing.T) {
	fresh := "Cache-Control: max-age=60"
	for _, c := range []struct {
		name, vary    string
		first, second []string
		want          bool
	}{
		{"the same", "Foo", []string{"Foo: 1"}, []string{"Foo: 1"}, true},
		{"another", "Foo", []string{"Foo: 1"}, []string{"Foo: 2"}, false},
		{"name in any case", "fOO", []string{"Foo: 1"}, []string{"Foo: 2"}, false},
		{"absent twice", "Foo", nil, nil, true},
		{"absent and there", "Foo", nil, []string{"Foo: 1"}, false},
		{"absent and empty", "Foo", nil, []string{"Foo: "}, false},
		{"there and absent", "Foo", []string{"Foo: 1"}, nil, false},
		{"lines are joined", "Foo", []string{"Foo: 1", "Foo: 2"}, []string{"Foo: 1, 2"}, true},
		{"white space", "Foo", []string{"Foo: 1,2"}, []string{"Foo:  1 ,  2"}, true},
		{"order counts", "Foo", []string{"Foo: 1, 2"}, []string{"Foo: 2, 1"}, false},
		{"case counts", "Foo", []string{"Foo: a"}, []string{"Foo: A"}, false},
		{
			"languages in any case", "Accept-Language",
			[]string{"Accept-Language: en"},
			[]string{"Accept-Language: EN"},
			true,
		},
		{
			"languages in any order", "Accept-Language",
			[]string{"Accept-Language: en, de"},
			[]string{"Accept-Language: de,en;q=1.0"},
			true,
		},
		{
			"languages of other weights", "Accept-Language",
			[]string{"Accept-Language: en, de;q=0.5"},
			[]string{"Accept-Language: de, en;q=0.5"},
			false,
		},
		{
			"languages with a weight that is none", "Accept-Language",
			[]string{"Accept-Language: en, de;q=x"},
			[]string{"Accept-Language: en, de;q=y"},
			false,
		},
		{
			"the second of two names", "Foo, Bar",
			[]string{"Foo: 1", "Bar: 1"},
			[]string{"Foo: 1", "Bar: 2"},
			false,
		},
		{"not named", "Foo", []string{"Bar: 1"}, []string{"Bar: 2"}, true},
		{"an empty member", "Foo, ,", []string{"Foo: 1"}, []string{"Foo: 1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{}, step(fresh, "Vary: "+c.vary))
			r.do("GET", "/", c.first...)
			if got := r.do("GET", "/", c.second...).result == ResultHit; got != c.want {
				t.Errorf("reused: %t", got)
			}
		})
	}
	t.Run("variants live beside each other, within their bound", func(t *testing.T) {
		var steps []fetchtest.Step
		for i := range 5 {
			steps = append(steps, answer(200, strconv.Itoa(i), fresh, "Vary: Foo"))
		}
		r := newRig(t, Config{MaxVariants: 3}, steps...)
		for i := range 4 {
			r.do("GET", "/", fmt.Sprintf("Foo: %d", i))
		}
		for i := 3; i >= 1; i-- {
			if g := r.do("GET", "/", fmt.Sprintf("Foo: %d", i)); g.body != strconv.Itoa(i) ||
				g.result != ResultHit {
				t.Errorf("%d: %q %s", i, g.body, g.result)
			}
		}
		if g := r.do("GET", "/", "Foo: 0"); g.result != ResultMiss {
			t.Errorf("the oldest is still there: %s", g.result)
		}
	})
	t.Run("the latest Date wins", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{}, answer(200, "new", fresh, "Vary: Foo", "Date: "+at(0)),
				answer(200, "old", fresh, "Date: "+at(-30)))
			r.do("GET", "/", "Foo: 1")
			r.do("GET", "/", "Foo: 2") // no Vary: selects everything
			if g := r.do("GET", "/", "Foo: 1"); g.body != "new" {
				t.Errorf("got %q", g.body)
			}
		})
	})
}
