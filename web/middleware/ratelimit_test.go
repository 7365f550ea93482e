package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

func send(app http.Handler, from string, set ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), "GET", "/ok/1", nil)
	r.RemoteAddr = from
	for i := 0; i+1 < len(set); i += 2 {
		r.Header.Set(set[i], set[i+1])
	}
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	return w
}

// pass lets time go by in a synctest bubble.
func pass(d time.Duration) { <-time.After(d) }

// TestRateLimitNeverAdmitsMoreThanTheRateInAnyWindow is rule 29 for several keys
// in a table with room for all, some or one of them.
func TestRateLimitNeverAdmitsMoreThanTheRateInAnyWindow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := middleware.Rate{
			Requests: rapid.IntRange(1, 50).Draw(rt, "requests"),
			Per:      time.Duration(rapid.Int64Range(50, int64(time.Hour)).Draw(rt, "per")),
			Burst:    rapid.IntRange(1, 20).Draw(rt, "burst"),
		}
		maxKeys := rapid.IntRange(1, 4).Draw(rt, "maxKeys")
		type step struct {
			key  string
			wait time.Duration
		}
		longest := int64(rate.Per) / int64(rate.Requests) * 3
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			s := step{key: strconv.Itoa(rapid.IntRange(0, 3).Draw(rt, "key"))}
			if rapid.Bool().Draw(rt, "pause") {
				s.wait = time.Duration(rapid.Int64Range(0, longest).Draw(rt, "wait"))
			}
			return s
		}), 1, 150).Draw(rt, "steps")
		admitted, faults := map[string][]time.Time{}, []string{}
		synctest.Test(t, func(t *testing.T) {
			store, err := middleware.NewMemoryRateStore(maxKeys)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range steps {
				pass(s.wait)
				d, err := store.Take(t.Context(), s.key, rate)
				switch {
				case err != nil:
					faults = append(faults, err.Error())
				case d.Allowed:
					admitted[s.key] = append(admitted[s.key], time.Now())
				case d.RetryAfter <= 0 || d.Reset < d.RetryAfter || d.Remaining != 0:
					faults = append(faults, fmt.Sprintf("step %d: %+v", i, d))
				}
				if store.Len() > maxKeys {
					faults = append(faults, fmt.Sprintf("step %d: %d keys", i, store.Len()))
				}
			}
		})
		for _, f := range faults {
			rt.Error(f)
		}
		for key, times := range admitted {
			for i := range times {
				for j := i + rate.Burst; j < len(times); j++ {
					// More than the burst: each one above it took Per/Requests.
					if above := int64(j - i + 1 - rate.Burst); above*int64(rate.Per) > int64(times[j].Sub(times[i]))*int64(rate.Requests) {
						rt.Fatalf("key %s: %d admitted within %v by %+v", key, j-i+1, times[j].Sub(times[i]), rate)
					}
				}
			}
		}
	})
}

// TestRateLimitAdmitsAgainExactlyAfterRetryAfter: not a nanosecond before.
func TestRateLimitAdmitsAgainExactlyAfterRetryAfter(t *testing.T) {
	for _, rate := range []middleware.Rate{
		{Requests: 1, Per: time.Second}, {Requests: 3, Per: time.Second}, {Requests: 5, Per: time.Hour, Burst: 2}, {Requests: 100, Per: time.Minute, Burst: 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			store, err := middleware.NewMemoryRateStore(0)
			if err != nil {
				t.Fatal(err)
			}
			take := func() middleware.Decision {
				d, err := store.Take(t.Context(), "k", rate)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			burst := max(rate.Burst, 1)
			if rate.Burst == 0 {
				burst = rate.Requests
			}
			for i := range burst {
				if d := take(); !d.Allowed || d.Remaining != burst-1-i || d.RetryAfter != 0 {
					t.Fatalf("%+v: request %d: %+v", rate, i, d)
				}
			}
			refused := take()
			pass(refused.RetryAfter - 1)
			if d := take(); refused.Allowed || d.Allowed || d.RetryAfter != 1 {
				t.Errorf("%+v: %+v, then %+v", rate, refused, d)
			}
			pass(1)
			d := take()
			if !d.Allowed || d.Remaining != 0 {
				t.Errorf("%+v: %+v", rate, d)
			}
			pass(d.Reset)
			if d := take(); !d.Allowed || d.Remaining != burst-1 {
				t.Errorf("%+v: after the reset: %+v", rate, d)
			}
			if err := store.Reset(t.Context(), "k"); err != nil {
				t.Fatal(err)
			}
			if d := take(); !d.Allowed || d.Remaining != burst-1 {
				t.Errorf("%+v: after Reset: %+v", rate, d)
			}
			if _, err := store.Take(t.Context(), "k", middleware.Rate{}); err == nil {
				t.Error("an empty rate was taken")
			}
		})
	}
}

