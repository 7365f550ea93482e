package fetch

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// refusing speaks just enough HTTP/2 to refuse a connection's first n streams and to answer the
// others with 200.
func refusing(t *testing.T, n int) (address string, conf *tls.Config) {
	t.Helper()
	cert := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	t.Cleanup(cert.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: cert.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
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
			serveRefusing(c, n)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "https://" + l.Addr().String(), cert.Client().Transport.(*http.Transport).TLSClientConfig
}

func serveRefusing(c net.Conn, n int) {
	defer c.Close() //nolint:errcheck // the client has gone
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	write := func(kind, flags byte, stream uint32, payload ...byte) {
		b := make([]byte, 9, 9+len(payload))
		b[2], b[3], b[4] = byte(len(payload)), kind, flags //nolint:gosec // at most five
		binary.BigEndian.PutUint32(b[5:], stream)
		_, _ = c.Write(append(b, payload...))
	}
	if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	const headers, reset, settings, goAway = 1, 3, 4, 7
	write(settings, 0, 0)
	for {
		var h [9]byte
		if _, err := io.ReadFull(c, h[:]); err != nil {
			return
		}
		length := int64(h[0])<<16 | int64(h[1])<<8 | int64(h[2])
		if _, err := io.CopyN(io.Discard, c, length); err != nil {
			return
		}
		stream := binary.BigEndian.Uint32(h[5:])
		switch {
		case h[3] == settings && h[4]&1 == 0:
			write(settings, 1, 0)
		case h[3] == headers && n > 0:
			n--
			write(reset, 0, stream, 0, 0, 0, 7) // REFUSED_STREAM
		case h[3] == headers:
			write(headers, 5, stream, 0x88) // :status 200, END_STREAM and END_HEADERS
		case h[3] == goAway:
			return
		}
	}
}

func TestWhatTheTransportSendsAgainIsCounted(t *testing.T) {
	address, conf := refusing(t, 1)
	c := client(t, Config{Transport: TransportConfig{TLS: conf}})
	resp, err := c.Get(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	info := InfoOf(resp)
	read(t, resp)
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || info.Resent != 1 || len(info.Attempts) != 1 {
		t.Errorf("%s %s, %+v", resp.Proto, resp.Status, info)
	}
	// Ten is the budget's floor; one is spent by what net/http did.
	req, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for c.spender.Withdraw(req, time.Now()) {
		left++
	}
	if left != 9 {
		t.Errorf("%d retries are left, want 9", left)
	}
}
