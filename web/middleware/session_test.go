package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webtest"
)

// sessionApp has a route for each thing that a session can do. /slow/{key} writes
// a value when gate lets it.
func sessionApp(t *testing.T, o middleware.SessionOptions, gate chan struct{}) *web.App {
	t.Helper()
	app := newApp(t, web.Options{}, must(t)(middleware.Session(o)))
	route := func(pattern string, f func(c *web.Context, s *middleware.SessionValues) error) {
		app.GET(pattern, func(c *web.Context) error {
			s, ok := middleware.SessionOf(c)
			if !ok {
				return errors.New("no session")
			}
			return f(c, s)
		})
	}
	route("/get/{key}", func(c *web.Context, s *middleware.SessionValues) error {
		v, ok := s.Get(c.Param("key"))
		return c.String(200, fmt.Sprint(v, ok))
	})
	route("/set/{key}/{value}", func(c *web.Context, s *middleware.SessionValues) error {
		s.Set(c.Param("key"), c.Param("value"))
		return c.NoContent(204)
	})
	route("/delete/{key}", func(c *web.Context, s *middleware.SessionValues) error {
		s.Delete(c.Param("key"))
		return nil // nothing is written: saved after the handler
	})
	route("/login", func(c *web.Context, s *middleware.SessionValues) error {
		s.Renew()
		s.Set("user", "ada")
		return c.String(200, "in")
	})
	route("/logout", func(c *web.Context, s *middleware.SessionValues) error {
		s.Destroy()
		return c.NoContent(204)
	})
	route("/switch", func(c *web.Context, s *middleware.SessionValues) error {
		s.Destroy()
		s.Set("user", "bob")
		return c.NoContent(204)
	})
	route("/flash", func(c *web.Context, s *middleware.SessionValues) error {
		s.Flash("saved")
		return c.LocalRedirect(303, "/flashes")
	})
	route("/flashes", func(c *web.Context, s *middleware.SessionValues) error {
		return c.String(200, strings.Join(s.Flashes(), ","))
	})
	route("/slow/{key}", func(c *web.Context, s *middleware.SessionValues) error {
		s.Get(c.Param("key"))
		gate <- struct{}{}
		<-gate
		s.Set(c.Param("key"), "slow")
		return c.String(200, "done")
	})
	route("/slowrenew", func(c *web.Context, s *middleware.SessionValues) error {
		gate <- struct{}{}
		<-gate
		s.Renew()
		return c.String(200, "done")
	})
	route("/late", func(c *web.Context, s *middleware.SessionValues) error {
		if err := c.String(200, "sent"); err != nil {
			return err
		}
		s.Set("late", "yes")
		return nil
	})
	route("/failing", func(_ *web.Context, s *middleware.SessionValues) error {
		s.Set("tries", "1")
		return errors.New("cause")
	})
	return app
}

// cookieOf returns the session cookie that an answer sets, "" for none.
func cookieOf(r *webtest.Response) string {
	for _, line := range r.Header["Set-Cookie"] {
		if c, err := http.ParseSetCookie(line); err == nil && c.Name == "__Host-sid" {
			return c.Value
		}
	}
	return ""
}

func with(c *webtest.Client, id string) *webtest.Client { return c.With("Cookie", "__Host-sid="+id) }

