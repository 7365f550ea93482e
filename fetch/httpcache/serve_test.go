package httpcache

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestInterimResponsesReachTheCallerAndAreNotStored(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60).Info(103, "Link", "</a>").Info(103, "Link", "</b>"))
	var links []string
	ctx := httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
			links = append(links, h.Get("Link"))
			return nil
		}})
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != 200 || resp.Header.Get("Link") != "" {
			t.Errorf("%d %v", resp.StatusCode, resp.Header)
		}
		readAll(t, resp)
	}
	if strings.Join(links, " ") != "</a> </b>" {
		t.Errorf("hooks got %q", links)
	}
}

func TestCacheStatus(t *testing.T) {
	t.Run("what was done", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Config{StatusName: "here"},
				step("Cache-Control: max-age=60", `Etag: "a"`, "Cache-Status: upstream; hit", "Vary: Foo"),
				step(fresh60, "Vary: Foo"), not(fresh60, `Etag: "a"`), answer(200, ""))
			for _, c := range []struct {
				after  time.Duration
				method string
				field  string
				want   string
			}{
				{0, "GET", "Foo: 1", "upstream; hit|here; fwd=uri-miss; fwd-status=200; stored"},
				{10 * second, "GET", "Foo: 1", "upstream; hit|here; hit; ttl=50"},
				{0, "GET", "Foo: 2", "here; fwd=vary-miss; fwd-status=200; stored"},
				{51 * second, "GET", "Foo: 1", "upstream; hit|here; fwd=stale; fwd-status=304; ttl=60"},
				{0, "POST", "Foo: 1", "here; fwd=method; fwd-status=200"},
			} {
				pass(c.after)
				if got := strings.Join(r.do(c.method, "/", c.field).header.Values("Cache-Status"),
					"|"); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	})
}

// send sends a request as it is and returns the body of its answer.
func (r *rig) send(req *http.Request) string {
	r.t.Helper()
	resp, err := r.rt.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(readAll(r.t, resp))
}

// askedBy is the body of a request, which says whether it was closed.
type askedBy struct {
	io.Reader
	closed int
}

func (b *askedBy) Close() error { b.closed++; return nil }

func TestRequestsWithABodyPassBy(t *testing.T) {
	r := newRig(t, Config{}, answer(200, "plain", fresh60), answer(200, "first", fresh60), answer(200, "second", fresh60))
	if g := r.do("GET", "/"); g.body != "plain" || !g.stored {
		t.Fatalf("%+v", g)
	}
	for _, want := range []string{"first", "second"} {
		body := &askedBy{Reader: strings.NewReader(want)}
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", body)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.send(req); got != want || body.closed == 0 {
			t.Errorf("asked by %q: %q, body closed %d times", want, got, body.closed)
		}
	}
	if g := r.do("GET", "/"); g.body != "plain" || g.result != ResultHit || r.asked() != 3 {
		t.Errorf("%+v after %d requests", g, r.asked())
	}
}

func TestUpgradeIsNotAnsweredFromTheStore(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60), answer(101, "", "Upgrade: websocket", "Connection: Upgrade"))
	r.do("GET", "/")
	if g := r.do("GET", "/", "Connection: Upgrade", "Upgrade: websocket"); g.status != 101 || g.result != ResultBypass {
		t.Errorf("%+v", g)
	}
}

func TestRangeOfAnotherVariantReachesTheOrigin(t *testing.T) {
	r := newRig(t, Config{}, step(fresh60, "Vary: Foo", `Etag: "a"`), answer(206, "bo", "Content-Range: bytes 0-1/4", `Etag: "b"`))
	r.do("GET", "/", "Foo: 1")
	g := r.do("GET", "/", "Foo: 2", "Range: bytes=0-1")
	if got := r.tr.Requests()[1].Header.Get("Range"); g.status != 206 || got != "bytes=0-1" {
		t.Errorf("%+v, asked for range %q", g, got)
	}
}

// bare answers with what a stand-in of a transport often leaves out.
type bare struct{ status int }

func (b bare) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: b.status}, nil
}

func TestTransportThatLeavesOutHalf(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST"} {
		cache, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := cache.Layer(bare{200}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if b := readAll(t, resp); len(b) != 0 || resp.Header.Get("Cache-Status") == "" || resp.Request != req {
			t.Errorf("%s: %q %+v", method, b, resp)
		}
	}
}

// letters is a body without a length and without a lock, so that nothing but the layer above it
// orders its Read and its Close.
type letters struct{ rest string }

func (l *letters) Read(p []byte) (int, error) {
	n := copy(p[:1], l.rest)
	if l.rest = l.rest[n:]; l.rest == "" {
		return n, io.EOF
	}
	return n, nil
}

func (l *letters) Close() error { return nil }

func TestBodyIsClosedWhileItIsRead(t *testing.T) {
	const text = "the whole of the body"
	for range 100 {
		cache, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		rt := cache.Layer(roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{
				StatusCode: 200, Header: http.Header{"Cache-Control": {"max-age=60"}}, Body: &letters{text}, ContentLength: -1, Request: r,
			}, nil
		}))
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = io.Copy(io.Discard, resp.Body) })
		wg.Go(func() { _ = resp.Body.Close() })
		wg.Wait()
		again, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(readAll(t, again)); got != text {
			t.Fatalf("%q after %d requests", got, asked)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
