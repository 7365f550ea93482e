package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/fetch/fetchtest"
	"example.com/quire/fetch/observe"
)

func to(code int, location string) fetchtest.Step {
	return fetchtest.Step{}.Status(code).Header("Location", location).Body("moved")
}

func TestRedirectIsFollowed(t *testing.T) {
	c, tr := over(t, Config{Retry: noWait()}, to(302, "/b?token=1"), fetchtest.Step{}.Status(503), fetchtest.Step{}.Body("there"))
	resp, err := c.Get(t.Context(), "http://a.example/a")
	if err != nil {
		t.Fatal(err)
	}
	info := InfoOf(resp)
	if got := read(t, resp); got != "there" || len(info.Attempts) != 3 || info.Attempts[1].N != 1 || info.Attempts[2].N != 2 || fmt.Sprint(info.Hops) != "[http://a.example/b?token=_]" {
		t.Errorf("%q %+v", got, info)
	}
	tr.AssertClosed(t)
}

func TestRedirectsThatAreDenied(t *testing.T) {
	for _, c := range []struct {
		name  string
		max   int
		url   string
		steps []fetchtest.Step
		chain string
		why   string
	}{
		{"loop", 3, "http://a.example/", []fetchtest.Step{to(302, "/x?secret=1")}, "http://a.example/x?secret=_, to http://a.example/x?secret=_, to http://a.example/x?secret=_, to http://a.example/x?secret=_", "more than 3"},
		{"https to http", 0, "https://a.example/", []fetchtest.Step{to(301, "http://a.example/")}, "http://a.example/", "from https to http"},
		{"https to http on the way", 0, "http://a.example/", []fetchtest.Step{to(302, "https://a.example/"), to(302, "http://b.example/")}, "https://a.example/, to http://b.example/", "from https to http"},
		{"file", 0, "http://a.example/", []fetchtest.Step{to(307, "file:///etc/passwd")}, "file:///etc/passwd", "not to HTTP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, tr := over(t, Config{MaxRedirects: c.max}, c.steps...)
			resp, err := cl.Get(t.Context(), c.url)
			discard(t, resp)
			if !errors.Is(err, ErrRedirectDenied) || IsTransient(err) || !strings.Contains(err.Error(), "redirected to "+c.chain+": redirect denied: "+c.why) {
				t.Errorf("got %v", err)
			}
			tr.AssertClosed(t)
		})
	}
}

func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	secret := []string{"Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Amz-Security-Token", "Idempotency-Key", "Referer"}
	for _, c := range []struct {
		name, from, to string
		kept           bool
	}{
		{"same origin", "https://a.example/x", "https://a.example:443/y", true},
		{"other host", "https://a.example/x", "https://b.example/", false},
		{"other port", "https://a.example/x", "https://a.example:8443/", false},
		{"other scheme", "http://a.example/x", "https://a.example/", false},
		{"a host below", "https://a.example/x", "https://sub.a.example/", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, tr := over(t, Config{CrossOriginBody: true}, to(307, c.to), fetchtest.Step{})
			req, err := http.NewRequestWithContext(t.Context(), "PUT", c.from, strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range secret {
				req.Header.Set(name, "s3cret")
			}
			req.Header.Set("Accept", "text/plain")
			resp, err := cl.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
			got := tr.Requests()[1]
			for _, name := range secret {
				if has := got.Header.Get(name) == "s3cret"; has != c.kept {
					t.Errorf("%s: sent %t, want %t", name, has, c.kept)
				}
			}
			if got.Header.Get("Accept") != "text/plain" || string(got.Body) != "body" {
				t.Errorf("%v %q", got.Header, got.Body)
			}
		})
	}
}

func TestCredentialsDoNotComeBack(t *testing.T) {
	c, tr := over(t, Config{}, to(302, "https://b.example/"), to(302, "https://a.example/again"), fetchtest.Step{})
	req, err := http.NewRequestWithContext(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "GET", "https://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "s3cret")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	for i, want := range []string{"s3cret", "", ""} {
		if got := tr.Requests()[i].Header.Get("Authorization"); got != want {
			t.Errorf("hop %d: %q", i, got)
		}
	}
	if got := tr.Requests()[1].Header.Get("Idempotency-Key"); got != "" {
		t.Errorf("the other origin got the key %s", got)
	}
}

