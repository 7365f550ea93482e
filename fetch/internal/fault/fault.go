// Package fault distinguishes transient failures from permanent ones. The rules of retry and
// fetch.IsTransient use this one classifier.
package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"example.com/quire/fetch/internal/call"
)

// Class is what another try may expect.
type Class uint8

// The classes.
const (
	Unknown   Class = iota // a transport's own error, without a type or text that tells
	Transient              // it may be gone: a timeout, a broken or refused connection, a stream reset
	Final                  // it will be met again: a certificate, a refusal, a violation of the protocol, a name that does not exist
	Cancelled              // the caller's own context ended
)

// Of classifies err, which is not nil.
func Of(err error) Class {
	for _, ours := range []error{call.ErrTotalTimeout, call.ErrAttemptTimeout, call.ErrBodyIdle} {
		if errors.Is(err, ours) {
			return Transient
		}
	}
	if again, known := call.Retryable(err); known {
		if again {
			return Transient
		}
		return Final
	}
	if se, ok := errors.AsType[streamError](err); ok {
		return se.class()
	}
	var (
		netErr net.Error
		dns    *net.DNSError
		op     *net.OpError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return Cancelled
	case Certificate(err):
		return Final
	case errors.As(err, &dns):
		if dns.IsNotFound {
			return Final
		}
		return Transient
	case errors.As(err, &op):
		return Transient // its timeouts are a context.DeadlineExceeded too
	case errors.Is(err, context.DeadlineExceeded):
		return Cancelled // ours were found above
	case cut(err.Error()):
		return Transient
	case violation(err):
		return Final
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &netErr):
		return Transient
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return Transient
	}
	return Unknown
}

// violation tells whether err says that a message breaks the rules of its protocol, or that a
// request cannot be sent at all. net/http has types for few of these; the texts are its own and
// crypto/tls's, held by a test against real servers.
func violation(err error) bool {
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok || errors.Is(err, http.ErrLineTooLong) {
		return true
	}
	text := err.Error()
	for _, never := range []string{
		"unsupported protocol scheme", "no Host in request URL", "nil Request.URL", "invalid header field", "invalid method",
		"malformed HTTP", "malformed MIME header", "malformed response from server", "malformed chunked encoding",
		"bad Content-Length", "multiple Content-Length", "declared Content-Length", "invalid Content-Length",
		"unsupported transfer encoding", "too many transfer encodings", "invalid byte in chunk length",
		"server response headers exceeded", "header list too large", "does not look like a TLS handshake", "gave HTTP response to HTTPS client", "unexpected ALPN protocol",
	} {
		if strings.Contains(text, never) {
			return true
		}
	}
	return false
}

// cut tells whether what net/http calls malformed is the beginning of a good header: to it a
// connection that ends in the middle of a line ends the line.
func cut(text string) bool {
	quoted := func(after string) (string, bool) {
		_, rest, ok := strings.Cut(text, after)
		if !ok {
			return "", false
		}
		s, err := strconv.Unquote(rest)
		return s, err == nil
	}
	if name, ok := quoted("malformed MIME header: missing colon: "); ok {
		return !strings.ContainsAny(name, " \t")
	}
	if line, ok := quoted("malformed HTTP response "); ok {
		return strings.HasPrefix("HTTP/1.1 ", line) || strings.HasPrefix("HTTP/1.0 ", line)
	}
	if version, ok := quoted("malformed HTTP version "); ok {
		return strings.HasPrefix("HTTP/1.1", version)
	}
	if code, ok := quoted("malformed HTTP status code "); ok {
		return len(code) < 3 && strings.Trim(code, "0123456789") == ""
	}
	return false
}

// streamError has the shape of the HTTP/2 stream error of net/http, whose As method fills any
// struct of that shape.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (streamError) Error() string { return "stream error" }

// Error codes (RFC 9113, section 7).
const (
	protocolError      = 0x1
	refusedStream      = 0x7
	compressionError   = 0x9
	inadequateSecurity = 0xc
	http11Required     = 0xd
)

func (s streamError) class() Class {
	switch s.Code {
	case protocolError, compressionError, inadequateSecurity, http11Required:
		return Final
	}
	return Transient
}

// RefusedStream tells whether the server said that it did not look at the request (RFC 9113,
// section 8.7).
func RefusedStream(err error) bool {
	se, ok := errors.AsType[streamError](err)
	return ok && se.Code == refusedStream
}

// Certificate tells whether err is about a certificate that is not to be trusted.
func Certificate(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return true
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return true
	}
	_, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok
}
