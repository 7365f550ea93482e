// Command fetch sends 300 requests to an unreliable API through a fetch.Client with every layer on,
// and prints what each layer did. The API is its own: one of three responses is an error, and one
// of twenty is late.
//
//	go run ./examples/fetch
//	go run ./examples/fetch -stay    keeps the state page open until interrupted
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch"
	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/observe"
	"example.com/quire/fetch/retry"
)

func main() {
	stay := flag.Bool("stay", false, "keep the state page open until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *stay); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// flaky fails every third request, is slow at every twentieth, and lets what it answers be cached
// for a second.
func flaky() http.Handler {
	var calls atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		switch {
		case n%20 == 7:
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				return
			}
		case n%3 == 0:
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Cache-Control", "max-age=1, stale-if-error=60")
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"path": %q, "rate": 90.25}`, r.URL.Path) //nolint:gosec // JSON, for a client that is no browser
	})
}

// rates is what the API answers.
type rates struct {
	Path string  `json:"path"`
	Rate float64 `json:"rate"`
}

func run(ctx context.Context, w io.Writer, stay bool) error {
	api := httptest.NewServer(flaky())
	defer api.Close()
	client, err := fetch.New(fetch.Config{
		BaseURL:  api.URL,
		Cache:    &httpcache.Config{},
		Collapse: &collapse.Config{},
		Limit:    &limit.KeyedConfig{Default: limit.Rule{Rate: limit.Rate{Events: 400, Per: time.Second}, Burst: 20}, MaxWait: 5 * time.Second},
		Bulkhead: &limit.BulkheadConfig{Max: 16, Queue: 100},
		Hedge:    &hedge.Config{Delay: 50 * time.Millisecond},
		Retry:    retry.Policy{MaxAttempts: 6},
		Budget:   retry.BudgetConfig{Ratio: 1, Floor: 100}, // one of three fails: more than a healthy service would need
		Breaker:  breaker.Config{FailureRatio: 0.9, ConsecutiveFailures: 20},
	})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }() // every answer was read
	page, err := serve(ctx, observe.Page(client, observe.PageOptions{Title: "flaky API"}))
	if err != nil {
		return err
	}
	defer func() { _ = page.Close() }() // its listener is ours alone
	if _, err := fmt.Fprintf(w, "state page  http://%s/\n", page.Addr); err != nil {
		return err
	}
	failed := load(ctx, client)
	if err := report(w, client.State(), failed); err != nil {
		return err
	}
	if stay {
		<-ctx.Done()
	}
	return nil
}

// serve shows h at a free port of the loopback.
func serve(ctx context.Context, h http.Handler) (*http.Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &http.Server{Addr: l.Addr().String(), Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.Serve(l) }() // ends with Close
	return s, nil
}

// load asks for 30 things 10 times each, 20 at a time, and returns how many calls failed.
func load(ctx context.Context, client *fetch.Client) int64 {
	var failed atomic.Int64
	var wg sync.WaitGroup
	for worker := range 20 {
		wg.Go(func() {
			for n := range 15 {
				path := fmt.Sprintf("/rates/%d", (worker/2*3+n)%30) // two workers ask for the same at the same moment
				got, err := fetch.GetJSON[rates](ctx, client, path)
				if err != nil || got.Path != path || got.Rate != 90.25 {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return failed.Load()
}

func report(w io.Writer, s fetch.State, failed int64) error {
	if len(s.Origins) == 0 {
		return fmt.Errorf("no request was sent")
	}
	o := s.Origins[0]
	sum := func(list []observe.Count, name string) (n int64) {
		for _, c := range list {
			if name == "" || c.Name == name {
				n += c.N
			}
		}
		return n
	}
	_, err := fmt.Fprintf(w, "calls       %d\ncache       %d hits, %d misses, %d stale\ncollapse    %d answered by another's request\nlimit       %v waited, %d refused\n"+
		"retry       %d attempts, %d of them again\nhedge       %d extra legs, %d won\nbreaker     %s\nlatency     p50 %v, p99 %v\nfailed %d\n",
		o.Total(), s.Cache.Hits, s.Cache.Misses, s.Cache.Stale, o.Collapsed, s.Limits.Waited.Round(time.Millisecond), s.Limits.RateLimited,
		o.Attempts, sum(o.Retries, ""), sum(o.Hedges, ""), sum(o.Hedges, "won"), o.Breaker, o.P50.Round(10*time.Microsecond), o.P99.Round(10*time.Microsecond), failed)
	return err
}