// TestRateLimitFields: the three fields, and Retry-After right to the second.
func TestRateLimitFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := newApp(t, web.Options{}, must(t)(middleware.RateLimit(middleware.RateLimitOptions{
			Name: "api", Rate: middleware.Rate{Requests: 4, Per: 10 * time.Second, Burst: 2},
		})))
		for i, tt := range []struct {
			wait          time.Duration
			status        int
			limit, policy string
			retry         string
		}{
			{0, 200, `"api";r=1;t=3`, `"api";q=2;w=5`, ""},
			{0, 200, `"api";r=0;t=5`, `"api";q=2;w=5`, ""},
			{0, 429, `"api";r=0;t=5`, `"api";q=2;w=5`, "3"},
			{time.Second, 429, `"api";r=0;t=4`, `"api";q=2;w=5`, "2"},
			{500 * time.Millisecond, 429, `"api";r=0;t=4`, `"api";q=2;w=5`, "1"},
			{time.Second - 1, 429, `"api";r=0;t=3`, `"api";q=2;w=5`, "1"},
			{1, 200, `"api";r=0;t=5`, `"api";q=2;w=5`, ""},
			{time.Minute, 200, `"api";r=1;t=3`, `"api";q=2;w=5`, ""},
		} {
			pass(tt.wait)
			w := send(app, "1.2.3.4:5")
			h := w.Header()
			if w.Code != tt.status || h.Get("Ratelimit") != tt.limit || h.Get("Ratelimit-Policy") != tt.policy || h.Get("Retry-After") != tt.retry {
				t.Errorf("request %d: %d %v", i, w.Code, h)
			}
		}
	})
}

