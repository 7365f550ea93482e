package cacheredis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/redis/rueidis"

	"example.com/quire/cache"
)

// With Sentinel each connection begins with the question where the primary is. When Sentinel makes a
// primary a replica it ends the connections to it, so none stays with a server that has another role;
// the heartbeat of a link asks for the role besides.

// dialPrimary connects to the primary that one of the sentinels names.
func (c Config) dialPrimary(sentinels []string) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, _ string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, c.DialTimeout)
		defer cancel()
		var errs []error
		for _, sentinel := range sentinels {
			addr, err := c.primary(ctx, sentinel)
			if err == nil {
				return c.connect(ctx, d, addr)
			}
			errs = append(errs, fmt.Errorf("sentinel %s: %w", sentinel, err))
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.Join(errs...)}
	}
}

// connect dials with Dial and TLS as they are configured.
func (c Config) connect(ctx context.Context, d *net.Dialer, addr string) (net.Conn, error) {
	switch {
	case c.Dial != nil:
		return c.Dial(ctx, addr)
	case c.TLS != nil:
		return (&tls.Dialer{NetDialer: d, Config: c.TLS}).DialContext(ctx, "tcp", addr)
	}
	return d.DialContext(ctx, "tcp", addr)
}

// primary asks one sentinel.
func (c Config) primary(ctx context.Context, sentinel string) (addr string, err error) {
	s, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{sentinel}, ForceSingleClient: true, DisableCache: true, DisableRetry: true,
		ConnWriteTimeout: c.DialTimeout, ClientSetInfo: rueidis.DisableClientSetInfo, Dialer: net.Dialer{Timeout: c.DialTimeout},
		DialCtxFn: func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			return c.connect(ctx, d, addr)
		},
	})
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		return "", err
	}
	at, err := s.Do(ctx, s.B().SentinelGetMasterAddrByName().Master(c.SentinelMaster).Build()).AsStrSlice()
	switch {
	case rueidis.IsRedisNil(err):
		return "", &cache.ConfigError{Field: "SentinelMaster", Got: c.SentinelMaster, Want: "a name that the sentinels know"}
	case err != nil:
		return "", err
	case len(at) != 2:
		return "", malformed("address of length", len(at))
	}
	return net.JoinHostPort(at[0], at[1]), nil
}
