package web_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/quire/web"
)

// writeCert writes a new certificate of a serial number and its key.
func writeCert(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), DNSNames: []string{"example.com"}, NotAfter: time.Now().Add(time.Hour),
	}, &x509.Certificate{SerialNumber: big.NewInt(serial)}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if certFile != "" {
		write(t, certFile, pemText("CERTIFICATE", der))
	}
	if keyFile != "" {
		write(t, keyFile, pemText("PRIVATE KEY", keyDER))
	}
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	// A renewal renames: whoever reads sees the old file or the new one.
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

func TestCertificateFilesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCert(t, certFile, keyFile, 1)
	logged := make(chan string, 100)
	get, err := web.CertificateFiles(certFile, keyFile, slog.New(slog.NewTextHandler(channelWriter(logged), nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, &web.Server{App: newApp(t, web.Options{}), TLS: &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS12}})
	// serial returns the number of the certificate that a client gets which names the server, or none.
	serial := func(name string) int64 {
		t.Helper()
		conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: name, InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", r.addr) //nolint:gosec // the test judges
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64() //nolint:forcetypeassert // of a tls.Dialer
	}
	await := func(want int64) {
		t.Helper()
		for end := time.Now().Add(time.Minute); serial("example.com") != want; {
			if time.Now().After(end) {
				t.Fatalf("certificate %d is still not served", want)
			}
		}
	}
	if n := serial("example.com"); n != 1 {
		t.Fatalf("certificate %d", n)
	}
	writeCert(t, certFile, keyFile, 2)
	await(2)
	if n := serial(""); n != 2 {
		t.Errorf("a client that names no server gets certificate %d", n)
	}
	writeCert(t, certFile, "", 3) // its key is missing: the one from before stays
	for line := ""; !strings.Contains(line, "certificate not read again"); {
		if n := serial("example.com"); n != 2 {
			t.Fatalf("certificate %d without its key", n)
		}
		select {
		case line = <-logged:
		default:
		}
	}
	writeCert(t, certFile, keyFile, 4)
	await(4)
	if _, err := web.CertificateFiles(certFile, filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a missing key is no error")
	}
}

// channelWriter sends each line that is written, as long as there is room.
type channelWriter chan<- string

func (w channelWriter) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default:
	}
	return len(p), nil
}
