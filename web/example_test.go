package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
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
