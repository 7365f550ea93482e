package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mccutchen/go-httpbin/v2/httpbin"

	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/retry"
	"example.com/quire/internal/judgetest"
	"example.com/quire/internal/toxitest"
)

func TestAgainstHTTPBin(t *testing.T) {
	origin := httptest.NewServer(httpbin.New())
	defer origin.Close()
	c := client(t, Config{BaseURL: origin.URL, Cache: &httpcache.Config{}, Retry: noWait()})
	for _, s := range []struct {
		path     string
		header   string
		status   int
		attempts int
		length   int64 // -1 = any
		result   string
	}{
		{"status/200", "", 200, 1, -1, httpcache.ResultMiss},
		{"status/404", "", 404, 1, -1, httpcache.ResultMiss},
		{"status/503", "", 503, 3, -1, httpcache.ResultMiss},
		{"status/501", "", 501, 1, -1, httpcache.ResultMiss},
		{"bytes/1000", "", 200, 1, 1000, httpcache.ResultMiss},
		{"stream-bytes/70000?chunk_size=1000", "", 200, 1, 70_000, httpcache.ResultMiss},
		{"drip?numbytes=10&duration=100ms&delay=0", "", 200, 1, 10, httpcache.ResultMiss},
		{"range/100", "Range: bytes=10-19", 206, 1, 10, httpcache.ResultMiss},
		{"gzip", "", 200, 1, -1, httpcache.ResultMiss},
		{"redirect/3", "", 200, 4, -1, httpcache.ResultMiss},
		{"cache/60", "", 200, 1, -1, httpcache.ResultMiss},
		{"cache/60", "", 200, 0, -1, httpcache.ResultHit},
		{"etag/abc", "", 200, 1, -1, httpcache.ResultMiss},
		{"etag/abc", `If-None-Match: "abc"`, 304, 1, 0, httpcache.ResultRevalidated},
		{"headers", "", 200, 1, -1, httpcache.ResultMiss},
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if name, value, ok := strings.Cut(s.header, ": "); ok {
			req.Header.Set(name, value)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Errorf("%s: %v", s.path, err)
			continue
		}
		info := InfoOf(resp)
		n, err := io.Copy(io.Discard, resp.Body)
		if cerr := resp.Body.Close(); err != nil || cerr != nil || resp.StatusCode != s.status || len(info.Attempts) != s.attempts || s.length >= 0 && n != s.length || info.Cache.Result != s.result {
			t.Errorf("%s: %d, %d bytes, %d attempts, %s, %v; want %+v", s.path, resp.StatusCode, n, len(info.Attempts), info.Cache.Result, err, s)
		}
	}
	resp, err := c.Get(With(t.Context(), Overrides{Attempt: 200 * time.Millisecond}), "delay/2")
	discard(t, resp)
	if !errors.Is(err, ErrAttemptTimeout) || !IsTransient(err) {
		t.Errorf("delay: %v", err)
	}
	type echo struct {
		Method  string              `json:"method"`
		Data    string              `json:"data"`
		Headers map[string][]string `json:"headers"`
	}
	got, err := JSON[echo](With(t.Context(), Overrides{IdempotencyKey: AutoKey}), c, "POST", "anything", map[string]int{"a": 1})
	if err != nil || got.Method != "POST" || got.Data != `{"a":1}` || len(got.Headers["Idempotency-Key"]) != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFaultsOfTCPHaveDefinedOutcomes(t *testing.T) {
	server := toxitest.Start(t)
	var posts atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = w.Write(bytes.Repeat([]byte("x"), 20_000))
	}))
	defer origin.Close()
	for _, c := range []struct {
		name, toxic string
		attributes  map[string]int
		want        error
	}{
		{"latency", "latency", map[string]int{"latency": 100}, nil},
		{"slicer", "slicer", map[string]int{"average_size": 500, "size_variation": 100, "delay": 10}, nil},
		{"slow close", "slow_close", map[string]int{"delay": 50}, nil},
		{"bandwidth", "bandwidth", map[string]int{"rate": 1}, context.DeadlineExceeded},
		{"silence", "timeout", map[string]int{"timeout": 0}, context.DeadlineExceeded},
		{"closed after silence", "timeout", map[string]int{"timeout": 100}, errAny},
		{"cut in the body", "limit_data", map[string]int{"bytes": 5000}, io.ErrUnexpectedEOF},
		{"cut in the header", "limit_data", map[string]int{"bytes": 30}, errAny},
		{"reset", "reset_peer", map[string]int{"timeout": 0}, errAny},
	} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(c.name+" "+method, func(t *testing.T) {
				name := strings.ReplaceAll(c.name, " ", "-") + method
				listen := server.Proxy(t, name, strings.TrimPrefix(origin.URL, "http://"))
				server.Add(t, name, toxitest.Toxic{Type: c.toxic, Stream: "downstream", Attributes: c.attributes})
				cfg := Config{Cache: &httpcache.Config{}, Retry: retry.Policy{Backoff: retry.Exponential{Base: time.Millisecond, Max: time.Millisecond}}}
				if errors.Is(c.want, context.DeadlineExceeded) {
					cfg.Total, cfg.Attempt, cfg.BodyIdle = 3*time.Second, time.Second, 2*time.Second
				}
				cl := client(t, cfg)
				before := posts.Load()
				req, err := http.NewRequestWithContext(t.Context(), method, "http://"+listen+"/", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := cl.Do(req)
				n := int64(0)
				if err == nil {
					n, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				switch {
				case c.want == nil && (err != nil || n != 20_000):
					t.Errorf("%d bytes, %v", n, err)
				case c.want != nil && (err == nil || !errors.Is(err, c.want) && !errors.Is(c.want, errAny) || !IsTransient(err)):
					t.Errorf("got %v", err)
				}
				if sent := posts.Load() - before; method == "POST" && sent > 1 {
					t.Errorf("the POST was sent %d times", sent)
				}
				if s := cl.State(); s.InFlight != 0 || c.want != nil && s.Cache.Entries != 0 {
					t.Errorf("%d in flight, %d entries", s.InFlight, s.Cache.Entries)
				}
				server.Remove(t, name)
			})
		}
	}
}