func TestIdempotencyKeyOnRedirects(t *testing.T) {
	for _, c := range []struct {
		code int
		kept bool
	}{{307, true}, {308, true}, {303, false}, {302, false}} {
		cl, tr := over(t, Config{}, to(c.code, "/again"), fetchtest.Step{})
		resp, err := cl.Post(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "http://a.example/", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		first, second := tr.Requests()[0].Header.Get("Idempotency-Key"), tr.Requests()[1].Header.Get("Idempotency-Key")
		if first == "" || (second == first) != c.kept || !c.kept && second != "" {
			t.Errorf("%d: %q then %q", c.code, first, second)
		}
	}
}

func TestRedirectBodyRules(t *testing.T) {
	c, tr := over(t, Config{}, to(308, "/b"))
	resp, err := c.Put(t.Context(), "http://a.example/", "text/plain", io.MultiReader(strings.NewReader("once")))
	if err != nil {
		t.Fatal(err)
	}
	// A body that cannot be sent again: the redirect is the answer.
	if got := read(t, resp); resp.StatusCode != 308 || got != "moved" || len(tr.Requests()) != 1 {
		t.Errorf("%d %q", resp.StatusCode, got)
	}
	none, tr := over(t, Config{MaxRedirects: -1}, to(302, "/b"))
	resp, err = none.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	if read(t, resp); resp.StatusCode != 302 || len(tr.Requests()) != 1 {
		t.Errorf("%d", resp.StatusCode)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err = none.HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if read(t, resp); resp.StatusCode != 302 {
		t.Errorf("%d", resp.StatusCode)
	}
	userinfo, tr := over(t, Config{}, to(302, "http://u:p@a.example/b"), fetchtest.Step{})
	resp, err = userinfo.Get(t.Context(), "http://a.example/")
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	if r := tr.Requests()[1]; r.Header.Get("Authorization") != "" || r.URL.User != nil {
		t.Errorf("the server's userinfo was used: %v", r.Header)
	}
}

// Nobody waits for the body of a redirect that is followed, or denied.
func TestBodyOfARedirectIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		location, body string
		err            error
	}{"followed": {"/b", "there", nil}, "denied": {"ftp://a.example/", "", ErrRedirectDenied}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, plain := range []bool{false, true} {
					cl, tr := over(t, Config{BodyIdle: 10 * time.Second}, to(302, c.location).Body(strings.Repeat("x", 4096)).Drip(1, time.Second), fetchtest.Step{}.Body("there"))
					req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
					if err != nil {
						t.Fatal(err)
					}
					do, start := cl.Do, time.Now()
					if plain {
						do = cl.HTTP().Do
					}
					resp, err := do(req)
					if err == nil {
						if got := read(t, resp); got != c.body {
							t.Errorf("by HTTP %t: %q", plain, got)
						}
					} else {
						discard(t, resp)
					}
					if took := time.Since(start); !errors.Is(err, c.err) || took > 100*time.Millisecond {
						t.Errorf("by HTTP %t: %v after %v", plain, err, took)
					}
					synctest.Wait()
					tr.AssertClosed(t)
				}
			})
		})
	}
}

// A QUERY whose body is left out is another question (RFC 9110, sections 15.4.2 and 15.4.3, let
// only POST become GET).
func TestRedirectedQueryIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		method string
		code   int
		once   bool   // the body cannot be sent again
		second string // "" = the redirect is the answer
		body   string
	}{
		{"QUERY", 301, false, "QUERY", "asked"},
		{"QUERY", 302, false, "QUERY", "asked"},
		{"QUERY", 303, false, "GET", ""},
		{"QUERY", 307, false, "QUERY", "asked"},
		{"QUERY", 301, true, "", ""},
		{"QUERY", 302, true, "", ""},
		{"QUERY", 307, true, "", ""},
		{"POST", 302, false, "GET", ""},
	} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %d, once %t, by HTTP %t", c.method, c.code, c.once, plain), func(t *testing.T) {
				told := 0
				cl, tr := over(t, Config{Observers: []observe.Func{func(_ context.Context, e *observe.Event) {
					if e.Kind == observe.Redirect {
						told = e.Status
					}
				}}}, to(c.code, "/b"), fetchtest.Step{}.Body("found"))
				req, err := http.NewRequestWithContext(t.Context(), c.method, "http://a.example/a", strings.NewReader("asked"))
				if err != nil {
					t.Fatal(err)
				}
				if c.once {
					req.GetBody = nil
				}
				do := cl.Do
				if plain {
					do = cl.HTTP().Do
				}
				resp, err := do(req)
				if err != nil {
					t.Fatal(err)
				}
				got := read(t, resp)
				if c.second == "" {
					if resp.StatusCode != c.code || got != "moved" || len(tr.Requests()) != 1 {
						t.Errorf("%d %q after %d requests", resp.StatusCode, got, len(tr.Requests()))
					}
					return
				}
				if sent := tr.Requests(); got != "found" || len(sent) != 2 || sent[1].Method != c.second || string(sent[1].Body) != c.body {
					t.Errorf("%q; sent %+v", got, sent)
				}
				if before := resp.Request.Response; before == nil || before.StatusCode != c.code || !plain && told != c.code {
					t.Errorf("the redirect is told as %d, %+v", told, before)
				}
			})
		}
	}
}

