package app

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// keyPair is a certificate with its key in two files. It is safe for concurrent use.
type keyPair struct {
	cert, key string
	now       func() time.Time

	mu     sync.Mutex
	loaded *tls.Certificate
	stamp  [2]time.Time
	looked time.Time
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
	k.loaded, k.stamp = &pair, stamp
	return k.loaded, nil
}

// keep serves the certificate that was read before, when there is one.
func (k *keyPair) keep(err error) (*tls.Certificate, error) {
	if k.loaded != nil {
		return k.loaded, nil
	}
	return nil, fmt.Errorf("tls: %w", err)
}
