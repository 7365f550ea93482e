package webredis_test

import (
	"log"
	"time"

	"example.com/quire/web"
	"example.com/quire/web/middleware"
	"example.com/quire/web/webredis"
)

// Several servers admit 100 requests a minute together. While Redis is away they answer without a
// limit: FailClosed would answer 503.
func ExampleNew() {
	store, err := webredis.New(webredis.Options{Addresses: []string{"127.0.0.1:6379"}, Prefix: "shop:"})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			log.Print(err)
		}
	}()
	limit, err := middleware.RateLimit(middleware.RateLimitOptions{
		Name: "api", Rate: middleware.Rate{Requests: 100, Per: time.Minute}, Store: store, OnStoreFailure: middleware.FailOpen,
	})
	if err != nil {
		log.Fatal(err)
	}
	app, err := web.New(web.Options{})
	if err != nil {
		log.Fatal(err)
	}
	app.Use(limit)
}