func TestSessionCookie(t *testing.T) {
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{}, nil))
	if r := c.Get("/get/a").Want(200); len(r.Header["Set-Cookie"]) > 0 || r.Text() != "false" || r.Header.Get("Vary") != "Cookie" {
		t.Errorf("reading began a session: %v %s", r.Header, r.Text())
	}
	r := c.Get("/set/a/1").Want(204)
	id := cookieOf(r)
	if want := "__Host-sid=" + id + "; Path=/; HttpOnly; Secure; SameSite=Lax"; len(id) != 26 || r.Header.Get("Set-Cookie") != want || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v, want %s", r.Header, want)
	}
	if other := cookieOf(c.Get("/set/a/1")); other == id || other == "" {
		t.Errorf("a second session has the id %q of the first", other)
	}
	s := with(c, id)
	if r := s.Get("/get/a").Want(200); r.Text() != "1true" && r.Text() != "1 true" || cookieOf(r) != "" {
		t.Errorf("%s %v", r.Text(), r.Header)
	}
	s.Get("/delete/a").Want(200)
	if got := s.Get("/get/a").Text(); got != "false" {
		t.Errorf("a deleted value is %s", got)
	}
	s.Get("/failing").Want(500)
	if got := s.Get("/get/tries").Text(); !strings.HasPrefix(got, "1") {
		t.Errorf("the session of a failed request is %s", got)
	}
	s.Get("/late").Want(200)
	if got := s.Get("/get/late").Text(); !strings.HasPrefix(got, "yes") {
		t.Errorf("a value set after the answer is %s", got)
	}
}

// TestSessionIDsOfClients: no id that a client chose becomes one of the server.
func TestSessionIDsOfClients(t *testing.T) {
	store, err := middleware.NewSessionMemory(0)
	if err != nil {
		t.Fatal(err)
	}
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: store}, nil))
	for _, chosen := range []string{"x", strings.Repeat("A", 26), strings.Repeat("a", 26), strings.Repeat("A", 4000), "../../etc", ""} {
		if got := cookieOf(with(c, chosen).Get("/set/a/1").Want(204)); got == chosen || len(got) != 26 {
			t.Errorf("%q began the session %q", chosen, got)
		}
		if got := with(c, chosen).Get("/get/a").Text(); got != "false" {
			t.Errorf("%q is a session: %s", chosen, got)
		}
	}
	id := cookieOf(c.Get("/set/a/1"))
	if _, err := store.Load(t.Context(), id); !errors.Is(err, middleware.ErrSessionNotFound) {
		t.Errorf("the store knows the client's id itself: %v", err)
	}
}

func TestSessionRenewAndDestroy(t *testing.T) {
	store, err := middleware.NewSessionMemory(0)
	if err != nil {
		t.Fatal(err)
	}
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: store}, nil))
	planted := cookieOf(c.Get("/set/cart/book"))
	id := cookieOf(with(c, planted).Get("/login").Want(200))
	if id == planted || id == "" {
		t.Fatalf("sign-in keeps the id %q", id)
	}
	if got := with(c, planted).Get("/get/user").Text(); got != "false" {
		t.Errorf("the old id is signed in: %s", got)
	}
	for key, want := range map[string]string{"user": "ada", "cart": "book"} {
		if got := with(c, id).Get("/get/" + key).Text(); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s", key, got)
		}
	}
	next := cookieOf(with(c, id).Get("/switch").Want(204))
	if next == "" || next == id || with(c, next).Get("/get/cart").Text() != "false" || !strings.HasPrefix(with(c, next).Get("/get/user").Text(), "bob") {
		t.Errorf("after Destroy and Set: id %q", next)
	}
	r := with(c, next).Get("/logout").Want(204)
	if want := "__Host-sid=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"; r.Header.Get("Set-Cookie") != want {
		t.Errorf("%v", r.Header)
	}
	for _, gone := range []string{id, next} {
		if got := with(c, gone).Get("/get/user").Text(); got != "false" {
			t.Errorf("a destroyed session has %s", got)
		}
	}
	if store.Len() != 0 {
		t.Errorf("%d sessions are left", store.Len())
	}
}

func TestSessionFlash(t *testing.T) {
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{}, nil))
	id := cookieOf(c.Get("/flash").Want(303))
	with(c, id).Get("/flash").Want(303)
	for _, want := range []string{"saved,saved", ""} {
		if got := with(c, id).Get("/flashes").Want(200).Text(); got != want {
			t.Errorf("messages %q, want %q", got, want)
		}
	}
}

