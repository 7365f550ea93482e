package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/ws"
)

// site is an App with pages under two origins, which are of two sites: its address, and the name
// localhost. It notes what comes from the browser.
type site struct {
	own, other string // the origins
	mu         sync.Mutex
	seen       []string
}

func (s *site) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fmt.Sprintf(format, args...))
}

// noted returns what was noted since the last call.
func (s *site) noted() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.seen, ", ")
	s.seen = nil
	return all
}

// browser is a tab whose pages are those of a site, and an API of a third origin.
type browser struct {
	*site
	api *site
	ctx context.Context
}

// browse starts the servers and a tab; at the end it fails for requests to other hosts.
func browse(t *testing.T) *browser {
	t.Helper()
	path := judgetest.Chromium(t)
	pages, api := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	b := &browser{site: newSite(pages), api: newSite(api)}
	for server, app := range map[*httptest.Server]*web.App{pages: b.pages(t), api: b.shop(t)} {
		server.Config.Handler = app
		server.Start()
		t.Cleanup(server.Close)
	}
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), chromedp.ExecPath(path), chromedp.Flag("headless", "new"), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))
	limited, end := context.WithTimeout(allocator, 10*time.Minute)
	ctx, shut := chromedp.NewContext(limited)
	b.ctx = ctx
	check(t, chromedp.Do(ctx))
	var mu sync.Mutex
	hosts := map[string]bool{}
	check(t, chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			mu.Lock()
			defer mu.Unlock()
			if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
				hosts[u.Scheme+"://"+u.Host] = true
			}
		}
	}))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	check(t, err)
	t.Cleanup(func() {
		check(t, chromedp.Cancel(ctx))
		shut()
		end()
		stop()
		mu.Lock()
		defer mu.Unlock()
		for h := range hosts {
			if !slices.Contains([]string{b.own, b.other, b.api.own, b.api.other}, h) {
				t.Errorf("the pages asked %s", h)
			}
		}
	})
	return b
}

func newSite(s *httptest.Server) *site {
	own := "http://" + s.Listener.Addr().String()
	return &site{own: own, other: strings.Replace(own, "127.0.0.1", "localhost", 1)}
}

// open goes to a page, whose script has run when it has loaded. The one before must not have
// violated its policy.
func (b *browser) open(t *testing.T, page string) {
	t.Helper()
	if got := b.run(t, `return (window.violations ?? []).join()`); got != "" {
		t.Errorf("violations of the policy: %s", got)
	}
	check(t, chromedp.Do(b.ctx, chromedp.Navigate(page)))
	if got := b.run(t, `return location.href + " " + violations.length`); got != page+" 0" {
		t.Fatalf("open %s: %s", page, got)
	}
}

// run evaluates an asynchronous function in the page and returns what it tells.
func (b *browser) run(t *testing.T, body string) string {
	t.Helper()
	body = strings.NewReplacer("$API", b.api.own, "$WS", strings.Replace(b.own, "http", "ws", 1), "$OWN", b.own).Replace(body)
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("(async () => {"+body+"})()", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return got
}

// want runs a function and compares what it tells and what the servers have noted.
func (b *browser) want(t *testing.T, body, told, pages, api string) {
	t.Helper()
	b.noted()
	b.api.noted()
	if got := b.run(t, body); got != told {
		t.Errorf("%s\ntold %q, want %q", body, got, told)
	}
	if got := b.noted(); got != pages {
		t.Errorf("%s\nthe site noted %q, want %q", body, got, pages)
	}
	if got := b.api.noted(); got != api {
		t.Errorf("%s\nthe API noted %q, want %q", body, got, api)
	}
}

// shop is the API: the pages of the site may use it, those of its other name may not.
func (b *browser) shop(t *testing.T) *web.App {
	t.Helper()
	trust := http.NewCrossOriginProtection()
	check(t, trust.AddTrustedOrigin(b.own))
	app, err := web.New(web.Options{CrossOrigin: trust})
	check(t, err)
	app.Use(func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			err := next(c)
			c.Error(err)
			b.api.note("%s %d", c.Request().Method, c.Status())
			return nil
		}
	}, web.Must(middleware.CORS(middleware.CORSOptions{Origins: []string{b.own}, Headers: []string{"Content-Type", "X-Own"}, Expose: []string{"X-Version"}, Credentials: true})))
	answer := func(c *web.Context) error {
		h := c.Writer().Header()
		h.Set("X-Version", "7")
		h.Set("X-Hidden", "8")
		return c.String(200, c.Request().Method+" "+c.Param("id")+" "+c.Header("X-Own"))
	}
	app.PUT("/items/{id}", answer)
	app.POST("/items", answer)
	return app
}

