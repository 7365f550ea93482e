package frozen_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/web/frozen"
)

// TestPipelinedMixKeepsItsOrder: frozen and ordinary answers of one connection
// come in the order of the requests, however the bytes arrive.
func TestPipelinedMixKeepsItsOrder(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	addr := start(t, h, frozen.NewLane(frozen.LaneOptions{}, tb))
	plain := start(t, h, nil)
	text := ""
	for range 3 {
		text += "GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /one HTTP/1.1\r\nHost: x\r\n\r\nPOST /two HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /gone HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n"
	}
	want := answers(talk(t, plain, text, 0), nil)
	if len(want) != 15 {
		t.Fatalf("%d answers without the lane", len(want))
	}
	for _, n := range []int{0, 1, 7, 64, 333} {
		if got := answers(talk(t, addr, text, n), nil); !slices.Equal(got, want) {
			t.Errorf("in pieces of %d:\n%q\nwant\n%q", n, got, want)
		}
	}
}

// heads are requests for the differential test and the fuzzer's seeds.
var heads = []string{
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\nHost: x\n\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\n\r\n",
	"GET /small HTTP/1.0\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x y\r\n\r\n",
	"GET  /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /sm all HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabcGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
	"GET /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /gone HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /sm",
	"\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("b", 5000) + "\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n",
	"get /small HTTP/1.1\r\nHost: x\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost:\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nAccept: \xff\r\n\r\n",
	"GET /small HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
	"HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n",
	"",
}

// TestBadHeadsAreJudgedByNetHTTP: whatever the bytes and however they are split,
// answers and end are those of net/http without the lane.
func TestBadHeadsAreJudgedByNetHTTP(t *testing.T) {
	tb := table(t)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	with, without := start(t, h, frozen.NewLane(frozen.LaneOptions{Timeouts: frozen.Timeouts{Head: 30 * time.Second}}, tb)), start(t, h, nil)
	for _, text := range heads {
		want := normal(talk(t, without, text, 0))
		for _, n := range []int{0, 1, 5} {
			if n > 0 {
				n = max(n, len(text)/100)
			}
			if got := normal(talk(t, with, text, n)); !slices.Equal(got, want) {
				t.Errorf("%.80q in pieces of %d:\n with %q\n without %q", text, n, got, want)
			}
		}
	}
}

// FuzzLane is the same on bytes that nobody thought of.
func FuzzLane(f *testing.F) {
	for _, s := range heads {
		f.Add(s, 0)
		f.Add(s+heads[0], 3)
	}
	tb := table(f)
	h := frozen.Handler(http.HandlerFunc(ordinary), tb)
	with, without := start(f, h, frozen.NewLane(frozen.LaneOptions{}, tb)), start(f, h, nil)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if len(text) > 8<<10 {
			return
		}
		if n < 0 || n > 0 && len(text)/n > 200 {
			n = 0
		}
		got, want := normal(talk(t, with, text, n)), normal(talk(t, without, text, 0))
		if !slices.Equal(got, want) {
			t.Errorf("%q in pieces of %d:\n with %q\n without %q", text, n, got, want)
		}
	})
}

// TestHostsAndAdmit: requests for other hosts, of other sites' pages and of other peers go up.
func TestHostsAndAdmit(t *testing.T) {
	tb := table(t)
	hosts := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{Hosts: []string{"Docs.Example", "::1", "[::2]"}, AllowHeaders: []string{"X-Mine", "Range"}}, tb))
	own := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{SameOrigin: true}, tb))
	for host, want := range map[string]bool{"docs.example": true, "DOCS.example:8080": true, "docs.example.": true, "evil.example": false, "docs.example.evil": false, "[::1]:80": true, "[::1]": true, "[::2]:80": true, "[::3]:80": false, "::1": false} {
		got := talk(t, hosts, "GET /small HTTP/1.1\r\nHost: "+host+"\r\nX-Mine: 1\r\nConnection: close\r\n\r\n", 0)
		if strings.Contains(got, "X-Ordinary") == want {
			t.Errorf("%s: %s", host, got)
		}
	}
	if got := talk(t, hosts, "GET /small HTTP/1.1\r\nHost: docs.example\r\nRange: bytes=0-1\r\n\r\n", 0); !strings.Contains(got, "X-Ordinary") {
		t.Errorf("Range was allowed: %s", got)
	}
	for line, want := range map[string]bool{
		"Accept: */*": true, "Sec-Fetch-Site: same-origin": true, "sec-fetch-site: none": true,
		"Sec-Fetch-Site: cross-site": false, "sec-fetch-site: same-site": false, "Sec-Fetch-Site:": false, "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site": false,
	} {
		request := "GET /small HTTP/1.1\r\nHost: x\r\n" + line + "\r\nConnection: close\r\n\r\n"
		if got := talk(t, own, request, 0); strings.Contains(got, "X-Ordinary") == want {
			t.Errorf("%s: %s", line, got)
		}
	}
	var asked atomic.Int64
	no := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{Admit: func(a netip.Addr) bool { asked.Add(1); return !a.IsLoopback() }}, tb))
	if got := talk(t, no, heads[0]+heads[0], 0); strings.Count(got, "X-Ordinary") != 2 || asked.Load() != 1 {
		t.Errorf("asked %d times: %s", asked.Load(), got)
	}
}
