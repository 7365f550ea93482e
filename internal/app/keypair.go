package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate with its key in two files. It is safe for concurrent use.
type keyPair struct {
	cert, key string
	now       func() time.Time
	log       *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	stamp  [2]time.Time
	looked time.Time
	failed string // what the log was told last, "" when the files were read
}

// lookEvery is how often the files' times are looked at.
const lookEvery = time.Second

func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if k.loaded != nil && now.Sub(k.looked) < lookEvery {
		return k.loaded, nil
	}
	k.looked = now
	var stamp [2]time.Time
	for i, name := range []string{k.cert, k.key} {
		info, err := os.Stat(name)
		if err != nil {
			return k.keep(err)
		}
		stamp[i] = info.ModTime()
	}
	if k.loaded != nil && stamp == k.stamp {
		return k.loaded, nil
	}
	pair, err := tls.LoadX509KeyPair(k.cert, k.key)
	if err != nil {
		return k.keep(err) // half of a renewal: the other file follows
	}
	k.loaded, k.stamp, k.failed = &pair, stamp, ""
	return k.loaded, nil
}

// keep serves the certificate that was read before, when there is one. The log is told once of
// each reason.
func (k *keyPair) keep(err error) (*tls.Certificate, error) {
	if k.loaded != nil {
		if k.failed != err.Error() {
			k.failed = err.Error()
			attrs := []any{slog.Any("error", err)}
			if leaf := k.loaded.Leaf; leaf != nil {
				attrs = append(attrs, slog.Time("expires", leaf.NotAfter))
			}
			k.log.Warn("the renewed certificate cannot be read; the one from before is served", attrs...)
		}
		return k.loaded, nil
	}
	return nil, fmt.Errorf("tls: %w", err)
}

// certificate reads a TLS key pair and reads it again when the files change, so that a renewed
// certificate needs no restart.
func certificate(certFile, keyFile string, now func() time.Time, log *slog.Logger) (*tls.Config, error) {
	r := &keyPair{cert: certFile, key: keyFile, now: now, log: log}
	if _, err := r.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: r.get}, nil
}
