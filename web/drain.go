package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// flights are the requests and hijacked connections of an App that a Server
// runs: what a drain waits for, tells of the end, and at last cuts.
type flights struct {
	epoch  time.Time   // of flight.start; never changes
	on     atomic.Bool // a Server runs the App
	drains atomic.Bool // the drain has begun
	turn   atomic.Uint32
	shards [16]flightShard

	mu     sync.Mutex
	conns  map[*hijacked]struct{}
	ending map[*ending]struct{}
	closed bool // OnDrain functions have been called
	endCtx context.Context
}

type flightShard struct {
	mu   sync.Mutex
	head flight // a ring
}

// flight is the place of a Context in a list of its App.
type flight struct {
	next, prev *flight
	shard      *flightShard
	listed     bool
	route      *Route
	start      time.Duration // since the epoch: half the cost of a time of day
}

// Cut is a request or connection that a drain had to cut.
type Cut struct {
	Kind  string // request, hijacked
	Route string // its pattern, "" when it had none
	Age   time.Duration
}

// DrainResult tells how a drain went.
type DrainResult struct {
	Took time.Duration
	Cut  []Cut // what did not end by itself; empty is a clean drain
}

func (f *flights) add(c *Context) {
	fl := &c.flight
	// A Context keeps its shard, and comes from a pool that is local to a
	// processor, so requests mostly meet no other on the shard's lock.
	if c.shard == 0 {
		c.shard = 1 + f.turn.Add(1)%uint32(len(f.shards))
	}
	s := &f.shards[c.shard-1]
	*fl = flight{shard: s, listed: true, route: c.route, start: time.Since(f.epoch)}
	c.res.flights = f
	if f.drains.Load() {
		c.res.w.Header().Set("Connection", "close") // HTTP/1.1 closes, h2 sends GOAWAY
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head.next == nil {
		s.head.next, s.head.prev = &s.head, &s.head
	}
	fl.next, fl.prev = s.head.next, &s.head
	fl.next.prev, s.head.next = fl, fl
}

func (f *flights) remove(c *Context) {
	fl := &c.flight
	fl.shard.mu.Lock()
	defer fl.shard.mu.Unlock()
	fl.prev.next, fl.next.prev = fl.next, fl.prev
	fl.listed = false
}

// list tells what is still under way.
func (f *flights) list() []Cut {
	var out []Cut
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.Lock()
		for fl := s.head.next; fl != nil && fl != &s.head; fl = fl.next {
			out = append(out, Cut{Kind: "request", Route: routeLabel(fl.route), Age: time.Since(f.epoch) - fl.start})
		}
		s.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for h := range f.conns {
		out = append(out, Cut{Kind: "hijacked", Age: time.Since(h.start)})
	}
	return out
}

func routeLabel(r *Route) string {
	if r == nil {
		return ""
	}
	return r.host + r.pattern.Text
}

func (f *flights) hijackedOpen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// hijacked is a connection that left net/http, tracked until it is closed:
// http.Server.Shutdown does not know of it any more.
type hijacked struct {
	net.Conn
	f     *flights
	start time.Time
}

func (f *flights) track(conn net.Conn, _ *http.Request) net.Conn {
	h := &hijacked{conn, f, time.Now()}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns == nil {
		f.conns = map[*hijacked]struct{}{}
	}
	f.conns[h] = struct{}{}
	return h
}

func (h *hijacked) Close() error {
	h.f.mu.Lock()
	delete(h.f.conns, h)
	h.f.mu.Unlock()
	return h.Conn.Close()
}

// CloseWrite ends our half, where the connection has halves.
func (h *hijacked) CloseWrite() error {
	if half, ok := h.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func (f *flights) closeHijacked() {
	f.mu.Lock()
	open := make([]*hijacked, 0, len(f.conns))
	for h := range f.conns {
		open = append(open, h)
	}
	f.mu.Unlock()
	for _, h := range open {
		_ = h.Close() // it is cut: nobody is left to tell
	}
}

type ending struct{ f func(context.Context) }

// OnDrain has f called, in a goroutine of its own, when the server drains and
// ordinary answers have had their turn: for what does not end by itself, such as
// an event stream. f's context ends when the drain cuts. stop takes f back; it
// is to be called when the stream has ended. During a drain f is called at once.
func (c *Context) OnDrain(f func(context.Context)) (stop func()) {
	c.live()
	return c.app.flights.onEnd(f)
}

func (f *flights) onEnd(fn func(context.Context)) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		go fn(f.endCtx)
		return func() {}
	}
	if f.ending == nil {
		f.ending = map[*ending]struct{}{}
	}
	e := &ending{fn}
	f.ending[e] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ending, e)
	}
}

// end calls what OnDrain registered and waits until all have returned.
func (f *flights) end(ctx context.Context) {
	f.mu.Lock()
	f.closed, f.endCtx = true, ctx
	var wg sync.WaitGroup
	for e := range f.ending {
		wg.Go(func() { e.f(ctx) })
	}
	clear(f.ending)
	f.mu.Unlock()
	wg.Wait()
}

// begin readies the App for a Server's run.
func (f *flights) begin() {
	f.drains.Store(false)
	f.mu.Lock()
	f.closed, f.endCtx = false, nil
	f.mu.Unlock()
	f.on.Store(true)
}

// count returns the requests under way.
func (f *flights) count() int {
	n := 0
	for i := range f.shards {
		s := &f.shards[i]
		s.mu.Lock()
		for fl := s.head.next; fl != nil && fl != &s.head; fl = fl.next {
			n++
		}
		s.mu.Unlock()
	}
	return n
}

func (f *flights) endings() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.ending)
}

// drainPoll is how often a drain looks whether it may go on.
const drainPoll = 5 * time.Millisecond

// finish lets ordinary answers end, then tells the streams to, then waits until
// nothing is left or ctx ends. A request that asked for OnDrain counts as a
// stream; ordinary answers have half of the time before the streams are told.
func (f *flights) finish(ctx context.Context) {
	half := time.Now()
	if end, ok := ctx.Deadline(); ok {
		half = half.Add(time.Until(end) / 2)
	}
	first, cancel := context.WithDeadline(ctx, half)
	f.poll(first, func() bool { return f.count() <= f.endings() })
	cancel()
	f.end(ctx)
	f.poll(ctx, func() bool { return f.count() == 0 && f.hijackedOpen() == 0 })
}

// empty waits for the handlers of cut requests, for at most d.
func (f *flights) empty(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	f.poll(ctx, func() bool { return f.count() == 0 })
}

func (f *flights) poll(ctx context.Context, done func() bool) {
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
