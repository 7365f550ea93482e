package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v5"

	"example.com/quire/bench/harness"
	"example.com/quire/web"
	"example.com/quire/web/legacy"
	"example.com/quire/web/openapi"
	"example.com/quire/web/validate"
	"example.com/quire/web/yaml"
)

// order is a body with rules, and ginOrder the same as gin wants it told. Their answers are by sum.
type order struct {
	Customer string  `json:"customer" validate:"required,max=40"`
	Email    string  `json:"email" validate:"required,email"`
	Lines    []entry `json:"lines" validate:"required,min=1,max=100,dive"`
}

type entry struct {
	SKU      string `json:"sku" validate:"required,max=20"`
	Quantity int    `json:"quantity" validate:"min=1,max=1000"`
}

type ginOrder struct {
	Customer string     `json:"customer" binding:"required,max=40"`
	Email    string     `json:"email" binding:"required,email"`
	Lines    []ginEntry `json:"lines" binding:"required,min=1,max=100,dive"`
}

type ginEntry struct {
	SKU      string `json:"sku" binding:"required,max=20"`
	Quantity int    `json:"quantity" binding:"min=1,max=1000"`
}

func (l entry) count() int { return l.Quantity }

func (l ginEntry) count() int { return l.Quantity }

func sum[L interface{ count() int }](customer string, lines []L) string {
	n := 0
	for _, l := range lines {
		n += l.count()
	}
	return fmt.Sprintf("%s %d", customer, n)
}

// filter is a query with rules, ginFilter the same for gin.
type filter struct {
	Search string `query:"q" validate:"required,max=40"`
	Page   int    `query:"page" validate:"min=1"`
	Sort   string `query:"sort" validate:"oneof=name price"`
}

type ginFilter struct {
	Search string `form:"q" binding:"required,max=40"`
	Page   int    `form:"page" binding:"min=1"`
	Sort   string `form:"sort" binding:"oneof=name price"`
}

func options() web.Options {
	v, err := validate.New()
	if err != nil {
		panic(err) // without options there is nothing that can be wrong
	}
	return web.Options{Validator: v, Codecs: []web.Codec{yaml.Codec{}}}
}

func ginOrders(e *gin.Engine) {
	e.POST("/orders", func(c *gin.Context) {
		var o ginOrder
		if err := c.ShouldBindJSON(&o); err != nil {
			c.String(http.StatusBadRequest, err.Error())
			return
		}
		c.String(http.StatusOK, sum(o.Customer, o.Lines))
	})
}

func ginSearch(e *gin.Engine) {
	e.GET("/search", func(c *gin.Context) {
		var f ginFilter
		if err := c.ShouldBindQuery(&f); err != nil {
			c.String(http.StatusBadRequest, err.Error())
			return
		}
		c.String(http.StatusOK, "%s %d %s", f.Search, f.Page, f.Sort)
	})
}

func customer(i int) string { return "Customer " + number(i) }

