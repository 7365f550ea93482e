package fetch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

// hostile answers on raw connections; it counts them.
func hostile(t *testing.T, answer func(c net.Conn)) (address string, conns *atomic.Int64) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns = &atomic.Int64{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			_ = c.SetDeadline(time.Now().Add(20 * time.Second))
			_, _ = c.Read(make([]byte, 8<<10))
			answer(c)
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return "http://" + l.Addr().String(), conns
}

func TestHostileOriginEndsWithinTheLimits(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n"
	text := func(s string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, s) } }
	for _, c := range []struct {
		name   string
		answer func(net.Conn)
		want   error  // found in the error of Get or of the body; nil = any
		text   string // in it
		final  bool   // sent once
	}{
		{"endless body", func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"\r\n")
			for {
				if _, err := c.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}, ErrBodyTooLarge, "", false},
		{"endless chunks", func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Transfer-Encoding: chunked\r\n\r\n")
			for {
				if _, err := io.WriteString(c, "8000\r\n"+strings.Repeat("x", 0x8000)+"\r\n"); err != nil {
					return
				}
			}
		}, ErrBodyTooLarge, "", false},
		{"a length beyond the bound", text(ok + "Content-Length: 999999999999\r\n\r\nx"), ErrBodyTooLarge, "", false},
		{"slow drip of the header", func(c net.Conn) {
			for range 100 {
				if _, err := io.WriteString(c, "H"); err != nil {
					return
				}
				<-time.After(50 * time.Millisecond)
			}
		}, context.DeadlineExceeded, "", false},
		{"slow drip of the body", func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Content-Length: 1000\r\n\r\n")
			for range 100 {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				<-time.After(50 * time.Millisecond)
			}
		}, ErrTotalTimeout, "", false},
		{"silence in the body", func(c net.Conn) {
			_, _ = io.WriteString(c, ok+"Content-Length: 1000\r\n\r\nx")
			_, _ = c.Read(make([]byte, 1)) // until the client has gone
		}, ErrBodyIdle, "", false},
		{"shorter than declared", text(ok + "Content-Length: 10\r\n\r\nx"), io.ErrUnexpectedEOF, "", false},
		{"a chunk that lies", text(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhi\r\n0\r\n\r\n"), nil, "", false},
		{"header bomb", text(ok + "X: " + strings.Repeat("a", 300<<10) + "\r\n\r\n"), nil, "header", true},
		{"a bomb of many fields", text(ok + strings.Repeat("X: aaaaaaaaaaaaaaaaaaaaaaa\r\n", 12_000) + "\r\n"), nil, "header", true},
		{"no HTTP", text("220 mail.example ESMTP\r\n"), nil, "malformed", true},
		{"two lengths", text(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy"), nil, "", true},
		{"redirect loop", text("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), ErrRedirectDenied, "more than", true},
		{"redirect to a private address", text("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), ErrAddressDenied, "", true},
		{"gzip that is none", text(ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnone"), nil, "decode", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, conns := hostile(t, c.answer)
			port := netip.MustParseAddrPort(strings.TrimPrefix(address, "http://")).Port()
			// What ends by its time has little of it; the others have as much as a busy machine
			// needs.
			total, attempt, idle := time.Minute, time.Minute, time.Minute
			switch c.want {
			case context.DeadlineExceeded: //nolint:errorlint // what the table says
				total, attempt = time.Second, 500*time.Millisecond
			case ErrTotalTimeout:
				total, attempt = time.Second, time.Second
			case ErrBodyIdle:
				idle = 300 * time.Millisecond
			}
			cl := client(t, Config{
				Cache: &httpcache.Config{}, MaxBody: 1 << 20, Total: total, Attempt: attempt, BodyIdle: idle, MaxRedirects: 3,
				Retry:     retry.Policy{Backoff: retry.Exponential{Base: time.Millisecond, Max: time.Millisecond}},
				Transport: TransportConfig{MaxHeaderBytes: 64 << 10, Guard: &Guard{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowPorts: []uint16{port, 80}}},
			})
			start := time.Now()
			resp, err := cl.Get(t.Context(), address+"/")
			got := int64(0)
			if err == nil {
				got, err = io.Copy(io.Discard, resp.Body)
				if cerr := resp.Body.Close(); cerr != nil && err == nil {
					err = cerr
				}
			}
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > time.Minute || got > 1<<20 {
				t.Errorf("it took %v and %d bytes", took, got)
			}
			if n := conns.Load(); c.final && c.want == nil && n != 1 {
				t.Errorf("asked %d times, although nothing will change", n)
			}
			if n := cl.State().Cache.Entries; n != 0 {
				t.Errorf("%d entries are cached", n)
			}
		})
	}
}

// What a server wrote stands in errors, and errors stand in logs.
func TestErrorsDoNotGrowWithWhatServersWrite(t *testing.T) {
	const length = 200 << 10
	long := strings.Repeat("long", length/4)
	for _, c := range []struct{ name, answer string }{
		{"no HTTP", "220 " + long + "\r\n\r\n"},
		{"a status that is none", "HTTP/1.1 2x0 " + long + "\r\n\r\n"},
		{"a field without colon", "HTTP/1.1 200 OK\r\nno " + long + "\r\n\r\n"},
		{"a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: " + long + "\r\n\r\n"},
		{"redirect to a long address", "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/" + long + "?" + long + "\r\nContent-Length: 0\r\n\r\n"},
		{"media type", "HTTP/1.1 200 OK\r\nContent-Type: text/" + long + "\r\nContent-Length: 2\r\n\r\n{}"},
		{"a number for a text", fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{\"a\": 1%s}", length+8, strings.Repeat("0", length))},
		{"problem", fmt.Sprintf("HTTP/1.1 400 Bad\r\nContent-Type: application/problem+json\r\nContent-Length: 60014\r\n\r\n{\"detail\": \"%s\"}", long[:60_000])},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, _ := hostile(t, func(conn net.Conn) { _, _ = io.WriteString(conn, c.answer) })
			port := netip.MustParseAddrPort(strings.TrimPrefix(address, "http://")).Port()
			var mu sync.Mutex // of logged
			logged := 0
			longest := func(_ context.Context, e *observe.Event) {
				mu.Lock()
				defer mu.Unlock()
				logged = max(logged, len(e.ErrorText())+len(e.URL))
			}
			cl := client(t, Config{
				Retry: noWait(), Observers: []observe.Func{longest},
				Transport: TransportConfig{Guard: &Guard{AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowPorts: []uint16{port, 80}}},
			})
			_, err := GetJSON[struct{ A string }](t.Context(), cl, address)
			if err == nil {
				t.Fatal("no error")
			}
			if n := len(err.Error()); n > 4<<10 {
				t.Errorf("a text of %d bytes", n)
			}
			if n := len(fmt.Sprintf("%+v", err)); n > 16<<10 {
				t.Errorf("%%+v is %d bytes", n)
			}
			mu.Lock()
			defer mu.Unlock()
			if logged > 4<<10 {
				t.Errorf("an event of %d bytes", logged)
			}
		})
	}
}

func TestGzipBombOverTheWireEndsAtTheBound(t *testing.T) {
	bomb := gz(t, strings.Repeat("\x00", 10<<20))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, bomb)
	}))
	defer origin.Close()
	cl := client(t, Config{MaxBody: 1 << 20, Cache: &httpcache.Config{}})
	for range 2 { // the second time out of the cache, coded as it came
		resp, err := cl.Get(t.Context(), origin.URL)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if !errors.Is(err, ErrBodyTooLarge) || n != 1<<20 {
			t.Errorf("%d bytes, %v", n, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestUnreadableCacheControlCachesNothing(t *testing.T) {
	for _, field := range []string{"max-age=1e9", "max-age=-1", `max-age="60`, "max-age=60, no-store=\x80", strings.Repeat("a,", 5000) + "max-age=60", "=,;max-age"} {
		var calls atomic.Int64
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.Header()["Cache-Control"] = []string{field}
			_, _ = io.WriteString(w, "x")
		}))
		cl := client(t, Config{Cache: &httpcache.Config{}})
		for range 2 {
			resp, err := cl.Get(t.Context(), origin.URL)
			if err != nil {
				t.Fatal(err)
			}
			read(t, resp)
		}
		if n := calls.Load(); n != 2 {
			t.Errorf("%.30q: asked %d times", field, n)
		}
		origin.Close()
	}
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert, key, x509.NewCertPool()}
	a.pool.AddCert(cert)
	return a
}

