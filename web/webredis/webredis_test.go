package webredis_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/quire/internal/judgetest"
	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webredis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 60 * time.Second

// redis starts a server on a Unix socket, by a program of tools/install-judges, and returns the
// socket and what stops it.
func redis(t *testing.T, program string) (socket string, stop func()) {
	t.Helper()
	path := judgetest.Tool(t, program, program)
	dir, err := os.MkdirTemp("", "r") //nolint:usetesting // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	socket = filepath.Join(dir, "s")
	cmd := exec.CommandContext(t.Context(), path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir, "--daemonize", "no", "--requirepass", "open") //nolint:gosec // the server that was installed
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // as it was told to
	})
	t.Cleanup(stop)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		conn, err := new(net.Dialer).DialContext(t.Context(), "unix", socket)
		if err == nil {
			_ = conn.Close() // that it opened is all
			return socket, stop
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %v", program, err)
		}
	}
}

const redisServer = "redis/bin/redis-server"

func open(t *testing.T, o webredis.Options) *webredis.Store {
	t.Helper()
	o.Password, o.Timeout = "open", patience
	s, err := webredis.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// stores are all that a RateLimit can count in: they pass the same tests.
func stores(t *testing.T) map[string]middleware.RateStore {
	t.Helper()
	memory, err := middleware.NewMemoryRateStore(0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]middleware.RateStore{"memory": memory}
	for name, program := range map[string]string{"Redis 7.0": redisServer, "Redis 6.2": "redis62/redis-server", "Valkey": "valkey/valkey-server"} {
		socket, _ := redis(t, program)
		all[name] = open(t, webredis.Options{Addresses: []string{socket}})
	}
	return all
}

// TestStoresCountAlike: what a store allows, what is left, and when, for rates so slow that
// no time of a test gives anything back.
func TestStoresCountAlike(t *testing.T) {
	rate := middleware.Rate{Requests: 3, Per: 3000 * time.Hour} // one in 1000 hours
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			take := func(key string, r middleware.Rate) middleware.Decision {
				t.Helper()
				d, err := store.Take(t.Context(), key, r)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			near := func(what string, got, want time.Duration) {
				t.Helper()
				if got > want || got < want-10*time.Minute {
					t.Errorf("%s %s, want %s", what, got, want)
				}
			}
			for i := range 3 {
				d := take("a", rate)
				if !d.Allowed || d.Remaining != 2-i || d.RetryAfter != 0 {
					t.Errorf("request %d: %+v", i, d)
				}
				near("Reset", d.Reset, time.Duration(i+1)*1000*time.Hour)
			}
			for range 2 { // what is refused is not counted
				d := take("a", rate)
				if d.Allowed || d.Remaining != 0 {
					t.Errorf("one too many: %+v", d)
				}
				near("RetryAfter", d.RetryAfter, 1000*time.Hour)
				near("Reset", d.Reset, 3000*time.Hour)
			}
			if d := take("b", rate); !d.Allowed || d.Remaining != 2 {
				t.Errorf("another key: %+v", d)
			}
			if err := store.Reset(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
			if d := take("a", rate); !d.Allowed || d.Remaining != 2 {
				t.Errorf("after Reset: %+v", d)
			}
			if err := store.Reset(t.Context(), "never seen"); err != nil {
				t.Errorf("Reset of what is not there: %v", err)
			}
			burst := middleware.Rate{Requests: 1, Per: 1000 * time.Hour, Burst: 2}
			if d := take("c", burst); !d.Allowed || d.Remaining != 1 {
				t.Errorf("with a burst: %+v", d)
			}
			if _, err := store.Take(t.Context(), "d", middleware.Rate{}); err == nil {
				t.Error("a rate of nothing was counted")
			}
		})
	}
}

// TestStoresAdmitTheBurstOnce, however many ask at once.
func TestStoresAdmitTheBurstOnce(t *testing.T) {
	rate := middleware.Rate{Requests: 50, Per: 50_000 * time.Hour}
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			var admitted atomic.Int64
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 20 {
						d, err := store.Take(context.Background(), "k", rate)
						if err != nil {
							t.Error(err)
							return
						}
						if d.Allowed {
							admitted.Add(1)
						}
					}
				})
			}
			all.Wait()
			if n := admitted.Load(); n != 50 {
				t.Errorf("%d of 160 admitted, want 50", n)
			}
		})
	}
}