func bodyRows() []harness.Row {
	bind := job{
		name: "bind-json", title: "a JSON body bound and validated", method: http.MethodPost,
		text:   "Requests with a JSON body of 200 bytes, unique in each: three fields, two lines, eight rules; the answer names the customer.",
		target: always("/orders"), fields: http.Header{"Content-Type": {"application/json"}},
		body: func(i int) []byte {
			return []byte(jsonOf(order{customer(i), "someone@example.com", []entry{{"TEA-" + number(i), 1 + i%1000}, {"COFFEE", 2}}}))
		},
		want: says(http.StatusOK, func(i int) string { return fmt.Sprintf("%s %d", customer(i), 2+1+i%1000) }),
	}
	query := job{
		name: "bind-query", title: "a query bound and validated", text: "Requests with three query keys, unique in each, and four rules; the answer names them.",
		target: func(i int) string { return fmt.Sprintf("/search?q=%s&page=%d&sort=price", number(i), i+1) },
		want:   says(http.StatusOK, func(i int) string { return fmt.Sprintf("%s %d price", number(i), i+1) }),
	}
	negotiate := render("negotiate", "JSON that was negotiated", jsonOf(ruler))
	negotiate.fields = http.Header{"Accept": {"application/json, application/xml;q=0.5, text/html;q=0.1"}}
	jsonp := render("jsonp", "JSONP", "")
	jsonp.target, jsonp.want = always("/render?callback=show"), holds("show(", jsonOf(ruler))
	markup := item{8, "<b>steel & wood</b>", "12.50", nil}
	accents := item{9, "règle à calculer 尺", "12.50", nil}
	names := []string{"ruler", "saw", "hammer"}
	return []harness.Row{
		row(bind, []contestant{
			quire(options(), func(a *web.App) {
				a.POST("/orders", func(c *web.Context) error {
					var o order
					if err := c.BindJSON(&o); err != nil {
						return err
					}
					return c.String(http.StatusOK, sum(o.Customer, o.Lines))
				})
			}),
			gins(ginOrders), alike(ginOrders),
		}, hindered(faster("gin", 1), costOfPlaces), faster(sameWork, 1), fewerAllocations("gin")),
		row(query, []contestant{
			quire(options(), func(a *web.App) {
				a.GET("/search", func(c *web.Context) error {
					var f filter
					if err := c.BindQuery(&f); err != nil {
						return err
					}
					return c.Stringf(http.StatusOK, "%s %d %s", f.Search, f.Page, f.Sort)
				})
			}),
			gins(ginSearch), alike(ginSearch),
		}, faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(negotiate, renders(
			func(c *web.Context) error {
				return c.Negotiate(http.StatusOK, ruler, "application/json", "application/xml")
			},
			func(c *gin.Context) {
				c.Negotiate(http.StatusOK, gin.Negotiate{Offered: []string{gin.MIMEJSON, gin.MIMEXML}, Data: ruler})
			}, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("xml", "XML", "<id>7</id>", "<name>steel ruler</name>", "<tags>metal</tags>"), renders(
			func(c *web.Context) error { return c.XML(http.StatusOK, ruler) },
			func(c *gin.Context) { c.XML(http.StatusOK, ruler) },
			func(c *echo.Context) error { return c.XML(http.StatusOK, ruler) },
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("yaml", "YAML", "steel ruler", "12.50", "metal"), renders(
			func(c *web.Context) error { return c.YAML(http.StatusOK, ruler) },
			func(c *gin.Context) { c.YAML(http.StatusOK, ruler) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("json-indented", "indented JSON", "\n", `"name": "steel ruler"`), renders(
			func(c *web.Context) error { return c.IndentedJSON(http.StatusOK, ruler) },
			func(c *gin.Context) { c.IndentedJSON(http.StatusOK, ruler) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("json-pure", "JSON without escapes for HTML", `"name":"<b>steel & wood</b>"`), renders(
			func(c *web.Context) error { return c.PureJSON(http.StatusOK, markup) },
			func(c *gin.Context) { c.PureJSON(http.StatusOK, markup) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("json-ascii", "JSON in ASCII", `r\u00e8gle \u00e0 calculer \u5c3a`), renders(
			func(c *web.Context) error { return legacy.ASCIIJSON(c, http.StatusOK, accents) },
			func(c *gin.Context) { c.AsciiJSON(http.StatusOK, accents) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(holding("json-secure", "JSON behind a prefix", "while(1);"+jsonOf(names)), renders(
			func(c *web.Context) error { return legacy.SecureJSON(c, http.StatusOK, "", names) },
			func(c *gin.Context) { c.SecureJSON(http.StatusOK, names) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		row(jsonp, renders(
			func(c *web.Context) error { return legacy.JSONP(c, http.StatusOK, "callback", ruler) },
			func(c *gin.Context) { c.JSONP(http.StatusOK, ruler) }, nil,
		), faster("gin", 1), faster(sameWork, 1), fewerAllocations("gin")),
		buffered("buffer-100", "100 bytes", 1),
		buffered("buffer-4k", "4 KB", 60),
		buffered("buffer-64k", "64 KB", 960),
		typed(),
	}
}

// holds wants parts in the answer, for forms in which white space is everyone's own.
func holds(parts ...string) func(int, *answer) error {
	return func(_ int, a *answer) error {
		for _, p := range parts {
			if a.status != http.StatusOK || !strings.Contains(string(a.body), p) {
				return fmt.Errorf("%w: want %q in it", errWrong, p)
			}
		}
		return nil
	}
}

func holding(name, title string, parts ...string) job {
	j := render(name, title, "")
	j.want = holds(parts...)
	return j
}

// buffered is the cost of what keeps an error of encoding from being half an answer: n items are
// encoded into a buffer, or straight to the writer.
func buffered(name, size string, n int) harness.Row {
	list := make([]item, n)
	for i := range list {
		list[i] = item{1000 + i, "steel ruler", "12.50", []string{"a", "b"}}
	}
	return row(render(name, size+" of JSON, by a buffer and without", jsonOf(list)), []contestant{
		quire(options(), func(a *web.App) {
			a.GET("/render", func(c *web.Context) error { return c.JSON(http.StatusOK, list) })
		}),
		{
			name: "straight to the writer", own: true, note: "an error of encoding comes after the status, and a large answer in pieces",
			build: quire(options(), func(a *web.App) {
				a.GET("/render", func(c *web.Context) error {
					c.Writer().Header().Set("Content-Type", "application/json")
					return json.NewEncoder(c.Writer()).Encode(list)
				})
			}).build,
		},
	})
}

// found is the answer of typed.
type found struct {
	Shop string `json:"shop"`
	ID   int    `json:"id"`
	Page int    `json:"page"`
}

type findIn struct {
	Shop string `path:"shop"`
	ID   int    `path:"id"`
	Page int    `query:"page" default:"1"`
}

type findOut struct{ Body found }

func typed() harness.Row {
	const pattern = "/shops/{shop}/items/{id}"
	find := func(_ context.Context, in *findIn) (*findOut, error) {
		return &findOut{found{in.Shop, in.ID, in.Page}}, nil
	}
	return row(job{
		name: "typed", title: "a typed handler", text: "Requests with two path parameters and a query key, two of them numbers, answered as JSON.",
		target: func(i int) string { return fmt.Sprintf("/shops/s%s/items/%d?page=%d", number(i), i, i+1) },
		want: func(i int, a *answer) error {
			if want := jsonOf(found{"s" + number(i), i, i + 1}); a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != want {
				return fmt.Errorf("%w: want %q", errWrong, want)
			}
			return nil
		},
	}, []contestant{
		quire(options(), func(a *web.App) { openapi.Handle(a, http.MethodGet, pattern, find) }),
		{name: "by hand", own: true, note: "the same with Param, Query and JSON", build: quire(options(), func(a *web.App) {
			a.GET(pattern, func(c *web.Context) error {
				id, err := c.ParamInt("id")
				if err != nil {
					return err
				}
				page, err := c.QueryInt("page", 1)
				if err != nil {
					return err
				}
				return c.JSON(http.StatusOK, found{c.Param("shop"), id, page})
			})
		}).build},
		{name: "huma", module: humaModule, note: "on its adapter of net/http's ServeMux, without the member $schema that it would add", build: func() (http.Handler, error) {
			mux := http.NewServeMux()
			config := huma.DefaultConfig("bench", "1")
			config.CreateHooks = nil
			huma.Get(humago.New(mux, config), pattern, find)
			return mux, nil
		}},
	}, hindered(faster("by hand", 1.15), costOfReflection), faster("huma", 0.7))
}