// pages is the site.
func (b *browser) pages(t *testing.T) *web.App {
	t.Helper()
	app := newApp(t)
	policy := middleware.StrictCSP()
	policy["connect-src"] = []string{"'self'", b.own, strings.Replace(b.own, "http", "ws", 1), b.api.own}
	app.Use(web.Must(middleware.SecureHeaders(middleware.SecureHeadersOptions{CSP: policy, Nonce: true})))
	page := func(c *web.Context) error {
		return c.Blob(200, "text/html; charset=utf-8", []byte(`<!doctype html><title>page</title><a href="`+b.own+`/cookies">cookies</a>`+
			`<script nonce="`+middleware.CSPNonce(c)+`">`+
			`window.violations = []; document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective))</script>`))
	}
	app.GET("/{$}", page)
	cookies := func(c *web.Context) {
		var names []string
		for _, ck := range c.Request().Cookies() {
			names = append(names, ck.Name)
		}
		slices.Sort(names)
		b.note("cookies %s", strings.Join(names, " "))
	}
	app.GET("/cookies", func(c *web.Context) error {
		cookies(c)
		return page(c)
	})
	app.POST("/sign-in", func(c *web.Context) error {
		c.SetCookie(&http.Cookie{Name: "lax", Value: "1", Path: "/"})                                          //nolint:gosec // SetCookie makes it safe
		c.SetCookie(&http.Cookie{Name: "strict", Value: "1", Path: "/", SameSite: http.SameSiteStrictMode})    //nolint:gosec // SetCookie makes it safe
		http.SetCookie(c.Writer(), &http.Cookie{Name: "plain", Value: "1", SameSite: http.SameSiteStrictMode}) //nolint:gosec // one that scripts see
		return c.NoContent(204)
	})
	visits := app.Group("/visits", web.Must(middleware.Session(middleware.SessionOptions{})))
	visits.GET("", func(c *web.Context) error {
		s, _ := middleware.SessionOf(c)
		n, _ := s.Get("n")
		s.Set("n", n+"|")
		return c.String(200, n+"|")
	})
	app.GET("/events", func(c *web.Context) error {
		s, err := c.SSE(web.SSEOptions{Retry: 10 * time.Millisecond})
		if err != nil {
			return err
		}
		b.note("from %q", s.LastEventID())
		all := []web.Event{{ID: "1", Name: "stock", Data: "one\ntwo"}, {ID: "2", Name: "stock", Data: "é"}}
		if s.LastEventID() == "2" {
			all = []web.Event{{ID: "3", Name: "stock", Data: " three"}, {ID: "4", Name: "stock", Data: "{}"}}
		}
		for _, e := range all {
			if err := s.Send(e); err != nil {
				return err
			}
		}
		return nil
	})
	app.GET("/echo", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{Subprotocols: []string{"v2"}, Compression: &ws.Compression{}, ReadLimit: 1 << 20})
		if err != nil {
			b.note("refused")
			return err
		}
		b.note("upgraded")
		for {
			kind, text, err := conn.Read(c.Context())
			if err != nil {
				return err
			}
			if err := conn.Write(c.Context(), kind, text); err != nil {
				return err
			}
		}
	})
	return app
}

