package webtest_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/webtest"
	"example.com/quire/web/ws"
)

// counting is a stream of numbers that goes on where a client left it.
func counting(c *web.Context) error {
	s, err := c.SSE(web.SSEOptions{Retry: 1500 * time.Millisecond})
	if err != nil {
		return err
	}
	from := 0
	if id := s.LastEventID(); id != "" {
		if from, err = strconv.Atoi(id); err != nil {
			return err
		}
	}
	for i := from + 1; i <= 4; i++ {
		if err := s.Send(web.Event{ID: strconv.Itoa(i), Name: "count", Data: "line " + strconv.Itoa(i) + "\r\nend"}); err != nil {
			return err
		}
	}
	return nil
}

func TestEventsOfAClient(t *testing.T) {
	app := newApp(t)
	app.GET("/events", counting)
	app.GET("/none", func(c *web.Context) error { return c.String(http.StatusOK, "data: x\n\n") })
	c := webtest.New(t, app)
	e := c.Events("/events?a=b")
	for i := 1; i <= 2; i++ {
		if got, want := e.Next(), (web.Event{ID: strconv.Itoa(i), Name: "count", Data: "line " + strconv.Itoa(i) + "\nend"}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if e.Retry != 1500*time.Millisecond || e.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("retry %s, header %v", e.Retry, e.Header)
	}
	e = e.Reconnect()
	for _, want := range []string{"3", "4"} {
		if got := e.Next(); got.ID != want {
			t.Errorf("%+v, want id %s", got, want)
		}
	}
	e.End()

	for name, f := range map[string]func(*webtest.Client){
		"an answer that is no stream": func(c *webtest.Client) { c.Events("/none") },
		"a route that is none":        func(c *webtest.Client) { c.Events("/nowhere") },
		"the end in place of events": func(c *webtest.Client) {
			e := c.Events("/events")
			for range 5 {
				e.Next()
			}
		},
		"an event in place of the end": func(c *webtest.Client) { c.Events("/events").End() },
	} {
		if failed := failures(t, app, f); len(failed) != 1 {
			t.Errorf("%s: %q", name, failed)
		}
	}
}

func TestWebSocketOfAClient(t *testing.T) {
	app := newApp(t)
	app.GET("/ws", func(c *web.Context) error {
		conn, err := ws.Upgrade(c, ws.Options{Subprotocols: []string{"v2", "v1"}, Ping: time.Millisecond})
		if err != nil {
			return err
		}
		for {
			kind, b, err := conn.Read(c.Context())
			if err != nil {
				return err
			}
			switch string(b) {
			case "bye":
				return conn.Close(ws.PolicyViolation, "enough")
			case "leave":
				return errors.New("left")
			}
			if err := conn.Write(c.Context(), kind, append(b, " to "+c.Header("X-User")...)); err != nil {
				return err
			}
		}
	})
	c := webtest.New(t, app).With("X-User", "ada")
	w := c.WebSocket("/ws", "v1", "v3")
	if got := w.Header.Get("Sec-WebSocket-Protocol"); got != "v1" {
		t.Errorf("subprotocol %q", got)
	}
	w.SendText("hello")
	if got := w.ReadText(); got != "hello to ada" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("x", 20_000)
	w.Send(ws.Binary, []byte(long))
	if kind, b := w.Read(); kind != ws.Binary || string(b) != long+" to ada" {
		t.Errorf("%s of %d bytes", kind, len(b))
	}
	w.SendText("bye")
	w.WantClose(ws.PolicyViolation)

	w = webtest.New(t, app).With("X-User", "1").WebSocket("/ws")
	w.SendJSON([]int{7})
	if got := w.ReadText(); got != "[7] to 1" {
		t.Errorf("%q", got)
	}
	w.SendText("sent, and not read")
	w.Close(ws.Normal, "done")

	for name, f := range map[string]func(*webtest.Client){
		"a route that is none":       func(c *webtest.Client) { c.WebSocket("/nowhere") },
		"a close frame as a message": func(c *webtest.Client) { w := c.WebSocket("/ws"); w.SendText("bye"); w.Read() },
		"another code":               func(c *webtest.Client) { w := c.WebSocket("/ws"); w.SendText("bye"); w.WantClose(ws.Normal) },
		"a message before the close": func(c *webtest.Client) { w := c.WebSocket("/ws"); w.SendText("x"); w.WantClose(ws.Normal) },
		"bytes in place of text": func(c *webtest.Client) {
			w := c.WebSocket("/ws")
			w.Send(ws.Binary, []byte("x"))
			w.ReadText()
		},
		"text in place of JSON": func(c *webtest.Client) {
			w := c.WebSocket("/ws")
			w.SendText("x")
			var v any
			w.ReadJSON(&v)
		},
	} {
		if failed := failures(t, app, f); len(failed) != 1 {
			t.Errorf("%s: %q", name, failed)
		}
	}
}
