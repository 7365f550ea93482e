package router

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/julienschmidt/httprouter"
	"github.com/labstack/echo/v5"
	echomiddleware "github.com/labstack/echo/v5/middleware"
	"github.com/uptrace/bunrouter"

	"example.com/quire/bench/internal/profile"
	"example.com/quire/web"
)

// peer is a contestant: it builds a handler of a route set whose handlers report
// to the probe.
type peer struct {
	name   string
	module string
	note   string
	build  func([]line, *probe) (http.Handler, error)
}

const (
	ginModule        = "github.com/gin-gonic/gin"
	echoModule       = "github.com/labstack/echo/v5"
	chiModule        = "github.com/go-chi/chi/v5"
	httprouterModule = "github.com/julienschmidt/httprouter"
	bunrouterModule  = "github.com/uptrace/bunrouter"
)

var bares = []peer{
	{"quire", "", "", quireRouter},
	{"gin", ginModule, "", ginPeer(false)},
	{"echo", echoModule, "", echoPeer(false)},
	{"chi", chiModule, "", chiPeer(false)},
	{"httprouter", httprouterModule, "", httprouterPeer},
	{"bunrouter", bunrouterModule, "", bunrouterPeer},
	{"net/http", "", "", muxPeer},
}

var apps = []peer{
	{"quire", "", "its 405 is a problem of RFC 9457 in the form that the client prefers, with Vary, Cache-Control and Content-Length, where the peers answer a line of text", quire},
	{"gin", ginModule, "gin.Recovery; request id and nosniff by a middleware of a few lines", ginPeer(true)},
	{"echo", echoModule, "its middleware RequestID, Secure and Recover", echoPeer(true)},
	{"chi", chiModule, "its middleware RequestID, which does not tell the client, SetHeader and Recoverer", chiPeer(true)},
	{"httprouter", httprouterModule, profile.Note, secured(httprouterPeer)},
	{"bunrouter", bunrouterModule, profile.Note, secured(bunrouterPeer)},
	{"net/http", "", profile.Note, secured(muxPeer)},
}

// without leaves out a peer that cannot do a row.
func without(peers []peer, name string) []peer {
	return slices.DeleteFunc(slices.Clone(peers), func(p peer) bool { return p.name == name })
}

// secured does by hand what the App does for each request.
func secured(build func([]line, *probe) (http.Handler, error)) func([]line, *probe) (http.Handler, error) {
	return func(routes []line, seen *probe) (http.Handler, error) {
		next, err := build(routes, seen)
		return profile.Wrap(next), err
	}
}

func quire(routes []line, seen *probe) (http.Handler, error) {
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

// ginPeer and the next are bare, or do for each request what the App does.
func ginPeer(same bool) func([]line, *probe) (http.Handler, error) {
	return func(routes []line, seen *probe) (http.Handler, error) {
		gin.SetMode(gin.ReleaseMode)
		e := gin.New()
		if same {
			e.Use(gin.Recovery(), func(c *gin.Context) { profile.Mark(c.Writer.Header()) })
		}
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
}

func echoPeer(same bool) func([]line, *probe) (http.Handler, error) {
	return func(routes []line, seen *probe) (http.Handler, error) {
		e := echo.New()
		if same {
			secure := echomiddleware.SecureWithConfig(echomiddleware.SecureConfig{ContentTypeNosniff: "nosniff"})
			e.Use(echomiddleware.Recover(), echomiddleware.RequestID(), secure)
		}
		for i, r := range routes {
			e.Add(r.method, colons(r.pattern), func(c *echo.Context) error {
				seen.see(i, r.names, c.Param)
				return c.NoContent(http.StatusNoContent)
			})
		}
		return e, nil
	}
}

func chiPeer(same bool) func([]line, *probe) (http.Handler, error) {
	return func(routes []line, seen *probe) (http.Handler, error) {
		m := chi.NewMux()
		if same {
			m.Use(chimiddleware.Recoverer, chimiddleware.RequestID, chimiddleware.SetHeader("X-Content-Type-Options", "nosniff"))
		}
		for i, r := range routes {
			m.MethodFunc(r.method, r.pattern, func(w http.ResponseWriter, req *http.Request) {
				rctx := chi.RouteContext(req.Context())
				seen.see(i, r.names, rctx.URLParam)
				w.WriteHeader(http.StatusNoContent)
			})
		}
		return m, nil
	}
}

func httprouterPeer(routes []line, seen *probe) (http.Handler, error) {
	m := httprouter.New()
	for i, r := range routes {
		m.Handle(r.method, colons(r.pattern), func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
			seen.see(i, r.names, ps.ByName)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return m, nil
}

func bunrouterPeer(routes []line, seen *probe) (http.Handler, error) {
	m := bunrouter.New()
	for i, r := range routes {
		m.Handle(r.method, colons(r.pattern), func(w http.ResponseWriter, req bunrouter.Request) error {
			params := req.Params()
			seen.see(i, r.names, params.ByName)
			w.WriteHeader(http.StatusNoContent)
			return nil
		})
	}
	return m, nil
}

func muxPeer(routes []line, seen *probe) (http.Handler, error) {
	m := http.NewServeMux()
	for i, r := range routes {
		m.HandleFunc(r.method+" "+r.pattern, func(w http.ResponseWriter, req *http.Request) {
			seen.see(i, r.names, req.PathValue)
			w.WriteHeader(http.StatusNoContent)
		})
	}
	return m, nil
}
