package cache_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"example.com/quire/cache"
)

// A cache with a loader: the first Get of a key asks it, later ones do not.
func Example() {
	ctx := context.Background()
	posts, err := cache.New(cache.Options[string, string]{
		Name:     "posts",
		MaxBytes: 16 << 20,
		Load: func(_ context.Context, id string) (string, error) {
			fmt.Println("loading", id)
			if id != "42" {
				return "", cache.ErrNotFound
			}
			return "the answer", nil
		},
		Policy: cache.Policy{TTL: time.Minute, StaleIfError: 24 * time.Hour},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := posts.Close(ctx); err != nil {
			log.Print(err)
		}
	}()

	for range 2 {
		post, err := posts.Get(ctx, "42")
		fmt.Println(post, err)
	}
	for range 2 {
		_, err := posts.Get(ctx, "43")
		fmt.Println(errors.Is(err, cache.ErrNotFound))
	}
	// Output:
	// loading 42
	// the answer <nil>
	// the answer <nil>
	// loading 43
	// true
	// true
}

// Values that are neither strings nor byte slices need a Weigh, or a bound by
// number.
func ExampleOptions_weigh() {
	type page struct{ head, body []byte }
	c, err := cache.New(cache.Options[string, *page]{
		MaxBytes: 1 << 20,
		Weigh:    func(_ string, p *page) int { return cap(p.head) + cap(p.body) },
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	defer func() { _ = c.Close(ctx) }()

	err = c.Set(ctx, "long", &page{body: make([]byte, 1<<20)})
	fmt.Println(err, errors.Is(err, cache.ErrTooLarge))
	// Output: cache: too large true
}

// PeekBytes joins a cache to code that finds its key in a byte buffer, such as
// a server's request line. A miss goes the ordinary way, which loads.
func ExamplePeekBytes() {
	ctx := context.Background()
	c, err := cache.New(cache.Options[string, []byte]{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if err := c.Set(ctx, "/post?id=1", []byte("ready reply")); err != nil {
		log.Fatal(err)
	}

	line := []byte("GET /post?id=1 HTTP/1.1")
	reply, ok := cache.PeekBytes(c, line[4:14])
	fmt.Printf("%s %v\n", reply, ok)
	_, ok = cache.PeekBytes(c, line[4:9])
	fmt.Println(ok)
	// Output:
	// ready reply true
	// false
}

// A failing loader with nothing to fall back on gives a LoadError that says
// when the next try is due.
func ExampleLoadError() {
	ctx := context.Background()
	down := errors.New("connection refused")
	c, err := cache.New(cache.Options[string, string]{Policy: cache.Policy{ErrorBackoffMin: time.Hour}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()

	_, err = c.GetOrLoad(ctx, "k", func(context.Context, string) (string, error) { return "", down })
	fmt.Println(err)
	if e, ok := errors.AsType[*cache.LoadError](err); ok {
		fmt.Println(errors.Is(e, down), time.Until(e.RetryAt) > 0)
	}
	// Output:
	// cache load "k": connection refused
	// true true
}

// SetWith gives one entry lives of its own.
func ExampleCache_SetWith() {
	ctx := context.Background()
	c, err := cache.New(cache.Options[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	first, err := c.SetWith(ctx, "k", "v1", cache.WriteOptions{TTL: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	second, err := c.SetWith(ctx, "k", "v2", cache.WriteOptions{TTL: time.Second})
	fmt.Println(second.Counter > first.Counter, err)
	// Output: true <nil>
}

// GetMany asks the origin once for all keys that are not held.
func ExampleCache_GetMany() {
	ctx := context.Background()
	c, err := cache.New(cache.Options[string, int]{MaxEntries: 100})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	if err := c.Set(ctx, "tea", 450); err != nil {
		log.Fatal(err)
	}
	load := func(_ context.Context, skus []string) (map[string]int, error) {
		slices.Sort(skus)
		fmt.Println("loading", skus)
		return map[string]int{"milk": 120}, nil
	}
	for range 2 {
		fmt.Println(c.GetMany(ctx, []string{"tea", "milk", "unicorn"}, load))
	}
	// Output:
	// loading [milk unicorn]
	// map[milk:120 tea:450] <nil>
	// map[milk:120 tea:450] <nil>
}

// LoadEntry asks the origin whether the value held is still right, and takes over its lives.
func ExampleOptions_loadEntry() {
	type page struct{ etag, body string }
	ctx := context.Background()
	pages, err := cache.New(cache.Options[string, *page]{
		MaxEntries: 100,
		LoadEntry: func(_ context.Context, _ string, old *cache.Entry[*page]) (cache.Loaded[*page], error) {
			if old != nil {
				fmt.Println("asking with", old.Value.etag)
				return cache.Loaded[*page]{NotModified: true, TTL: time.Hour}, nil
			}
			fmt.Println("asking for all")
			return cache.Loaded[*page]{Value: &page{`"v1"`, "hello"}, TTL: time.Millisecond, StaleWhileRevalidate: -1}, nil
		},
		Policy: cache.Policy{EarlyBeta: -1, LoadSoftTimeout: -1},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := pages.Close(ctx); err != nil {
			log.Print(err)
		}
	}()
	read := func() {
		p, err := pages.Get(ctx, "/")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.body)
	}
	read()
	for fresh := true; fresh; _, fresh = pages.Peek("/") {
		time.Sleep(time.Millisecond)
	}
	read()
	read()
	// Output:
	// asking for all
	// hello
	// asking with "v1"
	// hello
	// hello
}

// InvalidateTags drops all entries that were written with a tag.
func ExampleCache_InvalidateTags() {
	ctx := context.Background()
	pages, err := cache.New(cache.Options[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := pages.Close(ctx); err != nil {
			log.Print(err)
		}
	}()
	for _, path := range []string{"/", "/posts/42"} {
		if _, err := pages.SetWith(ctx, path, "page", cache.WriteOptions{Tags: []string{"post:42"}}); err != nil {
			log.Fatal(err)
		}
	}
	if err := pages.InvalidateTags(ctx, "post:42"); err != nil {
		log.Fatal(err)
	}
	_, err = pages.Get(ctx, "/")
	fmt.Println(err)
	// Output: cache: not found
}
