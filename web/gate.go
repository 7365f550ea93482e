package web

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Budgets bound what one request to a route may cost. Zero fields set nothing.
// Budgets is a RouteOption; Middleware makes it hold for a group.
type Budgets struct {
	// Time is what the handler has before the client gets a 503 problem, waiting at
	// the Gate included. The request's context ends then; what the handler still writes is discarded.
	// Streams, SSE and WebSocket take themselves out. Default: none.
	Time time.Duration
	// BodyBytes overrides Limits.Body. Negative: no limit. Danger: what is read
	// whole is held in memory.
	BodyBytes int64
	// ResponseBytes is the most a handler may write; more cuts the connection.
	ResponseBytes int64
	// Gate bounds how many requests run at once.
	Gate *Gate
}

func (b Budgets) option(r *Route) { r.budgets = b }

// Middleware applies the budgets to a group. A body limit applies to what is
// read by the handlers inside.
func (b Budgets) Middleware() Middleware {
	return func(next Handler) Handler {
		inner := next
		if mw := b.middleware(); mw != nil {
			inner = mw(next)
		}
		if b.BodyBytes == 0 {
			return inner
		}
		return func(c *Context) error {
			if c.route == nil || c.route.budgets.BodyBytes == 0 { // the route's own word is nearer
				c.setBodyLimit(b.BodyBytes)
			}
			return inner(c)
		}
	}
}

// middleware is what of the budgets wraps a handler, nil when nothing does.
func (b Budgets) middleware() Middleware {
	if b.Time <= 0 && b.ResponseBytes <= 0 && b.Gate == nil {
		return nil
	}
	return func(next Handler) Handler {
		if n := b.ResponseBytes; n > 0 {
			inner := next
			next = func(c *Context) error {
				c.res.limit = n
				return inner(c)
			}
		}
		if b.Gate != nil {
			next = b.Gate.Middleware()(next)
		}
		if b.Time > 0 { // outside of the gate: whoever waits there has no more time than the others
			next = withDeadline(b.Time, next)
		}
		return next
	}
}

// Gate lets a number of requests run at once and lets some more wait.
type Gate struct {
	running chan struct{}
	queue   chan struct{}
}

// NewGate makes a gate for so many running requests and so many queued ones.
// A request beyond them gets 503 with Retry-After at once. A gate may be shared
// by routes. Fewer than one running means one.
func NewGate(running, queued int) *Gate {
	running, queued = max(running, 1), max(queued, 0)
	return &Gate{running: make(chan struct{}, running), queue: make(chan struct{}, running+queued)}
}

// ErrBusy is the cause of the 503 that a full Gate answers.
var ErrBusy = errors.New("web: gate is full")

// Middleware puts handlers behind the gate.
func (g *Gate) Middleware() Middleware {
	return func(next Handler) Handler {
		return func(c *Context) error {
			select {
			case g.queue <- struct{}{}:
			default:
				return NewProblem(http.StatusServiceUnavailable, "too many requests at once", ErrBusy)
			}
			defer func() { <-g.queue }()
			select {
			case g.running <- struct{}{}:
			case <-c.Context().Done():
				return c.Context().Err()
			}
			defer func() { <-g.running }()
			return next(c)
		}
	}
}

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
	at      time.Time
	id      string
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
			w: oldW, header: oldW.Header().Clone(), cancel: cancel, at: time.Now().Add(d),
			id: c.id, head: oldReq.Method == http.MethodHead, upload: c.body != nil, h1: oldReq.ProtoMajor == 1, app: c.app,
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
	body, err := p.appendJSON(nil)
	if err != nil {
		t.app.log.Error("problem not encodable", slog.Any("err", err))
		p.Ext = nil
		body, _ = p.appendJSON(nil) // see writeProblem
	}
	h := t.w.Header()
	h["Content-Type"] = valueProblem
	h["Content-Length"] = contentLength(len(body))
	h["Retry-After"] = valueRetry
	h["Cache-Control"] = valueNoStore
	if t.upload && t.h1 {
		h["Connection"] = valueClose
	}
	t.w.WriteHeader(p.Status)
	if !t.head {
		_, err = t.w.Write(body)
	}
	if err == nil {
		err = rc.Flush()
	}
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		t.app.log.Debug("time-out answer not written", slog.String("id", t.id), slog.Any("err", err))
	}
}

// disarm takes the running answer out of the time budget.
func (c *Context) disarm() {
	if c.timer != nil {
		c.timer.off.Store(true)
		c.timer.timer.Stop()
	}
}

// timedWriter is the handler's writer under a deadline.
type timedWriter struct{ t *deadline }

func (w *timedWriter) Header() http.Header { return w.t.header }

func (w *timedWriter) begin() bool {
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
	if w.begin() {
		w.t.w.WriteHeader(code)
	}
}

func (w *timedWriter) Write(p []byte) (int, error) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if !w.begin() {
		return 0, http.ErrHandlerTimeout
	}
	return w.t.w.Write(p)
}

// FlushError sends what is buffered.
func (w *timedWriter) FlushError() error {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	if !w.begin() {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(w.t.w).Flush()
}

// Flush is FlushError for the old interface.
func (w *timedWriter) Flush() {
	_ = w.FlushError() // http.Flusher has no way to say so
}

// Unwrap lets http.ResponseController reach deadlines and Hijack.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.t.w }
