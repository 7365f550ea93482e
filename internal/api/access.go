package api

import (
	"crypto/sha256"
	"net/http"
	"strings"

	"example.com/quire/internal/record"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
	"example.com/quire/web/middleware"
)

// Access decides in which space a request acts.
//
// With tokens, a request acts in the space of its token. The token is sent as "Authorization:
// Bearer TOKEN", or as the password of Basic credentials, for which browsers prompt their users.
// Without tokens, every request acts in the space local. The server then listens on a loopback
// address only, which the configuration enforces, and Identify refuses requests that another site's
// page may send: a Host that is not a loopback name (DNS rebinding) and every request that a
// browser marks as cross-site.
type Access struct {
	tokens map[[sha256.Size]byte]record.Space
	names  []string       // of hosts that are answered, without tokens
	hosts  web.Middleware // that sees to it
}

// NewAccess returns the access of tokens, given as their SHA-256. Without tokens, requests are
// answered for the loopback names and for those in names: the address that the server listens
// on may be another of 127.0.0.0/8.
func NewAccess(tokens map[[sha256.Size]byte]record.Space, names ...string) (*Access, error) {
	if len(tokens) > 0 {
		return &Access{tokens: tokens}, nil
	}
	names = append([]string{"localhost", "127.0.0.1", "::1"}, names...)
	hosts, err := middleware.Hosts(middleware.HostsOptions{Names: names})
	if err != nil {
		return nil, err
	}
	return &Access{names: names, hosts: hosts}, nil
}

// Lane returns the options with which a frozen lane over API.Frozen serves no request that Identify
// would refuse: without tokens it also checks Host and Sec-Fetch-Site. Requests with Origin or
// credentials never reach it.
func (a *Access) Lane() frozen.LaneOptions {
	return frozen.LaneOptions{Hosts: a.names, SameOrigin: !a.tokenNeeded()}
}

// tokenNeeded says that the routes under /v1 want a token.
func (a *Access) tokenNeeded() bool { return len(a.tokens) > 0 }

var spaceKey = web.NewKey[record.Space]("space")

// SpaceOf returns the space that a request acts in; false when it bears no token.
func SpaceOf(c *web.Context) (record.Space, bool) { return spaceKey.Get(c) }

// Identify is middleware for all routes: it notes the space of the caller and refuses wrong
// credentials, wherever they are sent.
func (a *Access) Identify(next web.Handler) web.Handler {
	if !a.tokenNeeded() {
		return a.hosts(func(c *web.Context) error {
			if err := sameSite(c.Request()); err != nil {
				return err
			}
			act(c, record.Local)
			return next(c)
		})
	}
	return func(c *web.Context) error {
		token, ok := bearer(c.Request())
		if !ok {
			return next(c)
		}
		// The token is looked up by its hash: the time that takes tells nothing of it.
		space, known := a.tokens[sha256.Sum256([]byte(token))]
		if !known {
			return unauthorized(c, "the token is not known")
		}
		act(c, space)
		return next(c)
	}
}

// Require is middleware that lets only identified callers pass.
func (a *Access) Require(next web.Handler) web.Handler {
	return func(c *web.Context) error {
		if _, err := Caller(c); err != nil {
			return err
		}
		return next(c)
	}
}

// Caller returns the space of a request, or the problem that requires a token.
func Caller(c *web.Context) (record.Space, error) {
	space, ok := SpaceOf(c)
	if !ok {
		return "", unauthorized(c, "a token is needed: Authorization: Bearer TOKEN")
	}
	return space, nil
}

func act(c *web.Context, space record.Space) {
	spaceKey.Set(c, space)
	c.SetUser(string(space))
}

func unauthorized(c *web.Context, detail string) error {
	h := c.Writer().Header()
	h.Add("WWW-Authenticate", `Bearer realm="quire"`)
	h.Add("WWW-Authenticate", `Basic realm="Quire: any name, the token as password", charset="UTF-8"`)
	return problemOf("unauthorized", http.StatusUnauthorized, detail, nil)
}

func bearer(r *http.Request) (string, bool) {
	if _, password, ok := r.BasicAuth(); ok {
		return password, true
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// sameSite refuses what another site's page sent. Fetch Metadata: browsers say where a request
// comes from; other clients send neither field.
func sameSite(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return crossSite(site)
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return crossSite(origin)
	}
	return nil
}

func crossSite(got string) error {
	p := problemOf("cross-site", http.StatusForbidden, "requests from pages of other sites are refused", nil)
	p.Ext = map[string]any{"got": got}
	return p
}

// sameOrigin compares an Origin header with the host that was asked.
func sameOrigin(origin, host string) bool {
	_, rest, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(rest, host)
}
