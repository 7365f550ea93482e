package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certFiles is a certificate and its key in PEM files, which a renewal replaces while the server
// runs. Handshakes look at the files, at most once a second; so there is nothing to stop.
type certFiles struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	seen    [2]os.FileInfo // as they were at the last load, of what failed too
	checked time.Time
}

// CertificateFiles returns a tls.Config.GetCertificate that serves the certificate and key of PEM
// files. They are read again, within a second of the next handshake, when one of them has changed;
// while the two do not fit together, as between two writes of a renewal, the certificate from
// before is served and the log says why. Run with RunTLS a Server has it already. nil is slog.Default().
func CertificateFiles(certFile, keyFile string, log *slog.Logger) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	files, err := newCertFiles(certFile, keyFile, or(log, slog.Default()))
	if err != nil {
		return nil, err
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return files.current(), nil }, nil
}

func newCertFiles(cert, key string, log *slog.Logger) (*certFiles, error) {
	c := &certFiles{cert: cert, key: key, log: log}
	return c, c.load()
}

// load reads the files. Callers hold mu, or nobody else has c yet.
func (c *certFiles) load() error {
	seen := c.look()
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	c.seen = seen
	if err != nil {
		return fmt.Errorf("web: certificate %s: %w", c.cert, err)
	}
	c.pair = &pair
	return nil
}

// look returns what the files are now, nil for one that is not there.
func (c *certFiles) look() (now [2]os.FileInfo) {
	for i, name := range []string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			now[i] = info
		}
	}
	return now
}

// current returns the certificate, read again if the files have changed.
func (c *certFiles) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.checked) >= time.Second {
		c.checked = now
		if files := c.look(); changed(files[0], c.seen[0]) || changed(files[1], c.seen[1]) {
			if err := c.load(); err != nil {
				c.log.Error("certificate not read again; the one from before is served", slog.Any("err", err))
			} else {
				c.log.Info("certificate read again", slog.String("file", c.cert))
			}
		}
	}
	return c.pair
}

func changed(now, before os.FileInfo) bool {
	if now == nil || before == nil {
		return now != before
	}
	return !os.SameFile(now, before) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())
}

// serve makes the files the first certificate of conf, behind its own GetCertificate.
func (c *certFiles) serve(conf *tls.Config) {
	first, others := conf.GetCertificate, conf.Certificates
	conf.Certificates = nil // they would be asked instead by clients that name no server
	conf.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if first != nil {
			if pair, err := first(hello); pair != nil || err != nil {
				return pair, err
			}
		}
		pair := c.current()
		if len(others) > 0 && hello.SupportsCertificate(pair) != nil {
			for i := range others {
				if hello.SupportsCertificate(&others[i]) == nil {
					return &others[i], nil
				}
			}
		}
		return pair, nil
	}
}
