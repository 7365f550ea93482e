package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/observe"
)

// everything is a configuration with all layers on.
func everything() Config {
	return Config{
		Cache: &httpcache.Config{}, Collapse: &collapse.Config{}, Retry: noWait(),
		Limit:    &limit.KeyedConfig{Default: limit.Rule{Rate: limit.Rate{Events: 1, Per: time.Second}, Burst: 30}},
		Bulkhead: &limit.BulkheadConfig{Max: 50}, Hedge: &hedge.Config{Delay: time.Second},
		Breaker: breaker.Config{ConsecutiveFailures: 5},
	}
}

func TestEveryLayerOnThroughOneScenario(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := func() fetchtest.Step { return fetchtest.Step{} }
		fresh := func(body string) fetchtest.Step {
			return step().Body(body).Header("Cache-Control", "max-age=10, stale-if-error=100").Header("Etag", `"1"`)
		}
		down := step().Status(503)
		c, tr := over(t, everything(),
			fresh("one"), // miss
			// hit: nothing
			step().Status(304).Header("Cache-Control", "max-age=10, stale-if-error=100").Header("Etag", `"1"`), // validated
			down, down, down, // stale after three attempts
			down, step().Body("again"), // retried
			step().Body("slow").Delay(5*time.Second), step().Body("fast"), // hedged
			step().DialError(), // fails, and the breaker opens
		)
		get := func(path string) (string, Info, error) {
			resp, err := c.Get(t.Context(), "http://a.example"+path)
			if err != nil {
				return "", Info{}, err
			}
			info := InfoOf(resp)
			return read(t, resp), info, nil
		}
		for _, want := range []struct {
			after    time.Duration
			path     string
			body     string
			result   string
			attempts int
			hedged   bool
			sent     int // so far
		}{
			{0, "/a", "one", httpcache.ResultMiss, 1, false, 1},
			{5 * time.Second, "/a", "one", httpcache.ResultHit, 0, false, 1},
			{6 * time.Second, "/a", "one", httpcache.ResultRevalidated, 1, false, 2},
			{20 * time.Second, "/a", "one", httpcache.ResultStale, 3, false, 5},
			{0, "/b", "again", httpcache.ResultMiss, 2, false, 7},
			{0, "/c", "fast", httpcache.ResultMiss, 2, true, 9},
		} {
			<-time.After(want.after)
			body, info, err := get(want.path)
			if err != nil || body != want.body || info.Cache.Result != want.result || len(info.Attempts) != want.attempts || info.Hedged != want.hedged || len(tr.Requests()) != want.sent {
				t.Errorf("%s: %q %+v %v, %d sent; want %+v", want.path, body, info, err, len(tr.Requests()), want)
			}
		}
		// Two calls of three attempts open the breaker at the fifth failure.
		for range 2 {
			if _, _, err := get("/d"); err == nil {
				t.Error("no error")
			}
		}
		if _, _, err := get("/d"); !errors.Is(err, ErrCircuitOpen) || !IsTransient(err) {
			t.Errorf("got %v", err)
		}
		// The bucket has so many tokens left; hits cost none, each other call one.
		<-time.After(time.Minute)
		limited := 0
		for range 40 {
			if _, _, err := get("/e"); errors.Is(err, ErrRateLimited) {
				limited++
				if d, ok := RetryAfter(err); !ok || d <= 0 || !IsTransient(err) {
					t.Errorf("%v %t", d, ok)
				}
			}
		}
		if limited != 10 {
			t.Errorf("%d are refused of 40 with a burst of 30", limited)
		}
		synctest.Wait()
		tr.AssertClosed(t)

		s := c.State()
		if len(s.Origins) != 1 || s.InFlight != 0 || s.Cache == nil || len(s.Layers) < 10 || len(s.Events) != 50 && len(s.Events) < 40 {
			t.Fatalf("%+v", s)
		}
		o := s.Origins[0]
		find := func(list []observe.Count, name string, code int) int64 {
			for _, c := range list {
				if c.Name == name && c.Code == code {
					return c.N
				}
			}
			return 0
		}
		if o.Origin != "http://a.example" || o.InFlight != 0 || o.Total() != 49 || find(o.Requests, "", 200) != 6 ||
			find(o.Hedges, "won", 0) != 1 || find(o.Retries, "status 503", 0) != 3 || find(o.Errors, "rate limited", 0) != 10 ||
			s.Limits.RateLimited != 10 || s.Cache.Hits != 1 || s.Cache.Revalidated != 1 || s.Cache.Stale != 1 || o.Breaker != "open" {
			t.Errorf("%+v\ncache %+v", o, *s.Cache)
		}
	})
}

func TestCacheAndCollapseTogetherFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, everything(), fetchtest.Step{}.Body("x").Header("Cache-Control", "max-age=60").Delay(100*time.Millisecond))
		var wg sync.WaitGroup
		collapsed := 0
		var mu sync.Mutex
		for range 20 {
			wg.Go(func() {
				resp, err := c.Get(t.Context(), "http://a.example/")
				if err != nil {
					t.Error(err)
					return
				}
				info := InfoOf(resp)
				if got := read(t, resp); got != "x" || resp.StatusCode != 200 || resp.Request == nil {
					t.Errorf("%q", got)
				}
				mu.Lock()
				defer mu.Unlock()
				if info.Collapsed {
					collapsed++
					if s := resp.Header.Get("Cache-Status"); !strings.HasSuffix(s, "; collapsed") {
						t.Errorf("Cache-Status %s", s)
					}
				}
			})
		}
		wg.Wait()
		for range 20 {
			resp, err := c.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			if info := InfoOf(resp); info.Cache.Result != httpcache.ResultHit {
				t.Errorf("%+v", info)
			}
			read(t, resp)
		}
		if n := len(tr.Requests()); n != 1 || collapsed != 19 {
			t.Errorf("%d requests, %d collapsed", n, collapsed)
		}
		if s := c.State(); s.Cache.Stored != 1 || s.Origins[0].Collapsed != 19 || s.Origins[0].InFlight != 0 {
			t.Errorf("%+v", s.Origins[0])
		}
		tr.AssertClosed(t)
	})
}

func TestInFlightReturnsToZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, f := range map[string]func(c *Client){
			"cancelled": func(c *Client) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				resp, _ := c.Get(ctx, "http://a.example/")
				discard(t, resp)
			},
			"panic": func(c *Client) {
				defer func() { _ = recover() }()
				resp, _ := c.Get(t.Context(), "http://a.example/panic")
				discard(t, resp)
			},
		} {
			cfg := everything()
			cfg.Collapse = nil // which makes an error of a panic
			cfg.Base = roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == "/panic" {
					panic("boom")
				}
				<-r.Context().Done()
				return nil, r.Context().Err()
			})
			c := client(t, cfg)
			f(c)
			synctest.Wait()
			if s := c.State(); s.InFlight != 0 || s.Origins[0].InFlight != 0 || len(s.Origins[0].Errors) != 1 {
				t.Errorf("%s: %+v", name, s)
			}
		}
	})
}

func TestIdempotencyKeyIsTheSameOnHedges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Hedge: &hedge.Config{Delay: time.Second}, Retry: noWait()}, fetchtest.Step{}.Delay(5*time.Second), fetchtest.Step{}.Status(503), fetchtest.Step{})
		resp, err := c.Post(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "http://a.example/", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		synctest.Wait()
		keys := map[string]int{}
		for _, r := range tr.Requests() {
			keys[r.Header.Get("Idempotency-Key")]++
			if string(r.Body) != "x" {
				t.Errorf("body %q", r.Body)
			}
		}
		if len(keys) != 1 || keys[""] != 0 || len(tr.Requests()) < 2 {
			t.Errorf("keys %v", keys)
		}
	})
}

func TestHedgesAndRetriesSpendFromOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Hedge: &hedge.Config{Delay: time.Millisecond}, Retry: noWait(), Off: OffBreaker}, fetchtest.Step{}.Status(503).Delay(10*time.Millisecond))
		for range 100 {
			resp, err := c.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
		}
		synctest.Wait()
		if extra := len(tr.Requests()) - 100; extra > 20+10 || extra < 20 {
			t.Errorf("%d requests more than calls", extra)
		}
		if s := c.State(); s.Origins[0].BudgetSpent == 0 {
			t.Error("a spent budget is not counted")
		}
	})
}

func TestStatePage(t *testing.T) {
	c, _ := over(t, Config{Cache: &httpcache.Config{}, Retry: noWait()}, fetchtest.Step{}.Status(503).Body("<script>"))
	resp, err := c.Get(t.Context(), "http://a.example/x?token=s3cret")
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	show := func(h http.Handler, method, accept, form string, fields ...string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, "http://page.example/state", strings.NewReader(form))
		r.Header.Set("Accept", accept)
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		for _, f := range fields {
			name, value, _ := strings.Cut(f, ": ")
			r.Header.Set(name, value)
		}
		h.ServeHTTP(w, r)
		return w
	}
	page := observe.Page(c, observe.PageOptions{Title: "<flaky>"})
	html := show(page, "GET", "text/html,*/*;q=0.5", "")
	body := html.Body.String()
	for _, want := range []string{"http://a.example", "&lt;flaky&gt;", "closed", "status 503", "retry", "decode"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"s3cret", "<script", "http://www", "<form"} {
		if strings.Contains(body, not) {
			t.Errorf("the page has %q", not)
		}
	}
	var s State
	if err := json.Unmarshal(show(page, "GET", "application/json", "").Body.Bytes(), &s); err != nil || len(s.Origins) != 1 || s.Origins[0].Total() != 1 {
		t.Errorf("%v %+v", err, s)
	}
	if w := show(page, "POST", "*/*", "action=isolate&origin=http://a.example"); w.Code != 405 {
		t.Errorf("a page without control answers %d to POST", w.Code)
	}
	control := observe.Page(c, observe.PageOptions{Control: c.Control()})
	for _, step := range []struct {
		form   string
		fields []string
		code   int
		state  string
	}{
		{"action=isolate", []string{"Sec-Fetch-Site: cross-site"}, 403, "closed"},
		{"action=isolate", nil, 303, "isolated"},
		{"action=close", nil, 303, "disabled"},
		{"action=reset", nil, 303, "closed"},
		{"action=purge&prefix=" + url.QueryEscape("http://a.example/"), nil, 303, "closed"},
		{"action=nonsense", nil, 400, "closed"},
	} {
		w := show(control, "POST", "*/*", step.form+"&origin=http://a.example", step.fields...)
		if w.Code != step.code || c.State().Origins[0].Breaker != step.state {
			t.Errorf("%s %v: %d, breaker %s", step.form, step.fields, w.Code, c.State().Origins[0].Breaker)
		}
	}
	if !strings.Contains(show(control, "GET", "text/html", "").Body.String(), "<form") {
		t.Error("a page with control has no form")
	}
}
