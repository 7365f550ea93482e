package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"example.com/quire/web"
)

func Example() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.GET("/hello/{name}", func(c *web.Context) error {
		return c.JSON(http.StatusOK, map[string]string{"hello": c.Param("name")})
	})
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("GET", "/hello/you", nil)) //nolint:noctx // an example of one line
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"hello":"you"}
}

func ExampleContext_BindJSON() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.POST("/orders", func(c *web.Context) error {
		var order struct {
			Amount int8 `json:"amount"`
		}
		if err := c.BindJSON(&order); err != nil {
			fmt.Println(err)
			return err
		}
		return c.NoContent(http.StatusCreated)
	}, web.Budgets{BodyBytes: 10 << 20, Time: 10 * time.Second})
	r := httptest.NewRequest("POST", "/orders", http.NoBody) //nolint:noctx // an example of one line
	r.Header.Set("Content-Type", "application/json")
	app.ServeHTTP(httptest.NewRecorder(), r)
	// Output: web: bind body line 1 column 1: missing, want a JSON value
}

func ExampleServer() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	health := new(web.Health)
	health.Check("database", web.Critical, func(context.Context) error { return nil })
	if err := health.Register(app); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background()) // signal.NotifyContext in a program
	s := &web.Server{App: app, Addr: "127.0.0.1:0", Health: health, OnStart: []func(context.Context) error{
		func(context.Context) error { cancel(); return nil },
	}}
	fmt.Println(s.Run(ctx))
	// Output: <nil>
}

func ExampleApp_Explain() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.GET("/users/{id:int}", func(*web.Context) error { return nil })
	app.GET("/users/{name}", func(*web.Context) error { return nil })
	e := app.Explain("GET", "/users/7")
	fmt.Println(e.Route.Pattern)
	fmt.Println(e.Candidates[1].Reason)
	// Output:
	// /users/{id:int}
	// segment 2: {id:int} comes before {name}
}

func ExampleContext_Parts() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.POST("/files", func(c *web.Context) error {
		for part, err := range c.Parts() {
			if err != nil {
				return err // 413, 400 or 415, as a problem
			}
			n, err := io.Copy(io.Discard, part) // as it comes: nothing is held in memory
			if err != nil {
				return err
			}
			fmt.Printf("%s: %q, %d bytes\n", part.Name, part.FileName, n)
		}
		return c.NoContent(http.StatusNoContent)
	})
	body := "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n" +
		"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a.txt\"\r\n\r\ntext\r\n--b--\r\n"
	r := httptest.NewRequest("POST", "/files", strings.NewReader(body)) //nolint:noctx // an example
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	app.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// note: "", 5 bytes
	// file: "a.txt", 4 bytes
}

func ExampleDecompress() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	count := func(c *web.Context) error {
		body, err := c.Body()
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, fmt.Sprint(len(body), " bytes"))
	}
	app.POST("/packed", count, web.Decompress())
	app.POST("/plain", count)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(bytes.Repeat([]byte("text "), 20))
	if err = errors.Join(err, z.Close()); err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"/packed", "/plain"} {
		r := httptest.NewRequest("POST", path, bytes.NewReader(packed.Bytes())) //nolint:noctx // an example
		r.Header.Set("Content-Encoding", "gzip")
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(path, w.Code)
	}
	// Output:
	// /packed 200
	// /plain 415
}

// A server of one's own with a certificate that is renewed while it runs.
func ExampleCertificateFiles() {
	certificate, err := web.CertificateFiles("server.crt", "server.key", web.CertificateOptions{})
	if err != nil {
		fmt.Println("no certificate yet:", errors.Is(err, fs.ErrNotExist))
		return
	}
	server := &http.Server{TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate}, ReadHeaderTimeout: time.Second}
	log.Print(server.ListenAndServeTLS("", ""))
	// Output: no certificate yet: true
}

func ExampleServer_Audit() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := &web.Server{App: app, Addr: "0.0.0.0:8080", H2C: true}
	for _, f := range s.Audit() {
		fmt.Println(f.Setting + ": " + f.Danger)
	}
	// Output:
	// Server.Addr: 0.0.0.0:8080 is reached from other machines; plain HTTP unless RunTLS is called: whoever is in between reads and changes it
	// Server.H2C: HTTP/2 without TLS: only behind a proxy that is known
}

// Groups have a prefix and middleware of their own. A middleware gets the next handler once, when
// routes are registered, and returns what runs for each request.
func ExampleGroup() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	staff := func(next web.Handler) web.Handler {
		return func(c *web.Context) error {
			if c.Header("X-Staff") == "" {
				return web.ErrForbidden // the App answers it: 403
			}
			return next(c)
		}
	}
	admin := app.Group("/admin", staff)
	admin.GET("/users/{id:int}", func(c *web.Context) error {
		id, err := c.ParamInt("id")
		if err != nil {
			return err
		}
		return c.Stringf(http.StatusOK, "user %d", id)
	}, web.Name("user"))
	for _, staff := range []string{"", "yes"} {
		r := httptest.NewRequest("GET", "/admin/users/7", nil) //nolint:noctx // an example
		r.Header.Set("X-Staff", staff)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(w.Code)
	}
	fmt.Println(app.URL("user", "id", 7))
	// Output:
	// 403
	// 200
	// /admin/users/7 <nil>
}

