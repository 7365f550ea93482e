package handlers

import (
	"bytes"
	"compress/gzip"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	echojwt "github.com/labstack/echo-jwt/v4"
	echo4 "github.com/labstack/echo/v4"
	"github.com/labstack/echo/v5"
	echomiddleware "github.com/labstack/echo/v5/middleware"

	"example.com/quire/bench/harness"
	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/middleware/compress"
	"example.com/quire/web/middleware/jwt"
)

// guarded and echoGuarded are a short text behind one middleware.
func guarded(mw func() (web.Middleware, error)) contestant {
	return contestant{name: "quire", own: true, build: func() (http.Handler, error) {
		m, err := mw()
		if err != nil {
			return nil, err
		}
		return quire(web.Options{}, func(a *web.App) {
			a.Use(m)
			a.GET("/ping", quirePong)
		}).build()
	}}
}

func echoGuarded(mw func() echo.MiddlewareFunc) contestant {
	return echos(func(e *echo.Echo) {
		e.Use(mw())
		e.GET("/ping", echoPong)
	})
}

// secret is the key of the tokens, for this measurement only.
var secret = []byte("0123456789abcdef0123456789abcdef")

func middlewareRows() []harness.Row {
	ping := func(name, title string, fields http.Header) job {
		return job{
			name: name, title: title, text: "Requests for four bytes of text behind " + title + ".",
			target: always("/ping"), fields: fields, want: says(http.StatusOK, always(pong)),
		}
	}
	token, err := newToken()
	if err != nil {
		panic(err) // fixed input
	}
	cors := ping("cors", "a check of the origin", http.Header{"Origin": {"https://app.example"}})
	cors.want = func(_ int, a *answer) error {
		if a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			return errWrong
		}
		return nil
	}
	id := ping("requestid", "a middleware of request ids", nil)
	id.want = func(_ int, a *answer) error {
		if a.status != http.StatusOK || len(a.header.Get("X-Request-Id")) < 20 {
			return errWrong
		}
		return nil
	}
	limit := ping("ratelimit", "a rate limit of 100,000 clients", nil)
	limit.distinct = 100_000
	limit.peer = func(i int) string { return fmt.Sprintf("10.%d.%d.%d:40000", i>>16, i>>8&0xff, i&0xff) }
	return []harness.Row{
		row(ping("jwt", "a check of a token of HS256", http.Header{"Authorization": {"Bearer " + token}}), []contestant{
			guarded(verifier),
			{name: "echo-jwt", module: "github.com/labstack/echo-jwt/v4", note: "with echo 4: it has none for 5", build: func() (http.Handler, error) {
				e := echo4.New()
				e.Use(echojwt.JWT(secret))
				e.GET("/ping", func(c echo4.Context) error { return c.String(http.StatusOK, pong) })
				return e, nil
			}},
		}, faster("echo-jwt", 1)),
		row(ping("basicauth", "a check of a name and a password", http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("ada:lovelace"))}}), []contestant{guarded(
			func() (web.Middleware, error) {
				return middleware.BasicAuth(middleware.BasicAuthOptions{Users: map[string]string{"ada": "lovelace"}})
			},
		), echoGuarded(func() echo.MiddlewareFunc {
			return echomiddleware.BasicAuth(func(_ *echo.Context, user, password string) (bool, error) {
				return subtle.ConstantTimeCompare([]byte(user), []byte("ada"))&subtle.ConstantTimeCompare([]byte(password), []byte("lovelace")) == 1, nil
			})
		})}, faster("echo", 1)),
		row(cors, []contestant{guarded(
			func() (web.Middleware, error) {
				return middleware.CORS(middleware.CORSOptions{Origins: []string{"https://app.example"}})
			},
		), echoGuarded(func() echo.MiddlewareFunc { return echomiddleware.CORS("https://app.example") })}, faster("echo", 1)),
		row(id, []contestant{guarded(
			func() (web.Middleware, error) {
				return middleware.RequestID(middleware.RequestIDOptions{Generate: middleware.ShortID}), nil
			},
		), echoGuarded(echomiddleware.RequestID)}, faster("echo", 1)),
		row(limit, []contestant{guarded(
			func() (web.Middleware, error) {
				store, err := middleware.NewMemoryRateStore(200_000)
				if err != nil {
					return nil, err
				}
				return middleware.RateLimit(middleware.RateLimitOptions{Rate: middleware.Rate{Requests: 100, Per: time.Second, Burst: 1000}, Store: store, OnStoreFailure: middleware.FailClosed})
			},
		), echoGuarded(func() echo.MiddlewareFunc {
			return echomiddleware.RateLimiter(echomiddleware.NewRateLimiterMemoryStoreWithConfig(echomiddleware.RateLimiterMemoryStoreConfig{Rate: 100, Burst: 1000}))
		})}, faster("echo", 1), allocations(0)),
		gzipped(),
	}
}

func newToken() (string, error) {
	issuer, err := jwt.NewIssuer(jwt.IssuerOptions{Key: jwt.SigningKey{Algorithm: "HS256", Key: secret}, Life: 24 * time.Hour})
	if err != nil {
		return "", err
	}
	return issuer.Issue(jwt.Claims{Subject: "ada", Roles: []string{"till"}})
}

func verifier() (web.Middleware, error) {
	v, err := jwt.NewVerifier(jwt.Options{Algorithms: []string{"HS256"}, Keys: []jwt.Key{{Algorithm: "HS256", Key: secret}}})
	if err != nil {
		return nil, err
	}
	return v.Middleware(), nil
}

// gzipped is a text of 1.4 KB that has to come back by gunzip.
func gzipped() harness.Row {
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, `{"id":%d,"name":"steel ruler %d","price":"%d.50","stock":%d}`+"\n", 1000+i, i, i*7, i*i)
	}
	text := lines.String()
	j := job{
		name: "gzip", title: "a text of 1.4 KB in gzip", text: "Requests for a text of 1.4 KB by clients that take gzip; it has to come back by gunzip.",
		target: always("/ping"), fields: http.Header{"Accept-Encoding": {"gzip"}},
		want: func(_ int, a *answer) error {
			if a.status != http.StatusOK || a.header.Get("Content-Encoding") != "gzip" {
				return errWrong
			}
			r, err := gzip.NewReader(bytes.NewReader(a.body))
			if err != nil {
				return err
			}
			got, err := io.ReadAll(r)
			if err == nil && string(got) != text {
				err = errWrong
			}
			return err
		},
	}
	return row(j, []contestant{
		{name: "quire", own: true, build: func() (http.Handler, error) {
			m, err := compress.New(compress.Options{})
			if err != nil {
				return nil, err
			}
			return quire(web.Options{}, func(a *web.App) {
				a.Use(m)
				a.GET("/ping", func(c *web.Context) error { return c.String(http.StatusOK, text) })
			}).build()
		}},
		echos(func(e *echo.Echo) {
			e.Use(echomiddleware.Gzip())
			e.GET("/ping", func(c *echo.Context) error { return c.String(http.StatusOK, text) })
		}),
	}, faster("echo", 1))
}