// A Location may have a host and no scheme; then net/http keeps the caller's Host, which is that of
// another server.
func TestHostOfTheCallersStaysAtItsOrigin(t *testing.T) {
	for location, want := range map[string]string{"/b": "virtual.example", "//b.example/": "b.example", "http://b.example/": "b.example"} {
		cl, tr := over(t, Config{}, to(302, location), fetchtest.Step{})
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "virtual.example"
		resp, err := cl.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		second := tr.Requests()[1]
		if got := cmp.Or(second.Host, second.URL.Host); got != want {
			t.Errorf("%s: asked for %s, want %s", location, got, want)
		}
	}
}

func TestTotalSpansAllHops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, Config{Total: 5 * time.Second}, to(302, "/b").Delay(2*time.Second))
		start := time.Now()
		resp, err := c.Get(t.Context(), "http://a.example/")
		discard(t, resp)
		if !errors.Is(err, ErrTotalTimeout) || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestRedirectToADeniedAddress(t *testing.T) {
	c := client(t, Config{Transport: TransportConfig{Guard: &Guard{}}})
	hop := &http.Response{StatusCode: 302, Header: http.Header{"Location": {"http://169.254.169.254/latest/meta-data"}}, Body: http.NoBody}
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), "GET", "http://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, st, err := c.begin(req)
	if err != nil {
		t.Fatal(err)
	}
	hop.Request = r
	resp, err := c.follow(r, hop)
	discard(t, resp)
	if err = c.fail(r, st, err); !errors.Is(err, ErrAddressDenied) || !strings.Contains(err.Error(), "redirected to http://169.254.169.254/latest/meta-data: ") {
		t.Errorf("got %v", err)
	}
}

func TestKeyIsNotCountedWhereItIsNotSent(t *testing.T) {
	for target, want := range map[string]int{"http://a.example/again": 3, "http://b.example/": 1} {
		c, tr := over(t, Config{CrossOriginBody: true, Retry: noWait()}, to(307, target), fetchtest.Step{}.Status(503))
		resp, err := c.Post(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "http://a.example/", "text/plain", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		read(t, resp)
		if got := len(tr.Requests()) - 1; got != want {
			t.Errorf("%s: sent %d times, want %d", target, got, want)
		}
	}
}

func TestErrorOfAHopHidesItsQuery(t *testing.T) {
	first := true
	c := client(t, Config{Retry: noWait(), Base: roundTrip(func(r *http.Request) (*http.Response, error) {
		if !first {
			return leaky{}.RoundTrip(r)
		}
		first = false
		return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"/b?token=s3cret"}}, Body: http.NoBody, Request: r}, nil
	})})
	resp, err := c.Get(t.Context(), "http://a.example/")
	discard(t, resp)
	if text := fmt.Sprintf("%v %+v", err, err); err == nil || strings.Contains(text, "s3cret") || !strings.Contains(text, "proxy said no") {
		t.Errorf("got %v", text)
	}
}

func TestBodyGoesToAnotherOriginOnlyWhenAllowed(t *testing.T) {
	for _, c := range []struct {
		name, to string
		code     int
		allowed  bool
		denied   bool
	}{
		{"307 elsewhere", "https://b.example/", 307, false, true},
		{"308 elsewhere", "https://b.example/", 308, false, true},
		{"307 elsewhere, allowed", "https://b.example/", 307, true, false},
		{"307 at home", "https://a.example/y", 307, false, false},
		{"303 elsewhere drops the body", "https://b.example/", 303, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, tr := over(t, Config{CrossOriginBody: c.allowed}, to(c.code, c.to), fetchtest.Step{})
			resp, err := cl.Put(t.Context(), "https://a.example/x", "text/plain", strings.NewReader("secret"))
			discard(t, resp)
			if errors.Is(err, ErrRedirectDenied) != c.denied || !c.denied && err != nil {
				t.Errorf("got %v", err)
			}
			if c.denied && len(tr.Requests()) != 1 {
				t.Errorf("%d requests", len(tr.Requests()))
			}
		})
	}
}

// plainClients are the two ways to redirects that net/http's own client follows.
func plainClients(c *Client) map[string]*http.Client {
	return map[string]*http.Client{"HTTP": c.HTTP(), "Transport": {Transport: c.Transport()}}
}

