package middleware

import (
	"net"
	"net/http"
	"strings"

	"example.com/quire/web"
)

// HostsOptions configure Hosts.
type HostsOptions struct {
	// Names are the host names that are answered, without port, in any case.
	// Default: the loopback names localhost, 127.0.0.1 and ::1.
	Names []string
}

// Hosts answers requests for other host names by 421 (Misdirected Request). On a
// loopback server it is what stops DNS rebinding: a page of a foreign name that
// resolves to 127.0.0.1 sends that name as Host.
func Hosts(o HostsOptions) (web.Middleware, error) {
	if len(o.Names) == 0 {
		o.Names = []string{"localhost", "127.0.0.1", "::1"}
	}
	known := make(map[string]bool, len(o.Names))
	for _, n := range o.Names {
		name := strings.ToLower(strings.Trim(n, "[]"))
		if name == "" || strings.ContainsAny(name, "/*? \t") {
			return nil, &web.ConfigError{Field: "HostsOptions.Names", Got: n, Want: "a host name"}
		}
		known[name] = true
	}
	return func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if !known[hostOnly(c.Request().Host)] {
				return web.NewProblem(http.StatusMisdirectedRequest, "this server does not answer for that host name", nil)
			}
			return next(c)
		}
	}, nil
}

func hostOnly(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
