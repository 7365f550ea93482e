package web

import (
	"context"
	"net/http"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"example.com/quire/internal/route"
)

// Handler answers a request. A returned error is answered by the App's error
// handler; see Problem for how errors become statuses.
type Handler func(*Context) error

// Middleware wraps a Handler. It is called once, at registration; only the
// Handler it returns runs per request.
type Middleware func(Handler) Handler

// Route is a registered route. Its methods may be called while the App serves.
type Route struct {
	// What each request reads comes first.
	run   atomic.Pointer[Handler]
	names []string // of the parameters: those of the pattern

	app     *App
	group   *Group
	method  string // "" for any
	bit     route.Methods
	host    string
	pattern *route.Pattern
	name    string
	source  string
	budgets Budgets
	meta    []any
	laxJSON bool

	decompress bool
	static     *static // set by Static, for Audit
	wrap       []Middleware
	removed    bool // guarded by app.mu
}

// RouteInfo describes a route.
type RouteInfo struct {
	Method  string // "" answers every method
	Host    string // "" answers every host
	Pattern string
	Name    string
	Source  string // file:line of the registration
	Budgets Budgets
	Meta    []any
}

// Info describes the route.
func (r *Route) Info() RouteInfo {
	return RouteInfo{r.method, r.host, r.pattern.Text, r.name, r.source, r.budgets, append([]any(nil), r.meta...)}
}

// Replace gives the route another handler, under the same middleware. A
// request sees either the old or the new one.
func (r *Route) Replace(h Handler) {
	run := compose(r.wrap, h)
	r.run.Store(&run)
}

// Remove takes the route out of the App. Requests that were routed to it before
// end undisturbed. Removing twice does nothing.
func (r *Route) Remove() {
	r.app.remove(r)
}

// param returns the place of a parameter among the route's, -1 when there is
// none of that name. Names of one route mostly differ in their last character.
func (r *Route) param(name string) int {
	last := len(name) - 1
	if last < 0 {
		return slices.Index(r.names, "")
	}
	for i, n := range r.names {
		if len(n) == last+1 && n[last] == name[last] && n == name {
			return i
		}
	}
	return -1
}

func (r *Route) label() string {
	method := r.method
	if method == "" {
		method = "any method"
	}
	return method + " " + r.host + r.pattern.Text
}

// RouteOption is Name, Meta or Budgets.
type RouteOption interface{ option(*Route) }

type optionFunc func(*Route)

func (f optionFunc) option(r *Route) { f(r) }

// Name names the route for App.URL. Names are unique in an App.
func Name(n string) RouteOption { return optionFunc(func(r *Route) { r.name = n }) }

// Meta attaches a value for other packages to read from RouteInfo.Meta.
func Meta(v any) RouteOption { return optionFunc(func(r *Route) { r.meta = append(r.meta, v) }) }

// Registrar is what routes are registered at: *App and *Group.
type Registrar interface {
	App() *App
	TryHandle(method, pattern string, h Handler, o ...RouteOption) (*Route, error)
}

// Group is a set of routes with a common prefix, host and middleware. The
// middleware of a group also wraps the answers the App gives by itself below
// the prefix: 404, 405, OPTIONS and redirects.
type Group struct {
	app      *App
	parent   *Group
	prefix   string
	host     string
	segs     []route.Segment // of the prefix
	mw       []Middleware
	notFound Handler
	noMethod Handler
	used     atomic.Pointer[Route] // the first route registered at the group or below it
}

// App returns the App the group belongs to.
func (g *Group) App() *App { return g.app }

// Group makes a group below g. The prefix is "" or begins with a slash; it may
// have parameters but no rest. It panics with a *PatternError on any other.
func (g *Group) Group(prefix string, mw ...Middleware) *Group {
	return g.sub(prefix, g.host, mw)
}

