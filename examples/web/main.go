// Command web serves a small register of parcels: typed binding, errors that are problems
// (RFC 9457), and a clean end on an interrupt.
//
//	go run ./examples/web
//	curl -s -X PUT -H 'Content-Type: application/json' -d '{"to": "Zoë", "grams": 350}' http://127.0.0.1:8081/parcels/7
//	curl -s http://127.0.0.1:8081/parcels/7
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"

	"example.com/quire/web"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	app, err := newApp()
	if err == nil {
		fmt.Println("http://127.0.0.1:8081/parcels/7")
		err = (&web.Server{App: app, Addr: "127.0.0.1:8081"}).Run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type parcel struct {
	To    string `json:"to"`
	Grams int    `json:"grams"`
}

// register is safe for concurrent use.
type register struct {
	mu      sync.Mutex
	parcels map[string]parcel
}

// newApp returns the register's routes. {id:uint} takes digits alone: /parcels/x is a 404 that no
// handler has to write.
func newApp() (*web.App, error) {
	app, err := web.New(web.Options{})
	if err != nil {
		return nil, err
	}
	r := &register{parcels: map[string]parcel{}}
	app.PUT("/parcels/{id:uint}", r.put)
	app.GET("/parcels/{id:uint}", r.get)
	return app, nil
}

func (r *register) put(c *web.Context) error {
	var p parcel
	if err := c.BindJSON(&p); err != nil {
		return err // 400 with field, line and column; the nearest name of an unknown field
	}
	if p.Grams <= 0 {
		return web.NewProblem(http.StatusUnprocessableEntity, "a parcel weighs something", nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parcels[c.Param("id")] = p
	return c.NoContent(http.StatusNoContent)
}

func (r *register) get(c *web.Context) error {
	r.mu.Lock()
	p, ok := r.parcels[c.Param("id")]
	r.mu.Unlock()
	if !ok {
		return web.NewProblem(http.StatusNotFound, "no such parcel", nil)
	}
	return c.JSON(http.StatusOK, p)
}