// TestRateLimitKeys: who is counted together and who apart.
func TestRateLimitKeys(t *testing.T) {
	by := func(k ...middleware.RateKey) []middleware.RateKey { return k }
	const a, b = "1.2.3.4:5", "1.2.3.5:5"
	for _, tt := range []struct {
		name   string
		keys   []middleware.RateKey
		first  []string // address, header fields
		second []string
		same   bool
		key    string // of the first
	}{
		{"client", nil, []string{a}, []string{b}, false, "default|client=1.2.3.4"},
		{"port", nil, []string{a}, []string{"1.2.3.4:6"}, true, "default|client=1.2.3.4"},
		{"mapped", nil, []string{a}, []string{"[::ffff:1.2.3.4]:6"}, true, "default|client=1.2.3.4"},
		{"network of 64 bits", nil, []string{"[2001:db8::1]:5"}, []string{"[2001:db8::ffff:2]:5"}, true, "default|client=2001:db8::/64"},
		{"other network", nil, []string{"[2001:db8::1]:5"}, []string{"[2001:db8:0:1::1]:5"}, false, "default|client=2001:db8::/64"},
		{"socket", nil, []string{"@"}, []string{""}, true, "default|client="},
		{"forwarded is not believed", nil, []string{a, "X-Forwarded-For", "9.9.9.9"}, []string{a, "X-Forwarded-For", "8.8.8.8"}, true, "default|client=1.2.3.4"},
		{"user", by(middleware.ByUser()), []string{a, "User", "ada"}, []string{b, "User", "ada"}, true, `default|user="ada"`},
		{"other user", by(middleware.ByUser()), []string{a, "User", "ada"}, []string{a, "User", "bob"}, false, `default|user="ada"`},
		{"no user", by(middleware.ByUser()), []string{a}, []string{b}, false, "default|client=1.2.3.4"},
		{"path", by(middleware.ByPath()), []string{a}, []string{b}, true, `default|path="/ok/1"`},
		{"route", by(middleware.ByRoute()), []string{a}, []string{b}, true, `default|route="/ok/{id}"`},
		{"API key", by(middleware.ByAPIKey("")), []string{a, "X-Api-Key", "k"}, []string{b, "X-Api-Key", "k"}, true, `default|key="k"`},
		{"other header", by(middleware.ByAPIKey("Tok")), []string{a, "Tok", "k"}, []string{a, "Tok", "l"}, false, `default|key="k"`},
		{"function", by(middleware.ByFunc(func(c *web.Context) string { return c.Header("Tenant") })), []string{a, "Tenant", "x"}, []string{b, "Tenant", "x"}, true, `default|func="x"`},
		{"all together", by(middleware.ByClient(), middleware.ByPath()), []string{a}, []string{b}, false, `default|client=1.2.3.4|path="/ok/1"`},
		{"no value reaches into the next", by(middleware.ByAPIKey("A"), middleware.ByAPIKey("B")), []string{a, "A", `x"|key="y`, "B", "z"}, []string{a, "A", "x", "B", `y"|key="z`}, false, `default|key="x\"|key=\"y"|key="z"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := middleware.RateLimitOptions{Rate: middleware.Rate{Requests: 1, Per: time.Hour}, Keys: tt.keys}
			var key string
			app := newApp(t, web.Options{}, func(next web.Handler) web.Handler {
				return func(c *web.Context) error {
					c.SetUser(c.Header("User"))
					if key == "" {
						key = o.KeyOf(c)
					}
					return next(c)
				}
			}, must(t)(middleware.RateLimit(o)))
			want := 200
			if tt.same {
				want = 429
			}
			one, two := send(app, tt.first[0], tt.first[1:]...).Code, send(app, tt.second[0], tt.second[1:]...).Code
			if one != 200 || two != want || key != tt.key {
				t.Errorf("%d, %d, want %d; key %s, want %s", one, two, want, key, tt.key)
			}
		})
	}
}

type failingRateStore struct{}

var errStore = errors.New("no connection to 10.0.0.1")

func (failingRateStore) Take(context.Context, string, middleware.Rate) (middleware.Decision, error) {
	return middleware.Decision{}, errStore
}
func (failingRateStore) Reset(context.Context, string) error { return errStore }

// TestRateLimitStoreFailureOpensOrClosesByName also has a store that works but
// is not the package's own.
func TestRateLimitStoreFailureOpensOrClosesByName(t *testing.T) {
	memory, err := middleware.NewMemoryRateStore(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		store  middleware.RateStore
		choice middleware.StoreFailure
		want   [2]int
	}{
		{failingRateStore{}, middleware.FailOpen, [2]int{200, 200}},
		{failingRateStore{}, middleware.FailClosed, [2]int{503, 503}},
		{struct{ middleware.RateStore }{memory}, middleware.FailOpen, [2]int{200, 429}},
	} {
		app := newApp(t, web.Options{}, must(t)(middleware.RateLimit(middleware.RateLimitOptions{
			Rate: middleware.Rate{Requests: 1, Per: time.Hour}, Store: tt.store, OnStoreFailure: tt.choice, Logger: slog.New(slog.DiscardHandler),
		})))
		for i, want := range tt.want {
			w := send(app, "1.2.3.4:5")
			if w.Code != want || want != 200 && w.Header().Get("Retry-After") == "" {
				t.Errorf("%T %v, request %d: %d %v", tt.store, tt.choice, i, w.Code, w.Header())
			}
		}
	}
}

func TestRateLimitRefusesOptions(t *testing.T) {
	good := middleware.Rate{Requests: 1, Per: time.Second}
	for _, bad := range []middleware.RateLimitOptions{
		{},
		{Rate: middleware.Rate{Requests: 1}},
		{Rate: middleware.Rate{Requests: -1, Per: time.Second}},
		{Rate: middleware.Rate{Requests: 2, Per: 1}},
		{Rate: middleware.Rate{Requests: 1, Per: time.Second, Burst: -1}},
		{Rate: middleware.Rate{Requests: 1, Per: 24 * time.Hour, Burst: 1 << 30}},
		{Rate: good, Name: `a"b`},
		{Rate: good, Keys: []middleware.RateKey{{}}},
		{Rate: good, Keys: []middleware.RateKey{middleware.ByFunc(nil)}},
		{Rate: good, Store: failingRateStore{}},
		{Rate: good, OnStoreFailure: 7},
	} {
		if _, err := middleware.RateLimit(bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if _, err := middleware.NewMemoryRateStore(-1); err == nil {
		t.Error("-1 keys were taken")
	}
}

// TestRateLimitOfManyAtOnce: goroutines never share a place, and two limits
// inside each other list both policies.
func TestRateLimitOfManyAtOnce(t *testing.T) {
	limit := func(name string, n int) web.Middleware {
		return must(t)(middleware.RateLimit(middleware.RateLimitOptions{Name: name, Rate: middleware.Rate{Requests: n, Per: time.Hour}}))
	}
	app := newApp(t, web.Options{}, limit("outer", 50), limit("inner", 20))
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if send(app, "1.2.3.4:5").Code == 200 {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 20 {
		t.Errorf("%d passed", passed.Load())
	}
	if h := send(app, "5.6.7.8:9").Header(); len(h["Ratelimit"]) != 2 || len(h["Ratelimit-Policy"]) != 2 || h["Ratelimit"][1] != `"inner";r=19;t=180` {
		t.Errorf("%v", h)
	}
}

// TestRateLimitKeysAreBounded: more keys than places are counted together, and
// places become free.
func TestRateLimitKeysAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := middleware.NewMemoryRateStore(0)
		if err != nil {
			t.Fatal(err)
		}
		rate := middleware.Rate{Requests: 1, Per: time.Second}
		flood := func(from int) (admitted int) {
			for i := range 100_000 {
				d, err := store.Take(t.Context(), strconv.Itoa(from+i), rate)
				if err != nil {
					t.Fatal(err)
				}
				if d.Allowed {
					admitted++
				}
			}
			return admitted
		}
		if n := flood(0); store.Len() != 65536 || n != 65536+64 { // 64 shards, each with one rate for the rest
			t.Errorf("%d keys, %d admitted", store.Len(), n)
		}
		pass(time.Second)
		if n := flood(1_000_000); store.Len() != 65536 || n < 65536 {
			t.Errorf("a second later: %d keys, %d admitted", store.Len(), n)
		}
	})
}

func ExampleRateLimit() {
	signIn := middleware.RateLimitOptions{Name: "login", Rate: middleware.Rate{Requests: 5, Per: time.Minute, Burst: 2}}
	limit, err := middleware.RateLimit(signIn)
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Group("/login", limit).GET("/", func(c *web.Context) error { return c.String(http.StatusOK, "hello") })
	for range 3 {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest("GET", "/login/", nil)) //nolint:noctx // an example of one line
		fmt.Printf("%d %s %q\n", w.Code, w.Header().Get("RateLimit"), w.Header().Get("Retry-After"))
	}
	// Output:
	// 200 "login";r=1;t=12 ""
	// 200 "login";r=0;t=24 ""
	// 429 "login";r=0;t=24 "12"
}
