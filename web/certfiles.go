package web

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// CertificateOptions configure CertificateFiles.
type CertificateOptions struct {
	Logger *slog.Logger     // default: slog.Default()
	Now    func() time.Time // default: time.Now
}

// CertificateFiles returns a tls.Config.GetCertificate that serves the certificate and key of PEM
// files. Handshakes look at the files, at most once a second, and read them again when one has
// changed, so that a renewal needs no restart. While the two cannot be read or do not fit together,
// as between two writes of a renewal, the certificate from before is served, and the log is told
// once of each reason. RunTLS has it already.
func CertificateFiles(certFile, keyFile string, o CertificateOptions) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	c, err := newCertFiles(certFile, keyFile, o)
	if err != nil {
		return nil, err
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil }, nil
}

type certFiles struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	read   [2]os.FileInfo // the files that pair is of
	looked time.Time
	failed string // what the log was told last, "" when the files were read
}

func newCertFiles(cert, key string, o CertificateOptions) (*certFiles, error) {
	c := &certFiles{cert: cert, key: key, now: o.Now, log: cmp.Or(o.Logger, slog.Default())}
	if c.now == nil {
		c.now = time.Now
	}
	c.looked = c.now()
	return c, c.load()
}

// load reads the files if they are not those that were read before.
func (c *certFiles) load() error {
	var files [2]os.FileInfo
	fresh := c.pair == nil
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("web: certificate: %w", err)
		}
		files[i] = info
		fresh = fresh || !os.SameFile(info, c.read[i]) || info.Size() != c.read[i].Size() || !info.ModTime().Equal(c.read[i].ModTime())
	}
	if !fresh {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("web: certificate %s: %w", c.cert, err)
	}
	c.pair, c.read = &pair, files
	return nil
}

// current returns the certificate of the files as they are, or were when they could be read.
func (c *certFiles) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < time.Second {
		return c.pair
	}
	c.looked = now
	err := c.load()
	switch {
	case err == nil:
		c.failed = ""
	case c.failed != err.Error():
		c.failed = err.Error()
		attrs := []any{slog.Any("error", err)}
		if leaf := c.pair.Leaf; leaf != nil {
			attrs = append(attrs, slog.Time("expires", leaf.NotAfter))
		}
		c.log.Warn("the renewed certificate cannot be read; the one from before is served", attrs...)
	}
	return c.pair
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
