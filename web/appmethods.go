package web

import "net/http"

// App returns the App itself, so that it is a Registrar.
func (a *App) App() *App { return a }

// Group makes a group of routes; see Group.Group.
func (a *App) Group(prefix string, mw ...Middleware) *Group { return a.root.Group(prefix, mw...) }

// Host makes a group of routes for one host; see Group.Host.
func (a *App) Host(host string) *Group { return a.root.Host(host) }

// Use appends middleware for all routes; see Group.Use.
func (a *App) Use(mw ...Middleware) { a.root.Use(mw...) }

// TryHandle registers a route; see Group.TryHandle.
func (a *App) TryHandle(method, pattern string, h Handler, o ...RouteOption) (*Route, error) {
	return a.root.TryHandle(method, pattern, h, o...)
}

// Handle registers a route; see Group.Handle.
func (a *App) Handle(method, pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.Handle(method, pattern, h, o...)
}

// GET registers a route for GET, which answers HEAD too.
func (a *App) GET(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.GET(pattern, h, o...)
}

// POST registers a route for POST.
func (a *App) POST(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.POST(pattern, h, o...)
}

// PUT registers a route for PUT.
func (a *App) PUT(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.PUT(pattern, h, o...)
}

// PATCH registers a route for PATCH.
func (a *App) PATCH(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.PATCH(pattern, h, o...)
}

// DELETE registers a route for DELETE.
func (a *App) DELETE(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.DELETE(pattern, h, o...)
}

// HEAD registers a route for HEAD; it wins over a GET route of the same pattern.
func (a *App) HEAD(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.HEAD(pattern, h, o...)
}

// OPTIONS registers a route for OPTIONS in place of the automatic answer.
func (a *App) OPTIONS(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.OPTIONS(pattern, h, o...)
}

// QUERY registers a route for QUERY: safe like GET, with a body like POST.
func (a *App) QUERY(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.QUERY(pattern, h, o...)
}

// Any registers a route for every method that has none of its own.
func (a *App) Any(pattern string, h Handler, o ...RouteOption) *Route {
	return a.root.Any(pattern, h, o...)
}

// Mount gives everything below prefix to h; see Group.Mount.
func (a *App) Mount(prefix string, h http.Handler) { a.root.Mount(prefix, h) }

// NotFound sets the answer to paths without route; see Group.NotFound.
func (a *App) NotFound(h Handler) { a.root.NotFound(h) }

// MethodNotAllowed sets the answer to methods that a path does not take.
func (a *App) MethodNotAllowed(h Handler) { a.root.MethodNotAllowed(h) }
