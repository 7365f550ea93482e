package web_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
)

// TestTimeBudget is rule 34: the client has its 503 when the time is over,
// though the handler runs on, and late writes are discarded.
func TestTimeBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := newApp(t, web.Options{})
		status := 0
		app.Use(func(next web.Handler) web.Handler {
			return func(c *web.Context) error {
				err := next(c)
				c.Error(err)
				status = c.Status()
				return nil
			}
		})
		var late error
		app.GET("/slow", func(c *web.Context) error {
			if at, ok := c.Context().Deadline(); !ok || time.Until(at) != time.Second {
				t.Errorf("deadline %v %v", at, ok)
			}
			c.Writer().Header().Set("X-Late", "1")
			time.Sleep(5 * time.Second) //nolint:forbidigo // the clock of the bubble
			if !errors.Is(c.Context().Err(), context.DeadlineExceeded) {
				t.Errorf("context: %v", c.Context().Err())
			}
			_, late = c.Writer().Write([]byte("late"))
			c.Writer().WriteHeader(299)
			if f, ok := c.Writer().(http.Flusher); ok {
				f.Flush()
			}
			return c.Context().Err()
		}, web.Budgets{Time: time.Second})
		w := &clockWriter{ResponseRecorder: httptest.NewRecorder(), start: time.Now()}
		app.ServeHTTP(w, newRequest(t, "GET", "/slow"))
		if w.Code != 503 || w.wrote != time.Second || w.Header().Get("X-Late") != "" || strings.Contains(w.Body.String(), "late") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%d after %v: %s %v", w.Code, w.wrote, w.Body, w.Header())
		}
		if !errors.Is(late, http.ErrHandlerTimeout) || status != 503 {
			t.Errorf("late write: %v, status seen outside %d", late, status)
		}
	})
}

// TestTimeBudgetFreesTheConnection: over HTTP/1.1 the client of an expired request
// is told to open another connection, whose next request is answered while the
// late handler still runs; the answer has the form that the client accepts.
func TestTimeBudgetFreesTheConnection(t *testing.T) {
	app := newApp(t, web.Options{})
	release := make(chan struct{})
	app.GET("/slow", func(*web.Context) error { <-release; return nil }, web.Budgets{Time: 20 * time.Millisecond})
	app.GET("/next", func(c *web.Context) error { return c.String(200, "next") })
	s := httptest.NewServer(app)
	defer s.Close()
	defer close(release)
	client := s.Client()
	client.Timeout = 10 * time.Second
	get := func(path string) (status int, kind string, closes bool) {
		req := newRequest(t, "GET", s.URL+path)
		req.RequestURI = ""
		req.Header.Set("Accept", "text/plain")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("Content-Type"), resp.Close
	}
	if status, kind, closes := get("/slow"); status != 503 || !closes || kind != "text/plain; charset=utf-8" {
		t.Errorf("%d, close %v, %s", status, closes, kind)
	}
	if status, _, _ := get("/next"); status != 200 {
		t.Errorf("%d", status)
	}
}

// clockWriter notes when the answer came.
type clockWriter struct {
	*httptest.ResponseRecorder
	start time.Time
	wrote time.Duration
}

func (w *clockWriter) WriteHeader(code int) {
	w.wrote = time.Since(w.start)
	w.ResponseRecorder.WriteHeader(code)
}

func TestTimeBudgetInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := newApp(t, web.Options{})
		b := web.Budgets{Time: time.Second}
		app.GET("/quick", func(c *web.Context) error {
			c.Writer().Header().Set("X-Own", "1")
			return c.String(200, "quick")
		}, b)
		app.GET("/fails", func(*web.Context) error { return web.ErrNotFound }, b)
		app.GET("/deadline", func(*web.Context) error { return context.DeadlineExceeded }, b)
		app.GET("/begun", func(c *web.Context) error {
			if _, err := io.WriteString(c.Writer(), "begun"); err != nil {
				return err
			}
			<-c.Context().Done()
			return c.Context().Err()
		}, b)
		app.GET("/panics", func(*web.Context) error { panic("x") }, b)
		app.GET("/stream", func(c *web.Context) error {
			return c.Stream("text/plain", func(w io.Writer) error {
				for range 5 {
					time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble
					if _, err := io.WriteString(w, "."); err != nil {
						return err
					}
				}
				if _, ok := c.Context().Deadline(); ok {
					return errors.New("a stream has a deadline")
				}
				return c.Context().Err()
			})
		}, b)
		app.POST("/upload", func(c *web.Context) error { <-c.Context().Done(); return c.Context().Err() }, b)
		app.HEAD("/slow", func(c *web.Context) error { <-c.Context().Done(); return nil }, b)
		c := webtest.New(t, app)
		if r := c.Get("/quick").Want(200); r.Text() != "quick" || r.Header.Get("X-Own") != "1" {
			t.Errorf("%v", r)
		}
		c.Get("/fails").Want(404)
		c.Get("/deadline").Want(503)
		c.Get("/panics").Want(500)
		if got := c.Get("/stream").Want(200).Text(); got != "....." {
			t.Errorf("stream %q", got)
		}
		if _, aborted := cut(t, app, newRequest(t, "GET", "/begun")); !aborted {
			t.Error("an answer that was not finished in time looks whole")
		}
		if r := c.Post("/upload", "text/plain", "x").Want(503); r.Header.Get("Connection") != "close" {
			t.Errorf("with a body under way: %v", r.Header)
		}
		if r := c.Do("HEAD", "/slow", nil).Want(503); len(r.Body) != 0 {
			t.Errorf("HEAD: %q", r.Body)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of the bubble: a timer left over would fire now
	})
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		app := newApp(t, web.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		release := make(chan struct{})
		app.GET("/", func(c *web.Context) error { <-release; return c.NoContent(204) }, web.Budgets{Gate: web.NewGate(2, 1)})
		codes := make(chan int, 8)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		ask := func(ctx context.Context) {
			wg.Go(func() {
				w, aborted := cut(t, app, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
				if aborted {
					codes <- 499
					return
				}
				codes <- w.Code
			})
			synctest.Wait()
		}
		ask(t.Context())
		ask(t.Context())
		ask(ctx) // waits
		ask(t.Context())
		if code := <-codes; code != 503 {
			t.Errorf("beyond the queue: %d", code)
		}
		if log.Len() > 0 {
			t.Errorf("what a gate is for is logged as a fault: %s", log.String())
		}
		cancel()
		synctest.Wait()
		if code := <-codes; code != 499 {
			t.Errorf("a client that left the queue: %d", code)
		}
		ask(t.Context()) // its place is free again
		close(release)
		wg.Wait()
		for range 3 {
			if code := <-codes; code != 204 {
				t.Errorf("inside: %d", code)
			}
		}
	})
}

// Waiting at the gate is part of a request's time.
func TestGateWithinTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := newApp(t, web.Options{})
		release := make(chan struct{})
		app.GET("/", func(c *web.Context) error { <-release; return c.NoContent(204) }, web.Budgets{Gate: web.NewGate(1, 1), Time: 30 * time.Second})
		var wg sync.WaitGroup
		for range 2 { // one runs, deaf to its context; one waits
			wg.Go(func() {
				begun := time.Now()
				w := httptest.NewRecorder()
				app.ServeHTTP(w, newRequest(t, "GET", "/"))
				if w.Code != 503 || time.Since(begun) > time.Minute {
					t.Errorf("status %d after %v", w.Code, time.Since(begun))
				}
			})
		}
		synctest.Wait()
		time.Sleep(40 * time.Second) //nolint:forbidigo // the clock of the bubble
		synctest.Wait()
		w := httptest.NewRecorder()
		go app.ServeHTTP(w, newRequest(t, "GET", "/")) // the place of the one that waited is free
		synctest.Wait()
		if w.Code == 503 {
			t.Error("the one that waited still does")
		}
		close(release)
		wg.Wait()
	})
}

func TestResponseBudget(t *testing.T) {
	app := newApp(t, web.Options{})
	app.GET("/", func(c *web.Context) error {
		for range 3 {
			if _, err := io.WriteString(c.Writer(), "12345"); err != nil {
				return err
			}
		}
		return nil
	}, web.Budgets{ResponseBytes: 12})
	w, aborted := cut(t, app, newRequest(t, "GET", "/"))
	if !aborted || w.Body.String() != "1234512345" {
		t.Errorf("cut %v, %q", aborted, w.Body)
	}
}

func TestGroupBudgets(t *testing.T) {
	app := newApp(t, web.Options{})
	g := app.Group("/g", web.Budgets{BodyBytes: 3, Time: time.Minute}.Middleware())
	read := func(c *web.Context) error {
		_, err := c.Body()
		if err != nil {
			return err
		}
		return c.NoContent(204)
	}
	g.POST("/own", read, web.Budgets{BodyBytes: 6})
	g.POST("/group", read)
	c := webtest.New(t, app)
	c.Post("/g/group", "text/plain", "1234").Want(413)
	c.Post("/g/group", "text/plain", "123").Want(204)
	c.Post("/g/own", "text/plain", "123456").Want(204)
	c.Post("/g/own", "text/plain", "1234567").Want(413)
	if b := app.Routes()[1].Budgets; b.BodyBytes != 6 {
		t.Errorf("Routes does not show the budgets: %+v", b)
	}
}
