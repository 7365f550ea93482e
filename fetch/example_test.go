package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"

	"example.com/quire/fetch"
	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

// flaky is an origin that is busy twice.
func flaky() *fetchtest.Transport {
	busy := fetchtest.Step{}.Status(503)
	return fetchtest.Script(busy, busy, fetchtest.Step{}.Header("Content-Type", "application/json").Body(`{"name":"pen","price":3}`))
}

func Example() {
	c, err := fetch.New(fetch.Config{
		Base: flaky(), // leave it out: this one needs no network
	})
	if err != nil {
		panic(err)
	}
	type item struct {
		Name  string
		Price int
	}
	got, err := fetch.GetJSON[item](context.Background(), c, "https://api.example/items/1")
	fmt.Println(got, err)
	// Output: {pen 3} <nil>
}

// What a response took, and what an error holds.
func ExampleInfoOf() {
	c, err := fetch.New(fetch.Config{Base: flaky()})
	if err != nil {
		panic(err)
	}
	resp, err := c.Get(context.Background(), "https://api.example/items/1")
	if err != nil {
		if e, ok := errors.AsType[*fetch.Error](err); ok {
			fmt.Println(len(e.Attempts), "attempts failed")
		}
		return
	}
	defer func() { _ = resp.Body.Close() }()
	for _, a := range fetch.InfoOf(resp).Attempts {
		fmt.Println(a.N, a.Status, a.Reason)
	}
	// Output:
	// 1 503 status 503
	// 2 503 status 503
	// 3 200 ok
}

// Sources that somebody else names may not lead inside, save where it is allowed.
func ExampleGuard() {
	c, err := fetch.New(fetch.Config{Transport: fetch.TransportConfig{Guard: &fetch.Guard{
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")},
		AllowPorts:    []uint16{443, 8443},
	}}})
	if err != nil {
		panic(err)
	}
	resp, err := c.Get(context.Background(), "https://169.254.169.254/latest/meta-data")
	if err == nil {
		_ = resp.Body.Close()
	}
	fmt.Println(errors.Is(err, fetch.ErrAddressDenied))
	// Output: true
}

func ExampleWith() {
	origin := flaky()
	c, err := fetch.New(fetch.Config{Base: origin})
	if err != nil {
		panic(err)
	}
	ctx := fetch.With(context.Background(), fetch.Overrides{MaxAttempts: 1, Total: 2 * time.Second, Route: "GET /items/{id}"})
	resp, err := c.Get(ctx, "https://api.example/items/1")
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Println(resp.StatusCode, fetch.InfoOf(resp).Stop)
	// Output: 503 attempts
}

// A layer of one's own: it signs each attempt.
func ExampleLayer() {
	origin := fetchtest.Script()
	sign := func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			req = req.Clone(req.Context()) // never modify the request: send a copy
			req.Header.Set("Signature", "signed "+req.URL.Path)
			return next.RoundTrip(req)
		})
	}
	c, err := fetch.New(fetch.Config{Base: origin, PerAttempt: []fetch.Layer{sign}})
	if err != nil {
		panic(err)
	}
	resp, err := c.Get(context.Background(), "https://api.example/items")
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Println(origin.Requests()[0].Header.Get("Signature"))
	// Output: signed /items
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// Layers alone, under a plain client.
func ExampleStack() {
	again, err := retry.New(retry.Policy{MaxAttempts: 5})
	if err != nil {
		panic(err)
	}
	breakers, err := breaker.NewSet(breaker.Config{})
	if err != nil {
		panic(err)
	}
	plain := &http.Client{Transport: fetch.Stack(flaky(), again, breakers.Layer)}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://api.example/items/1", nil)
	if err != nil {
		panic(err)
	}
	resp, err := plain.Do(req)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	for _, l := range fetch.Describe(plain.Transport) {
		fmt.Println(l.Name)
	}
	fmt.Println(resp.StatusCode)
	// Output:
	// retry
	// breaker
	// *fetchtest.Transport
	// 200
}

// The SDK of a service, here that of Prometheus, takes the stack as its transport. What it sends is
// retried, limited and counted without its knowing; what it sends by POST only when nothing was
// sent before, or with an idempotency key.
func ExampleClient_Transport_sdk() {
	busy := fetchtest.Step{}.Status(503)
	c, err := fetch.New(fetch.Config{
		Base: fetchtest.Script(busy, fetchtest.Step{}.Header("Content-Type", "application/json").Body(`{"status":"success","data":{"version":"3.1.0"}}`)),
	})
	if err != nil {
		panic(err)
	}
	sdk, err := api.NewClient(api.Config{Address: "https://prometheus.example", RoundTripper: c.Transport()})
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, sdk.URL("/api/v1/status/buildinfo", nil).String(), nil)
	if err != nil {
		panic(err)
	}
	resp, body, err := sdk.Do(context.Background(), req) //nolint:bodyclose // the SDK has read and closed it
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.StatusCode, len(fetch.InfoOf(resp).Attempts), string(body))
	// Output: 200 2 {"status":"success","data":{"version":"3.1.0"}}
}