var errAny = errors.New("any")

// Through a proxy of others: http by absolute addresses, https by CONNECT.
func TestCONNECTProxy(t *testing.T) {
	python := judgetest.Tool(t, "proxy.py", "httpcaches/bin/python")
	dir := t.TempDir()
	file := filepath.Join(dir, "port")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, python, "-m", "proxy", //nolint:gosec // our own judge
		"--hostname", "127.0.0.1", "--port", "0", "--port-file", file,
		"--num-workers", "1", "--num-acceptors", "1", "--log-level", "e", "--data-dir", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() }) // ended by the signal
	port := ""
	for range 2400 {
		if b, err := os.ReadFile(file); err == nil && bytes.HasSuffix(b, []byte("\n")) {
			port = string(bytes.TrimSpace(b))
			break
		}
		<-time.After(25 * time.Millisecond)
	}
	through := &url.URL{Scheme: "http", Host: "127.0.0.1:" + port}
	var asked atomic.Int64
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "hello")
	})
	plain, coded := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	defer plain.Close()
	defer coded.Close()
	var tunnels atomic.Int64
	cl := client(t, Config{Transport: TransportConfig{
		TLS:   coded.Client().Transport.(*http.Transport).TLSClientConfig,
		Proxy: func(*http.Request) (*url.URL, error) { tunnels.Add(1); return through, nil },
	}})
	for i, address := range []string{plain.URL, coded.URL, plain.URL, coded.URL} {
		resp, err := cl.Get(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if body := read(t, resp); body != "hello" || asked.Load() != int64(i+1) || tunnels.Load() != int64(i+1) {
			t.Errorf("%s: %q, asked %d times, %d by the proxy", address, body, asked.Load(), tunnels.Load())
		}
	}
	resp, err := cl.Get(t.Context(), "https://127.0.0.1:1/")
	discard(t, resp)
	if err == nil {
		t.Error("a proxy that reaches nobody gave an answer")
	}
}