func TestSessionExpiry(t *testing.T) {
	for name, tt := range map[string]struct {
		every time.Duration // between two requests
		alive int           // requests that still find the session
	}{
		"idle":     {31 * time.Minute, 0},
		"used":     {28 * time.Minute, 25}, // 25 x 28 minutes < 12 h
		"absolute": {20 * time.Minute, 35}, // 36 x 20 minutes = 12 h
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := middleware.NewSessionMemory(0)
				if err != nil {
					t.Fatal(err)
				}
				c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: store}, nil))
				s := with(c, cookieOf(c.Get("/set/a/1")))
				alive := 0
				for <-time.After(tt.every); s.Get("/get/a").Want(200).Text() != "false"; <-time.After(tt.every) {
					alive++
				}
				if alive != tt.alive || store.Len() != 0 {
					t.Errorf("%d requests found the session, want %d; %d kept", alive, tt.alive, store.Len())
				}
			})
		})
	}
}

// TestSessionConcurrentRequests: what a request wrote stays, or it is told.
func TestSessionConcurrentRequests(t *testing.T) {
	for _, tt := range []struct {
		slow, meanwhile string
		want            int
		key, value      string
	}{
		{"/slow/a", "/set/b/2", 200, "b", "2"},
		{"/slow/a", "/set/a/2", 409, "a", "2"},
		{"/slow/a", "/flash", 200, "a", "slow"},
		{"/slow/a", "/login", 409, "user", "ada"},
		{"/slow/a", "/logout", 409, "", ""},
		{"/slowrenew", "/set/b/2", 200, "b", "2"},
		{"/slowrenew", "/logout", 409, "", ""},
	} {
		t.Run(tt.slow+tt.meanwhile, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gate := make(chan struct{})
				store, err := middleware.NewSessionMemory(0)
				if err != nil {
					t.Fatal(err)
				}
				c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: store}, gate))
				id := cookieOf(c.Get("/set/first/1"))
				answer := make(chan *webtest.Response)
				go func() { answer <- with(c, id).Get(tt.slow) }()
				<-gate
				if next := cookieOf(with(c, id).Get(tt.meanwhile)); next != "" {
					id = next
				}
				gate <- struct{}{}
				r := <-answer
				if next := cookieOf(r); next != "" {
					id = next
				}
				if r.Status != tt.want || tt.want == 409 && strings.Contains(r.Text(), "done") {
					t.Errorf("%d %s, want %d", r.Status, r.Text(), tt.want)
				}
				if tt.key == "" {
					if store.Len() != 0 {
						t.Errorf("a destroyed session came back")
					}
					return
				}
				if got := with(c, id).Get("/get/" + tt.key).Text(); !strings.HasPrefix(got, tt.value) || store.Len() != 1 {
					t.Errorf("%s is %s; %d sessions", tt.key, got, store.Len())
				}
			})
		})
	}
}

// TestSessionManyWriters: with as many goroutines as it likes, no accepted write
// is missing.
func TestSessionManyWriters(t *testing.T) {
	app := sessionApp(t, middleware.SessionOptions{}, nil)
	c := webtest.New(t, app)
	id := cookieOf(c.Get("/set/first/1"))
	var wg sync.WaitGroup
	status := make([]int, 32)
	for i := range status {
		wg.Go(func() { status[i] = with(c, id).Get(fmt.Sprintf("/set/k%d/v", i)).Status })
	}
	wg.Wait()
	for i, code := range status {
		got := with(c, id).Get(fmt.Sprintf("/get/k%d", i)).Text()
		if saved := strings.HasPrefix(got, "v"); saved != (code == 204) || code != 204 && code != 409 {
			t.Errorf("write %d was answered %d and reads %s", i, code, got)
		}
	}
}

type brokenStore struct{ load, save error }

func (b brokenStore) Load(context.Context, string) (middleware.SessionRecord, error) {
	return middleware.SessionRecord{}, b.load
}
func (b brokenStore) Save(context.Context, string, middleware.SessionRecord) error { return b.save }
func (b brokenStore) Delete(context.Context, string) error                         { return nil }

