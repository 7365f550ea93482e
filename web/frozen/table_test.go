package frozen_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"example.com/quire/web/frozen"
)

// TestChangesHoldForTheNextRequest on a connection that is open already.
func TestChangesHoldForTheNextRequest(t *testing.T) {
	tb := table(t)
	addr := start(t, http.HandlerFunc(ordinary), frozen.NewLane(frozen.LaneOptions{}, tb))
	c, err := net.Dial("tcp", addr) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // at the end of the test
	r := bufio.NewReader(c)
	ask := func() string {
		if _, err := io.WriteString(c, "GET /small HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if got := ask(); got != `{"a":1}` {
		t.Fatal(got)
	}
	tb.Delete("/small")
	if got := ask(); !strings.HasPrefix(got, "GET /small") {
		t.Errorf("after Delete: %s", got)
	}
	if err := tb.Replace(map[string]*frozen.Entry{"/small": build(t, frozen.EntrySpec{Body: []byte("new"), Public: true})}); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != "new" {
		t.Errorf("after Replace: %s", got)
	}
}

// TestTableLimits: what has no room changes nothing.
func TestTableLimits(t *testing.T) {
	tb := frozen.NewTable(frozen.Limits{Entries: 2, Bytes: 4000})
	e := build(t, frozen.EntrySpec{Body: make([]byte, 500)})
	for i, want := range []error{nil, nil, frozen.ErrTableFull} {
		if err := tb.Put("/"+strconv.Itoa(i), e); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", i, err, want)
		}
	}
	if err := tb.Put("/1", build(t, frozen.EntrySpec{Body: make([]byte, 4000)})); !errors.Is(err, frozen.ErrTableFull) {
		t.Errorf("bytes: %v", err)
	}
	if s := tb.Stats(); s.Entries != 2 || s.Bytes <= 0 {
		t.Errorf("%+v", s)
	}
	tb.Delete("/0")
	tb.Delete("/none")
	tb.Delete("/1")
	if s := tb.Stats(); s != (frozen.Stats{}) {
		t.Errorf("empty: %+v", s)
	}
	for _, bad := range []string{"", "x", "*", "http://x/", "/é", "/a b", "/%zz", "/" + strings.Repeat("a", 3000)} {
		if err := tb.Put(bad, e); err == nil {
			t.Errorf("%q was taken", bad)
		}
		if err := tb.Replace(map[string]*frozen.Entry{bad: e}); err == nil {
			t.Errorf("%q was taken by Replace", bad)
		}
	}
}
