package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// deadline answers 503 when its time is over while the handler still runs, and
// keeps the handler's late writes from the client. The handler stays in its
// goroutine; only the timer's callback runs beside it, for as long as it takes
// to write the problem.
type deadline struct {
	mu      sync.Mutex
	w       http.ResponseWriter // the writer inside; the handler's is timedWriter
	header  http.Header         // the handler's, until it commits
	begun   bool                // the handler has begun its answer
	over    bool                // the 503 was sent
	done    bool                // the handler has returned
	timer   *time.Timer
	cancel  context.CancelFunc
	expired atomic.Bool
	off     atomic.Bool // the handler streams: no deadline any more
	outer   *deadline   // of a budget around this one
	at      time.Time
	id      string
	accept  []string
	head    bool // the request is HEAD
	upload  bool // the request has a body, which may not have come yet
	h1      bool
	app     *App
}

// budgetContext ends with DeadlineExceeded when the budget is spent. Unlike one
// of context.WithTimeout it can be told that there is no deadline after all.
type budgetContext struct {
	context.Context
	t *deadline
}

func (b budgetContext) Deadline() (time.Time, bool) {
	outer, ok := b.Context.Deadline()
	if b.t.off.Load() || (ok && outer.Before(b.t.at)) {
		return outer, ok
	}
	return b.t.at, true
}

func (b budgetContext) Err() error {
	err := b.Context.Err()
	if err != nil && b.t.expired.Load() {
		return context.DeadlineExceeded
	}
	return err
}

func withDeadline(d time.Duration, next Handler) Handler {
	return func(c *Context) error {
		oldReq, oldW, outer := c.req, c.w, c.timer
		ctx, cancel := context.WithCancel(oldReq.Context())
		t := &deadline{
			w: oldW, header: oldW.Header().Clone(), cancel: cancel, outer: outer, at: time.Now().Add(d),
			id: c.id, accept: oldReq.Header["Accept"], head: oldReq.Method == http.MethodHead, upload: c.body != nil, h1: oldReq.ProtoMajor == 1, app: c.app,
		}
		if t.header == nil {
			t.header = http.Header{}
		}
		c.req, c.w, c.timer = oldReq.WithContext(budgetContext{ctx, t}), &timedWriter{t}, t
		c.res.shared = true
		t.mu.Lock()
		t.timer = time.AfterFunc(d, t.expire)
		t.mu.Unlock()
		defer func() {
			t.timer.Stop()
			t.mu.Lock()
			defer t.mu.Unlock()
			t.done = true
			cancel()
			c.req, c.w, c.timer = oldReq, oldW, outer
			if !t.begun && !t.over {
				t.copyHeader()
			}
		}()
		err := next(c)
		t.mu.Lock()
		defer t.mu.Unlock()
		if !t.over {
			return err
		}
		c.answered = true
		if err != nil {
			c.log(slog.LevelInfo, "the time budget is spent", err)
		}
		return nil
	}
}

// copyHeader makes the handler's header the answer's. Callers hold mu.
func (t *deadline) copyHeader() {
	h := t.w.Header()
	clear(h)
	maps.Copy(h, t.header)
}

// problem is the answer to a spent budget. Nothing else would catch a panic of
// the application's Options.Problem in the goroutine of a timer.
func (t *deadline) problem() (p Problem) {
	err := NewProblem(http.StatusServiceUnavailable, "the time for this request is over", context.DeadlineExceeded)
	defer func() {
		if v := recover(); v != nil {
			t.app.log.Error("panic in Options.Problem", slog.Any("panic", v), slog.String("id", t.id))
			p = *err
		}
		if p.Instance == "" {
			p.Instance = t.id
		}
	}()
	return t.app.problem(err)
}

func (t *deadline) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done || t.off.Load() {
		return
	}
	t.expired.Store(true)
	t.cancel()
	rc := http.NewResponseController(t.w)
	if t.upload {
		// A handler that waits for the body would never see its context end.
		_ = rc.SetReadDeadline(time.Now()) // a writer without deadlines has no connection to wait for
	}
	if t.begun {
		_ = rc.SetWriteDeadline(time.Now()) // as above; the answer ends by the handler's error
		return
	}
	t.over = true
	p := t.problem()
	h := t.w.Header()
	clearFailed(h, p.Status)
	body := t.app.getBuffer()
	defer t.app.putBuffer(body)
	p.answer(h, t.accept, &body.Buffer, t.app.log)
	if t.h1 {
		// The next request on the connection would wait for this handler to return,
		// and of an upload nobody knows where it ends.
		h["Connection"] = valueClose
	}
	t.w.WriteHeader(p.Status)
	var err error
	if !t.head {
		_, err = t.w.Write(body.Bytes())
	}
	if err == nil {
		err = rc.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		t.app.log.Debug("time-out answer not written", slog.String("id", t.id), slog.Any("err", err))
	}
}

// disarm takes the running answer out of the time budgets, the route's and its groups'.
func (c *Context) disarm() {
	for t := c.timer; t != nil; t = t.outer {
		t.off.Store(true)
		t.timer.Stop()
	}
}

// timedWriter is the handler's writer under a deadline.
type timedWriter struct{ t *deadline }

func (w *timedWriter) Header() http.Header { return w.t.header }

// begin commits the handler's header. Once it has been true expire writes nothing any more, so
// that the handler need not hold mu while a slow client takes its answer.
func (w *timedWriter) begin() bool {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	return w.begun()
}

func (w *timedWriter) begun() bool {
	if w.t.over {
		return false
	}
	if !w.t.begun {
		w.t.begun = true
		w.t.copyHeader()
	}
	return true
}

func (w *timedWriter) WriteHeader(code int) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if informational(code) {
		if w.t.begun || w.t.over {
			return
		}
		h := w.t.w.Header()
		kept := maps.Clone(h)
		w.t.copyHeader()
		w.t.w.WriteHeader(code)
		clear(h)
		maps.Copy(h, kept)
		return
	}
	if w.begun() {
		w.t.w.WriteHeader(code)
	}
}

func (w *timedWriter) Write(p []byte) (int, error) {
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return w.t.w.Write(p)
}

// ReadFrom hands a file on to the server's writer.
func (w *timedWriter) ReadFrom(src io.Reader) (int64, error) {
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return io.Copy(w.t.w, src)
}

// FlushError sends what is buffered.
func (w *timedWriter) FlushError() error {
	if !w.begin() {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(w.t.w).Flush()
}

// Flush is FlushError for the old interface.
func (w *timedWriter) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

// Hijack takes the connection out of the time budget: what becomes of it is the handler's.
func (w *timedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.t.mu.Lock() // for so long that expire sees off
	defer w.t.mu.Unlock()
	if !w.begun() {
		return nil, nil, http.ErrHandlerTimeout
	}
	conn, rw, err := http.NewResponseController(w.t.w).Hijack()
	if err == nil {
		w.t.off.Store(true)
		w.t.timer.Stop()
	}
	return conn, rw, err
}

// Unwrap lets http.ResponseController reach deadlines.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.t.w }
