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
	now := time.Now()
	var log strings.Builder
	get, err := web.CertificateFiles(certFile, keyFile, web.CertificateOptions{
		Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(what string, later time.Duration, want int64) {
		t.Helper()
		now = now.Add(later)
		pair, err := get(&tls.ClientHelloInfo{})
		if err != nil || pair.Leaf.SerialNumber.Int64() != want {
			t.Errorf("%s: certificate %v, %v; want %d", what, pair.Leaf.SerialNumber, err, want)
		}
	}
	shows("at first", 0, 1)
	writeCert(t, certFile, "", 2)
	shows("half of a renewal", time.Second, 1)
	shows("half of a renewal still", time.Second, 1)
	writeCert(t, certFile, keyFile, 3)
	shows("within a second of the last look", 999*time.Millisecond, 1)
	shows("a second after it", time.Millisecond, 3)
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	shows("no key", time.Second, 3)
	writeCert(t, certFile, keyFile, 4)
	shows("both again", time.Second, 4)
	if n := strings.Count(log.String(), "cannot be read"); n != 2 {
		t.Errorf("the log tells %d times of two failures:\n%s", n, log.String())
	}
	if _, err := web.CertificateFiles(certFile, filepath.Join(dir, "none"), web.CertificateOptions{}); err == nil {
		t.Error("a missing key is no error")
	}
}
