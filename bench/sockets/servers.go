package sockets

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/labstack/echo/v5"
	"github.com/valyala/fasthttp"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/nginx"
	"example.com/quire/web"
	"example.com/quire/web/frozen"
)

const (
	ginModule      = "github.com/gin-gonic/gin"
	echoModule     = "github.com/labstack/echo/v5"
	fasthttpModule = "github.com/valyala/fasthttp"
)

type serve = func(context.Context, harness.Env) (harness.Served, error)

// started serves by run, in this process, until Close.
func started(ctx context.Context, run func(net.Listener) error, end func() error) (harness.Served, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return harness.Served{}, fmt.Errorf("listen: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run(ln) }()
	return harness.Served{Addr: ln.Addr().String(), Close: func() error {
		err := end()
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) && !errors.Is(e, net.ErrClosed) {
			err = errors.Join(err, e)
		}
		return err
	}}, nil
}

// quire serves an App, with a lane over the frozen bodies where there are any.
func quire(ctx context.Context, frozenBodies map[string][]byte, routes func(*web.App)) (harness.Served, error) {
	app, err := web.New(web.Options{})
	if err != nil {
		return harness.Served{}, err
	}
	routes(app)
	s := &web.Server{App: app}
	if len(frozenBodies) > 0 {
		table := frozen.NewTable(frozen.Limits{})
		for path, body := range frozenBodies {
			e, err := frozen.Build(frozen.EntrySpec{Header: http.Header{"Content-Type": {"application/json"}}, Body: body, Public: true})
			if err == nil {
				err = table.Put(path, e)
			}
			if err != nil {
				return harness.Served{}, fmt.Errorf("freeze %s: %w", path, err)
			}
		}
		s.Lane = frozen.NewLane(frozen.LaneOptions{}, table)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return started(ctx, func(ln net.Listener) error { return s.Serve(ctx, ln) }, func() error {
		defer cancel()
		return s.Close()
	})
}

func lane(size int) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		return quire(ctx, bodies(size), func(*web.App) {})
	}
}

// found answers with the body that the last segment of the path names.
func found(all map[string][]byte) web.Handler {
	return func(c *web.Context) error {
		b, ok := all["/documents/"+c.Param("id")]
		if !ok {
			return web.ErrNotFound
		}
		return c.Blob(http.StatusOK, "application/json", b)
	}
}

func ordinary(ctx context.Context, _ harness.Env) (harness.Served, error) {
	return quire(ctx, nil, func(a *web.App) { a.GET("/documents/{id}", found(bodies(small))) })
}

// blend has the documents frozen, and the same behind an ordinary route.
func blend(target string) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		all := bodies(small)
		s, err := quire(ctx, all, func(a *web.App) {
			a.GET("/ordinary/documents/{id}", found(all))
			a.GET("/documents/{id}", func(*web.Context) error { return errors.New("the lane passed a frozen document by") })
		})
		s.Target = target
		return s, err
	}
}

// busy has the documents frozen, and behind a gate a route that works for 20 ms.
func busy(works bool) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		all := bodies(small)
		answer := found(all)
		return quire(ctx, all, func(a *web.App) {
			a.GET("/work/documents/{id}", func(c *web.Context) error {
				for until := time.Now().Add(20 * time.Millisecond); works && time.Now().Before(until); {
				}
				return answer(c)
			}, web.Budgets{Gate: web.NewGate(1, 64)})
		})
	}
}

func httpServer(ctx context.Context, h http.Handler) (harness.Served, error) {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	return started(ctx, s.Serve, s.Close)
}

func mux(size int) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		all, m := bodies(size), http.NewServeMux()
		m.HandleFunc("GET /documents/{id}", func(w http.ResponseWriter, r *http.Request) {
			b, ok := all["/documents/"+r.PathValue("id")]
			if !ok {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(b)))
			_, _ = w.Write(b) // the client judges
		})
		return httpServer(ctx, m)
	}
}

func echoServer(ctx context.Context, _ harness.Env) (harness.Served, error) {
	all, e := bodies(small), echo.New()
	e.GET("/documents/:id", func(c *echo.Context) error {
		b, ok := all["/documents/"+c.Param("id")]
		if !ok {
			return echo.ErrNotFound
		}
		return c.Blob(http.StatusOK, "application/json", b)
	})
	return httpServer(ctx, e)
}

func ginServer(ctx context.Context, _ harness.Env) (harness.Served, error) {
	gin.SetMode(gin.ReleaseMode)
	all, e := bodies(small), gin.New()
	e.GET("/documents/:id", func(c *gin.Context) {
		b, ok := all["/documents/"+c.Param("id")]
		if !ok {
			c.Status(http.StatusNotFound)
			return
		}
		c.Data(http.StatusOK, "application/json", b)
	})
	return httpServer(ctx, e)
}

func fastHTTP(size int) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		all := bodies(size)
		s := &fasthttp.Server{Handler: func(c *fasthttp.RequestCtx) {
			b, ok := all[string(c.Path())]
			if !ok {
				c.NotFound()
				return
			}
			c.SetContentType("application/json")
			c.SetBody(b)
		}}
		return started(ctx, s.Serve, s.Shutdown)
	}
}

// nginxServer has small bodies in its configuration, which takes no large ones: those are files.
func nginxServer(size int) serve {
	return func(ctx context.Context, env harness.Env) (harness.Served, error) {
		if size > small {
			return nginx.Serve(ctx, env.Dir, bodies(size), "default_type application/json;")
		}
		var b strings.Builder
		b.WriteString("default_type application/json;")
		for path, body := range bodies(size) {
			fmt.Fprintf(&b, " location = %s { return 200 '%s'; }", path, body)
		}
		return nginx.Serve(ctx, env.Dir, nil, b.String())
	}
}

// bareLoop answers as soon as a head has ended.
func bareLoop(size int) serve {
	return func(ctx context.Context, _ harness.Env) (harness.Served, error) {
		answers := map[string][]byte{}
		for path, body := range bodies(size) {
			answers[path] = append(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body)), body...)
		}
		done := make(chan struct{})
		s, err := started(ctx, func(ln net.Listener) error {
			go func() {
				<-done
				_ = ln.Close()
			}()
			for {
				c, err := ln.Accept()
				if err != nil {
					return err
				}
				go loop(c, answers)
			}
		}, func() error {
			close(done)
			return nil
		})
		return s, err
	}
}

// loop ends with its connection, which the client closes.
func loop(c net.Conn, answers map[string][]byte) {
	defer func() { _ = c.Close() }()
	for r := bufio.NewReaderSize(c, 4<<10); ; {
		first, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(first, []byte(" "))
		path, _, _ := bytes.Cut(rest, []byte(" "))
		answer := answers[string(path)]
		for len(first) > 2 {
			if first, err = r.ReadSlice('\n'); err != nil {
				return
			}
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}