// TestRateGoesOnAfterRetryAfter, and a key whose burst is whole again leaves nothing in Redis.
func TestRateGoesOnAfterRetryAfter(t *testing.T) {
	socket, _ := redis(t, redisServer)
	store := open(t, webredis.Options{Addresses: []string{socket}, Prefix: "shop:"})
	rate := middleware.Rate{Requests: 1, Per: time.Second}
	take := func() middleware.Decision {
		t.Helper()
		d, err := store.Take(t.Context(), "k", rate)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := take(); !d.Allowed {
		t.Fatalf("first: %+v", d)
	}
	for d := take(); !d.Allowed; d = take() { // until the second is over
		if d.RetryAfter <= 0 || d.RetryAfter > time.Second {
			t.Fatalf("%+v", d)
		}
		<-time.After(d.RetryAfter)
	}
	keys := func() string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), filepath.Join("..", "..", ".tools", "redis", "bin", "redis-cli"), "-s", socket, "-a", "open", "--no-auth-warning", "keys", "*").Output() //nolint:gosec // the tool that was installed
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	if err := store.Reset(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Take(t.Context(), "secret-api-key", middleware.Rate{Requests: 1, Per: 1000 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	if got := keys(); !strings.HasPrefix(got, "shop:") || strings.Contains(got, "\n") || strings.Contains(got, "secret") {
		t.Errorf("keys %q", got)
	}
	if err := store.Reset(t.Context(), "secret-api-key"); err != nil {
		t.Fatal(err)
	}
	if d := take(); !d.Allowed {
		t.Fatalf("%+v", d)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); keys() != ""; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("the key stays: %q", keys())
		}
	}
}

// TestTwoServersHaveOneLimit through the middleware, and Redis that goes away opens or closes as
// it was told.
func TestTwoServersHaveOneLimit(t *testing.T) {
	socket, stop := redis(t, redisServer)
	server := func(failure middleware.StoreFailure) *web.App {
		app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		limit, err := middleware.RateLimit(middleware.RateLimitOptions{
			Rate: middleware.Rate{Requests: 2, Per: 2000 * time.Hour}, OnStoreFailure: failure, Logger: slog.New(slog.DiscardHandler),
			Store: open(t, webredis.Options{Addresses: []string{socket}}),
		})
		if err != nil {
			t.Fatal(err)
		}
		app.Use(limit)
		app.GET("/", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
		return app
	}
	ask := func(app *web.App) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		return w
	}
	opens, closes := server(middleware.FailOpen), server(middleware.FailClosed)
	if a, b, c := ask(opens), ask(closes), ask(opens); a.Code != 204 || b.Code != 204 || c.Code != 429 || c.Header().Get("Retry-After") == "" {
		t.Errorf("%d %d %d %v", a.Code, b.Code, c.Code, c.Header())
	}
	stop()
	if a, b := ask(opens), ask(closes); a.Code != 204 || b.Code != 503 {
		t.Errorf("without Redis: open %d, closed %d", a.Code, b.Code)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []webredis.Options{{}, {Addresses: []string{"/nowhere"}, Timeout: -1}} {
		_, err := webredis.New(o)
		if _, ok := errors.AsType[*web.ConfigError](err); !ok {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := webredis.New(webredis.Options{Addresses: []string{filepath.Join(t.TempDir(), "none")}}); err == nil || !strings.Contains(err.Error(), "connect to") {
		t.Errorf("a server that is not there: %v", err)
	}
	socket, _ := redis(t, redisServer)
	if _, err := webredis.New(webredis.Options{Addresses: []string{socket}, Password: "wrong"}); err == nil || strings.Contains(err.Error(), "wrong") && !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestSilentRedisIsNotWaitedFor: a server that takes connections and says nothing more.
func TestSilentRedisIsNotWaitedFor(t *testing.T) {
	socket, _ := redis(t, redisServer)
	dir, err := os.MkdirTemp("", "r") //nolint:usetesting // as in redis
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // in the directory of temporary files
	ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	var silent atomic.Bool
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.Background(), "unix", socket)
			if err != nil {
				_ = client.Close() // as below
				return
			}
			for to, from := range map[net.Conn]net.Conn{client: server, server: client} {
				relays.Go(func() {
					defer func() { _, _ = to.Close(), from.Close() }() // both ends are over
					buf := make([]byte, 4096)
					for {
						n, err := from.Read(buf)
						if err != nil {
							return
						}
						if silent.Load() {
							continue
						}
						if _, err := to.Write(buf[:n]); err != nil {
							return
						}
					}
				})
			}
		}
	})
	store, err := webredis.New(webredis.Options{Addresses: []string{ln.Addr().String()}, Password: "open", Timeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	silent.Store(true)
	_, err = store.Take(t.Context(), "k", middleware.Rate{Requests: 1, Per: time.Hour})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Take: %v", err)
	}
	if err := store.Reset(t.Context(), "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Reset: %v", err)
	}
	if err := errors.Join(ln.Close(), closing(store)); err != nil {
		t.Error(err)
	}
	relays.Wait()
}

func closing(c io.Closer) error { return c.Close() }
