package cache_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"slices"

	"example.com/quire/cache"
)

// lines gives a logger of one's own, here fmt's, what a cache logs.
type lines struct{ attrs []slog.Attr }

func (l lines) Enabled(context.Context, slog.Level) bool { return true }

func (l lines) Handle(_ context.Context, r slog.Record) error {
	fmt.Printf("%v: %s\n", r.Level, r.Message)
	show := func(a slog.Attr) bool {
		if a.Value.Kind() != slog.KindTime { // another one each time
			fmt.Printf("  %s = %v\n", a.Key, a.Value)
		}
		return true
	}
	for _, a := range l.attrs {
		show(a)
	}
	r.Attrs(show)
	return nil
}

func (l lines) WithAttrs(more []slog.Attr) slog.Handler {
	return lines{append(slices.Clip(l.attrs), more...)}
}

func (l lines) WithGroup(string) slog.Handler { return l }

// Any logger takes part through a slog.Handler; Options.Observer is told of what is no line of a
// log, such as each write.
func Example_logger() {
	ctx := context.Background()
	c, err := cache.New(cache.Options[string, string]{
		Name:     "posts",
		Load:     func(context.Context, string) (string, error) { return "", errors.New("the database is away") },
		Logger:   slog.New(lines{}),
		Observer: func(e cache.Event[string]) { fmt.Println("observed", e.Kind == cache.EventSet, e.Key) },
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Set(ctx, "43", "rain"); err != nil {
		log.Fatal(err)
	}
	_, missing := c.Get(ctx, "42")
	if err := c.Close(ctx); err != nil { // when it returns, all lines are written
		log.Fatal(err)
	}
	fmt.Println("get:", missing)
	// Output:
	// observed true 43
	// WARN: load failed
	//   cache = posts
	//   key = "42"
	//   error = the database is away
	// get: cache load "42": the database is away
}
