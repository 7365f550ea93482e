//go:build !race

package middleware_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

// quietWriter keeps its header map, so that only the App's allocations count.
type quietWriter struct{ h http.Header }

func (w quietWriter) Header() http.Header         { return w.h }
func (w quietWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w quietWriter) WriteHeader(int)             {}

// TestRateLimitAllocatesNothingPerHit: neither the store at 65,536 keys nor the
// middleware, for clients of both families and for API keys. It cannot run under the race
// detector, where pools drop what they hold.
func TestRateLimitAllocatesNothingPerHit(t *testing.T) {
	store, err := middleware.NewMemoryRateStore(0)
	if err != nil {
		t.Fatal(err)
	}
	rate := middleware.Rate{Requests: 1_000_000, Per: time.Hour, Burst: 1000}
	fast := middleware.Rate{Requests: 1_000_000, Per: time.Second, Burst: 50} // the burst is whole before the next
	for i := range 100_000 {
		if _, err := store.Take(t.Context(), strconv.Itoa(i), rate); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = store.Take(t.Context(), "7", rate) }); n != 0 {
		t.Errorf("store: %v allocations", n)
	}
	for _, from := range []string{"1.2.3.4:5", "[2001:db8::1]:5"} {
		measure := func(mw ...web.Middleware) float64 {
			app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			app.Use(mw...)
			app.GET("/x", func(c *web.Context) error { return c.NoContent(204) })
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/x", nil)
			r.RemoteAddr = from
			r.Header.Set("X-Api-Key", "0123456789")
			w := quietWriter{http.Header{}}
			return testing.AllocsPerRun(500, func() {
				clear(w.h)
				app.ServeHTTP(w, r)
			})
		}
		limit := must(t)(middleware.RateLimit(middleware.RateLimitOptions{
			Rate: fast,
			Keys: []middleware.RateKey{middleware.ByClient(), middleware.ByPath(), middleware.ByAPIKey("")},
		}))
		if with, without := measure(limit), measure(); with != without {
			t.Errorf("%s: %v allocations, %v without the limit", from, with, without)
		}
	}
}
