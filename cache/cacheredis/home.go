package cacheredis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// measureEvery is how often the server's clock is read.
const measureEvery = 10 * time.Second

// maxMoves is how often one call is sent again because its namespace has moved.
const maxMoves = 3

// home is the primary that has a namespace. Which server that is, each new connection finds out.
type home struct {
	of *Client
	ns string
	// offset is the server's clock less ours in microseconds, at most as large as that; read at
	// measured, a time.Time in nanoseconds.
	offset, measured atomic.Int64
	conn             atomic.Pointer[rueidis.Client]
	moved            atomic.Pointer[string] // where the next connection goes, if not nil

	mu     sync.Mutex // held while a client is made
	closed bool
}

// home returns that of a namespace.
func (c *Client) home(ns string) *home {
	if !c.config.Cluster {
		ns = ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.homes[ns]
	if h == nil {
		h = &home{of: c, ns: ns, closed: c.closed}
		c.homes[ns] = h
	}
	return h
}

// client returns the client of the server. It makes its connections when they are needed.
func (h *home) client() (rueidis.Client, error) {
	if conn := h.conn.Load(); conn != nil {
		return *conn, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if conn := h.conn.Load(); conn != nil {
		return *conn, nil
	}
	return h.open()
}

// open makes a client in place of what there is. The caller holds mu.
func (h *home) open() (rueidis.Client, error) {
	if h.closed {
		return nil, fmt.Errorf("%w: cacheredis: the client is closed", cache.ErrUnavailable)
	}
	o := h.of.config.option(h.of.addrs[0])
	o.Username, o.Password, o.SelectDB, o.AlwaysPipelining = h.of.config.Username, h.of.config.Password, h.of.config.DB, true
	o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, d.Timeout)
		defer cancel()
		return h.dial(ctx, addr, d)
	}
	conn, err := rueidis.NewClient(o)
	if conn == nil {
		return nil, fmt.Errorf("%w: cacheredis open %s: %w", cache.ErrUnavailable, h.of.config.Addr, err)
	}
	h.conn.Store(&conn)
	return conn, nil
}

// follow replaces the client whose server said that the namespace is at addr now.
func (h *home) follow(from rueidis.Client, addr string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if conn := h.conn.Load(); h.closed || conn != nil && *conn != from {
		return
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" {
		h.moved.Store(&addr)
	}
	if _, err := h.open(); err == nil {
		h.of.ending.Go(from.Close) // when its calls have their answers
	}
}

// do makes a call. It is repeated if it was refused because the namespace is elsewhere.
func (h *home) do(call func(conn rueidis.Client) error) error {
	for tries := 0; ; tries++ {
		conn, err := h.client()
		if err != nil {
			return err
		}
		err = call(conn)
		refused, is := rueidis.IsRedisErr(err)
		if !is || tries == maxMoves {
			return err
		}
		addr, is := refused.IsMoved()
		if !is {
			return err
		}
		h.follow(conn, addr)
	}
}

func (h *home) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if conn := h.conn.Load(); conn != nil {
		(*conn).Close()
	}
}

// now is the server's time in microseconds, not before it really is that late.
func (h *home) now() int64 { return time.Now().UnixMicro() + h.offset.Load() }

// measure takes the answer to a TIME that was sent at that time.
func (h *home) measure(sent time.Time, answer rueidis.RedisResult) error {
	parts, err := answer.AsStrSlice()
	if err != nil {
		return err
	}
	if len(parts) != 2 {
		return malformed("answer to TIME of length", len(parts))
	}
	seconds, err1 := strconv.ParseInt(parts[0], 10, 64)
	micros, err2 := strconv.ParseInt(parts[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil || seconds < 0 || seconds > 1<<40 {
		return malformed("answer to TIME", parts)
	}
	h.offset.Store(seconds*1_000_000 + micros - sent.UnixMicro())
	h.measured.Store(sent.UnixNano())
	return nil
}

func (h *home) measureIfOld(ctx context.Context, conn rueidis.Client) error {
	sent := time.Now()
	if sent.UnixNano()-h.measured.Load() < int64(measureEvery) {
		return nil
	}
	return h.measure(sent, conn.Do(ctx, conn.B().Time().Build()))
}
