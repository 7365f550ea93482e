package wsman

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says how to reach a host. Endpoint and Auth are needed; the rest has defaults.
type Config struct {
	// Endpoint is the address of the service: https://host:5986/wsman or http://host:5985/wsman. A
	// missing port is 5986 or 5985, a missing path /wsman.
	Endpoint string
	// Auth says who one is. It may be nil when RoundTripper sees to that.
	Auth Auth
	// TLS is for HTTPS: roots, a server's name. At least TLS 1.2 is spoken whatever it says.
	TLS *tls.Config
	// RoundTripper carries the requests instead of connections of this package's own, for Kerberos
	// or a proxy. NTLM, which authenticates connections, cannot be used with it.
	RoundTripper http.RoundTripper
	// ConfigurationName is the session configuration (JEA endpoint): default Microsoft.PowerShell.
	// A URI is used as it is.
	ConfigurationName string
	// MaxEnvelope bounds an envelope in bytes, both ways: default 153,600, which every host takes;
	// those since Windows Server 2012 take 512,000 unless configured otherwise.
	MaxEnvelope int
	// AllowPlaintext lets bodies and the password of Basic pass readable over HTTP. Danger: whoever
	// is on the way reads and alters them.
	AllowPlaintext bool
	// OperationTimeout is how long the host may wait with an answer: default 20 s. A request is
	// given up 10 s after it.
	OperationTimeout time.Duration
	// IdleTimeout is after which time without requests the host ends the shell; 0 is its default.
	IdleTimeout time.Duration
	// Locale is the language of the host's messages: default en-US.
	Locale string
	// Logger is told of authentication and refusals; nil is silent. It is never told of bodies.
	Logger *slog.Logger
}

const (
	defaultConfiguration = "Microsoft.PowerShell"
	defaultEnvelope      = 153_600
	minEnvelope          = 16 << 10
	maxEnvelope          = 4 << 20
	defaultOperation     = 20 * time.Second
	// httpPatience is how much longer than the host a request waits.
	httpPatience = 10 * time.Second
)

// ErrPlaintext is a configuration by which secrets would pass readable.
var ErrPlaintext = errors.New("wsman: refused to send in the clear over HTTP: use https, NTLM, or set AllowPlaintext")

// withDefaults fills in and checks.
func (c Config) withDefaults() (Config, *url.URL, error) {
	fail := func(format string, a ...any) (Config, *url.URL, error) {
		return c, nil, fmt.Errorf("wsman: "+format, a...)
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		// The error would quote all of it, with a password that does not belong there.
		return fail("endpoint: no URL like https://host:5986/wsman")
	}
	secure := u.Scheme == "https"
	switch {
	case !secure && u.Scheme != "http" || u.Hostname() == "":
		return fail("endpoint %q: it has to be like https://host:5986/wsman", u.Redacted())
	case u.User != nil:
		return fail("endpoint %q: a name and password belong into Auth", u.Redacted())
	}
	if u.Port() == "" {
		port := "5985"
		if secure {
			port = "5986"
		}
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/wsman"
	}
	switch c.Auth.(type) {
	case nil:
		if c.RoundTripper == nil {
			return fail("neither Auth nor RoundTripper says who one is")
		}
	case negotiate:
		if c.RoundTripper != nil {
			return fail("NTLM authenticates connections, which a RoundTripper hides")
		}
	case certificate:
		if !secure || c.RoundTripper != nil {
			return fail("a certificate is shown in TLS of this package: use https, and no RoundTripper")
		}
	}
	if _, sealed := c.Auth.(negotiate); !secure && !sealed && !c.AllowPlaintext {
		return c, nil, ErrPlaintext
	}
	c.ConfigurationName = cmp.Or(c.ConfigurationName, defaultConfiguration)
	c.MaxEnvelope = cmp.Or(c.MaxEnvelope, defaultEnvelope)
	if c.MaxEnvelope < minEnvelope || c.MaxEnvelope > maxEnvelope {
		return fail("an envelope of %d bytes: it may have %d to %d", c.MaxEnvelope, minEnvelope, maxEnvelope)
	}
	c.OperationTimeout = cmp.Or(c.OperationTimeout, defaultOperation)
	if c.OperationTimeout < time.Second || c.IdleTimeout < 0 {
		return fail("an operation of %v and an idle shell of %v: at least 1 s, and not below 0", c.OperationTimeout, c.IdleTimeout)
	}
	c.Locale = cmp.Or(c.Locale, "en-US")
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c, u, nil
}

// resource is the URI of the session configuration.
func (c *Config) resource() string {
	if strings.Contains(c.ConfigurationName, "://") {
		return c.ConfigurationName
	}
	return nsPowerShell + "/" + c.ConfigurationName
}

// tls is the configuration of a connection.
func (c *Config) tls() *tls.Config {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLS != nil {
		t = c.TLS.Clone()
		t.MinVersion = max(t.MinVersion, tls.VersionTLS12)
	}
	if a, ok := c.Auth.(certificate); ok {
		t.Certificates = []tls.Certificate{a.certificate}
	}
	return t
}
