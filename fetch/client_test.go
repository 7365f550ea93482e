package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client makes one and closes it with the test.
func client(t *testing.T, c Config) *Client {
	t.Helper()
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cl.Close(context.Background()); err != nil { // t.Context has ended by then
			t.Error(err)
		}
	})
	return cl
}

// over is a client over a scripted transport.
func over(t *testing.T, c Config, steps ...fetchtest.Step) (*Client, *fetchtest.Transport) {
	t.Helper()
	tr := fetchtest.Script(steps...)
	c.Base = tr
	return client(t, c), tr
}

func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return string(b)
}

// discard closes the response of a call that should have failed.
func discard(t *testing.T, resp *http.Response) {
	t.Helper()
	if resp != nil {
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMethods(t *testing.T) {
	c, tr := over(t, Config{BaseURL: "https://api.example/v1/", Header: http.Header{"x-api-key": {"k"}}, UserAgent: "quire"})
	ctx := t.Context()
	for _, call := range []func() (*http.Response, error){
		func() (*http.Response, error) { return c.Get(ctx, "items?id=1") },
		func() (*http.Response, error) { return c.Head(ctx, "/items") },
		func() (*http.Response, error) { return c.Delete(ctx, "a%2Fb/") },
		func() (*http.Response, error) { return c.Post(ctx, "items", "text/plain", strings.NewReader("x")) },
		func() (*http.Response, error) { return c.Put(ctx, "", "text/plain", strings.NewReader("x")) },
		func() (*http.Response, error) { return c.Patch(ctx, "https://other.example/y", "text/plain", nil) },
	} {
		resp, err := call()
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
	}
	want := []string{
		"GET https://api.example/v1/items?id=1 k", "HEAD https://api.example/v1/items k", "DELETE https://api.example/v1/a%2Fb/ k",
		"POST https://api.example/v1/items k", "PUT https://api.example/v1/ k", "PATCH https://other.example/y ",
	}
	for i, r := range tr.Requests() {
		if got := fmt.Sprintf("%s %s %s", r.Method, r.URL, r.Header.Get("X-Api-Key")); got != want[i] {
			t.Errorf("got %q, want %q", got, want[i])
		}
		if r.Header.Get("User-Agent") != "quire" {
			t.Errorf("user agent %q", r.Header.Get("User-Agent"))
		}
	}
	tr.AssertClosed(t)
}

// TestRelativeAddresses: an address is appended as it is spelled; dot segments are resolved,
// however they are spelled (RFC 3986, sections 5.2.4 and 6.2.2.2).
func TestRelativeAddresses(t *testing.T) {
	for _, tt := range []struct{ base, address, want string }{
		{"https://a.example", "", "https://a.example"},
		{"https://a.example", "x", "https://a.example/x"},
		{"https://a.example/", "/", "https://a.example/"},
		{"https://a.example/v1", "", "https://a.example/v1"},
		{"https://a.example/v1", "?q=1", "https://a.example/v1?q=1"},
		{"https://a.example/v1/", "x/", "https://a.example/v1/x/"},
		{"https://a.example/v1", "x/../y/./z", "https://a.example/v1/y/z"},
		{"https://a.example/v1", "x/%2e%2E/y/%2e/z", "https://a.example/v1/y/z"},
		{"https://a.example/v1", "x/..", "https://a.example/v1/"},
		{"https://a.example/v1", "x/.", "https://a.example/v1/x/"},
		{"https://a.example/v1", "files//a///b", "https://a.example/v1/files//a///b"},
		{"https://a.example/v%31", "a%2Fb", "https://a.example/v%31/a%2Fb"},
		{"https://a.example/v1", "..x/y..", "https://a.example/v1/..x/y.."},
	} {
		c, tr := over(t, Config{BaseURL: tt.base})
		resp, err := c.Get(t.Context(), tt.address)
		if err != nil {
			t.Errorf("%s and %q: %v", tt.base, tt.address, err)
			continue
		}
		discard(t, resp)
		if got := tr.Requests()[0].URL.String(); got != tt.want {
			t.Errorf("%s and %q: %s, want %s", tt.base, tt.address, got, tt.want)
		}
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	c, tr := over(t, Config{})
	based, _ := over(t, Config{BaseURL: "https://api.example/v1"})
	for _, try := range []struct {
		c       *Client
		address string
		want    error
	}{
		{c, "items", errNoBase},
		{c, "ftp://a.example/", errScheme},
		{c, "http:///x", errNoHost},
		{c, "http://:80/x", errNoHost},
		{based, "../admin", errOutside},
		{based, "/../../admin", errOutside},
		{based, "%2e%2e/admin", errOutside},
		{based, "x/.%2E/%2e./admin", errOutside},
		{based, "..%2fadmin", errOutside},
		{based, "x%2F..%2F..%2Fadmin", errOutside},
		{based, "x/..%5c..%5cadmin", errOutside},
		{based, "//evil.example/x", errScheme},
		{c, "http://a.example/%zz?secret", nil},
	} {
		resp, err := try.c.Get(t.Context(), try.address)
		discard(t, resp)
		if e, ok := errors.AsType[*Error](err); !ok || try.want != nil && !errors.Is(err, try.want) || strings.Contains(err.Error(), "secret") || e.Op != "GET" {
			t.Errorf("%s: %v", try.address, err)
		}
	}
	for _, req := range []*http.Request{nil, {}} {
		resp, err := c.Do(req)
		discard(t, resp)
		if !errors.Is(err, errNoRequest) {
			t.Errorf("got %v", err)
		}
	}
	if len(tr.Requests()) != 0 {
		t.Error("something was sent")
	}
}

func TestNothingOfTheCallersIsModified(t *testing.T) {
	c, tr := over(t, Config{Header: http.Header{"X-A": {"default"}}, RequestID: RequestIDConfig{Header: "X-Request-Id"}, DeadlineHeader: "X-Deadline-Ms"}, fetchtest.Step{}.Status(503), fetchtest.Step{})
	req, err := http.NewRequestWithContext(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "POST", "http://u:p@a.example/x?q=1", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	body, header, before := req.Body, req.Header, req.URL.String()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if len(header) != 0 || req.URL.String() != before || req.Body != body || req.Host != "a.example" {
		t.Errorf("request changed: %v %v", header, req.URL)
	}
	for _, r := range tr.Requests() {
		user, password, ok := (&http.Request{Header: r.Header}).BasicAuth()
		if r.URL.User != nil || !ok || user != "u" || password != "p" {
			t.Errorf("credentials: %v %v", r.URL, r.Header)
		}
	}
	base := &http.Transport{}
	cl := client(t, Config{Base: base})
	if base.DisableCompression || base.DialContext != nil || cl.own != nil {
		t.Error("the caller's transport changed, or there is another")
	}
}

// A response has its request, which is then the caller's to change.
func TestRequestOfAResponseIsTheCallersOwn(t *testing.T) {
	for name, cfg := range map[string]Config{
		"the preset": {}, "a cache": {Cache: &httpcache.Config{}}, "middleware": {Middleware: []Layer{func(next http.RoundTripper) http.RoundTripper { return named{next} }}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.Header = http.Header{"X-A": {"default"}}
			c, tr := over(t, cfg, to(302, "/b"), fetchtest.Step{}.Header("Cache-Control", "max-age=60, no-cache"))
			for range 3 {
				resp, err := c.Get(t.Context(), "http://a.example/")
				if err != nil {
					t.Fatal(err)
				}
				read(t, resp)
				for r := resp.Request; r != nil; r = r.Response.Request {
					for _, values := range r.Header {
						for i := range values {
							values[i] = "changed"
						}
						_ = append(values, "changed")
					}
					if r.Response == nil {
						break
					}
				}
			}
			for _, r := range tr.Requests() {
				if r.Header.Get("Accept-Encoding") != "gzip" || r.Header.Get("X-A") != "default" {
					t.Errorf("sent %v", r.Header)
				}
			}
		})
	}
}

func TestStandInThatLeavesOutHalf(t *testing.T) {
	cfg := everything()
	cfg.Base = roundTrip(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 503}, nil })
	for name, cfg := range map[string]Config{"the preset": {Base: cfg.Base, Retry: noWait()}, "all layers": cfg} {
		resp, err := client(t, cfg).Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "" || resp.StatusCode != 503 || len(InfoOf(resp).Attempts) != 3 {
			t.Errorf("%s: %q %+v", name, got, InfoOf(resp))
		}
	}
}

func TestErrorHoldsTheLog(t *testing.T) {
	c, _ := over(t, Config{Retry: retry.Policy{Backoff: retry.Exponential{Base: 1, Max: 1}}}, fetchtest.Step{}.DialError())
	resp, err := c.Get(t.Context(), "https://user:s3cret@api.example/items?token=s3cret")
	discard(t, resp)
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	if e.Op != "GET" || e.URL != "https://api.example/items?token=_" || e.Origin != "https://api.example" || len(e.RequestID) != 32 || len(e.Attempts) != 3 {
		t.Errorf("%+v", e)
	}
	if !strings.HasPrefix(e.Error(), "fetch GET https://api.example/items?token=_: attempt 3 of 3: ") || !IsTransient(err) || e.Timeout() {
		t.Errorf("got %v", err)
	}
	if long := fmt.Sprintf("%+v", err); strings.Count(long, "\n") != 4 || strings.Contains(long, "s3cret") || !strings.Contains(long, "attempt 2: dial after") {
		t.Errorf("got %s", long)
	}
	for _, format := range []string{"%v", "%+v", "%s", "%q", "%d"} {
		if s := fmt.Sprintf(format, &Error{Op: "GET", Attempts: []Attempt{{N: 1}}}); strings.Contains(s, "%!") || !strings.Contains(s, "no reason given") {
			t.Errorf("%s of a nil cause: %s", format, s)
		}
	}
}

func TestBreakerIsVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tr := over(t, Config{Retry: retry.Policy{MaxAttempts: 3, Backoff: retry.Exponential{Jitter: retry.None}}}, fetchtest.Step{}.DialError())
		for range 2 {
			resp, err := c.Get(t.Context(), "https://api.example/")
			discard(t, resp)
			if err == nil {
				t.Fatal("no error")
			}
		}
		// Five failures opened it; the sixth attempt was refused, and refusals are not retried.
		resp, err := c.Get(t.Context(), "https://api.example/")
		discard(t, resp)
		e, ok := errors.AsType[*Error](err)
		if !ok || !errors.Is(err, ErrCircuitOpen) || !IsTransient(err) || len(e.Attempts) != 1 || e.Attempts[0].Reason != "circuit open" || len(tr.Requests()) != 5 {
			t.Errorf("%d requests, %+v", len(tr.Requests()), err)
		}
		if wait, ok := RetryAfter(err); !ok || wait < 4*time.Second || wait > 6*time.Second {
			t.Errorf("retry after %v, %t", wait, ok)
		}
		if _, ok := errors.AsType[*breaker.OpenError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

func TestOverrides(t *testing.T) {
	outer := With(t.Context(), Overrides{MaxAttempts: 2, Route: "GET /outer", Total: time.Minute})
	inner := With(outer, Overrides{MaxAttempts: 4})
	c, tr := over(t, Config{Retry: retry.Policy{Backoff: retry.Exponential{Base: 1, Max: 1}}, Breaker: breaker.Config{ConsecutiveFailures: 100}}, fetchtest.Step{}.Status(503))
	for _, try := range []struct {
		ctx  context.Context
		want int
	}{
		{t.Context(), 3},
		{outer, 2},
		{inner, 4},
		{With(inner, Overrides{Off: OffRetry}), 1},
		{With(inner, Overrides{Retry: &retry.Policy{}}), 4},
	} {
		before := len(tr.Requests())
		resp, err := c.Get(try.ctx, "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		if got := len(tr.Requests()) - before; got != try.want || len(InfoOf(resp).Attempts) != try.want {
			t.Errorf("%d attempts, want %d", got, try.want)
		}
	}
	off, tr := over(t, Config{Off: OffRetry | OffBreaker | OffDrain | OffDecode | OffDeadlines}, fetchtest.Step{}.Status(503))
	for range 10 {
		resp, err := off.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
	}
	if len(tr.Requests()) != 10 || tr.Requests()[0].Header.Get("Accept-Encoding") != "" {
		t.Errorf("%d requests, %v", len(tr.Requests()), tr.Requests()[0].Header)
	}
}

func TestIdempotencyKeyIsOnePerCall(t *testing.T) {
	c, tr := over(t, Config{Retry: retry.Policy{Backoff: retry.Exponential{Base: 1, Max: 1}}}, fetchtest.Step{}.Status(503), fetchtest.Step{}, fetchtest.Step{}, fetchtest.Step{}, fetchtest.Step{})
	post := func(ctx context.Context, own string) {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "POST", "http://a.example/", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		if own != "" {
			req.Header.Set("Idempotency-Key", own)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
	}
	auto := With(t.Context(), Overrides{IdempotencyKey: AutoKey})
	post(auto, "")                                                    // two attempts
	post(auto, "")                                                    // a call of its own
	post(auto, "mine")                                                // stays
	post(With(t.Context(), Overrides{IdempotencyKey: `"given"`}), "") // as it is
	var keys []string
	for _, r := range tr.Requests() {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if len(keys) != 5 || keys[0] != keys[1] || keys[1] == keys[2] || keys[3] != "mine" || keys[4] != `"given"` {
		t.Fatalf("keys %q", keys)
	}
	if len(keys[0]) != 34 || keys[0][0] != '"' || keys[0][33] != '"' {
		t.Errorf("key %s is no structured string of 128 bits", keys[0])
	}
}

// A record that is not TLS, after the handshake and the whole request: crypto/tls reports it as it
// reports a server that never spoke TLS, and a POST that arrived must not be sent again.
func TestPostIsNotRepeatedAfterABadRecord(t *testing.T) {
	var arrived atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		arrived.Add(1)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		if c, ok := conn.(*tls.Conn); ok {
			_, _ = io.WriteString(c.NetConn(), "HTTP/1.1 502 Bad Gateway\r\n\r\n")
		}
		_ = conn.Close()
	}))
	srv.StartTLS()
	defer srv.Close()
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	c := client(t, Config{
		Transport: TransportConfig{DisableHTTP2: true, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		Retry:     retry.Policy{Backoff: retry.Exponential{Base: 1, Max: 1}},
	})
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader("pay 100"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatalf("status %d from a broken connection", resp.StatusCode)
	}
	if n := arrived.Load(); n != 1 {
		t.Errorf("the request arrived %d times: %v", n, err)
	}
}

func TestRequestID(t *testing.T) {
	c, tr := over(t, Config{RequestID: RequestIDConfig{Header: "X-Request-Id"}, Retry: retry.Policy{Backoff: retry.Exponential{Base: 1, Max: 1}}}, fetchtest.Step{}.Status(503), fetchtest.Step{})
	resp, err := c.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	for _, r := range tr.Requests() {
		if r.Header.Get("X-Request-Id") != InfoOf(resp).RequestID {
			t.Errorf("sent %q, told %q", r.Header.Get("X-Request-Id"), InfoOf(resp).RequestID)
		}
	}
}

func TestLayersWorkUnderOtherClients(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) {
		c, tr := over(t, Config{}, fetchtest.Step{}.Status(503), fetchtest.Step{}.Status(302).Header("Location", "/b"), fetchtest.Step{}.Body("there"))
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.HTTP().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, resp); got != "there" || len(tr.Requests()) != 3 || resp.Request.URL.Path != "/b" {
			t.Errorf("%q after %d requests", got, len(tr.Requests()))
		}
	})
	t.Run("ReverseProxy", func(t *testing.T) {
		c, _ := over(t, Config{}, fetchtest.Step{}.Status(503), fetchtest.Step{}.Body("proxied").Header("X-A", "1"))
		p := &httputil.ReverseProxy{Transport: c.Transport(), Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "origin.example"})
		}}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil))
		if w.Code != 200 || w.Body.String() != "proxied" || w.Header().Get("X-A") != "1" {
			t.Errorf("%d %q", w.Code, w.Body)
		}
	})
	t.Run("cookies", func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		c, tr := over(t, Config{Jar: jar}, fetchtest.Step{}.Header("Set-Cookie", "a=1"), fetchtest.Step{})
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
		}
		if got := tr.Requests()[1].Header.Get("Cookie"); got != "a=1" || len(req.Header) != 0 {
			t.Errorf("cookie %q, the caller's header %v", got, req.Header)
		}
	})
}