// server speaks TLS with a certificate for a name or address, until a time.
func (a *authority) server(t *testing.T, host string, until time.Time, conns *atomic.Int64) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestCertificatesThatAreNotToBeTrusted(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name  string
		by    *authority
		host  string
		until time.Duration
		good  bool
	}{
		{"good", ours, "127.0.0.1", time.Hour, true},
		{"expired", ours, "127.0.0.1", -time.Hour, false},
		{"for another host", ours, "other.example", time.Hour, false},
		{"by an unknown authority", theirs, "127.0.0.1", time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var conns atomic.Int64
			s := c.by.server(t, c.host, time.Now().Add(c.until), &conns)
			cl := client(t, Config{Retry: noWait(), Transport: TransportConfig{TLS: &tls.Config{RootCAs: ours.pool, MinVersion: tls.VersionTLS12}}})
			resp, err := cl.Get(t.Context(), s.URL)
			if c.good {
				if err != nil {
					t.Fatal(err)
				}
				read(t, resp)
				return
			}
			discard(t, resp)
			e, ok := errors.AsType[*Error](err)
			if !ok || IsTransient(err) || len(e.Attempts) != 1 || e.Attempts[0].Reason != "certificate" || conns.Load() != 1 {
				t.Errorf("got %v after %d connections", err, conns.Load())
			}
			if n := fmt.Sprint(cl.State().Origins[0].Errors); !strings.Contains(n, "certificate") {
				t.Errorf("counted as %s", n)
			}
		})
	}
}
