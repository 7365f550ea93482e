package docsui_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/openapi"
	"example.com/quire/web/openapi/docsui"
	"example.com/quire/web/webtest"
)

type order struct {
	ID    int    `json:"id"`
	State string `json:"state"`
}

func newApp(t *testing.T) *web.App {
	t.Helper()
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	openapi.Handle(app, "GET", "/orders/{id}", func(_ context.Context, in *struct {
		ID int `path:"id" doc:"Number of the order" example:"7"`
	},
	) (*struct{ Body order }, error) {
		return &struct{ Body order }{order{in.ID, "open <b>"}}, nil
	}, openapi.Summary("One order"), openapi.Tags("orders"), openapi.ID("one"))
	return app
}

func serve(t *testing.T, app *web.App, r web.Registrar) {
	t.Helper()
	doc, err := openapi.Document(app, openapi.Info{Title: "Shop", Version: "1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := openapi.Serve(r, doc, openapi.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := docsui.Serve(r, docsui.Options{Title: `Shop & "Co"`}); err != nil {
		t.Fatal(err)
	}
}

func TestPageAndItsFiles(t *testing.T) {
	app := newApp(t)
	serve(t, app, app)
	c := webtest.New(t, app)
	if r := c.Get("/docs"); r.Status != http.StatusTemporaryRedirect || r.Header.Get("Location") != "/docs/" {
		t.Errorf("page without slash: %d %v", r.Status, r.Header)
	}
	page := c.Get("/docs/").Want(200)
	if !strings.Contains(page.Text(), "Shop &amp; &#34;Co&#34;") || !strings.HasPrefix(page.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("page:\n%s\n%v", page.Body, page.Header)
	}
	packed := c.With("Accept-Encoding", "br, gzip").Get("/docs/swagger-ui.css").Want(200)
	plain := c.Get("/docs/swagger-ui.css").Want(200)
	z, err := gzip.NewReader(bytes.NewReader(packed.Body))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(unpacked, plain.Body) || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("packed and plain differ: %v", err)
	}
	for accept, r := range map[string]*webtest.Response{"br, gzip": packed, "": plain} {
		n := c.With("If-None-Match", r.Header.Get("Etag"))
		if accept != "" {
			n = n.With("Accept-Encoding", accept)
		}
		n.Get("/docs/swagger-ui.css").Want(http.StatusNotModified)
	}
	if packed.Header.Get("Etag") == plain.Header.Get("Etag") {
		t.Error("two codings have one entity tag")
	}
	c.Get("/docs/LICENSE").Want(200)
	webtest.Conform(t, app)
}

func TestPageBehindAuthentication(t *testing.T) {
	app := newApp(t)
	auth := web.Must(middleware.BasicAuth(middleware.BasicAuthOptions{Users: map[string]string{"reader": "secret"}}))
	serve(t, app, app.Group("", auth))
	c := webtest.New(t, app)
	for _, path := range []string{"/docs/", "/docs/start.js", "/openapi.json", "/openapi.yaml"} {
		c.Get(path).Want(http.StatusUnauthorized)
	}
	c.Get("/orders/7").Want(200)
	c.With("Authorization", "Basic cmVhZGVyOnNlY3JldA==").Get("/docs/").Want(200)
}

// TestPageInABrowser: offline, under its policy, behind a proxy that adds a prefix, with
// a request made from the page.
func TestPageInABrowser(t *testing.T) {
	path := judgetest.Chromium(t)
	app := newApp(t)
	serve(t, app, app)
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		http.StripPrefix("/behind/proxy", app).ServeHTTP(w, r)
	}))
	defer server.Close()

	allocator, stop := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(path), chromedp.Flag("headless", "new"),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1100, 900))
	defer stop()
	limited, end := context.WithTimeout(allocator, 10*time.Minute)
	defer end()
	ctx, shut := chromedp.NewContext(limited)
	defer shut()
	check(t, chromedp.Do(ctx))
	var wrong []string
	hosts := map[string]bool{}
	check(t, chromedp.Listen(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			wrong = append(wrong, "exception: "+e.ExceptionDetails.Text)
		case *cdplog.EventEntryAdded: // violations of the policy among them
			wrong = append(wrong, "log: "+e.Entry.Text+" "+e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Scheme != "blob" {
				hosts[u.Host] = true
			}
		}
	}))
	_, err := chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	check(t, err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	check(t, err)
	check(t, chromedp.Do(ctx, chromedp.Navigate(server.URL+"/behind/proxy/docs/")))
	until := func(expression string) {
		t.Helper()
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(3*time.Minute))); err != nil {
			text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
			t.Fatalf("wait for %s: %v\n%s\n%v", expression, err, text, wrong)
		}
	}
	click := func(selector string) {
		t.Helper()
		until(`!!document.querySelector("` + selector + `")`)
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.querySelector("`+selector+`").click(), true`))
		check(t, err)
	}
	until(`document.querySelector(".info .title")?.textContent.startsWith("Shop")`)
	click("#operations-orders-one .opblock-summary-control")
	click(".try-out__btn")
	until(`document.querySelector(".parameters input")?.value == "7"`)
	click(".execute")
	until(`document.querySelector(".live-responses-table tbody .response-col_status")?.textContent.startsWith("200")`)
	until(`document.querySelector(".live-responses-table")?.textContent.includes("open <b>")`)
	if file := os.Getenv("DOCSUI_SCREENSHOT"); file != "" {
		shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		check(t, err)
		check(t, os.WriteFile(file, shot, 0o600)) //nolint:gosec // whoever runs the test says where
	}
	mu.Lock()
	defer mu.Unlock()
	for _, w := range wrong {
		t.Error(w)
	}
	if len(hosts) != 1 || !hosts[strings.TrimPrefix(server.URL, "http://")] {
		t.Errorf("the page asked %v", hosts)
	}
	if !slices.Contains(asked, "/behind/proxy/orders/7") {
		t.Errorf("the request of the page did not keep the prefix: %q", asked)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
