package fetchtest

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Step is one answer of a scripted transport. The zero value is a 200 without a body. Its methods
// return a changed copy, so that steps are written as a chain:
// Step{}.Status(503).Header("Retry-After", "1").
type Step struct {
	status      int
	header      [][2]string
	body        string
	trailer     [][2]string
	info        []info
	delay       time.Duration
	delayBody   time.Duration
	dripBytes   int
	dripEvery   time.Duration
	resetAfter  int
	reset       bool
	wrongLength int
	wrong       bool
	fault       fault
	then        func(*http.Request)
}

type info struct {
	code   int
	header textproto.MIMEHeader
}

type fault uint8

const (
	none fault = iota
	dialFault
	tlsFault
	hang
)

// Status sets the status code.
func (s Step) Status(code int) Step { s.status = code; return s }

// Header adds a field.
func (s Step) Header(name, value string) Step {
	s.header = append(slices.Clip(s.header), [2]string{name, value})
	return s
}

// Body sets the body.
func (s Step) Body(text string) Step { s.body = text; return s }

// Trailer adds a trailer field; it is there when the body was read to its end.
func (s Step) Trailer(name, value string) Step {
	s.trailer = append(slices.Clip(s.trailer), [2]string{name, value})
	return s
}

// Info sends an interim response (1xx) before the answer, to the request's httptrace hook.
func (s Step) Info(code int, name, value string) Step {
	s.info = append(slices.Clip(s.info), info{code, textproto.MIMEHeader{textproto.CanonicalMIMEHeaderKey(name): {value}}})
	return s
}

// Delay waits before the headers.
func (s Step) Delay(d time.Duration) Step { s.delay = d; return s }

// DelayBody waits before the first byte of the body.
func (s Step) DelayBody(d time.Duration) Step { s.delayBody = d; return s }

// Drip sends the body n bytes at a time, with a pause before each but the first.
func (s Step) Drip(n int, every time.Duration) Step { s.dripBytes, s.dripEvery = n, every; return s }

// ResetAfter breaks the connection after n bytes of the body.
func (s Step) ResetAfter(n int) Step { s.reset, s.resetAfter = true, n; return s }

// WrongLength declares n bytes whatever the body has; of a body that is shorter the reading ends in
// io.ErrUnexpectedEOF.
func (s Step) WrongLength(n int) Step { s.wrong, s.wrongLength = true, n; return s }

// DialError fails as a refused connection does.
func (s Step) DialError() Step { s.fault = dialFault; return s }

// TLSError fails as a handshake does that the server ends by an alert.
func (s Step) TLSError() Step { s.fault = tlsFault; return s }

// Hang takes the request and never answers; it ends with the request's context.
func (s Step) Hang() Step { s.fault = hang; return s }

// Then is called with the request, once its body was read and before the answer. It may be called
// concurrently.
func (s Step) Then(f func(*http.Request)) Step { s.then = f; return s }

// play answers req.
func (s Step) play(t *Transport, req *http.Request) (*http.Response, error) {
	trace := httptrace.ContextClientTrace(req.Context())
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(req.URL.Host)
	}
	if s.fault == dialFault || s.fault == tlsFault {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		t.record(req, nil)
		if s.fault == tlsFault {
			const handshakeFailure = 40
			return nil, &net.OpError{Op: "remote error", Net: "tcp", Err: tls.AlertError(handshakeFailure)}
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	sent, err := readBody(req)
	t.record(req, sent)
	if err != nil {
		return nil, err
	}
	if s.then != nil {
		s.then(req)
	}
	if s.fault == hang {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if err := wait(req, s.delay, nil); err != nil {
		return nil, err
	}
	for _, i := range s.info {
		if trace != nil && trace.Got1xxResponse != nil {
			if err := trace.Got1xxResponse(i.code, i.header); err != nil {
				return nil, err
			}
		}
	}
	return s.response(t, req), nil
}

func (s Step) response(t *Transport, req *http.Request) *http.Response {
	code := cmp.Or(s.status, http.StatusOK)
	h := make(http.Header)
	for _, f := range s.header {
		h.Add(f[0], f[1])
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, Body: http.NoBody, Request: req,
	}
	length := len(s.body)
	if s.wrong {
		length = s.wrongLength
	}
	if code == http.StatusNoContent || code == http.StatusNotModified || code < 200 {
		return resp
	}
	resp.ContentLength = int64(length)
	h.Set("Content-Length", strconv.Itoa(length))
	if req.Method == http.MethodHead {
		return resp
	}
	if len(s.trailer) > 0 || s.dripBytes > 0 {
		resp.ContentLength = -1
		h.Del("Content-Length")
		resp.Trailer = make(http.Header)
		for _, f := range s.trailer {
			resp.Trailer[textproto.CanonicalMIMEHeaderKey(f[0])] = nil
		}
	}
	if length == 0 && !s.reset && len(s.trailer) == 0 {
		return resp
	}
	b := &scripted{step: s, t: t, req: req, rest: s.body, resp: resp, closed: make(chan struct{})}
	if s.wrong && len(s.body) > length {
		b.rest = s.body[:length]
	}
	t.opened(b)
	resp.Body = b
	return resp
}

// scripted is a body. Close may come while a Read waits, as it may with net/http's.
type scripted struct {
	step Step
	t    *Transport
	req  *http.Request
	resp *http.Response

	mu     sync.Mutex
	rest   string
	read   int
	begun  bool
	once   sync.Once
	closed chan struct{}
}

func (b *scripted) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	pause := b.step.delayBody
	if b.begun {
		pause = b.step.dripEvery
	}
	if b.rest != "" || !b.begun {
		if err := wait(b.req, pause, b.closed); err != nil {
			return 0, err
		}
	}
	b.begun = true
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	if b.step.reset && b.read >= b.step.resetAfter {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	if b.rest == "" {
		if b.step.wrong && b.step.wrongLength > b.read {
			return 0, io.ErrUnexpectedEOF
		}
		for _, f := range b.step.trailer {
			b.resp.Trailer.Add(f[0], f[1])
		}
		b.step.trailer = nil
		return 0, io.EOF
	}
	n := min(len(p), len(b.rest))
	if b.step.dripBytes > 0 {
		n = min(n, b.step.dripBytes)
	}
	if b.step.reset {
		n = min(n, b.step.resetAfter-b.read)
	}
	copy(p, b.rest[:n])
	b.rest, b.read = b.rest[n:], b.read+n
	return n, nil
}

func (b *scripted) Close() error {
	b.once.Do(func() {
		close(b.closed)
		b.t.ended(b)
	})
	return nil
}

func (b *scripted) String() string {
	return fmt.Sprintf("%s %s, %d bytes unread", b.req.Method, b.req.URL, strings.Count(b.rest, "")-1)
}

// wait sleeps unless the request or the body ends before.
func wait(req *http.Request, d time.Duration, closed <-chan struct{}) error {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return err
	}
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-closed:
		return http.ErrBodyReadAfterClose
	}
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(req.Body)
	if cerr := req.Body.Close(); err == nil {
		err = cerr
	}
	return b, err
}