// Host makes a group whose routes answer only for this host: an exact name
// whose case and port do not matter. Such a route beats one without host,
// whatever their paths.
func (g *Group) Host(host string) *Group {
	name := hostName(host)
	if name == "" || strings.ContainsAny(name, "/{}*?# \t") {
		panic(&PatternError{Pattern: host, Source: callerSource(), Reason: "a host is an exact name without path or parameters"})
	}
	return g.sub("", name, nil)
}

func (g *Group) sub(prefix, host string, mw []Middleware) *Group {
	full := g.prefix + strings.TrimSuffix(prefix, "/")
	s := &Group{app: g.app, parent: g, prefix: full, host: host, mw: mw}
	if full != "" {
		p, err := route.Parse(full, g.app.constraintNamed)
		switch {
		case err != nil:
			panic(&PatternError{Pattern: full, Source: callerSource(), Reason: err.Error()})
		case p.EndsInRest() || p.Segs[len(p.Segs)-1].Text == "" && p.Segs[len(p.Segs)-1].Kind == route.Literal:
			panic(&PatternError{Pattern: full, Source: callerSource(), Reason: "a group's prefix has no rest and no {$}"})
		}
		s.segs = p.Segs
	}
	g.app.addGroup(s)
	return s
}

// Use appends middleware. It panics when one is nil, and when a route is
// already registered at the group or below it, since that route would silently
// lack the middleware.
func (g *Group) Use(mw ...Middleware) {
	if slices.ContainsFunc(mw, func(m Middleware) bool { return m == nil }) {
		panic("web: Use at " + callerSource() + ": a middleware is nil")
	}
	if r := g.used.Load(); r != nil {
		panic("web: Use at " + callerSource() + " after the route " + r.label() + " of " + r.source + ": middleware comes before routes")
	}
	g.app.change(func() { g.mw = append(g.mw, mw...) })
}

// NotFound sets the answer to paths below the group's prefix that no route
// takes. Without it the one of the enclosing group holds, at last a 404 problem.
func (g *Group) NotFound(h Handler) { g.app.change(func() { g.notFound = h }) }

// MethodNotAllowed sets the answer to methods that no route of the path takes;
// the Allow header is set before it runs.
func (g *Group) MethodNotAllowed(h Handler) { g.app.change(func() { g.noMethod = h }) }

// TryHandle registers a route. method "" answers every method. The error is a
// *PatternError or a *ConflictError.
func (g *Group) TryHandle(method, pattern string, h Handler, o ...RouteOption) (*Route, error) {
	return g.app.add(g, method, pattern, h, o)
}

// Handle is TryHandle and panics with its error: a wrong pattern is a mistake
// in the program, found the first time it starts.
func (g *Group) Handle(method, pattern string, h Handler, o ...RouteOption) *Route {
	r, err := g.app.add(g, method, pattern, h, o)
	if err != nil {
		panic(err)
	}
	return r
}

// GET registers a route for GET, which answers HEAD too.
func (g *Group) GET(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodGet, pattern, h, o...)
}

// POST registers a route for POST.
func (g *Group) POST(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodPost, pattern, h, o...)
}

// PUT registers a route for PUT.
func (g *Group) PUT(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodPut, pattern, h, o...)
}

// PATCH registers a route for PATCH.
func (g *Group) PATCH(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodPatch, pattern, h, o...)
}

// DELETE registers a route for DELETE.
func (g *Group) DELETE(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodDelete, pattern, h, o...)
}

// HEAD registers a route for HEAD; it wins over a GET route of the same pattern.
func (g *Group) HEAD(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodHead, pattern, h, o...)
}

// OPTIONS registers a route for OPTIONS in place of the automatic answer.
func (g *Group) OPTIONS(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle(http.MethodOptions, pattern, h, o...)
}

// QUERY registers a route for QUERY: safe like GET, with a body like POST.
func (g *Group) QUERY(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle("QUERY", pattern, h, o...)
}

// Any registers a route for every method that has none of its own.
func (g *Group) Any(pattern string, h Handler, o ...RouteOption) *Route {
	return g.Handle("", pattern, h, o...)
}

