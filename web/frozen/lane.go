package frozen

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/internal/httpfield"
)

// LaneOptions configure a Lane.
type LaneOptions struct {
	// Hosts are the names that entries answer for, without port, in any case, IPv6
	// addresses with or without brackets; a request for another goes up. Default:
	// every host. Danger: on loopback a page of a foreign name that resolves to
	// 127.0.0.1 then reads the entries.
	Hosts []string
	// SameOrigin sends up what another site's page asks for: each request whose
	// Sec-Fetch-Site is neither same-origin nor none. Clients that are no browsers
	// do not send the field. Default: they are answered like any other.
	SameOrigin bool
	// AllowHeaders are request fields, besides the common ones, that do not keep a
	// request from being answered. Danger: middleware that goes by such a field
	// does not see the request.
	AllowHeaders []string
	// Admit is asked once per connection whether the lane may serve its peer; of
	// one that it may not everything goes up. Default: everyone. It must not block.
	Admit func(netip.Addr) bool
	// OnServed is told of each answer, for logs and metrics. Default: nobody. It
	// must not block and must not keep Target.
	OnServed func(Served)
	Timeouts Timeouts
}

// Timeouts of the lane. Zero fields mean their defaults. They are armed at most
// once a second, so a connection may live a second longer.
type Timeouts struct {
	Idle  time.Duration // between requests; default 120 s
	Head  time.Duration // from the first byte of a head to its last; default 5 s
	Write time.Duration // for what is being sent; default 30 s
	Drain time.Duration // that Drain leaves a waiting connection to its client; default 1 s
}

// Served is one answer of the lane.
type Served struct {
	Remote net.Addr
	Target []byte // valid during the call
	Head   bool   // the method is HEAD
	Status int    // that of the entry, or 304
	Bytes  int    // of the body
}

// Lane answers requests from sources at the boundary of a connection's messages.
// It is safe for concurrent use; one Lane may wrap several listeners.
type Lane struct {
	sources []Source
	opts    LaneOptions
	hosts   map[string]bool
	allowed map[string]bool
	date    atomic.Pointer[dateLine]

	mu       sync.Mutex
	conns    map[*conn]struct{}
	draining atomic.Bool
}

// dateLine is the Date field of one second.
type dateLine struct {
	second int64
	text   []byte
}

// NewLane makes a lane over sources, the first that has an entry answering.
func NewLane(o LaneOptions, sources ...Source) *Lane {
	o.Timeouts.Idle = cmp.Or(max(o.Timeouts.Idle, 0), 120*time.Second)
	o.Timeouts.Head = cmp.Or(max(o.Timeouts.Head, 0), 5*time.Second)
	o.Timeouts.Write = cmp.Or(max(o.Timeouts.Write, 0), 30*time.Second)
	o.Timeouts.Drain = cmp.Or(max(o.Timeouts.Drain, 0), time.Second)
	l := &Lane{sources: sources, opts: o, conns: map[*conn]struct{}{}, allowed: map[string]bool{}}
	if len(o.Hosts) > 0 {
		l.hosts = map[string]bool{}
		for _, h := range o.Hosts {
			h = strings.ToLower(strings.TrimSuffix(h, "."))
			if strings.Contains(h, ":") && h[0] != '[' {
				h = "[" + h + "]" // as it stands in Host
			}
			l.hosts[h] = true
		}
	}
	for _, name := range o.AllowHeaders {
		switch name = strings.ToLower(name); name {
		case "range", "origin": // whose answers are never the whole reply
		default:
			l.allowed[name] = true
		}
	}
	return l
}

// Listener wraps a listener of plain TCP connections. It must be the outermost:
// the http.Server that serves it hands its connections to ConnState.
func (l *Lane) Listener(ln net.Listener) net.Listener { return &listener{ln, l} }

type listener struct {
	net.Listener
	lane *Lane
}

func (ln *listener) Accept() (net.Conn, error) {
	c, err := ln.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return ln.lane.wrap(c), nil
}

func (l *Lane) wrap(inner net.Conn) net.Conn {
	c := &conn{Conn: inner, lane: l, buf: make([]byte, maxHead), fresh: true}
	c.parked.L = &c.mu
	if l.opts.Admit != nil {
		if addr, err := netip.ParseAddrPort(inner.RemoteAddr().String()); err != nil || !l.opts.Admit(addr.Addr().Unmap()) {
			c.state = stateOpaque
		}
	}
	l.mu.Lock()
	l.conns[c] = struct{}{}
	l.mu.Unlock()
	return c
}

func (l *Lane) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// ConnState is what http.Server.ConnState must call.
func (l *Lane) ConnState(nc net.Conn, st http.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	switch st {
	case http.StateIdle:
		c.idle()
	case http.StateHijacked:
		c.hijacked()
	case http.StateNew, http.StateActive, http.StateClosed:
	}
}

// Drain ends the lane's part of the connections: from now on every answer says
// Connection: close, and connections on which no request comes for Timeouts.Drain
// are closed after a last look, which http.Server.Shutdown does not do with those
// that only ever saw the lane. It returns when none of those is left, or with
// ctx's error.
func (l *Lane) Drain(ctx context.Context) error {
	l.draining.Store(true)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		busy := 0
		l.mu.Lock()
		for c := range l.conns {
			if c.drain(l.opts.Timeouts.Drain) {
				busy++
			}
		}
		l.mu.Unlock()
		if busy == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// now returns the Date line of the present second.
func (l *Lane) now() []byte {
	t := time.Now()
	if d := l.date.Load(); d != nil && d.second == t.Unix() {
		return d.text
	}
	d := &dateLine{t.Unix(), []byte("Date: " + httpfield.FormatDate(t) + "\r\n")}
	l.date.Store(d)
	return d.text
}

// find returns the entry that may answer a head, nil when it goes up.
func (l *Lane) find(h *requestHead) *Entry {
	if l.hosts != nil && !l.knows(h.host) || l.opts.SameOrigin && h.foreign {
		return nil
	}
	for _, s := range l.sources {
		if e, ok := s.Find(h.target); ok {
			if h.secret && !e.public {
				return nil
			}
			return e
		}
	}
	return nil
}

// knows reports whether a Host value names one of the lane's hosts.
func (l *Lane) knows(host []byte) bool {
	var lower [256]byte
	if len(host) > len(lower) {
		return false
	}
	n := len(host)
	for i := n - 1; i >= 0 && host[i] != ']'; i-- { // a port has no bracket behind it
		if host[i] == ':' {
			n = i
			break
		}
	}
	for i, c := range host[:n] {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	if n > 0 && lower[n-1] == '.' {
		n--
	}
	return l.hosts[string(lower[:n])]
}
