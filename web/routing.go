package web

import (
	"net/http"
	"net/url"
	"strings"

	"example.com/quire/internal/route"
)

type autoKind uint8

const (
	autoNone autoKind = iota
	autoNotFound
	autoMethod
	autoOptions
	autoRedirect
	autoRefused
)

// route finds the handler of a request and notes the match in the Context.
func (a *App) route(c *Context) Handler {
	rt := a.current()
	r := c.req
	if r.URL.Path == "*" && r.Method == http.MethodOptions {
		var all route.Methods
		for _, o := range rt.routes {
			all |= o.bit
			if o.bit == route.Get {
				all |= route.Head
			}
		}
		return c.automatic(rt, nil, autoOptions, all)
	}
	m := &c.m
	m.Reset(rt.bit(r.Method))
	m.Loose = a.opts.NoRedirectClean
	var (
		found        *Route
		table, where *route.Table[Route]
	)
	if len(rt.hosts) == 0 {
		found, c.path, c.escaped = rt.plain.Find(r.URL, m)
		where = rt.plain
	} else {
		host := r.Host
		if r.Method == http.MethodConnect && r.URL.Host != "" {
			host = r.URL.Host
		}
		table = rt.hosts[hostName(host)]
		c.path, c.escaped = route.Canonical(r.URL)
		found, where = rt.find(table, c.path, m)
	}
	if found != nil {
		if !c.m.Rest || c.m.Exact() || !a.slashRedirect(c, rt, table, where) {
			c.route, c.matched = found, true
			return *found.run.Load()
		}
		return c.automatic(rt, found, autoRedirect, 0)
	}
	return a.missed(c, rt, table)
}

// find looks into the table of the host, then into the one for all hosts.
func (rt *router) find(host *route.Table[Route], path string, m *route.Match[Route]) (*Route, *route.Table[Route]) {
	if path == "" || path[0] != '/' {
		return nil, nil
	}
	if host != nil {
		if r := host.Lookup(path, m); r != nil {
			return r, host
		}
		m.N = 0
	}
	return rt.plain.Lookup(path, m), rt.plain
}

// slashRedirect decides on the redirect from /a to /a/ when /a reached only a
// rest: it is due when /a/ is matched exactly. As in net/http, a deeper rest
// would otherwise hide the subtree that the client means.
func (a *App) slashRedirect(c *Context, rt *router, host, where *route.Table[Route]) bool {
	path := c.path
	if a.opts.NoRedirectSlash || c.req.Method == http.MethodConnect || path[len(path)-1] == '/' {
		return false
	}
	if where == host {
		rt = &router{plain: host} // what the other table has stays behind the match we have
	}
	kept := c.m
	if rt.findSlash(host, path, &c.m) != nil {
		c.redirectTo(path + "/")
	}
	if c.location == "" {
		c.m = kept
	}
	return c.location != ""
}

// findSlash finds the route that matches path + "/" exactly.
func (rt *router) findSlash(host *route.Table[Route], path string, m *route.Match[Route]) *Route {
	depth := strings.Count(path, "/") + 1
	for _, t := range [2]*route.Table[Route]{host, rt.plain} {
		if t == nil || !t.EndsInSlash(depth) {
			continue
		}
		m.Reset(m.Bit)
		if r := t.LookupSlash(path, m); r != nil {
			if m.Exact() {
				return r
			}
			return nil
		}
	}
	return nil
}

// missed answers a path without route: by redirect, 405, OPTIONS or 404.
func (a *App) missed(c *Context, rt *router, host *route.Table[Route]) Handler {
	method, path := c.req.Method, c.path
	allow, miss := c.m.Allow, c.m.Miss
	if path != "" && path[0] == '/' && method != http.MethodConnect {
		if target, r := a.redirectTarget(c, rt, host); r != nil {
			if c.redirectTo(target); c.location != "" {
				return c.automatic(rt, r, autoRedirect, 0)
			}
		}
	}
	c.m.N = 0
	if miss == nil {
		return c.automatic(rt, nil, autoNotFound, 0)
	}
	if method == http.MethodOptions {
		return c.automatic(rt, miss, autoOptions, allow)
	}
	return c.automatic(rt, miss, autoMethod, allow)
}