// Mount gives everything below prefix to h, which sees the path without the
// prefix. /prefix itself is redirected to /prefix/.
func (g *Group) Mount(prefix string, h http.Handler) {
	depth := strings.Count(strings.TrimSuffix(g.prefix+prefix, "/"), "/")
	g.Any(strings.TrimSuffix(prefix, "/")+"/", func(c *Context) error {
		r := c.Request()
		inner := new(http.Request)
		*inner = *r
		u := *r.URL
		u.Path, u.RawPath = cutSegments(route.EscapedPath(&u), depth)
		inner.URL = &u
		c.setPathValues(inner)
		h.ServeHTTP(c.Writer(), inner)
		return nil
	})
}

// stack returns the middleware of the group and its parents, outermost first.
func (g *Group) stack() []Middleware {
	if g == nil {
		return nil
	}
	return append(g.parent.stack(), g.mw...)
}

func compose(mw []Middleware, h Handler) Handler {
	if len(mw) > 0 {
		h = endingStreams(h)
	}
	for _, m := range slices.Backward(mw) {
		h = m(h)
	}
	return h
}

// endingStreams ends an event stream when its handler has returned, before the middleware around
// that goes on: the stream's heartbeat writes from another goroutine, and the writer may be one
// that a middleware is about to close.
func endingStreams(h Handler) Handler {
	return func(c *Context) error {
		defer c.endStream()
		return h(c)
	}
}

func (c *Context) endStream() {
	if c.stream != nil {
		c.stream.close()
	}
}

// FromStd makes a Handler of an http.Handler. The route's parameters reach it
// by http.Request.PathValue, the pattern by http.Request.Pattern.
func FromStd(h http.Handler) Handler {
	return func(c *Context) error {
		c.setPathValues(c.req)
		h.ServeHTTP(c.Writer(), c.req)
		return nil
	}
}

// FromStdMiddleware makes a Middleware of a standard one. An error of the
// handler inside is answered through the writer that the middleware gave it.
func FromStdMiddleware(mw func(http.Handler) http.Handler) Middleware {
	type key struct{}
	return func(next Handler) Handler {
		inner := mw(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c, ok := r.Context().Value(key{}).(*Context)
			if !ok { // the middleware made a request of its own context
				http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
				return
			}
			oldW, oldR := c.w, c.req
			c.w, c.req = w, r
			if err := next(c); err != nil {
				c.Error(err)
			}
			c.w, c.req = oldW, oldR
		}))
		return func(c *Context) error {
			c.setPathValues(c.req)
			r := c.req.WithContext(context.WithValue(c.req.Context(), key{}, c))
			inner.ServeHTTP(c.Writer(), r)
			return nil
		}
	}
}

// Std makes an http.Handler of h, with the App's defaults around it (recover,
// request id, error handler), for use outside the App's router.
func (h Handler) Std(a *App) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.serve(w, r, h)
	})
}

// Std makes a standard middleware of m. The App supplies logger, error handler
// and limits.
func (m Middleware) Std(a *App) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return m(FromStd(next)).Std(a)
	}
}

// callerSource returns file:line of the nearest caller outside web and the
// packages below it, the file with its folder.
func callerSource() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, packagePath+".") || strings.HasPrefix(f.Function, packagePath+"/")
		if !inside || strings.HasSuffix(f.File, "_test.go") {
			return filepath.Base(filepath.Dir(f.File)) + "/" + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return "unknown:0"
		}
	}
}

// packagePath is the import path of this package, wherever it has been moved.
var packagePath = reflect.TypeFor[App]().PkgPath()

// hostName lowers the case of a Host value and cuts its port. Names that are
// lower case already, as nearly all are, cost no allocation.
func hostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.IndexByte(host[i:], ']') < 0 {
		if strings.IndexByte(host[:i], ':') < 0 || host[0] == '[' {
			host = host[:i]
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
