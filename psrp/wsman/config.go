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
	"strconv"
	"strings"
	"time"

	"example.com/quire/psrp/proto"
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
	fail := func(field string, got any, want string) (Config, *url.URL, error) {
		return c, nil, &proto.ConfigError{Field: "Config." + field, Got: got, Want: want}
	}
	const like = "a URL like https://host:5986/wsman"
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		// The error would quote all of it, with a password that does not belong there.
		return fail("Endpoint", "no URL", like)
	}
	secure := u.Scheme == "https"
	switch {
	case !secure && u.Scheme != "http" || u.Hostname() == "":
		return fail("Endpoint", strconv.Quote(u.Redacted()), like)
	case u.User != nil:
		return fail("Endpoint", strconv.Quote(u.Redacted()), "name and password in Auth")
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
			return fail("Auth", "nothing", "who one is, unless RoundTripper sees to that")
		}
	case negotiate:
		if c.RoundTripper != nil {
			return fail("RoundTripper", "one beside NTLM", "none: NTLM authenticates connections, which it hides")
		}
	case certificate:
		if !secure || c.RoundTripper != nil {
			return fail("Auth", "a certificate", "https and no RoundTripper with it: it is shown in TLS of this package")
		}
	}
	if _, sealed := c.Auth.(negotiate); !secure && !sealed && !c.AllowPlaintext {
		return c, nil, ErrPlaintext
	}
	c.ConfigurationName = cmp.Or(c.ConfigurationName, defaultConfiguration)
	c.MaxEnvelope = cmp.Or(c.MaxEnvelope, defaultEnvelope)
	if c.MaxEnvelope < minEnvelope || c.MaxEnvelope > maxEnvelope {
		return fail("MaxEnvelope", c.MaxEnvelope, fmt.Sprintf("%d to %d bytes", minEnvelope, maxEnvelope))
	}
	c.OperationTimeout = cmp.Or(c.OperationTimeout, defaultOperation)
	if c.OperationTimeout < time.Second {
		return fail("OperationTimeout", c.OperationTimeout, "at least 1s")
	}
	if c.IdleTimeout < 0 {
		return fail("IdleTimeout", c.IdleTimeout, "at least 0")
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
