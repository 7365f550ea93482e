package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v5"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/profile"
	"example.com/quire/web"
)

// quire is an App with routes.
func quire(o web.Options, routes func(*web.App)) contestant {
	return contestant{name: "quire", own: true, build: func() (http.Handler, error) {
		app, err := web.New(o)
		if err != nil {
			return nil, err
		}
		routes(app)
		return app, nil
	}}
}

// What stands in the way of goals against peers that do less.
const (
	ownWork = "Beside the answer the App makes a request id, sets it, nosniff and Content-Length, and recovers panics. The fields of a header are most of what that takes, and no less is to be had: " +
		"the contestant of the same work, where there is one, takes longer."
	costOfPlaces = "By profile four tenths of the time are those of the validator, which gin calls too, and a twelfth is a first reading of the text, which judges depth, names that stand twice " +
		"and UTF-8, so that nothing is set by a text that is refused. " + ownWork
	costOfReflection = "By profile a third of the time is Bind, which fills the fields by reflection and tells the faults of all of them; the rest takes as long as by hand."
)

// gins and echos are engines without any middleware but that of the row.
func gins(routes func(*gin.Engine)) contestant {
	return contestant{name: "gin", module: ginModule, build: func() (http.Handler, error) {
		gin.SetMode(gin.ReleaseMode)
		e := gin.New()
		routes(e)
		return e, nil
	}}
}

const sameWork = "gin, same work"

// alike is gin doing what the App does of itself.
func alike(routes func(*gin.Engine)) contestant {
	bare := gins(routes)
	return contestant{name: sameWork, module: ginModule, note: profile.Note, build: func() (http.Handler, error) {
		h, err := bare.build()
		return profile.Wrap(h), err
	}}
}

func echos(routes func(*echo.Echo)) contestant {
	return contestant{name: "echo", module: echoModule, build: func() (http.Handler, error) {
		e := echo.New()
		routes(e)
		return e, nil
	}}
}

// beside is an App, gin twice, and echo.
func beside(q func(*web.App), g func(*gin.Engine), e func(*echo.Echo)) []contestant {
	return []contestant{quire(web.Options{}, q), gins(g), alike(g), echos(e)}
}

const pong = "pong"

func quirePong(c *web.Context) error { return c.String(http.StatusOK, pong) }

func ginPong(c *gin.Context) { c.String(http.StatusOK, pong) }

func echoPong(c *echo.Context) error { return c.String(http.StatusOK, pong) }

func number(i int) string { return strconv.Itoa(1000 + i) }

// item is a small answer.
type item struct {
	ID    int      `json:"id" xml:"id" yaml:"id"`
	Name  string   `json:"name" xml:"name" yaml:"name"`
	Price string   `json:"price" xml:"price" yaml:"price"`
	Tags  []string `json:"tags" xml:"tags" yaml:"tags"`
}

var ruler = item{7, "steel ruler", "12.50", []string{"tools", "metal"}}