// redirectTarget returns the path that the client should have asked for.
func (a *App) redirectTarget(c *Context, rt *router, host *route.Table[Route]) (string, *Route) {
	try := func(path string) *Route {
		c.m.Reset(c.m.Bit)
		r, _ := rt.find(host, path, &c.m)
		return r
	}
	path := c.path
	if clean := route.Clean(path); clean != path {
		if a.opts.NoRedirectClean {
			return "", nil
		}
		if r := try(clean); r != nil {
			if !c.m.Exact() && !a.opts.NoRedirectSlash && clean[len(clean)-1] != '/' {
				if s := rt.findSlash(host, clean, &c.m); s != nil {
					return clean + "/", s // one redirect in place of two
				}
			}
			return clean, r
		}
		path = clean
	}
	if !a.opts.NoRedirectSlash {
		if path[len(path)-1] != '/' {
			if r := rt.findSlash(host, path, &c.m); r != nil {
				return path + "/", r
			}
		} else if len(path) > 1 {
			if r := try(path[:len(path)-1]); r != nil && c.m.Exact() {
				return path[:len(path)-1], r
			}
		}
	}
	return "", nil
}

// redirectTo sets the target of an automatic redirect, unless a browser could
// read it as another host: //host, or /\host, which it takes for //host.
func (c *Context) redirectTo(path string) {
	target := route.Escape(path)
	if !localTarget(target) {
		return
	}
	if q := c.req.URL.RawQuery; q != "" || c.req.URL.ForceQuery {
		target += "?" + q
	}
	c.location = target
}

func localTarget(target string) bool {
	return target != "" && target[0] == '/' && (len(target) == 1 || (target[1] != '/' && target[1] != '\\'))
}

// automatic prepares an answer of the App's own and returns it wrapped in the
// middleware of the group it falls to: the deeper one of the group that
// registered the route r and the group with the longest prefix of the path.
func (c *Context) automatic(rt *router, r *Route, kind autoKind, allow route.Methods) Handler {
	c.auto = kind
	c.route, c.matched = nil, false
	if kind == autoMethod || kind == autoOptions {
		c.res.w.Header()["Allow"] = rt.allow(allow)
	}
	g := rt.answersFor(c.req.Host, c.path)
	if r != nil {
		if own := rt.answers[r.group]; len(own.segs) >= len(g.segs) || (own.host != "" && g.host == "") {
			g = own
		}
	}
	c.answers = g
	return g.auto
}

// answers is what one group says by itself. It is immutable.
type answers struct {
	host     string
	segs     []route.Segment
	auto     Handler // automatic, under the group's middleware
	notFound Handler
	noMethod Handler
}

// answers makes the group's answers; what it does not set comes from outer.
func (g *Group) answers(outer *answers) *answers {
	an := &answers{host: g.host, segs: g.segs, notFound: g.notFound, noMethod: g.noMethod}
	if outer != nil && an.notFound == nil {
		an.notFound = outer.notFound
	}
	if outer != nil && an.noMethod == nil {
		an.noMethod = outer.noMethod
	}
	an.auto = compose(g.stack(), automatic)
	return an
}

func (rt *router) answersFor(host, path string) *answers {
	for _, g := range rt.groups {
		if (g.host == "" || g.host == hostName(host)) && route.Covers(g.segs, path) {
			return g
		}
	}
	return rt.groups[len(rt.groups)-1]
}

// automatic is the innermost handler of the App's own answers.
func automatic(c *Context) error {
	switch c.auto {
	case autoRedirect:
		return c.Redirect(http.StatusTemporaryRedirect, c.location)
	case autoOptions:
		return c.NoContent(http.StatusNoContent)
	case autoRefused:
		return c.refusal
	case autoMethod:
		if h := c.answers.noMethod; h != nil {
			return h(c)
		}
		return ErrMethodNotAllowed
	}
	if h := c.answers.notFound; h != nil {
		return h(c)
	}
	return ErrNotFound
}

// cutSegments removes the first n segments of an escaped path and returns what
// is left decoded and, when the escapes matter, as it was.
func cutSegments(escaped string, n int) (path, raw string) {
	rest := escaped
	for ; n > 0 && rest != ""; n-- {
		i := strings.IndexByte(rest[1:], '/')
		if i < 0 {
			rest = ""
			break
		}
		rest = rest[1+i:]
	}
	if rest == "" {
		rest = "/"
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return rest, ""
	}
	if (&url.URL{Path: path}).EscapedPath() == rest {
		return path, ""
	}
	return path, rest
}