// TestBrowser: what only a browser does, by Chromium. Each part begins or ends with what the
// browser has to refuse.
func TestBrowser(t *testing.T) {
	b := browse(t)
	t.Run("policy", func(t *testing.T) {
		b.open(t, b.own+"/")
		b.want(t, `const s = document.createElement("script"); s.textContent = "window.stolen = true"; document.body.append(s);
			await new Promise(r => document.addEventListener("securitypolicyviolation", () => setTimeout(r)));
			return String(window.stolen) + violations.splice(0).join()`, "undefinedscript-src-elem", "", "")
	})
	t.Run("preflight", func(t *testing.T) {
		put := func(header string) string {
			return `try {
				const r = await fetch("$API/items/7", {method: "PUT", credentials: "include", headers: {"Content-Type": "application/json", "` + header + `": "mine"}, body: "{}"})
				return [r.status, await r.text(), r.headers.get("X-Version"), r.headers.get("X-Hidden")].join("|")
			} catch (e) { return e.name }`
		}
		b.open(t, b.own+"/")
		b.want(t, put("X-Own"), "200|PUT 7 mine|7|", "", "OPTIONS 204, PUT 200")
		b.want(t, put("X-Own"), "200|PUT 7 mine|7|", "", "PUT 200") // the preflight is remembered
		b.want(t, put("X-Others"), "TypeError", "", "OPTIONS 204")
		b.open(t, b.other+"/")
		b.want(t, put("X-Own"), "TypeError", "", "OPTIONS 204")
		// What needs no preflight reaches the server, which refuses it by itself.
		b.want(t, `try { await fetch("$API/items", {method: "POST", body: "x"}); return "sent" } catch (e) { return e.name }`, "TypeError", "", "POST 403")
	})
	t.Run("cookies", func(t *testing.T) {
		b.open(t, b.own+"/")
		b.want(t, `await fetch("/sign-in", {method: "POST"}); return document.cookie`, "plain=1", "", "") // the others are HttpOnly
		b.want(t, `return (await fetch("/cookies")).status + ""`, "200", "cookies lax plain strict", "")
		b.open(t, b.other+"/")
		// A script of another site brings none of them, and by Cross-Origin-Resource-Policy it gets
		// no answer; a link brings one.
		b.want(t, `try { await fetch("$OWN/cookies", {mode: "no-cors", credentials: "include"}); return "answered" } catch (e) { return e.name }`, "TypeError", "cookies ", "")
		if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS("a"))); err != nil {
			t.Fatal(err)
		}
		if got := b.noted(); got != "cookies lax" {
			t.Errorf("a link of another site brings %q", got)
		}
		b.want(t, `let all = ""; for (let i = 0; i < 3; i++) all += (await (await fetch("/visits")).text()) + " "; return all + document.cookie.includes("sid")`, "| || ||| false", "", "")
	})
	t.Run("events", func(t *testing.T) {
		b.open(t, b.own+"/")
		b.want(t, `return new Promise(done => {
				const got = [], s = new EventSource("/events")
				s.addEventListener("stock", e => { got.push(e.lastEventId + "=" + e.data); if (got.length == 4) { s.close(); done(got.join("|")) } })
			})`, "1=one\ntwo|2=é|3= three|4={}", `from "", from "2"`, "")
	})
	t.Run("WebSocket", func(t *testing.T) {
		echo := `return new Promise(done => {
				const got = [], s = new WebSocket("$WS/echo", ["v1", "v2"])
				s.binaryType = "arraybuffer"
				s.onopen = () => { s.send("é"); s.send(new Uint8Array([0, 255, 7])); s.send("x".repeat(100000)) }
				s.onmessage = e => { got.push(e.data.length ?? new Uint8Array(e.data).join()); if (got.length == 3) s.close(4001, "done") }
				s.onclose = e => done([s.protocol, s.extensions.split(";")[0], ...got, e.code, e.reason, e.wasClean].join("|"))
			})`
		b.open(t, b.own+"/")
		b.want(t, echo, "v2|permessage-deflate|1|0,255,7|100000|4001||true", "upgraded", "")
		b.open(t, b.other+"/")
		b.want(t, echo, "||1006||false", "refused", "")
	})
	b.open(t, b.own+"/")
}
