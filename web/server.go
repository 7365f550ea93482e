package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Lane answers some requests before net/http sees them. A *frozen.Lane is one.
type Lane interface {
	// Listener wraps the listener that an http.Server is to serve.
	Listener(net.Listener) net.Listener
	// ConnState is told of each change of a connection, as http.Server.ConnState.
	ConnState(net.Conn, http.ConnState)
	// Drain ends the connections that only ever saw the lane.
	Drain(context.Context) error
}

// Server runs an App over the network and drains it. Set the fields before the
// first call; a Server runs once.
type Server struct {
	App  *App
	Addr string // default 127.0.0.1:8080: reachable from outside only when told so
	// TLS is the configuration of TLS. Default: none, plain HTTP. One without a
	// certificate is an error of Serve and Run. A MinVersion of zero means TLS 1.2.
	TLS *tls.Config
	// H2C also speaks HTTP/2 without TLS. Danger: only behind a proxy that is known.
	H2C    bool
	Health *Health
	// Lane answers prebuilt replies below net/http on plain HTTP/1.1 connections,
	// such as a frozen.Lane. Default: none. Danger: it bypasses all middleware.
	Lane Lane
	// DrainDelay is the time between "not ready" and the end of accepting, for
	// load balancers to notice. Default: 0.
	DrainDelay time.Duration
	// DrainTimeout is the time for the whole drain after that. Default: 30 s.
	DrainTimeout time.Duration
	// DrainIdle is how long a drain leaves a kept HTTP/1.1 connection to its client after the
	// last answer: a request that comes until then is answered, with "Connection: close". A
	// server that closes at once loses what a client is just sending, and most clients must not
	// send a POST again. Negative: none. Default: 1 s.
	DrainIdle time.Duration
	// OnStart runs in order once the listener is open and before it is served;
	// OnStop in reverse order when the last request has ended.
	OnStart, OnStop []func(context.Context) error

	ReadHeaderTimeout time.Duration // default 5 s
	ReadTimeout       time.Duration // head and body; default 30 s
	WriteTimeout      time.Duration // default 60 s; streams and files have 30 s per chunk instead
	IdleTimeout       time.Duration // default 120 s
	MaxHeaderBytes    int           // default 32 KiB (431)
	// MaxConnections is how many connections are open at once, WebSockets among them; then
	// accepting pauses. Default: 10,000, or half of the files that the process may open, if that
	// is less.
	MaxConnections int
	MaxStreams     int // HTTP/2 streams per connection; default 100

	mu      sync.Mutex
	state   serverState
	stop    chan struct{} // closed: drain
	cutNow  chan struct{} // closed: cut
	done    chan struct{} // closed: the run has ended
	result  DrainResult
	stopped bool
	cutting bool
}

type serverState int

const (
	serverNew serverState = iota
	serverRunning
	serverEnded
)

// The defaults of a Server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 32 << 10
	maxConnections    = 10_000
	maxStreams        = 100
)

// DrainError is Run's error when a drain had to cut requests.
type DrainError struct{ Result DrainResult }

func (e *DrainError) Error() string {
	return fmt.Sprintf("web: drain: %d requests cut after %s", len(e.Result.Cut), e.Result.Took.Round(time.Millisecond))
}

// Run listens on Addr and serves until ctx ends or Shutdown is called, then
// drains. It returns nil after a clean drain, a *DrainError after a cut.
func (s *Server) Run(ctx context.Context) error {
	ln, err := s.listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	return s.Serve(ctx, ln)
}

// errNoCertificate keeps a configuration of TLS from ending as plain HTTP.
var errNoCertificate = errors.New("web: Server.TLS: no certificate; set Certificates or GetCertificate, or call RunTLS")

// RunTLS is Run with a certificate and key from PEM files, which are read again when they have
// changed; see CertificateFiles.
func (s *Server) RunTLS(ctx context.Context, certFile, keyFile string) error {
	files, err := newCertFiles(certFile, keyFile, CertificateOptions{Logger: s.logger()})
	if err != nil {
		return err
	}
	ln, err := s.listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	conf := cmp.Or(s.TLS.Clone(), &tls.Config{MinVersion: tls.VersionTLS12})
	files.serve(conf)
	hs := s.httpServer()
	hs.TLSConfig = conf
	return s.run(ctx, hs, ln)
}

// Serve is Run on a listener, which it closes.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	hs := s.httpServer()
	hs.TLSConfig = s.TLS.Clone()
	if s.TLS != nil && !tlsOn(hs.TLSConfig) {
		return errors.Join(errNoCertificate, ln.Close())
	}
	return s.run(ctx, hs, ln)
}

