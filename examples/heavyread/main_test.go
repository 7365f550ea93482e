//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.com/quire/cache/cacheredis"
	"example.com/quire/cache/cachetest"
)

// start runs a node until the test ends, and returns its address.
func start(t *testing.T, redis, dir string, writer bool) string {
	t.Helper()
	client, err := cacheredis.Open(cacheredis.Config{Addr: redis})
	if err != nil {
		t.Fatal(err)
	}
	n, err := newNode(client, dir, writer)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.serve(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := n.close(); err != nil {
			t.Error(err)
		}
		client.Close()
	})
	return ln.Addr().String()
}

// get asks over a connection of its own.
func get(t *testing.T, addr, target string) (status int, head http.Header, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := new(http.Client).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read to its end
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

func create(t *testing.T, addr, id, content string) created {
	t.Helper()
	in, err := json.Marshal(map[string]string{"id": id, "title": "A title", "content": content, "author": "ada"})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/create", strings.NewReader(string(in)))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		resp, err := new(http.Client).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it is read to its end
		if err != nil {
			t.Fatal(err)
		}
		var out created
		if resp.StatusCode == http.StatusCreated {
			if err := json.Unmarshal(b, &out); err != nil || out.Status != "published" || out.PostID != id {
				t.Fatalf("%s, %v", b, err)
			}
			return out
		}
		if time.Now().After(end) {
			t.Fatalf("create: %d %s", resp.StatusCode, b)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// until asks again and again until ok.
func until(t *testing.T, addr, target string, ok func(status int, body string) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		status, _, body := get(t, addr, target)
		if ok(status, body) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %d %s", target, status, body)
		}
		<-time.After(10 * time.Millisecond)
	}
}

var gets = []string{"/post", "/post-plain", "/post-redis", "/post-marshal"}

// TestReadersServeWhatTheWriterWrites at every address, and go on while Redis is away.
func TestReadersServeWhatTheWriterWrites(t *testing.T) {
	redis, dir := cachetest.StartRedis(t, "redis"), t.TempDir()
	writer := start(t, redis.Addr, dir, true)
	nodes := []string{writer, start(t, redis.Addr, dir, false), start(t, redis.Addr, dir, false)}
	for _, addr := range nodes {
		for _, g := range gets {
			if status, _, body := get(t, addr, g+"?id=first"); status != http.StatusNotFound {
				t.Errorf("%s before it is written: %d %s", g, status, body)
			}
			for _, bad := range []string{"", "?id=", "?id=../x", "?id=a%00"} {
				if status, _, body := get(t, addr, g+bad); status != http.StatusBadRequest {
					t.Errorf("%s%s: %d %s", g, bad, status, body)
				}
			}
		}
	}
	agree := func(hash, content string) {
		t.Helper()
		first := ""
		for _, addr := range nodes {
			for _, g := range gets {
				until(t, addr, g+"?id=first", func(_ int, body string) bool { return strings.Contains(body, hash) })
				status, head, body := get(t, addr, g+"?id=first")
				if first == "" {
					first = body
				}
				var p Post
				if err := json.Unmarshal([]byte(body), &p); err != nil || p.Content != content {
					t.Errorf("%s: %q, %v", g, body, err)
				}
				if status != http.StatusOK || body != first || head.Get("Etag") != etag(hash) || head.Get("Content-Type") != "application/json" {
					t.Errorf("%s: %d %v %q, want %q", g, status, head, body, first)
				}
			}
		}
	}
	agree(create(t, writer, "first", "<Hello>").Hash, "<Hello>")
	agree(create(t, writer, "first", "Hello again").Hash, "Hello again")

	redis.Kill()
	for _, addr := range nodes {
		until(t, addr, "/healthz", func(_ int, body string) bool { return strings.HasPrefix(body, "degraded") })
		for _, g := range gets {
			if status, _, body := get(t, addr, g+"?id=first"); status != http.StatusOK || !strings.Contains(body, "Hello again") {
				t.Errorf("%s without Redis: %d %s", g, status, body)
			}
		}
	}
	redis.Restart(t)
	for _, addr := range nodes {
		until(t, addr, "/healthz", func(_ int, body string) bool { return body == "ok\n" })
	}
	nodes = append(nodes, start(t, redis.Addr, dir, false))
	agree(create(t, writer, "first", "After all").Hash, "After all")
	if _, _, body := get(t, nodes[1], "/metrics"); !strings.Contains(body, `cache_hits_total{cache="replies"}`) {
		t.Errorf("metrics:\n%s", body)
	}
}

var dates = regexp.MustCompile(`Date: [^\r]*\r\n`)

// raw is what comes for a request in each coding, byte by byte but for the date.
func raw(t *testing.T, addr, target string) string {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // it has ended
	text := ""
	for _, field := range []string{"", "Accept-Encoding: gzip\r\n", "If-None-Match: *\r\n", "Connection: close\r\n"} {
		text += "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + field + "\r\n"
	}
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return dates.ReplaceAllString(string(b), "Date: now\r\n")
}

// TestReplyIsTheSameOnEveryNode: the reply in all its codings is the same bytes where it was
// written, pushed, fetched, and loaded.
func TestReplyIsTheSameOnEveryNode(t *testing.T) {
	redis, dir := cachetest.StartRedis(t, "redis"), t.TempDir()
	written, pushed := start(t, redis.Addr, dir, true), start(t, redis.Addr, dir, false)
	hash := create(t, written, "long", strings.Repeat("many words ", 200)).Hash
	until(t, pushed, "/post?id=long", func(_ int, body string) bool { return strings.Contains(body, hash) })
	fetched := start(t, redis.Addr, dir, false)
	other := cachetest.StartRedis(t, "redis") // which knows nothing: the reply is built from the origin
	loaded := start(t, other.Addr, dir, false)
	want := ""
	for i, addr := range []string{written, pushed, fetched, loaded} {
		until(t, addr, "/post?id=long", func(_ int, body string) bool { return strings.Contains(body, hash) })
		got := raw(t, addr, "/post?id=long")
		if i == 0 {
			want = got
		}
		if got != want {
			t.Errorf("node %d:\n%.3000q\nwant\n%.3000q", i, got, want)
		}
	}
	// The lane writes Date last; gzip and 304 are there.
	for text, n := range map[string]int{"Content-Encoding: gzip\r\n": 1, "304 Not Modified\r\n": 1, "200 OK\r\n": 3, "Date: now\r\n\r\n": 3} {
		if got := strings.Count(want, text); got != n {
			t.Errorf("%q stands %d times, want %d, in\n%.3000q", text, got, n, want)
		}
	}
}

// TestConfigurationThatCannotBe is an error at start.
func TestConfigurationThatCannotBe(t *testing.T) {
	for _, args := range [][]string{nil, {"reeder"}, {"reader", "-redis", "nowhere"}, {"writer", "-addr", "127.0.0.1:http:", "-data", t.TempDir()}, {"all", "-addr", "x"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("%q runs", fmt.Sprint(args))
		}
	}
}
