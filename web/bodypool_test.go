package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
)

// What has come of bodies counts while its request runs, and no longer.
func TestBodyPoolBoundsWhatRequestsHold(t *testing.T) {
	pool := web.NewBodyPool(100)
	app := newApp(t, web.Options{})
	var held int64
	app.POST("/", func(c *web.Context) error {
		if _, err := c.Body(); err != nil {
			return err
		}
		held = pool.Used()
		return c.NoContent(204)
	}, web.Budgets{Bodies: pool})
	send := func(body io.Reader) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body))
		return w
	}
	for range 3 {
		if w := send(strings.NewReader(strings.Repeat("x", 100))); w.Code != 204 || held != 100 {
			t.Errorf("%d, %d bytes held", w.Code, held)
		}
		if n := pool.Used(); n != 0 {
			t.Errorf("%d bytes are held by nobody", n)
		}
		if w := send(io.LimitReader(endless{}, 101)); w.Code != 503 || w.Header().Get("Retry-After") == "" || pool.Used() != 0 {
			t.Errorf("a byte too many: %d %v, %d held", w.Code, w.Header(), pool.Used())
		}
	}
	// One that is slow takes what it has sent.
	r, w := io.Pipe()
	done := make(chan int)
	go func() { done <- send(r).Code }()
	if _, err := io.WriteString(w, strings.Repeat("x", 60)); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for pool.Used() != 60 {
		<-tick.C
	}
	for _, tt := range []struct{ size, want int }{{30, 204}, {60, 503}} {
		if got := send(strings.NewReader(strings.Repeat("y", tt.size))).Code; got != tt.want {
			t.Errorf("%d bytes beside it: %d, want %d", tt.size, got, tt.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 204 {
		t.Errorf("the slow one: %d", code)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