// RunServer runs the caller's own http.Server with the same drain. Its fields
// stay as they are, save that an absent Handler becomes the App, and that
// ConnState, BaseContext and DisableGeneralOptionsHandler are wrapped or set. It
// speaks TLS when its TLSConfig has a certificate.
func (s *Server) RunServer(ctx context.Context, hs *http.Server) error {
	addr := cmp.Or(hs.Addr, s.Addr)
	ln, err := s.listen(ctx, addr)
	if err != nil {
		return err
	}
	if hs.Handler == nil {
		hs.Handler = s.App
	}
	return s.run(ctx, hs, ln)
}

// listen opens the address, unless the Server has run already: what is wrong
// then is not that the address may be taken.
func (s *Server) listen(ctx context.Context, addr string) (net.Listener, error) {
	s.mu.Lock()
	spent := s.state != serverNew || s.stopped
	s.mu.Unlock()
	if spent {
		return nil, ErrServerDraining
	}
	addr = cmp.Or(addr, "127.0.0.1:8080")
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("web: listen on %s: %w", addr, err)
	}
	return ln, nil
}

func (s *Server) httpServer() *http.Server {
	hs := &http.Server{
		Handler:                      s.App,
		ReadHeaderTimeout:            cmp.Or(s.ReadHeaderTimeout, readHeaderTimeout),
		ReadTimeout:                  cmp.Or(s.ReadTimeout, readTimeout),
		WriteTimeout:                 cmp.Or(s.WriteTimeout, writeTimeout),
		IdleTimeout:                  cmp.Or(s.IdleTimeout, idleTimeout),
		MaxHeaderBytes:               cmp.Or(s.MaxHeaderBytes, maxHeaderBytes),
		ErrorLog:                     slog.NewLogLogger(s.logger().Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // the App answers OPTIONS *
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: cmp.Or(s.MaxStreams, maxStreams)},
	}
	if s.H2C {
		hs.Protocols = new(http.Protocols)
		hs.Protocols.SetHTTP1(true)
		hs.Protocols.SetHTTP2(true)
		hs.Protocols.SetUnencryptedHTTP2(true)
	}
	return hs
}

func (s *Server) logger() *slog.Logger {
	if s.App != nil {
		return s.App.log
	}
	return slog.Default()
}

// begin moves the Server from new to running.
func (s *Server) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if s.state != serverNew || s.stopped {
		return ErrServerDraining
	}
	s.state = serverRunning
	return nil
}

// init makes the channels. Callers hold mu.
func (s *Server) init() {
	if s.done == nil {
		s.stop, s.cutNow, s.done = make(chan struct{}), make(chan struct{}), make(chan struct{})
	}
}

func (s *Server) run(ctx context.Context, hs *http.Server, ln net.Listener) (err error) {
	if err := s.begin(); err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() {
		s.mu.Lock()
		s.state = serverEnded
		s.mu.Unlock()
		close(s.done)
	}()
	base, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBase()
	if err := s.start(ctx); err != nil {
		return errors.Join(err, ln.Close())
	}
	limited := newListener(ln, cmp.Or(s.MaxConnections, defaultConnections(openFiles())))
	limited.h2c = hs.Protocols != nil && hs.Protocols.UnencryptedHTTP2()
	s.attach(base, hs, limited)
	if s.App != nil {
		s.App.flights.begin()
	}
	if s.Health != nil {
		s.Health.started.Store(true)
	}
	served := make(chan error, 1)
	go func() {
		if tlsOn(hs.TLSConfig) {
			served <- hs.ServeTLS(limited, "", "")
			return
		}
		if s.Lane != nil {
			served <- hs.Serve(s.Lane.Listener(limited))
			return
		}
		served <- hs.Serve(limited)
	}()
	select {
	case err := <-served: // the listener failed
		closeErr := hs.Close()
		return errors.Join(fmt.Errorf("web: serve %s: %w", ln.Addr(), err), closeErr, s.runStop(context.WithoutCancel(ctx), len(s.OnStop)))
	case <-ctx.Done():
	case <-s.stop:
	}
	result, drainErr := s.drain(context.WithoutCancel(ctx), hs, limited, cancelBase)
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		drainErr = errors.Join(drainErr, fmt.Errorf("web: serve %s: %w", ln.Addr(), err))
	}
	s.mu.Lock()
	s.result = result
	s.mu.Unlock()
	if len(result.Cut) > 0 {
		drainErr = errors.Join(&DrainError{result}, drainErr)
	}
	return drainErr
}

func tlsOn(c *tls.Config) bool {
	if c == nil {
		return false
	}
	if c.MinVersion == 0 {
		c.MinVersion = tls.VersionTLS12
	}
	return len(c.Certificates) > 0 || c.GetCertificate != nil || c.GetConfigForClient != nil
}

