package retry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"

	"example.com/quire/fetch/internal/call"
	"example.com/quire/fetch/internal/fault"
)

// Status tells whether a response of this status is worth another attempt: 408, 425, 429, 500, 502,
// 503 and 504. Not 501 and 505: what is not implemented will not be so in a second.
func Status(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Passing tells whether err is a failure that may be gone on the next attempt. Never so are
// certificate errors, violations of the protocol, a name that does not exist, an unsupported
// scheme, a total deadline, the caller's own cancellation, and what a layer refused: an address
// denied, a circuit open, a body too large. A caller's own deadline that a transport reports
// although the request's context lives on is one of the transport's, and passes.
func Passing(err error) bool {
	if err == nil || errors.Is(err, call.ErrTotalTimeout) {
		return false
	}
	switch fault.Of(err) {
	case fault.Final:
		return false
	case fault.Cancelled:
		return !errors.Is(err, context.Canceled)
	case fault.Transient, fault.Unknown:
	}
	return true
}

// Unsent proves that nothing of the request reached the server, so that any method may be sent
// again: the name did not resolve, the connection was not made, its TLS handshake included, or the
// server said over HTTP/2 that it did not look at the stream (REFUSED_STREAM; RFC 9113, section
// 8.7). The errors of crypto/tls prove nothing: it has the same ones for a handshake and for a
// record that follows the request.
func Unsent(err error) bool {
	if err == nil || fault.Certificate(err) {
		return false
	}
	if again, known := call.Retryable(err); known && !again {
		return false
	}
	if u, ok := errors.AsType[*unsentError](err); ok {
		return u != nil
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true
	}
	return fault.RefusedStream(err)
}

// unsentError marks an error of an attempt that never got a connection.
type unsentError struct{ err error }

func (e *unsentError) Error() string { return e.err.Error() }
func (e *unsentError) Unwrap() error { return e.err }

func passing(resp *http.Response, err error) bool {
	if resp != nil {
		return Status(resp.StatusCode)
	}
	return Passing(err)
}

// repeatable tells whether sending req twice does what sending it once does.
func repeatable(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete,
		"QUERY": // safe, says the IANA registry of methods
		return true
	}
	if s := call.From(req.Context()); s != nil && s.Keyed() {
		return true
	}
	return req.Header.Get("Idempotency-Key") != "" || req.Header.Get("X-Idempotency-Key") != ""
}

// reason is the short word for an attempt's outcome in logs and counters.
func reason(resp *http.Response, err error) string {
	if err == nil {
		if resp.StatusCode < 400 {
			return "ok"
		}
		return "status " + strconv.Itoa(resp.StatusCode)
	}
	if r, ok := errors.AsType[interface {
		error
		Reason() string
	}](err); ok {
		return r.Reason()
	}
	var netErr net.Error
	switch {
	case errors.Is(err, call.ErrAttemptTimeout), errors.Is(err, call.ErrTotalTimeout):
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	case fault.Certificate(err):
		return "certificate"
	case Unsent(err):
		return "dial"
	case errors.As(err, &netErr) && netErr.Timeout():
		return "timeout"
	}
	return "error"
}
