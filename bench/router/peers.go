package router

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/julienschmidt/httprouter"
	"github.com/labstack/echo/v5"

	"example.com/quire/web"
)

// peer is a contestant: it builds a handler of a route set whose handlers report
// to the probe.
type peer struct {
	name   string
	module string
	build  func([]route, *probe) (http.Handler, error)
}

var all = []peer{
	{"quire", "", quire},
	{"gin", "github.com/gin-gonic/gin", ginPeer},
	{"echo", "github.com/labstack/echo/v5", echoPeer},
	{"chi", "github.com/go-chi/chi/v5", chiPeer},
	{"httprouter", "github.com/julienschmidt/httprouter", httprouterPeer},
	{"net/http", "", muxPeer},
}

func without(name string) []peer {
	var out []peer
	for _, p := range all {
		if p.name != name {
			out = append(out, p)
		}
	}
	return out
}

func quire(routes []route, seen *probe) (http.Handler, error) {
	app, err := web.New(web.Options{})
	if err != nil {
		return nil, fmt.Errorf("new app: %w", err)
	}
	for i, r := range routes {
		if _, err := app.TryHandle(r.method, r.pattern, func(c *web.Context) error {
			seen.see(i, r.names, c.Param)
			return c.NoContent(http.StatusNoContent)
		}); err != nil {
			return nil, fmt.Errorf("register %s %s: %w", r.method, r.pattern, err)
		}
	}
	return app, nil
}

// colons spells a pattern as gin, echo and httprouter want it.
func colons(pattern string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(pattern)
}

func ginPeer(routes []route, seen *probe) (http.Handler, error) {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.HandleMethodNotAllowed = true
	for i, r := range routes {
		e.Handle(r.method, colons(r.pattern), func(c *gin.Context) {
			seen.see(i, r.names, c.Param)
			c.Status(http.StatusNoContent)
			c.Writer.WriteHeaderNow()
		})
	}
	return e, nil
}

func echoPeer(routes []route, seen *probe) (http.Handler, error) {
	e := echo.New()
	for i, r := range routes {
		e.Add(r.method, colons(r.pattern), func(c *echo.Context) error {
			seen.see(i, r.names, c.Param)
			return c.NoContent(http.StatusNoContent)
		})
	}
	return e, nil
}

func chiPeer(routes []route, seen *probe) (http.Handler, error) {
	m := chi.NewMux()
	for i, r := range routes {
		m.MethodFunc(r.method, r.pattern, func(w http.ResponseWriter, req *http.Request) {
			rctx := chi.RouteContext(req.Context())
			seen.see(i, r.names, rctx.URLParam)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return m, nil
}

func httprouterPeer(routes []route, seen *probe) (http.Handler, error) {
	m := httprouter.New()
	for i, r := range routes {
		m.Handle(r.method, colons(r.pattern), func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
			seen.see(i, r.names, ps.ByName)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return m, nil
}

func muxPeer(routes []route, seen *probe) (http.Handler, error) {
	m := http.NewServeMux()
	for i, r := range routes {
		m.HandleFunc(r.method+" "+r.pattern, func(w http.ResponseWriter, req *http.Request) {
			seen.see(i, r.names, req.PathValue)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return m, nil
}