func TestClose(t *testing.T) {
	c, _ := over(t, Config{})
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	resp, err := c.Post(t.Context(), "http://a.example/", "text/plain", strings.NewReader("x"))
	discard(t, resp)
	if !errors.Is(err, ErrClosed) || IsTransient(err) {
		t.Errorf("got %v", err)
	}
	req, rerr := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
	if rerr != nil {
		t.Fatal(rerr)
	}
	resp, err = c.Transport().RoundTrip(req)
	discard(t, resp)
	if !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestDescribeAndStack(t *testing.T) {
	mine := func(next http.RoundTripper) http.RoundTripper { return named{next} }
	c, tr := over(t, Config{Middleware: []Layer{mine}, PerAttempt: []Layer{mine}})
	var names []string
	for _, l := range Describe(c.Transport()) {
		names = append(names, l.Name)
	}
	want := "client call fetch.named decode retry breaker attempt deadline fetch.named drain *fetchtest.Transport"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Describe(Stack(tr, nil, mine, nil)); len(got) != 2 {
		t.Errorf("%v", got)
	}
	if rt, ok := Stack(nil).(*http.Transport); !ok || rt.TLSClientConfig == nil || rt.Proxy != nil {
		t.Error("no default transport")
	}
}

type named struct{ next http.RoundTripper }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) { return n.next.RoundTrip(r) }
func (n named) Unwrap() http.RoundTripper                         { return n.next }