// start runs the start hooks. One that fails stops the rest, and what has
// started is stopped.
func (s *Server) start(ctx context.Context) error {
	for i, f := range s.OnStart {
		if err := f(ctx); err != nil {
			stop := s.runStop(context.WithoutCancel(ctx), min(i, len(s.OnStop)))
			return errors.Join(fmt.Errorf("web: start hook %d: %w", i+1, err), stop)
		}
	}
	return nil
}

// runStop runs the first n stop hooks in reverse order, all of them whatever fails.
func (s *Server) runStop(ctx context.Context, n int) error {
	var errs []error
	for i, f := range slices.Backward(s.OnStop[:n]) {
		if err := f(ctx); err != nil {
			errs = append(errs, fmt.Errorf("web: stop hook %d: %w", i+1, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Server) attach(base context.Context, hs *http.Server, ln *listener) {
	hs.DisableGeneralOptionsHandler = true
	outer := hs.BaseContext
	hs.BaseContext = func(l net.Listener) context.Context {
		if outer == nil {
			return base
		}
		ctx, cancel := context.WithCancel(outer(l))
		context.AfterFunc(base, cancel)
		return ctx
	}
	state := hs.ConnState
	hs.ConnState = func(c net.Conn, st http.ConnState) {
		if s.Lane != nil {
			s.Lane.ConnState(c, st)
			if inner, ok := c.(interface{ NetConn() net.Conn }); ok && !tlsOn(hs.TLSConfig) {
				c = inner.NetConn() // what the lane was given
			}
		}
		ln.note(c, st)
		if state != nil {
			state(c, st)
		}
	}
}

// drain ends a run in the order: not ready, delay, no more connections, answers
// finish and kept connections end, streams are told, stop hooks; what is left at
// the timeout is cut. http.Server.Shutdown comes last: it closes a connection
// that waits for a request even while one is arriving.
func (s *Server) drain(ctx context.Context, hs *http.Server, ln *listener, cancelBase context.CancelFunc) (DrainResult, error) {
	started := time.Now()
	if s.Health != nil {
		s.Health.draining.Store(true)
	}
	if s.App != nil {
		s.App.flights.drains.Store(true)
	}
	s.wait(s.DrainDelay)
	limit, cancel := context.WithTimeout(ctx, cmp.Or(s.DrainTimeout, 30*time.Second))
	defer cancel()
	go func() {
		select {
		case <-s.cutNow:
			cancel()
		case <-limit.Done():
		}
	}()
	down := make(chan error, 1)
	go func() {
		if s.Lane != nil {
			laned := make(chan struct{})
			go func() {
				defer close(laned)
				_ = s.Lane.Drain(limit) // what is left at the limit is cut
			}()
			defer func() { <-laned }()
		}
		ln.end(limit, cmp.Or(s.DrainIdle, time.Second))
		down <- hs.Shutdown(limit)
	}()
	var result DrainResult
	if s.App != nil {
		s.App.flights.finish(limit)
	}
	err := <-down
	if s.App != nil && (err != nil || limit.Err() != nil) {
		result.Cut = s.App.flights.list()
		s.App.flights.closeHijacked()
	}
	cancelBase()
	closeErr := hs.Close()
	if s.App != nil && len(result.Cut) > 0 {
		for _, c := range result.Cut {
			s.logger().Warn("cut by the drain", slog.String("kind", c.Kind), slog.String("route", c.Route), slog.Duration("age", c.Age))
		}
		// What was cut may still be using what the stop hooks close.
		s.App.flights.empty(ctx, time.Second)
	}
	result.Took = time.Since(started)
	if err != nil && len(result.Cut) == 0 && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		closeErr = errors.Join(closeErr, fmt.Errorf("web: drain: %w", err))
	}
	stopCtx, cancelStop := context.WithTimeout(ctx, 10*time.Second)
	defer cancelStop()
	return result, errors.Join(closeErr, s.runStop(stopCtx, len(s.OnStop)))
}

// wait pauses for d or until Close.
func (s *Server) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.cutNow:
	}
}

// Shutdown begins the drain and waits for its end. When ctx ends first, what is
// left is cut. It tells who was cut. Calling it again waits for the same drain.
func (s *Server) Shutdown(ctx context.Context) DrainResult {
	s.mu.Lock()
	s.init()
	running := s.state == serverRunning
	if !s.stopped {
		s.stopped = true
		close(s.stop)
	}
	ended := s.state == serverEnded
	s.mu.Unlock()
	if running || ended {
		select {
		case <-s.done:
		case <-ctx.Done():
			s.cut()
			<-s.done
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

// Close cuts everything at once and waits until the run has ended.
func (s *Server) Close() error {
	s.cut()
	s.Shutdown(context.Background())
	return nil
}

func (s *Server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.init()
	if !s.cutting {
		s.cutting = true
		close(s.cutNow)
	}
}
