package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"example.com/quire/fetch/internal/call"
)

// http2Error does what net/http's stream error does: fill any struct of its shape.
type http2Error struct{ code uint32 }

func (e http2Error) Error() string { return "stream error" }

func (e http2Error) As(target any) bool {
	se, ok := target.(*streamError)
	if ok {
		se.Code = e.code
	}
	return ok
}

func TestErrorsAreClassified(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{&tls.CertificateVerificationError{Err: x509.HostnameError{}}, Final},
		{x509.UnknownAuthorityError{}, Final},
		{x509.HostnameError{Certificate: &x509.Certificate{}}, Final},
		{x509.CertificateInvalidError{}, Final},
		{errors.New(`unsupported protocol scheme "ftp"`), Final},
		{call.Final("address denied"), Final},
		{&net.OpError{Op: "dial", Err: call.Final("address denied")}, Final},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, Final},
		{&net.DNSError{Err: "server misbehaving", IsTemporary: true}, Transient},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, Transient},
		{call.ErrAttemptTimeout, Transient},
		{fmt.Errorf("x: %w", call.ErrTotalTimeout), Transient},
		{call.ErrBodyIdle, Transient},
		{context.Canceled, Cancelled},
		{context.DeadlineExceeded, Cancelled},
		{io.ErrUnexpectedEOF, Transient},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, Transient},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, Transient},
		{tls.AlertError(80), Transient},
		{http2Error{code: 7}, Transient},
		{http2Error{code: 2}, Transient},
		{http2Error{code: 1}, Final},
		{errors.New("something else"), Unknown},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
	if !RefusedStream(http2Error{code: 7}) || RefusedStream(http2Error{code: 2}) || RefusedStream(io.EOF) {
		t.Error("a refused stream")
	}
}

// answer says text to whoever connects, and closes.
func answer(t *testing.T, text string) string {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, text)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return l.Addr().String()
}

func TestWhatRealTransportsSay(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	big := "HTTP/1.1 200 OK\r\nX: "
	for range 40 {
		big += "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	}
	for _, c := range []struct {
		name, url string
		want      Class
	}{
		{"no HTTP at all", "http://" + answer(t, "SSH-2.0-x\r\n\r\n"), Final},
		{"bad status", "http://" + answer(t, "HTTP/1.1 2x0 OK\r\n\r\n"), Final},
		{"bad field", "http://" + answer(t, "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), Final},
		{"bad length", "http://" + answer(t, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), Final},
		{"two lengths", "http://" + answer(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), Final},
		{"unknown transfer coding", "http://" + answer(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: x\r\n\r\n"), Final},
		{"header bomb", "http://" + answer(t, big+"\r\n\r\n"), Final},
		{"HTTP where TLS is due", "https" + plain.URL[len("http"):], Final},
		{"cut in the status line", "http://" + answer(t, "HTTP/1.1 2"), Transient},
		{"cut in the version", "http://" + answer(t, "HTTP/1"), Transient},
		{"cut behind the status", "http://" + answer(t, "HTTP/1.1 200 OK\r\n"), Transient},
		{"cut in the header", "http://" + answer(t, "HTTP/1.1 200 OK\r\nContent-Le"), Transient},
		{"nothing", "http://" + answer(t, ""), Transient},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := &http.Transport{MaxResponseHeaderBytes: 1 << 10}
			defer tr.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
				t.Fatal("an answer")
			}
			if got := Of(err); got != c.want {
				t.Errorf("%v: %d, want %d", err, got, c.want)
			}
		})
	}
}
