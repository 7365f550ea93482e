package web

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// listener accepts connections while slots are free, and ends them in a drain so
// that no request is lost that a client sent on an open connection.
//
// http.Server.Shutdown alone loses some. It closes the listening socket with the
// connections in its queue, which clients take for accepted, and it closes a
// connection as idle until the whole head of the next request has been read.
// Here the queue is emptied first. Then each connection is left to its client
// until it has been answered once more, with "Connection: close", or until
// nothing has come for some time; and it is closed by the goroutine that reads
// it, after a last look.
type listener struct {
	net.Listener
	h2c      bool      // plain connections may speak HTTP/2
	epoch    time.Time // of conn.since
	slots    chan struct{}
	closed   chan struct{}
	once     sync.Once
	draining atomic.Bool
	emptied  atomic.Bool // draining, and the queue is empty
	until    time.Time   // the drain waits for new connections no longer than this; set before draining
	looks    int         // of Accept, after a deadline
	swept    bool        // the queue was taken as a whole, and accepting has ended
	queued   []net.Conn  // what is left of that

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// defaultConnections leaves as many files to what requests open as it gives to
// connections. With connections alone a process would run out of files, and then
// nothing that it has accepted could be answered.
func defaultConnections(files uint64) int {
	return int(max(min(maxConnections, files/2), 1))
}

func newListener(ln net.Listener, n int) *listener {
	return &listener{
		Listener: ln, epoch: time.Now(), slots: make(chan struct{}, max(n, 1)), closed: make(chan struct{}),
		conns: map[*conn]struct{}{},
	}
}

// Accept returns TCP connections as a conn, others as they are.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		for _, c := range l.queued {
			_ = c.Close() // the drain's time is over: nobody is left to answer it
		}
		return nil, net.ErrClosed
	}
	c, err := l.next()
	if err != nil {
		l.release()
		if l.draining.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
			// The queue is empty. http.Server.Serve is kept until Shutdown, which expects it.
			err = l.Listener.Close()
			l.emptied.Store(true)
			<-l.closed
			return nil, errors.Join(net.ErrClosed, err)
		}
		return nil, err
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil
	}
	wrapped := &conn{TCPConn: t, release: sync.OnceFunc(l.release)}
	wrapped.wait(l.epoch)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[wrapped] = struct{}{}
	return wrapped, nil
}

// next is the next connection. In a drain its error is os.ErrDeadlineExceeded when there is none
// left. Accept does not look once its deadline is over: where the process was held up until then,
// or clients go on connecting, what had come before is still in the queue.
func (l *listener) next() (net.Conn, error) {
	if l.swept {
		if len(l.queued) == 0 {
			return nil, os.ErrDeadlineExceeded
		}
		c := l.queued[0]
		l.queued = l.queued[1:]
		return c, nil
	}
	if l.draining.Load() {
		l.hurry(l.until)
	}
	c, err := l.Listener.Accept()
	if !l.draining.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
		return c, err
	}
	if l.queued, l.swept = sweep(l.Listener); l.swept {
		return l.next()
	}
	if l.looks < longQueue && l.hurry(time.Now().Add(queueTime)) {
		l.looks++
		return l.Listener.Accept()
	}
	return nil, err
}

func (l *listener) release() {
	select {
	case <-l.slots:
	default: // a connection of another listener of the caller's server
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	err := l.Listener.Close()
	if l.draining.Load() && errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// note takes what http.Server tells of a connection. It runs once or twice for
// each request.
func (l *listener) note(c net.Conn, st http.ConnState) {
	switch st {
	case http.StateIdle:
		if t, ok := c.(*tls.Conn); ok {
			if inner, ok := t.NetConn().(*conn); ok {
				inner.shared.Store(t.ConnectionState().NegotiatedProtocol == "h2")
				inner.wait(l.epoch)
			}
		} else if inner, ok := c.(*conn); ok {
			inner.shared.Store(l.h2c)
			inner.wait(l.epoch)
		}
	case http.StateClosed, http.StateHijacked:
		if t, ok := c.(*tls.Conn); ok {
			c = t.NetConn()
		}
		inner, ok := c.(*conn)
		if !ok {
			l.release()
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, inner) // its slot it keeps until it is closed, a WebSocket as well
	default:
	}
}

// queueTime is longer than it takes to accept what is in the queue, unless clients
// go on connecting: then emptyTime is the end of accepting.
const (
	queueTime = 20 * time.Millisecond
	emptyTime = 200 * time.Millisecond
	longQueue = 4096 // connections: what a system lets wait
)

// hurry has Accept return when the queue is empty, and at the latest at until; false for a listener
// without deadlines.
func (l *listener) hurry(until time.Time) bool {
	d, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	at := time.Now().Add(queueTime)
	if at.After(until) {
		at = until
	}
	return ok && d.SetDeadline(at) == nil
}

// end accepts what clients have connected until now and no more, and returns
// when all connections have ended, save those that http.Server.Shutdown has to
// end, or when ctx has. Connections on which nothing has come for idle are closed.
func (l *listener) end(ctx context.Context, idle time.Duration) {
	l.until = time.Now().Add(emptyTime)
	l.draining.Store(true)
	refuse(l.Listener)
	queue := l.hurry(l.until)
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for l.close(idle) > 0 || queue && !l.emptied.Load() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// close has those connections closed on which nothing has come for idle, and
// returns how many are to be waited for.
func (l *listener) close(idle time.Duration) (left int) {
	now := time.Since(l.epoch)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		old := c.waiting.Load() && now-time.Duration(c.since.Load()) >= idle
		if old && c.shared.Load() {
			continue
		}
		left++
		if old {
			c.finish()
		}
	}
	return left
}

// conn is a connection that knows whether its server waits for a request. It is
// a *net.TCPConn in all else: net/http copies files to it inside the kernel and
// closes its halves.
type conn struct {
	*net.TCPConn
	release func() // gives the slot back, once

	shared  atomic.Bool  // HTTP/2, which has its own way to end: GOAWAY
	waiting atomic.Bool  // no byte of the next request has come
	since   atomic.Int64 // when it began to wait: time after the listener's epoch

	mu    sync.Mutex // orders the drain's deadlines and the first byte
	stage closing
}

// closing is how far the end of a waiting connection is.
type closing int

const (
	notClosing closing = iota
	asked              // the reader's deadline is over
	lastLook           // the reader takes what had come before that
)

// lookTime is long enough for a read to find what is there.
const lookTime = time.Millisecond

func (c *conn) wait(epoch time.Time) {
	c.since.Store(int64(time.Since(epoch)))
	c.waiting.Store(true)
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.release()
	return c.TCPConn.Close()
}

// finish ends the wait, unless the first byte comes before. It may be called
// again: net/http sets deadlines too.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting.Load() && c.stage != lastLook {
		c.stage = asked
		_ = c.SetReadDeadline(time.Unix(1, 0)) // it fails on a closed connection only
	}
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if !c.waiting.Load() {
		return n, err
	}
	if n == 0 && c.look(err) {
		n, err = c.TCPConn.Read(p)
	}
	if n > 0 {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.waiting.Store(false)
		if c.stage != notClosing {
			c.stage = notClosing
			// net/http sets its own when it has seen enough.
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // see finish
		}
	}
	return n, err
}

// look reports whether err is the end of a wait that finish asked for: a read
// whose deadline is over does not look at what has come.
func (c *conn) look(err error) bool {
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stage != asked {
		return false
	}
	c.stage = lastLook
	return c.SetReadDeadline(time.Now().Add(lookTime)) == nil
}