// Reverse proxies take the stack as their transport.
func ExampleClient_Transport() {
	c, err := fetch.New(fetch.Config{Base: flaky()})
	if err != nil {
		panic(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: c.Transport(),
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "https", Host: "api.example"}) },
	}
	w := httptest.NewRecorder()
	proxy.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/items/1", nil)) //nolint:noctx // an example without a test's context
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"name":"pen","price":3}
}

// A plain client with cookies and the redirect policy.
func ExampleClient_HTTP() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err)
	}
	origin := fetchtest.Script(fetchtest.Step{}.Status(302).Header("Location", "/home").Header("Set-Cookie", "session=1"), fetchtest.Step{})
	c, err := fetch.New(fetch.Config{Base: origin, Jar: jar})
	if err != nil {
		panic(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://api.example/", nil)
	if err != nil {
		panic(err)
	}
	resp, err := c.HTTP().Do(req)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Println(resp.Request.URL, origin.Requests()[1].Header.Get("Cookie"))
	// Output: https://api.example/home session=1
}

// Problem documents are errors with members.
func ExampleProblemError() {
	origin := fetchtest.Script(fetchtest.Step{}.Status(403).Header("Content-Type", "application/problem+json").
		Body(`{"title":"Not enough credit","balance":30}`))
	c, err := fetch.New(fetch.Config{Base: origin})
	if err != nil {
		panic(err)
	}
	_, err = fetch.JSON[struct{}](context.Background(), c, http.MethodPost, "https://api.example/pay", map[string]int{"amount": 50})
	if p, ok := errors.AsType[*fetch.ProblemError](err); ok {
		fmt.Printf("%d %s, balance %s\n", p.Status, p.Title, p.Extensions["balance"])
	}
	// Output: 403 Not enough credit, balance 30
}

// A POST that may be sent again.
func ExampleOverrides_idempotencyKey() {
	origin := fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{}.Status(201))
	c, err := fetch.New(fetch.Config{Base: origin})
	if err != nil {
		panic(err)
	}
	ctx := fetch.With(context.Background(), fetch.Overrides{IdempotencyKey: fetch.AutoKey})
	resp, err := c.Post(ctx, "https://api.example/orders", "application/json", strings.NewReader(`{"item":1}`))
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	sent := origin.Requests()
	fmt.Println(resp.StatusCode, len(sent), sent[0].Header.Get("Idempotency-Key") == sent[1].Header.Get("Idempotency-Key"))
	// Output: 201 2 true
}

// Events go to a logger; what is usual is at debug level.
func ExampleConfig_observers() {
	l := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.TimeKey, "request_id", "delay", "took":
			return slog.Attr{}
		}
		return a
	}}))
	c, err := fetch.New(fetch.Config{
		Base:      fetchtest.Script(fetchtest.Step{}.Status(503), fetchtest.Step{}.Body("well")),
		Observers: []observe.Func{observe.Slog(l, observe.SlogOptions{})},
	})
	if err != nil {
		panic(err)
	}
	resp, err := c.Get(context.Background(), "https://api.example/items?token=secret")
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	_ = resp.Body.Close()
	fmt.Printf("%s\n", b)
	// Output:
	// level=INFO msg="fetch retry" method=GET url="https://api.example/items?token=_" attempt=1 of=3 status=503 reason="status 503"
	// well
}

// The cache alone, under a plain client.
func ExampleStack_cache() {
	cache, err := httpcache.New(httpcache.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	origin := fetchtest.Script(fetchtest.Step{}.Header("Cache-Control", "max-age=60").Body("hello"))
	client := &http.Client{Transport: fetch.Stack(origin, cache.Layer)}
	for range 2 {
		resp, err := client.Get("http://api.example/") //nolint:noctx // as short as it goes
		if err != nil {
			fmt.Println(err)
			return
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		status, _, _ := strings.Cut(resp.Header.Get("Cache-Status"), "; ttl")
		fmt.Printf("%s: %s\n", b, status)
	}
	// Output:
	// hello: quire-fetch; fwd=uri-miss; fwd-status=200; stored
	// hello: quire-fetch; hit
}

// A rate per host, which refuses at once.
func ExampleConfig_limit() {
	client, err := fetch.New(fetch.Config{
		Base:  fetchtest.Script(),
		Limit: &limit.KeyedConfig{Default: limit.Rule{Rate: limit.Rate{Events: 1, Per: time.Hour}, Burst: 2}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		resp, err := client.Get(context.Background(), "http://api.example/")
		if err != nil {
			fmt.Println(errors.Is(err, fetch.ErrRateLimited), fetch.IsTransient(err))
			continue
		}
		fmt.Println(resp.StatusCode)
		_ = resp.Body.Close()
	}
	// Output:
	// 200
	// 200
	// true true
}
