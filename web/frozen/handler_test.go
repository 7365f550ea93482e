package frozen_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/quire/web/frozen"
)

// TestLaneEqualsHandler: each answer of the lane is that of Handler through
// net/http, field for field.
func TestLaneEqualsHandler(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	var served atomic.Int64
	lane := frozen.NewLane(frozen.LaneOptions{OnServed: func(frozen.Served) { served.Add(1) }}, tb)
	with, without := start(t, h, lane), start(t, h, nil)
	tag := func(target string) string {
		e, _ := tb.Find([]byte(target))
		return e.ETag()
	}
	for _, tt := range []struct {
		request string // method, target and fields
		lane    bool   // answered there
	}{
		{"GET /small", true},
		{"HEAD /small", true},
		{"GET /empty", true},
		{"GET /large", true},
		{"HEAD /large", true},
		{"GET /gone", true},
		{"GET /gone|If-None-Match: *", true},
		{"GET /text?v=1", true},
		{"GET /text?v=1|Accept-Encoding: gzip", true},
		{"GET /text?v=1|Accept-Encoding: gzip, deflate, br, zstd", true},
		{"GET /text?v=1|Accept-Encoding: br;q=0.5, gzip;q=0.9, *;q=0", true},
		{"HEAD /text?v=1|Accept-Encoding: br", true},
		{"GET /text?v=1|Accept-Encoding: identity;q=0.1, gzip;q=0", true},
		{"GET /text?v=1|Accept-Encoding:", true},
		{"GET /text?v=1|Accept-Encoding: identity;q=0", false},
		{"GET /text?v=1|Accept-Encoding: deflate, *;q=0", false},
		{"GET /text?v=1|Accept-Encoding: gzip|Accept-Encoding: br", false},
		{`GET /text?v=1|If-None-Match: "text"`, true},
		{`GET /text?v=1|If-None-Match: W/"text"`, true},
		{`GET /text?v=1|If-None-Match: "x", "text"`, true},
		{`GET /text?v=1|If-None-Match: *`, true},
		{`GET /text?v=1|If-None-Match: "text-gz"|Accept-Encoding: gzip`, true},
		{`GET /text?v=1|If-None-Match: "text"|Accept-Encoding: gzip`, true},
		{`HEAD /text?v=1|If-None-Match: "text"`, true},
		{`GET /text?v=1|If-None-Match: "a|If-None-Match: "text"`, false},
		{`GET /text?v=1|If-None-Match:`, true},
		{"GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 12:00:00 GMT", true},
		{"GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 11:59:59 GMT", true},
		{"GET /text?v=1|If-Modified-Since: now", true},
		{`GET /text?v=1|If-Modified-Since: Thu, 29 Feb 2024 12:00:00 GMT|If-None-Match: "x"`, true},
		{"GET /small|If-None-Match: " + tag("/small"), true},
		{"GET /text?v=1|If-Match: \"x\"", false},
		{"GET /text?v=1|Range: bytes=0-3", false},
		{"GET /text?v=1|Range: bytes=0-3,5-6", false},
		{"GET /text?v=1|Range: bytes=99999-", false},
		{`GET /text?v=1|Range: bytes=0-3|If-Range: "text"`, false},
		{`GET /text?v=1|Range: bytes=0-3|If-Range: "x"`, false},
		{`GET /text?v=1|Range: bytes=0-3|If-None-Match: "text"`, false},
		{"GET /small|Origin: https://x", false},
		{"GET /small|Cookie: a=b", true},
		{"GET /private|Cookie: a=b", false},
		{"GET /private|authorization: x", false},
		{"GET /private", true},
		{"GET /small|X-Unknown: 1", false},
		{"GET /small|Sec-Fetch-Site: cross-site|User-Agent: x|X-Forwarded-For: 1.2.3.4", true},
		{"POST /small|Content-Length: 2", false},
		{"GET /none", false},
		{"OPTIONS *", false},
		{"GET http://x/small", false},
		{"GET /small|Connection: keep-alive", true},
		{"GET /small|Connection: close", true},
		{"GET /small?", false},
	} {
		lines := strings.Split(tt.request, "|")
		text := lines[0] + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines[1:], ""), "\r\n") + "\r\n"
		if strings.HasPrefix(text, "POST") {
			text += "{}"
		}
		methods := []string{strings.Fields(text)[0]}
		before := served.Load()
		got, want := answers(talk(t, with, text, 0), methods), answers(talk(t, without, text, 0), methods)
		if !slices.Equal(got, want) || len(got) != 1 {
			t.Errorf("%s:\n with %q\n without %q", tt.request, got, want)
		}
		if by := served.Load() > before; by != tt.lane {
			t.Errorf("%s: answered by the lane %v, want %v", tt.request, by, tt.lane)
		}
	}
}

// TestHandlerOverTLSAndHTTP2 gives the same entries where no lane can stand.
func TestHandlerOverTLSAndHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(frozen.Handler(http.HandlerFunc(ordinary), table(t)))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	for target, want := range map[string]string{"/small": `{"a":1}`, "/none": "GET /none"} {
		resp, err := s.Client().Get(s.URL + target) //nolint:noctx // loopback
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.ProtoMajor != 2 || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: %s %s, %v", target, resp.Proto, body, err)
		}
	}
}
