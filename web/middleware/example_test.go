package middleware_test

import (
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
)

// hello is an App with middleware around one route.
func hello(mw ...web.Middleware) *web.App {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(mw...)
	app.GET("/hello", func(c *web.Context) error { return c.String(http.StatusOK, "hello "+c.User()) })
	return app
}

// field is a name and a value of a header.
type field [2]string

// ask sends a request.
func ask(app *web.App, method string, fields ...field) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/hello", http.NoBody) //nolint:noctx // an example
	for _, f := range fields {
		r.Header.Set(f[0], f[1])
	}
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	return w
}

func ExampleBasicAuth() {
	auth, err := middleware.BasicAuth(middleware.BasicAuthOptions{Realm: "till", Users: map[string]string{"ada": "lovelace"}})
	if err != nil {
		log.Fatal(err)
	}
	app := hello(auth)
	refused := ask(app, http.MethodGet)
	fmt.Println(refused.Code, refused.Header().Get("WWW-Authenticate"))
	fmt.Println(ask(app, http.MethodGet, field{"Authorization", "Basic YWRhOmxvdmVsYWNl"}).Body)
	// Output:
	// 401 Basic realm="till", charset="UTF-8"
	// hello ada
}

func ExampleKeyAuth() {
	auth, err := middleware.KeyAuth(middleware.KeyAuthOptions{Verify: func(_ *web.Context, key string) (user string, ok bool) {
		return "robot", key == "a key of an example" // a program compares hashes, in constant time
	}})
	if err != nil {
		log.Fatal(err)
	}
	app := hello(auth)
	fmt.Println(ask(app, http.MethodGet).Code)
	fmt.Println(ask(app, http.MethodGet, field{"X-Api-Key", "a key of an example"}).Body)
	// Output:
	// 401
	// hello robot
}

// An origin that reads the answers, and one that does not.
func ExampleCORS() {
	cors, err := middleware.CORS(middleware.CORSOptions{Origins: []string{"https://app.example"}})
	if err != nil {
		log.Fatal(err)
	}
	app := hello(cors)
	for _, origin := range []string{"https://app.example", "https://other.example"} {
		w := ask(app, http.MethodGet, field{"Origin", origin})
		fmt.Printf("%s: %q\n", origin, w.Header().Get("Access-Control-Allow-Origin"))
	}
	// Output:
	// https://app.example: "https://app.example"
	// https://other.example: ""
}

// The App refuses state changes from other origins by itself; here a client has to say where it
// is from.
func ExampleCSRF() {
	csrf, err := middleware.CSRF(middleware.CSRFOptions{RequireOrigin: true})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	forms := app.Group("", csrf)
	forms.POST("/hello", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	for _, site := range []string{"", "same-origin", "cross-site"} {
		fmt.Printf("%q: %d\n", site, ask(app, http.MethodPost, field{"Sec-Fetch-Site", site}).Code)
	}
	// Output:
	// "": 403
	// "same-origin": 204
	// "cross-site": 403
}

// Requests for the administration come from one network.
func ExampleIPFilter() {
	office, err := middleware.IPFilter(middleware.IPFilterOptions{Allow: []string{"10.0.0.0/8"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ask(hello(office), http.MethodGet).Code) // from 192.0.2.1
	// Output: 403
}

func ExampleHosts() {
	hosts, err := middleware.Hosts(middleware.HostsOptions{Names: []string{"api.example"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ask(hello(hosts), http.MethodGet).Code) // for example.com
	// Output: 421
}

// Ids that sort by time, in place of the App's.
func ExampleRequestID() {
	app := hello(middleware.RequestID(middleware.RequestIDOptions{Generate: middleware.UUIDv7}))
	fmt.Println(len(ask(app, http.MethodGet).Header().Get("X-Request-Id")))
	// Output: 36
}

// The App recovers panics by itself: the middleware is for a group that has its own logger.
func ExampleRecover() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(middleware.Recover(middleware.RecoverOptions{Logger: slog.New(slog.DiscardHandler)}))
	app.GET("/hello", func(*web.Context) error { panic("a mistake in the program") })
	w := ask(app, http.MethodGet)
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 500 application/problem+json
}
