package httpcache

import (
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
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