// A handler returns what went wrong. What stands in a Problem is for the client, its cause for the
// log; any other error becomes the fixed text of its status.
func ExampleNewProblem() {
	app, err := web.New(web.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	errSoldOut := errors.New("row 7 of table stock is 0")
	app.GET("/buy", func(*web.Context) error {
		return web.NewProblem(http.StatusConflict, "this article is sold out", errSoldOut)
	})
	app.GET("/fail", func(*web.Context) error { return errSoldOut })
	for _, path := range []string{"/buy", "/fail"} {
		w := httptest.NewRecorder()
		app.ServeHTTP(w, httptest.NewRequest("GET", path, nil)) //nolint:noctx // an example
		var p struct{ Title, Detail string }
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %q\n", w.Code, p.Title, p.Detail)
	}
	// Output:
	// 409 Conflict "this article is sold out"
	// 500 Internal Server Error ""
}

// Bind fills one struct from path, query, header, cookie and body, and tells every fault at once.
func ExampleContext_Bind() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.PUT("/items/{id}", func(c *web.Context) error {
		var in struct {
			ID    int  `path:"id"`
			Force bool `query:"force" default:"false"`
			Body  struct {
				Name  string `json:"name"`
				Price uint16 `json:"price"`
			}
		}
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	})
	r := httptest.NewRequest("PUT", "/items/seven?force=maybe", strings.NewReader(`{"name": "tea", "price": -1, "prize": 2}`)) //nolint:noctx // an example
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	var p struct{ Fields []web.FieldError }
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Code)
	for _, f := range p.Fields {
		fmt.Println(f.Source, f.Name+f.Pointer, f.Rule)
	}
	// Output:
	// 400
	// path id type
	// query force type
	// body /price range
	// body /prize unknown
}

// A page with a layout. Templates come from any fs.FS: embed.FS, or os.DirFS during development.
func ExampleNewTemplates() {
	templates, err := web.NewTemplates(fstest.MapFS{
		"layouts/main.html": {Data: []byte("<title>{{block \"title\" .}}Shop{{end}}</title>{{block \"body\" .}}{{end}}")},
		"item.html":         {Data: []byte("{{define \"body\"}}<h1>{{.}}</h1>{{end}}")},
	}, web.TemplateOptions{Layout: "layouts/main.html"})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{Templates: templates})
	if err != nil {
		log.Fatal(err)
	}
	app.GET("/item", func(c *web.Context) error { return c.HTML(http.StatusOK, "item.html", "Cups & pots") })
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("GET", "/item", nil)) //nolint:noctx // an example
	fmt.Println(w.Body)
	// Output: <title>Shop</title><h1>Cups &amp; pots</h1>
}

// One value in the form that the client asks for.
func ExampleContext_Negotiate() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	type item struct {
		Name string `json:"name" xml:"name"`
	}
	app.GET("/item", func(c *web.Context) error { return c.Negotiate(http.StatusOK, item{"tea"}) })
	for _, accept := range []string{"application/json", "application/xml;q=0.9, text/html", "image/png"} {
		r := httptest.NewRequest("GET", "/item", nil) //nolint:noctx // an example
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// 200 application/json
	// 200 application/xml
	// 406 application/problem+json
}

// A stream of events. The client of a browser comes back by itself, with the id of the last event
// it had; the log has what it missed.
func ExampleContext_SSE() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	events := web.NewEventLog(100)
	for id, data := range []string{"12 cups", "11 cups"} {
		if err := events.Add(web.Event{ID: strconv.Itoa(id + 1), Name: "stock", Data: data}); err != nil {
			log.Fatal(err)
		}
	}
	app.GET("/events", func(c *web.Context) error {
		stream, err := c.SSE(web.SSEOptions{Log: events})
		if err != nil {
			return err
		}
		// A program waits here for what happens, or for the end of stream.Context().
		return stream.Send(web.Event{ID: "3", Name: "stock", Data: "10 cups"})
	})
	r := httptest.NewRequest("GET", "/events", nil) //nolint:noctx // an example
	r.Header.Set("Last-Event-ID", "1")
	w := httptest.NewRecorder()
	app.ServeHTTP(w, r)
	fmt.Print(w.Body)
	// Output:
	// id: 2
	// event: stock
	// data: 11 cups
	//
	// id: 3
	// event: stock
	// data: 10 cups
}

// Handlers and middleware of net/http are used as they are.
func ExampleFromStd() {
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(web.FromStdMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-From", "net/http")
			next.ServeHTTP(w, r)
		})
	}))
	app.GET("/hello/{name}", web.FromStd(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "hello "+r.PathValue("name")) //nolint:gosec // plain text, and the App has set nosniff
	})))
	w := httptest.NewRecorder()
	app.ServeHTTP(w, httptest.NewRequest("GET", "/hello/you", nil)) //nolint:noctx // an example
	fmt.Println(w.Header().Get("X-From"), w.Body)
	// Output: net/http hello you
}
