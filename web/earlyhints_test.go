package web_test

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
)

// TestRFC8297_2_EarlyHints over HTTP/1.1 and HTTP/2, with and without a time budget: the hint has
// its links and nothing else, the answer has them too.
func TestRFC8297_2_EarlyHints(t *testing.T) {
	const style, script = "</app.css>; rel=preload; as=style", "</app.js>; rel=preload; as=script"
	app := newApp(t, web.Options{})
	handler := func(c *web.Context) error {
		if err := c.SetHeader("X-Private", "not yet"); err != nil {
			return err
		}
		if err := c.EarlyHints(style); err != nil {
			return err
		}
		if err := c.EarlyHints(script); err != nil {
			return err
		}
		for _, bad := range []string{"/app.css", "</a>; rel=preload\r\nX: y", ""} {
			if err := c.EarlyHints(bad); err == nil {
				t.Errorf("%q was sent", bad)
			}
		}
		if err := c.String(http.StatusOK, "page"); err != nil {
			return err
		}
		if err := c.EarlyHints(style); err == nil {
			t.Error("a hint after the answer was sent")
		}
		return nil
	}
	app.GET("/plain", handler)
	app.GET("/budget", handler, web.Budgets{Time: time.Minute})
	srv := httptest.NewUnstartedServer(app)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	h1 := srv.Client().Transport.(*http.Transport).Clone() //nolint:forcetypeassert // a failure of the test
	h1.ForceAttemptHTTP2, h1.TLSClientConfig.NextProtos = false, []string{"http/1.1"}
	defer h1.CloseIdleConnections()
	for proto, client := range map[string]*http.Client{"HTTP/1.1": {Transport: h1}, "HTTP/2.0": srv.Client()} {
		for _, path := range []string{"/plain", "/budget"} {
			var hints []textproto.MIMEHeader
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
				if code == http.StatusEarlyHints {
					hints = append(hints, maps.Clone(h))
				}
				return nil
			}})
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close() // its few bytes do not matter
			if want := []textproto.MIMEHeader{{"Link": {style}}, {"Link": {script}}}; !reflect.DeepEqual(hints, want) {
				t.Errorf("%s %s: hints %v", proto, path, hints)
			}
			if resp.Proto != proto || resp.StatusCode != http.StatusOK || !slices.Equal(resp.Header["Link"], []string{style, script}) || resp.Header.Get("X-Private") == "" {
				t.Errorf("%s %s: %s %d %v", proto, path, resp.Proto, resp.StatusCode, resp.Header)
			}
		}
	}
}

// TestEarlyHintsOfOldClients: HTTP/1.0 has no status of 1xx.
func TestEarlyHintsOfOldClients(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		if err := c.EarlyHints("</a>; rel=preload"); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	})
	r := start(t, &web.Server{App: app})
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // the server closes it
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if strings.Contains(text, " 103 ") || !strings.Contains(text, "Link: </a>; rel=preload") {
		t.Errorf("%q", text)
	}
}

// TestTimeBudgetAfterAHint: the hint is no answer, so the 503 still comes.
func TestTimeBudgetAfterAHint(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		if err := c.EarlyHints("</a>; rel=preload"); err != nil {
			return err
		}
		<-c.Context().Done()
		return context.Cause(c.Context())
	}, web.Budgets{Time: 50 * time.Millisecond})
	r := start(t, &web.Server{App: app})
	res, _, err := r.get(t, "/")
	if err != nil || res.status != http.StatusServiceUnavailable {
		t.Errorf("%d, %v", res.status, err)
	}
}
