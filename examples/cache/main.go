// Command cache shows a cache in front of a slow origin: many readers of one key cause one load, a
// missing key is remembered too, and a value stays available while the origin fails.
//
//	go run ./examples/cache
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/cache"
)

func main() {
	if err := show(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var errDown = errors.New("the price service is down")

// origin is a price service that answers slowly and can be switched off.
type origin struct {
	down  atomic.Bool
	mu    sync.Mutex
	asked map[string]int
}

func (o *origin) load(ctx context.Context, sku string) (int, error) {
	o.mu.Lock()
	o.asked[sku]++
	o.mu.Unlock()
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	switch {
	case o.down.Load():
		return 0, errDown
	case sku == "tea":
		return 450, nil
	default:
		return 0, cache.ErrNotFound
	}
}

func show(ctx context.Context, w io.Writer) error {
	o := &origin{asked: map[string]int{}}
	prices, err := cache.New(cache.Options[string, int]{
		Name:       "prices",
		MaxEntries: 1000,
		Load:       o.load,
		Policy:     cache.Policy{TTL: time.Minute, NegativeTTL: time.Minute},
	})
	if err != nil {
		return err
	}
	var readers sync.WaitGroup
	failed := make([]error, 100)
	for i := range failed {
		readers.Go(func() { _, failed[i] = prices.Get(ctx, "tea") })
	}
	readers.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	for range 2 {
		if _, err := prices.Get(ctx, "unicorn"); !errors.Is(err, cache.ErrNotFound) {
			return fmt.Errorf("a price of what does not exist: %w", err)
		}
	}
	o.down.Store(true)
	price, err := prices.Get(ctx, "tea")
	if err != nil {
		return err
	}
	_, coffee := prices.Get(ctx, "coffee")
	if !errors.Is(coffee, errDown) {
		return fmt.Errorf("a price from a service that is down: %w", coffee)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err = fmt.Fprintf(w, "tea %d, asked %d time\nunicorn asked %d time\ncoffee: %v\n", price, o.asked["tea"], o.asked["unicorn"], coffee)
	return errors.Join(err, prices.Close(ctx))
}
