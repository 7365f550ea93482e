package webprom_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/quire/web"
	"example.com/quire/web/webprom"
)

func ExampleNew() {
	registry := prometheus.NewRegistry()
	metrics, err := webprom.New(registry, webprom.Options{Labels: map[string]string{"service": "shop"}})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(metrics)
	app.GET("/orders/{id}", func(c *web.Context) error { return c.NoContent(http.StatusNoContent) })
	for _, path := range []string{"/orders/1", "/orders/2"} {
		app.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)) //nolint:noctx // an example
	}
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "http_server_requests_total" {
			fmt.Println(len(f.GetMetric()), "series,", f.GetMetric()[0].GetCounter().GetValue(), "requests")
		}
	}
	// Output: 1 series, 2 requests
}