func TestDefaultHeaderDoesNotFollowRedirectsOfPlainClients(t *testing.T) {
	for _, base := range []string{"", "https://a.example"} {
		for name := range plainClients(client(t, Config{})) {
			t.Run(name+base, func(t *testing.T) {
				cl, tr := over(t, Config{BaseURL: base, Header: http.Header{"Authorization": {"s3cret"}}},
					to(302, "/again"), to(302, "https://b.example/"), to(302, "https://a.example/back"), fetchtest.Step{})
				req, err := http.NewRequestWithContext(t.Context(), "GET", "https://a.example/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := plainClients(cl)[name].Do(req)
				if err != nil {
					t.Fatal(err)
				}
				read(t, resp)
				for i, want := range []string{"s3cret", "s3cret", "", ""} {
					if got := tr.Requests()[i].Header.Get("Authorization"); got != want {
						t.Errorf("hop %d: %q, want %q", i, got, want)
					}
				}
			})
		}
	}
}

func TestAutomaticKeyDoesNotComeBack(t *testing.T) {
	ways := map[string]func(*Client, *http.Request) (*http.Response, error){
		"Do":   (*Client).Do,
		"HTTP": func(c *Client, r *http.Request) (*http.Response, error) { return c.HTTP().Do(r) },
	}
	for name, do := range ways {
		t.Run(name, func(t *testing.T) {
			cl, tr := over(t, Config{CrossOriginBody: true},
				to(307, "/again"), to(307, "https://b.example/"), to(307, "https://a.example/back"), fetchtest.Step{})
			ctx := With(t.Context(), Overrides{IdempotencyKey: AutoKey})
			req, err := http.NewRequestWithContext(ctx, "POST", "https://a.example/", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := do(cl, req)
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
			var keys []string
			for _, r := range tr.Requests() {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
			}
			if keys[0] == "" || keys[1] != keys[0] || keys[2] != "" || keys[3] != "" {
				t.Errorf("keys %q", keys)
			}
		})
	}
}

// A token is often fetched within an attempt, with its context. Where that request is led has
// nothing to do with the call.
func TestRedirectsOfACallWithinAnAttemptAreItsOwn(t *testing.T) {
	tokens, _ := over(t, Config{}, to(302, "https://login.example/"), fetchtest.Step{}.Body("token"))
	fetchesToken := func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			req, err := http.NewRequestWithContext(r.Context(), "GET", "https://tokens.example/", nil)
			if err != nil {
				return nil, err
			}
			resp, err := tokens.HTTP().Do(req)
			if err != nil {
				return nil, err
			}
			read(t, resp)
			return next.RoundTrip(r)
		})
	}
	c, tr := over(t, Config{Retry: noWait(), PerAttempt: []Layer{fetchesToken}}, fetchtest.Step{}.Status(503), fetchtest.Step{})
	resp, err := c.Post(With(t.Context(), Overrides{IdempotencyKey: AutoKey}), "https://a.example/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp)
	sent := tr.Requests()
	if len(sent) != 2 || sent[0].Header.Get("Idempotency-Key") == "" || sent[1].Header.Get("Idempotency-Key") != sent[0].Header.Get("Idempotency-Key") {
		t.Errorf("%d requests, the second without the key of the first", len(sent))
	}
	if hops := InfoOf(resp).Hops; len(hops) != 0 {
		t.Errorf("hops %q", hops)
	}
}

func TestUnreadableLocationIsNotQuoted(t *testing.T) {
	secret := "https://user:hunter2@b.example/%zz?token=s3cret" + strings.Repeat("x", 5000)
	for name, do := range map[string]func(*Client, *http.Request) (*http.Response, error){
		"Do":   (*Client).Do,
		"HTTP": func(c *Client, r *http.Request) (*http.Response, error) { return c.HTTP().Do(r) },
	} {
		t.Run(name, func(t *testing.T) {
			cl, tr := over(t, Config{}, to(302, "/b"), to(302, secret))
			req, err := http.NewRequestWithContext(t.Context(), "GET", "https://a.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := do(cl, req)
			discard(t, resp)
			if !errors.Is(err, ErrRedirectDenied) || IsTransient(err) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 300 {
				t.Errorf("got %v", err)
			}
			tr.AssertClosed(t)
		})
	}
}

func TestTransportHandsOnWhatItNeedNotFollow(t *testing.T) {
	cl, _ := over(t, Config{}, to(302, "%zz"))
	req, err := http.NewRequestWithContext(t.Context(), "GET", "https://a.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := cl.Transport().RoundTrip(req)
	if err != nil || resp.Header.Get("Location") != "%zz" {
		t.Fatalf("got %v", err)
	}
	read(t, resp)
}
