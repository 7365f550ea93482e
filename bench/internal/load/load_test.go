package load_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/quire/bench/internal/load"
)

func get(dst []byte, _ string, i int) []byte {
	return fmt.Appendf(dst, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
}

func TestRunAsksEachRequestOnceAndJudgesIt(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		_, _ = io.WriteString(w, "body of "+r.URL.Path) //nolint:gosec // read by the test alone
	}))
	defer srv.Close()
	var judged atomic.Int64
	p := &load.Plan{Conns: 4, Request: get, Check: func(i int, a load.Answer) error {
		judged.Add(1)
		if want := fmt.Sprintf("body of /%d", i); a.Status != 200 || string(a.Body) != want || a.Field("content-length") == "" {
			return fmt.Errorf("answer %d %q to request %d", a.Status, a.Body, i)
		}
		return nil
	}}
	res, err := load.Run(t.Context(), srv.Listener.Addr().String(), "", p, 100, 50)
	if err != nil {
		t.Fatal(err)
	}
	if res.Requests != 50 || judged.Load() != 50 || len(asked) != 50 || asked["/100"] != 1 || asked["/149"] != 1 {
		t.Errorf("result %+v, %d judged, %d paths asked", res, judged.Load(), len(asked))
	}
	if res.P50 <= 0 || res.P99 < res.P50 {
		t.Errorf("latencies %v, %v", res.P50, res.P99)
	}
}

func TestRunReadsChunkedAnswersAndKeepsTheConnection(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, long) // beyond net/http's buffer: sent in chunks
	}))
	defer srv.Close()
	p := &load.Plan{Conns: 1, Request: get, Check: func(_ int, a load.Answer) error {
		if string(a.Body) != long {
			return fmt.Errorf("a body of %d bytes", len(a.Body))
		}
		return nil
	}}
	if _, err := load.Run(t.Context(), srv.Listener.Addr().String(), "", p, 0, 5); err != nil {
		t.Fatal(err)
	}
}

func TestRunEndsAtAWrongAnswer(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	errWrong := errors.New("wrong")
	p := &load.Plan{Conns: 2, Request: get, Check: func(_ int, a load.Answer) error {
		if a.Status != 200 {
			return errWrong
		}
		return nil
	}}
	if _, err := load.Run(t.Context(), srv.Listener.Addr().String(), "", p, 0, 1000); !errors.Is(err, errWrong) {
		t.Errorf("got %v", err)
	}
}

func TestProbeUsesTheDeepCheck(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	errDeep := errors.New("deep")
	p := &load.Plan{
		Conns: 1, Request: get,
		Check: func(int, load.Answer) error { return nil },
		Deep:  func(int, load.Answer) error { return errDeep },
	}
	if err := load.Probe(t.Context(), srv.Listener.Addr().String(), "", p, 0, 1); !errors.Is(err, errDeep) {
		t.Errorf("got %v", err)
	}
}

func TestRunRefusesWhatIsNotHTTP(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 abc nonsense\r\n\r\n")
		_ = c.Close()
	}))
	defer srv.Close()
	p := &load.Plan{Conns: 1, Request: get, Check: func(int, load.Answer) error { return nil }}
	if _, err := load.Run(t.Context(), srv.Listener.Addr().String(), "", p, 0, 1); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("got %v", err)
	}
	srv.Close()
	if _, err := load.Run(t.Context(), srv.Listener.Addr().String(), "", p, 0, 1); err == nil {
		t.Error("a server that is gone was loaded")
	}
}