func TestSessionStoreFails(t *testing.T) {
	broken := errors.New("disk")
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: brokenStore{load: middleware.ErrSessionNotFound, save: broken}}, nil))
	if r := c.Get("/login").Want(500); cookieOf(r) != "" || strings.Contains(r.Text(), "in\n") || r.Text() == "in" || strings.Contains(r.Text(), "disk") {
		t.Errorf("%v %s", r.Header, r.Text())
	}
	c.Get("/set/a/1").Want(500)
	c.Get("/failing").Want(500)
	c = webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: brokenStore{load: broken}}, nil))
	c.Get("/get/a").Want(200) // without a cookie the store is not asked
	with(c, strings.Repeat("A", 26)).Get("/get/a").Want(500)
}

// TestSessionStoreFailsUnderAccessLog: a middleware within that answers the error
// itself gets it out, and not an empty 200.
func TestSessionStoreFailsUnderAccessLog(t *testing.T) {
	store := brokenStore{load: middleware.ErrSessionNotFound, save: errors.New("disk")}
	accesslog := middleware.AccessLog(middleware.AccessLogOptions{Logger: slog.New(slog.DiscardHandler)})
	app := newApp(t, web.Options{}, must(t)(middleware.Session(middleware.SessionOptions{Store: store})), accesslog)
	app.GET("/set", func(c *web.Context) error {
		if s, ok := middleware.SessionOf(c); ok {
			s.Set("a", "1")
		}
		return c.String(200, "set")
	})
	if r := webtest.New(t, app).Get("/set").Want(500); strings.Contains(r.Text(), "disk") || cookieOf(r) != "" || r.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v %s", r.Header, r.Text())
	}
}

func TestSessionBounds(t *testing.T) {
	store, err := middleware.NewSessionMemory(2)
	if err != nil {
		t.Fatal(err)
	}
	c := webtest.New(t, sessionApp(t, middleware.SessionOptions{Store: store, MaxBytes: 100}, nil))
	first, second := cookieOf(c.Get("/set/a/1")), cookieOf(c.Get("/set/a/2"))
	with(c, first).Get("/get/a")
	third := cookieOf(c.Get("/set/a/3"))
	for id, want := range map[string]string{first: "1", second: "false", third: "3"} {
		if got := with(c, id).Get("/get/a").Text(); !strings.HasPrefix(got, want) {
			t.Errorf("session %s has %s", want, got)
		}
	}
	with(c, first).Get("/set/b/" + strings.Repeat("x", 97)).Want(204)
	with(c, first).Get("/set/c/y").Want(500)
	if _, err := middleware.NewSessionMemory(-1); err == nil {
		t.Error("a store of -1 sessions was made")
	}
	for _, o := range []middleware.SessionOptions{{Idle: -1}, {Absolute: -1}, {MaxBytes: -1}} {
		if _, err := middleware.Session(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func ExampleSession() {
	session, err := middleware.Session(middleware.SessionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(session)
	app.POST("/login", func(c *web.Context) error {
		// Here the password is checked.
		if s, ok := middleware.SessionOf(c); ok {
			s.Renew()
			s.Set("user", "ada")
			s.Flash("Welcome back.")
		}
		return c.LocalRedirect(http.StatusSeeOther, "/")
	})
	app.GET("/", func(c *web.Context) error {
		s, _ := middleware.SessionOf(c)
		user, _ := s.Get("user")
		return c.String(http.StatusOK, fmt.Sprint(user, s.Flashes()))
	})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("POST", "/login", nil)) //nolint:noctx // an example of one line
	r := httptest.NewRequest("GET", "/", nil)                    //nolint:noctx // as above
	for _, cookie := range w.Result().Cookies() {
		r.AddCookie(cookie)
	}
	w = httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output: ada[Welcome back.]
}