func plainRows() []harness.Row {
	ping := func(name, title, text string) job {
		return job{name: name, title: title, text: text, target: always("/ping"), want: says(http.StatusOK, always(pong))}
	}
	same := beside(
		func(a *web.App) { a.GET("/ping", quirePong) },
		func(e *gin.Engine) { e.GET("/ping", ginPong) },
		func(e *echo.Echo) { e.GET("/ping", echoPong) },
	)
	parallel := ping("parallel", "the same by four goroutines", "64 requests by four goroutines at once, GOMAXPROCS=2.")
	parallel.procs, parallel.together = 2, 64
	hundred := job{
		name: "routes-100", title: "one of a hundred routes", text: "Requests for a hundred routes in turn, half of them with a parameter.",
		target: func(i int) string {
			if i%2 == 0 {
				return fmt.Sprintf("/section%d/list", i%100)
			}
			return fmt.Sprintf("/section%d/item/%d", i%100, i)
		},
		want: says(http.StatusOK, always(pong)),
	}
	sections := func(list, one string, add func(path string)) {
		for i := range 100 {
			if i%2 == 0 {
				add(fmt.Sprintf("/section%d/"+list, i))
			} else {
				add(fmt.Sprintf("/section%d/"+one, i))
			}
		}
	}
	groups := ping("groups", "a route in nested groups", "Requests for a route in three groups, each with a middleware that does nothing.")
	groups.target = always("/api/v1/shop/ping")
	five := ping("middleware-5", "five middlewares that do nothing", "Requests through five middlewares that only call the next.")
	return []harness.Row{
		row(ping("text", "a short text", "Requests for one route that answers four bytes of text."), same, faster("gin", 1), faster(sameWork, 1), allocations(0)),
		row(parallel, same, faster("gin", 1), faster(sameWork, 1)),
		row(hundred, beside(
			func(a *web.App) { sections("list", "item/{id}", func(p string) { a.GET(p, quirePong) }) },
			func(e *gin.Engine) { sections("list", "item/:id", func(p string) { e.GET(p, ginPong) }) },
			func(e *echo.Echo) { sections("list", "item/:id", func(p string) { e.GET(p, echoPong) }) },
		), faster("gin", 1), faster(sameWork, 1), allocations(0)),
		row(groups, beside(
			func(a *web.App) {
				a.Group("/api", quireNothing).Group("/v1", quireNothing).Group("/shop", quireNothing).GET("/ping", quirePong)
			},
			func(e *gin.Engine) {
				e.Group("/api", ginNothing).Group("/v1", ginNothing).Group("/shop", ginNothing).GET("/ping", ginPong)
			},
			func(e *echo.Echo) {
				e.Group("/api", echoNothing).Group("/v1", echoNothing).Group("/shop", echoNothing).GET("/ping", echoPong)
			},
		), faster("gin", 1), faster(sameWork, 1), allocations(0)),
		row(five, beside(
			func(a *web.App) {
				a.Use(quireNothing, quireNothing, quireNothing, quireNothing, quireNothing)
				a.GET("/ping", quirePong)
			},
			func(e *gin.Engine) {
				e.Use(ginNothing, ginNothing, ginNothing, ginNothing, ginNothing)
				e.GET("/ping", ginPong)
			},
			func(e *echo.Echo) {
				e.Use(echoNothing, echoNothing, echoNothing, echoNothing, echoNothing)
				e.GET("/ping", echoPong)
			},
		), faster("gin", 1), faster(sameWork, 1), allocations(0)),
		row(job{
			name: "params-text", title: "three parameters in a text", text: "Requests with three unique parameters that the handler formats.",
			target: func(i int) string { return "/a/" + number(i) + "/b/" + number(i+1) + "/c/" + number(i+2) },
			want:   says(http.StatusOK, func(i int) string { return number(i) + " " + number(i+1) + " " + number(i+2) }),
		}, beside(
			func(a *web.App) {
				a.GET("/a/{a}/b/{b}/c/{c}", func(c *web.Context) error {
					return c.Stringf(http.StatusOK, "%s %s %s", c.Param("a"), c.Param("b"), c.Param("c"))
				})
			},
			func(e *gin.Engine) {
				e.GET("/a/:a/b/:b/c/:c", func(c *gin.Context) {
					c.String(http.StatusOK, "%s %s %s", c.Param("a"), c.Param("b"), c.Param("c"))
				})
			},
			func(e *echo.Echo) {
				e.GET("/a/:a/b/:b/c/:c", func(c *echo.Context) error {
					return c.String(http.StatusOK, fmt.Sprintf("%s %s %s", c.Param("a"), c.Param("b"), c.Param("c")))
				})
			},
		), allocations(3), faster("gin", 0.9), faster(sameWork, 0.9)),
		row(job{
			name: "query-text", title: "three query keys in a text", text: "Requests with three unique query values that the handler formats.",
			target: func(i int) string { return "/search?q=" + number(i) + "&page=" + number(i+1) + "&sort=" + number(i+2) },
			want:   says(http.StatusOK, func(i int) string { return number(i) + " " + number(i+1) + " " + number(i+2) }),
		}, beside(
			func(a *web.App) {
				a.GET("/search", func(c *web.Context) error {
					return c.Stringf(http.StatusOK, "%s %s %s", c.Query("q"), c.Query("page"), c.Query("sort"))
				})
			},
			func(e *gin.Engine) {
				e.GET("/search", func(c *gin.Context) {
					c.String(http.StatusOK, "%s %s %s", c.Query("q"), c.Query("page"), c.Query("sort"))
				})
			},
			func(e *echo.Echo) {
				e.GET("/search", func(c *echo.Context) error {
					return c.String(http.StatusOK, fmt.Sprintf("%s %s %s", c.QueryParam("q"), c.QueryParam("page"), c.QueryParam("sort")))
				})
			},
		), allocations(4), faster("gin", 0.9), faster(sameWork, 0.9)),
		row(render("json", "a small struct as JSON", jsonOf(ruler)), renders(
			func(c *web.Context) error { return c.JSON(http.StatusOK, ruler) },
			func(c *gin.Context) { c.JSON(http.StatusOK, ruler) },
			func(c *echo.Context) error { return c.JSON(http.StatusOK, ruler) },
		), allocations(2), faster("gin", 0.9), faster(sameWork, 0.9)),
	}
}

func quireNothing(next web.Handler) web.Handler { return func(c *web.Context) error { return next(c) } }

func ginNothing(c *gin.Context) { c.Next() }

func echoNothing(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c *echo.Context) error { return next(c) }
}

// render is a job whose answer is the same each time, white space at its end aside.
func render(name, title, want string) job {
	return job{
		name: name, title: title, text: "Requests that are answered by " + title + ".", target: always("/render"),
		want: func(_ int, a *answer) error {
			if a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != want {
				return fmt.Errorf("%w: want %.300q", errWrong, want)
			}
			return nil
		},
	}
}

func renders(q web.Handler, g gin.HandlerFunc, e echo.HandlerFunc) []contestant {
	list := []contestant{quire(options(), func(a *web.App) { a.GET("/render", q) })}
	if g != nil {
		route := func(r *gin.Engine) { r.GET("/render", g) }
		list = append(list, gins(route), alike(route))
	}
	if e != nil {
		list = append(list, echos(func(r *echo.Echo) { r.GET("/render", e) }))
	}
	return list
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a fixed value
	}
	return string(b)
}