func TestInfoOfStrangers(t *testing.T) {
	for _, resp := range []*http.Response{nil, {}, {Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)}} {
		if got := InfoOf(resp); len(got.Attempts) != 0 || got.RequestID != "" {
			t.Errorf("%+v", got)
		}
	}
}

func TestRequestIDsDoNotRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where the clock stands still
		c, _ := over(t, Config{})
		seen := make(map[string]bool)
		for range 2_000 {
			resp, err := c.Get(t.Context(), "http://a.example/")
			if err != nil {
				t.Fatal(err)
			}
			seen[InfoOf(resp).RequestID] = true
			discard(t, resp)
		}
		if len(seen) != 2_000 {
			t.Errorf("%d ids for 2000 calls", len(seen))
		}
	})
}

func TestSixtyRetriesOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conns := fetchtest.Count(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(make([]byte, 8<<10))
		}))
		c := client(t, Config{
			Base: fetchtest.Serve(t, h), Off: OffBreaker, Budget: retry.BudgetConfig{Floor: 1000},
			Retry: retry.Policy{MaxAttempts: 61, Backoff: retry.Exponential{Base: time.Millisecond, Max: time.Millisecond}},
		})
		resp, err := c.Get(t.Context(), "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		if conns() != 1 || len(InfoOf(resp).Attempts) != 61 {
			t.Errorf("%d attempts over %d connections", len(InfoOf(resp).Attempts), conns())
		}
	})
}

