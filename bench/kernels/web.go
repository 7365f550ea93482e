package kernels

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"example.com/quire/web"
)

// blank is a ResponseWriter that keeps the status and the number of body bytes.
type blank struct {
	header http.Header
	status int
	body   int
}

func (b *blank) Header() http.Header { return b.header }

func (b *blank) WriteHeader(status int) { b.status = status }

func (b *blank) Write(p []byte) (int, error) {
	b.body += len(p)
	return len(p), nil
}

// WriteString is there because net/http's own writer has it.
func (b *blank) WriteString(s string) (int, error) {
	b.body += len(s)
	return len(s), nil
}

// webKernels are whole requests through an App with zero Options.
func webKernels() []Kernel {
	text := func(c *web.Context) error { return c.String(http.StatusOK, "ok") }
	one := func(c *web.Context) error { return c.String(http.StatusOK, c.Param("id")) }
	five := func(c *web.Context) error {
		n := len(c.Param("a")) + len(c.Param("b")) + len(c.Param("c")) + len(c.Param("d")) + len(c.Param("e"))
		if n != 5 {
			return fmt.Errorf("the parameters have %d bytes", n)
		}
		return c.NoContent(http.StatusNoContent)
	}
	routes := func(app *web.App) {
		app.GET("/health", text)
		app.GET("/users/{id}", one)
		app.GET("/users/new", text)
		app.GET("/p/{a}/{b}/{c}/{d}/{e}", five)
		app.POST("/orders", text)
	}
	type reply struct {
		ID    int    `json:"id"`
		Name  string `json:"name"`
		Price string `json:"price"`
	}
	return []Kernel{
		request("web/static", http.MethodGet, "/health", http.StatusOK, routes),
		request("web/param", http.MethodGet, "/users/news", http.StatusOK, routes),
		request("web/params-5", http.MethodGet, "/p/1/2/3/4/5", http.StatusNoContent, routes),
		request("web/method-not-allowed", http.MethodGet, "/orders", http.StatusMethodNotAllowed, routes),
		request("web/json", http.MethodGet, "/item", http.StatusOK, func(app *web.App) {
			app.GET("/item", func(c *web.Context) error {
				return c.JSON(http.StatusOK, reply{ID: 7, Name: "steel ruler", Price: "12.50"})
			})
		}),
	}
}

func request(name, method, path string, status int, routes func(*web.App)) Kernel {
	return Kernel{Name: name, N: 50_000, Open: func() (func() error, error) {
		app, err := web.New(web.Options{})
		if err != nil {
			return nil, fmt.Errorf("new app: %w", err)
		}
		routes(app)
		req := httptest.NewRequestWithContext(context.Background(), method, path, nil)
		w := &blank{header: http.Header{}}
		return func() error {
			clear(w.header)
			w.status, w.body = 0, 0
			app.ServeHTTP(w, req)
			if w.status != status {
				return fmt.Errorf("%s %s: status %d, want %d", method, path, w.status, status)
			}
			return nil
		}, nil
	}}
}
