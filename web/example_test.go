package web_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
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
