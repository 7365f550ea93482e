package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
)

// lines is a log that is read while it is written.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lines) count(s string) int { return strings.Count(l.String(), s) }

// pair is a self-signed certificate and its key, in PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, serial int64) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "quire test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}
}

// replace writes a file as a renewal does: whole, with a newer time.
func replace(t *testing.T, name string, b []byte, newer time.Duration) {
	t.Helper()
	at := time.Now().Add(newer)
	if err := os.WriteFile(name+".new", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name+".new", at, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// serial is that of the certificate that the server shows.
func serial(t *testing.T, addr string) int64 {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // it looks at the certificate that it gets
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it has done its work
	c, ok := conn.(*tls.Conn)
	if !ok {
		t.Fatalf("a %T", conn)
	}
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// A renewed certificate is shown without a restart; half of a renewal, or files that are gone,
// change nothing.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first, second := newPair(t, 1), newPair(t, 2)
	replace(t, certFile, first.cert, 0)
	replace(t, keyFile, first.key, 0)
	c := configure(t, func(c *config.Config) { c.TLS = config.TLS{Cert: certFile, Key: keyFile} })
	var clock atomic.Int64
	var log lines
	a, err := app.New(t.Context(), app.Options{Config: c, Log: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return time.Unix(0, clock.Load()) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, a) })
	s := serve(t, a, c)
	addr := s.url[len("https://"):]
	if n := serial(t, addr); n != 1 {
		t.Fatalf("serial %d", n)
	}
	// The connection is to be trusted by the certificate, and answers.
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(first.cert) {
		t.Fatal("no certificate")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/documents", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: tr}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s, %v", resp.Status, err)
	}
	tr.CloseIdleConnections()

	// The files' times are looked at once in a second, not at every handshake.
	shows := func(what string, later time.Duration, want int64) {
		t.Helper()
		clock.Add(int64(later))
		if n := serial(t, addr); n != want {
			t.Fatalf("%s: serial %d, want %d", what, n, want)
		}
	}
	replace(t, certFile, second.cert, time.Minute)
	shows("half of a renewal", 2*time.Second, 1)
	replace(t, keyFile, second.key, time.Minute)
	shows("within a second of the last look", 900*time.Millisecond, 1)
	shows("a second after it", 200*time.Millisecond, 2)
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	shows("the key is gone", 2*time.Second, 2)
	shows("the key is still gone", 2*time.Second, 2)
	if n := log.count("the renewed certificate cannot be read"); n != 2 {
		t.Errorf("the log tells %d times of two failures:\n%s", n, log.String())
	}
	s.stop()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
}

// A server whose certificate cannot be read is refused, with the key that names it; one whose
// certificate goes between that and the start does not serve, and does not hold its port.
func TestNoCertificate(t *testing.T) {
	dir := t.TempDir()
	c := configure(t, func(c *config.Config) {
		c.TLS = config.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	})
	_, err := app.New(t.Context(), app.Options{Config: c})
	if wrong, ok := errors.AsType[*config.Error](err); !ok || wrong.Faults[0].Path != "tls.cert" {
		t.Errorf("without files: %v", err)
	}
	first := newPair(t, 1)
	replace(t, c.TLS.Cert, first.cert, 0)
	replace(t, c.TLS.Key, first.key, 0)
	a := open(t, c)
	if err := os.Remove(c.TLS.Key); err != nil {
		t.Fatal(err)
	}
	ln, err := app.Listen(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := a.Serve(ctx, ln); err == nil || ctx.Err() != nil {
		t.Errorf("it served: %v", err)
	}
	again, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatalf("the port is still held: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
