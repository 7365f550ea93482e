package fetchtest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Serve runs h on a real net/http server over in-memory connections and returns a transport whose
// every connection leads to it, whatever the host. The server ends with the test, and inside a
// synctest bubble with the bubble's test function. TLS is not spoken: use http addresses.
func Serve(tb testing.TB, h http.Handler) *http.Transport {
	tb.Helper()
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // ends in http.ErrServerClosed
	}()
	t := &http.Transport{DialContext: l.dial, MaxIdleConnsPerHost: 64, DisableCompression: true}
	tb.Cleanup(func() {
		t.CloseIdleConnections()
		if err := s.Close(); err != nil {
			tb.Errorf("close server: %v", err)
		}
		<-served
	})
	return t
}

// Count wraps a handler and counts the connections that its requests came by; for Serve, whose
// addresses are all alike.
func Count(h http.Handler) (counted http.Handler, conns func() int) {
	var mu sync.Mutex
	seen := make(map[string]bool)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen[r.RemoteAddr] = true
			mu.Unlock()
			h.ServeHTTP(w, r)
		}), func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(seen)
		}
}

type listener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
	n     atomic.Int64
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- &numbered{server, address(l.n.Add(1))}:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return address(0) }

// numbered is a connection with an address of its own, which a pipe has not.
type numbered struct {
	net.Conn
	remote address
}

func (c *numbered) RemoteAddr() net.Addr { return c.remote }

type address int64

func (a address) Network() string { return "pipe" }

func (a address) String() string { return "pipe:" + strconv.FormatInt(int64(a), 10) }
