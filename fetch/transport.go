package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"example.com/quire/fetch/internal/call"
)

// TransportConfig describes the *http.Transport that a client makes for itself. Each client has its
// own, and with it its own pool of connections: a connection made under one guard never serves
// another client.
type TransportConfig struct {
	// DialTimeout and TLSTimeout bound making a connection: 0 = 5 s each.
	DialTimeout, TLSTimeout time.Duration
	// IdleTimeout is how long an unused connection is kept: 0 = 90 s.
	IdleTimeout time.Duration
	// MaxIdleConnsPerHost are kept: 0 = 64. MaxConnsPerHost are made: 0 = no limit.
	MaxIdleConnsPerHost, MaxConnsPerHost int
	// MaxHeaderBytes of a response: 0 = 1 MiB.
	MaxHeaderBytes int64
	// DisableHTTP2 keeps to HTTP/1.1.
	DisableHTTP2 bool
	// TLS is cloned; its MinVersion must be 0, which means TLS 1.2, or at least that.
	TLS *tls.Config
	// Guard judges every address before it is dialed: nil = none. It goes with neither Proxy, nor a
	// Base, nor dial functions.
	Guard *Guard
	// Proxy as in http.Transport: nil = none, the environment is not asked.
	Proxy func(*http.Request) (*url.URL, error)
	// Resolver turns names into addresses: nil = the system's.
	Resolver *net.Resolver
	// DialContext and DialTLSContext replace the dialer.
	DialContext, DialTLSContext func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c TransportConfig) withDefaults() TransportConfig {
	c.DialTimeout = cmp.Or(c.DialTimeout, 5*time.Second)
	c.TLSTimeout = cmp.Or(c.TLSTimeout, 5*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 90*time.Second)
	c.MaxIdleConnsPerHost = cmp.Or(c.MaxIdleConnsPerHost, 64)
	c.MaxHeaderBytes = cmp.Or(c.MaxHeaderBytes, 1<<20)
	return c
}

func newTransport(c TransportConfig) *http.Transport {
	d := &net.Dialer{Timeout: c.DialTimeout, KeepAlive: 30 * time.Second, Resolver: c.Resolver}
	dial := d.DialContext
	if c.Guard != nil {
		d.ControlContext = c.Guard.ControlContext
		dial = c.Guard.dial(d)
	}
	if c.DialContext != nil {
		dial = c.DialContext
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLS != nil {
		conf = c.TLS.Clone()
		conf.MinVersion = max(conf.MinVersion, tls.VersionTLS12)
	}
	return &http.Transport{
		Proxy:                  c.Proxy,
		DialContext:            dial,
		DialTLSContext:         c.DialTLSContext,
		TLSClientConfig:        conf,
		TLSHandshakeTimeout:    c.TLSTimeout,
		IdleConnTimeout:        c.IdleTimeout,
		MaxIdleConns:           0, // bounded per host; how many hosts there are, the caller knows
		MaxIdleConnsPerHost:    c.MaxIdleConnsPerHost,
		MaxConnsPerHost:        c.MaxConnsPerHost,
		MaxResponseHeaderBytes: c.MaxHeaderBytes,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true, // the decode layer does it, where MaxBody can see it
		ForceAttemptHTTP2:      !c.DisableHTTP2,
	}
}

func deniedIn(err error) *deniedError {
	d, _ := errors.AsType[*deniedError](err)
	return d
}

func (c TransportConfig) validate(k *call.Check, foreignBase bool) {
	k.Duration("Transport.DialTimeout", c.DialTimeout)
	k.Duration("Transport.TLSTimeout", c.TLSTimeout)
	k.Duration("Transport.IdleTimeout", c.IdleTimeout)
	k.Count("Transport.MaxIdleConnsPerHost", int64(c.MaxIdleConnsPerHost))
	k.Count("Transport.MaxConnsPerHost", int64(c.MaxConnsPerHost))
	k.Count("Transport.MaxHeaderBytes", c.MaxHeaderBytes)
	if c.TLS != nil && c.TLS.MinVersion != 0 && c.TLS.MinVersion < tls.VersionTLS12 {
		k.Fail("Transport.TLS.MinVersion", tls.VersionName(c.TLS.MinVersion), "TLS 1.2 or newer")
	}
	if c.Guard == nil {
		return
	}
	c.Guard.validate(k)
	const why = "only Transport.Guard: the guard would not see the address that is dialled"
	for _, conflict := range []struct {
		field string
		set   bool
	}{
		{"Base", foreignBase},
		{"Transport.Proxy", c.Proxy != nil},
		{"Transport.DialContext", c.DialContext != nil},
		{"Transport.DialTLSContext", c.DialTLSContext != nil},
	} {
		if conflict.set {
			k.Fail(conflict.field, "a value", why)
		}
	}
}

// settings are for Describe.
func (c TransportConfig) settings() string {
	return fmt.Sprintf("dial %v, TLS %v, idle %v, guard %t", c.DialTimeout, c.TLSTimeout, c.IdleTimeout, c.Guard != nil)
}