// TestBudgetStopsAStorm sends 100 calls a second for a minute to an origin that is down, with and
// without the breaker.
func TestBudgetStopsAStorm(t *testing.T) {
	for name, off := range map[string]LayerSet{"all layers": 0, "budget alone": OffBreaker} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, tr := over(t, Config{Off: off}, fetchtest.Step{}.Status(503))
				const calls = 6000
				for range calls {
					go func() {
						resp, err := c.Get(t.Context(), "http://a.example/")
						if err == nil {
							_ = resp.Body.Close()
						}
					}()
					<-time.After(10 * time.Millisecond)
				}
				<-time.After(time.Minute)
				synctest.Wait()
				if got := len(tr.Requests()); got > calls*12/10+10 || off != 0 && got < calls*11/10 {
					t.Errorf("%d requests for %d calls", got, calls)
				}
				tr.AssertClosed(t)
			})
		})
	}
}

func TestHungProbeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, Config{Retry: retry.Policy{MaxAttempts: 1}, Breaker: breaker.Config{ConsecutiveFailures: 1, CloseAfter: 1}},
			fetchtest.Step{}.DialError(), fetchtest.Step{}.Hang(), fetchtest.Step{}.Body("well"))
		get := func() error {
			resp, err := c.Get(t.Context(), "http://a.example/")
			discard(t, resp)
			return err
		}
		if get() == nil {
			t.Fatal("no error")
		}
		<-time.After(6 * time.Second)
		start := time.Now()
		if err := get(); !errors.Is(err, ErrAttemptTimeout) || time.Since(start) != 10*time.Second {
			t.Errorf("the probe: %v after %v", err, time.Since(start))
		}
		if err := get(); !errors.Is(err, ErrCircuitOpen) {
			t.Errorf("after it: %v", err)
		}
		<-time.After(12 * time.Second)
		if err := get(); err != nil {
			t.Errorf("the next probe: %v", err)
		}
	})
}
