package fetch

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
)

// mirror answers with who asks, in the body and in a field, in each way that a response can be
// stored, shared, coded or spoilt.
func mirror() http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Header.Get("Authorization")
		w.Header().Set("X-User", user)
		w.Header().Set("Vary", "Accept-Language")
		w.Header().Set("X-Language", r.Header.Get("Accept-Language"))
		status := http.StatusOK
		switch i := n.Add(1); r.URL.Path {
		case "/fresh":
			w.Header().Set("Cache-Control", "private, max-age=60")
		case "/stale":
			w.Header().Set("Cache-Control", "private, max-age=0, stale-while-revalidate=60")
			w.Header().Set("Etag", `"`+user+r.Header.Get("Accept-Language")+`"`)
			if r.Header.Get("If-None-Match") == w.Header().Get("Etag") {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		case "/cookie":
			w.Header().Set("Set-Cookie", "id="+user)
		case "/broken":
			if i%3 == 0 {
				status = http.StatusServiceUnavailable
			}
		}
		body := strings.Repeat(user+r.URL.Path+"\n", 400)
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, body)
			_ = z.Close()
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) //nolint:gosec // no browser reads it
	})
}

// spoil changes all of a response that its caller may.
func spoil(resp *http.Response) {
	for _, h := range []http.Header{resp.Header, resp.Trailer, resp.Request.Header} {
		for name, values := range h {
			for i := range values {
				values[i] = "spoilt"
			}
			h[name] = append(values, "spoilt")
		}
		if h != nil {
			h["X-User"], h["Spoilt"] = []string{"spoilt"}, []string{"spoilt"}
		}
	}
}

// Callers of many users, each of whom leaves in his own way and spoils what he was given, get what
// was meant for them.
func TestUsersAtOnceNeverMeet(t *testing.T) {
	server := httptest.NewServer(mirror())
	defer server.Close()
	always := limit.Rule{Rate: limit.Rate{Events: 1_000_000, Per: time.Second}, Burst: 1_000_000}
	c := client(t, Config{
		Cache: &httpcache.Config{}, Collapse: &collapse.Config{}, Hedge: &hedge.Config{Delay: time.Millisecond},
		Limit: &limit.KeyedConfig{Default: always}, Retry: noWait(),
	})
	paths := []string{"/fresh", "/stale", "/cookie", "/broken", "/plain"}
	languages := []string{"de", "en", ""}
	var wg sync.WaitGroup
	var answered atomic.Int64
	for n := range 16 {
		wg.Go(func() {
			draw := rand.New(rand.NewPCG(13, uint64(n))) //nolint:gosec // a fixed stream
			for range 60 {
				user, path, language := fmt.Sprintf("user%d", draw.IntN(4)), paths[draw.IntN(len(paths))], languages[draw.IntN(3)]
				ctx, cancel := context.Background(), context.CancelFunc(func() {})
				mode := draw.IntN(5)
				if mode < 3 { // the others cannot leave, and make what is shared themselves
					ctx, cancel = context.WithCancel(t.Context())
				}
				if mode == 0 {
					time.AfterFunc(time.Duration(draw.IntN(2000))*time.Microsecond, cancel)
				}
				if ask(ctx, t, c, server.URL+path, user, language, mode) {
					answered.Add(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if n := answered.Load(); n < 500 {
		t.Errorf("%d of 960 calls had an answer", n)
	}
	if s := c.State(); s.InFlight != 0 || s.Cache.Hits == 0 || s.Cache.Stale == 0 {
		t.Errorf("%d in flight, %+v", s.InFlight, *s.Cache)
	}
}

// ask makes a call and judges its answer; false when there was none, which is all right for who
// left.
func ask(ctx context.Context, t *testing.T, c *Client, address, user, language string, mode int) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("Authorization", user)
	if language != "" {
		req.Header.Set("Accept-Language", language)
	}
	resp, err := c.Do(req)
	if err != nil {
		if mode != 0 && !errors.Is(err, ErrCircuitOpen) && !errors.Is(err, ErrRetryBudget) {
			t.Errorf("mode %d: %v", mode, err)
		}
		return false
	}
	defer spoil(resp)
	if resp.Header.Get("X-User") != user || resp.Header.Get("X-Language") != language || len(resp.Header["X-User"]) != 1 || resp.Header["Spoilt"] != nil || req.Header["Spoilt"] != nil {
		t.Errorf("%s of %s: %v", address, user, resp.Header)
	}
	if cookie := resp.Header.Get("Set-Cookie"); cookie != "" && cookie != "id="+user {
		t.Errorf("%s has the cookie of %s", user, cookie)
	}
	part := make([]byte, 100)
	if mode == 1 {
		_, err = io.ReadFull(resp.Body, part)
	} else {
		part, err = io.ReadAll(resp.Body)
	}
	if err != nil && mode != 0 {
		t.Errorf("mode %d: %v", mode, err)
	}
	want := strings.Repeat(user+strings.TrimPrefix(address, "http://"+req.URL.Host)+"\n", 400)
	if !strings.HasPrefix(want, string(part)) || err == nil && mode != 1 && len(part) != len(want) {
		t.Errorf("%s of %s: %d bytes, %.60q", address, user, len(part), part)
	}
	clear(part)
	if err := resp.Body.Close(); err != nil && mode != 0 {
		t.Error(err)
	}
	return true
}
