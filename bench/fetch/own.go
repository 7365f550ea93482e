package fetch

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"example.com/quire/fetch"
	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/hedge"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/retry"
)

// plenty is a rate that is never reached.
func plenty() limit.Rule {
	return limit.Rule{Rate: limit.Rate{Events: 100_000_000, Per: time.Second}, Burst: 1_000_000}
}

func ownClient(c fetch.Config) (*fetch.Client, func() error, error) {
	cl, err := fetch.New(c)
	if err != nil {
		return nil, nil, err
	}
	return cl, func() error { return cl.Close(context.Background()) }, nil
}

func fullStack() []contestant {
	body := kilobyte(1)[:27]
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			cl, end, err := ownClient(fetch.Config{Base: answers(body), Limit: &limit.KeyedConfig{Default: plenty()}})
			if err != nil {
				return nil, nil, err
			}
			return getter(cl.Transport(), body, same), end, nil
		}},
		{name: "failsafe", module: "github.com/failsafe-go/failsafe-go", note: "retry, breaker and timeout; no limit, no counters", open: failsafeClient(body)},
		{name: "naive-client", note: "one breaker and one bucket for all origins", open: func() (func(int) error, func() error, error) {
			return getter(newNaiveClient(answers(body)), body, same), nothing, nil
		}},
		{name: "bounded", own: true, note: "the least that bounds a request and asks for gzip: a copy of it with a deadline, which the end of the body releases", open: func() (func(int) error, func() error, error) {
			return getter(bounded{answers(body)}, body, same), nothing, nil
		}},
		{name: "stub", note: "the transport alone", open: func() (func(int) error, func() error, error) {
			return getter(answers(body), body, same), nothing, nil
		}},
	}
}

// bounded does with a request what every client must that bounds its time and asks for a coding,
// and nothing else: without a look at the answer, and without a count.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), 10*time.Second)
	own := req.WithContext(ctx)
	own.Header = http.Header{"Accept-Encoding": {"gzip"}}
	resp, err := b.next.RoundTrip(own)
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, cancel}
	return resp, nil
}

type boundedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// fields of a cached response: 8 in all.
func cacheable(body []byte, cc string) *stub {
	return answers(body, "Cache-Control", cc, "Etag", `"0123456789abcdef"`)
}

func hits() []contestant {
	body := kilobyte(1)
	fresh := func() *stub { return cacheable(body, "max-age=3600") }
	warm := func(rt http.RoundTripper, end func() error) (func(int) error, func() error, error) {
		url := oneOf(1000)
		do := getter(rt, body, url)
		for i := range 1000 {
			if err := do(i); err != nil {
				return nil, nil, err
			}
		}
		return do, end, nil
	}
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			c, err := httpcache.New(httpcache.Config{})
			if err != nil {
				return nil, nil, err
			}
			do, end, err := warm(c.Layer(fresh()), func() error { return c.Close(context.Background()) })
			return counted(do, func() int64 { return c.Stats().Misses }, 1000), end, err
		}},
		{name: "quire-all", own: true, note: "in a client with collapse, limit, breaker and counters", open: func() (func(int) error, func() error, error) {
			cl, end, err := ownClient(fetch.Config{Base: fresh(), Cache: &httpcache.Config{}, Collapse: &collapse.Config{}, Limit: &limit.KeyedConfig{Default: plenty()}})
			if err != nil {
				return nil, nil, err
			}
			return warm(cl.Transport(), end)
		}},
		{name: "naive-cache", note: "a TTL for all; its hits share one header map", open: func() (func(int) error, func() error, error) {
			return warm(newNaiveCache(fresh(), false), nothing)
		}},
		{name: "naive-clone", note: "the same with a clone of the header and an Age for each caller", open: func() (func(int) error, func() error, error) {
			return warm(newNaiveCache(fresh(), true), nothing)
		}},
		{name: "copy", own: true, note: "the least that a hit costs: a response with a header of 10 fields of its own, without a look-up and without rules", open: func() (func(int) error, func() error, error) {
			return warm(newCopied(fresh()), nothing)
		}},
		{name: "gregjones", module: "github.com/gregjones/httpcache", open: func() (func(int) error, func() error, error) {
			return warm(gregjones(fresh()), nothing)
		}},
	}
}

// counted fails when a number moves that must not: a miss that is timed as a hit.
func counted(do func(int) error, number func() int64, want int64) func(int) error {
	if do == nil {
		return nil
	}
	var n atomic.Int64
	return func(i int) error {
		if n.Add(1)%1024 == 0 && number() != want {
			return fmt.Errorf("%w: %d of something, want %d", errWrong, number(), want)
		}
		return do(i)
	}
}

func revalidations() []contestant {
	body := kilobyte(1)
	stale := func() *stub { return cacheable(body, "max-age=0") }
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			c, err := httpcache.New(httpcache.Config{})
			if err != nil {
				return nil, nil, err
			}
			return getter(c.Layer(stale()), body, same), func() error { return c.Close(context.Background()) }, nil
		}},
		{name: "gregjones", module: "github.com/gregjones/httpcache", open: func() (func(int) error, func() error, error) {
			return getter(gregjones(stale()), body, same), nothing, nil
		}},
	}
}

// gate holds requests until all callers have joined.
type gate struct {
	next  http.RoundTripper
	ready chan struct{}
	calls atomic.Int64
}

func (g *gate) RoundTrip(req *http.Request) (*http.Response, error) {
	g.calls.Add(1)
	<-g.ready
	return g.next.RoundTrip(req)
}

const crowd = 100

// swapped is a transport that another takes the place of, between operations.
type swapped struct{ http.RoundTripper }

// together runs f in so many goroutines, with their numbers, and returns the first error.
func together(f func(n int) error) error {
	var wg sync.WaitGroup
	var first atomic.Pointer[error]
	for n := range crowd {
		wg.Go(func() {
			if err := f(n); err != nil {
				first.CompareAndSwap(nil, &err)
			}
		})
	}
	wg.Wait()
	if e := first.Load(); e != nil {
		return *e
	}
	return nil
}

// joinTime is how long the answer waits after the last caller has set out, so that all have joined
// on a busy machine too. It costs no processor time.
const joinTime = 100 * time.Millisecond

func crowds() []contestant {
	body := kilobyte(10)
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			gets := make([]func(int) error, crowd) // each with a buffer to read into, which is its caller's
			under := new(swapped)
			for n := range gets {
				gets[n] = getter(under, body, unique)
			}
			return func(i int) error {
				g, err := collapse.New(collapse.Config{})
				if err != nil {
					return err
				}
				up := &gate{next: answers(body), ready: make(chan struct{})}
				under.RoundTripper = g.Layer(up)
				var joined atomic.Int64
				err = together(func(n int) error {
					if joined.Add(1) == crowd {
						time.AfterFunc(joinTime, func() { close(up.ready) })
					}
					return gets[n](i)
				})
				if n := up.calls.Load(); err == nil && n != 1 {
					err = fmt.Errorf("%w: %d upstream calls", errWrong, n)
				}
				return err
			}, nothing, nil
		}},
		{name: "singleflight", module: "golang.org/x/sync", note: "all callers share one body", open: singleflightCrowd(body)},
	}
}

func breakers() []contestant {
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			b, err := breaker.New(breaker.Config{})
			if err != nil {
				return nil, nil, err
			}
			now := time.Now()
			return func(int) error {
					t, err := b.Allow(now)
					if err != nil {
						return err
					}
					t.Done(breaker.Success, time.Millisecond, now)
					return nil
				}, func() error {
					if b.State() != breaker.Closed {
						return errWrong
					}
					return nil
				}, nil
		}},
		{name: "gobreaker", module: "github.com/sony/gobreaker/v2", open: goBreaker},
	}
}

func limiters() []contestant {
	return []contestant{
		{name: "quire", own: true, open: bareLimiter},
		{name: "x-time", module: "golang.org/x/time", open: xTime},
	}
}

func bareLimiter() (func(int) error, func() error, error) {
	r := plenty()
	g, err := limit.NewGCRA(r.Rate, r.Burst)
	if err != nil {
		return nil, nil, err
	}
	now := ticking()
	return func(int) error {
		if !g.AllowN(now(), 1) {
			return errWrong
		}
		return nil
	}, nothing, nil
}

// ticking is a clock for one goroutine that goes on by a microsecond each time it is read: by then
// plenty has given back what was taken.
func ticking() func() time.Time {
	now := time.Now()
	return func() time.Time {
		now = now.Add(time.Microsecond)
		return now
	}
}

func keyed() []contestant {
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			k, err := limit.NewKeyed(limit.KeyedConfig{Default: plenty(), MaxKeys: 20_000})
			if err != nil {
				return nil, nil, err
			}
			names, now := manyKeys(), ticking()
			return func(i int) error {
				if !k.AllowN(now(), names[i*7919%len(names)], 1) {
					return errWrong
				}
				return nil
			}, nothing, nil
		}},
		{name: "bare", own: true, note: "one limiter, no key", open: bareLimiter},
		{name: "map", own: true, note: "a limiter of each key in a plain map under a lock, which is never forgotten", open: func() (func(int) error, func() error, error) {
			m, names, now := make(map[string]*limit.GCRA), manyKeys(), ticking()
			for _, name := range names {
				r := plenty()
				g, err := limit.NewGCRA(r.Rate, r.Burst)
				if err != nil {
					return nil, nil, err
				}
				m[name] = g
			}
			var mu sync.RWMutex
			return func(i int) error {
				mu.RLock()
				g := m[names[i*7919%len(names)]]
				mu.RUnlock()
				if !g.AllowN(now(), 1) {
					return errWrong
				}
				return nil
			}, nothing, nil
		}},
	}
}

// manyKeys are the keys of the row of limits by key.
func manyKeys() []string {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = "https://" + strconv.Itoa(i) + ".example"
	}
	return names
}

// zipf is a stream of indices, the same for everybody.
func zipf(n int) func(i int) int {
	r := rand.New(rand.NewPCG(seed, 1))        //nolint:gosec // a fixed stream of inputs
	z := rand.NewZipf(r, 1.01, 1, uint64(n-1)) //nolint:gosec // n is a small constant
	list := make([]int, 1<<16)
	for i := range list {
		list[i] = int(z.Uint64()) //nolint:gosec // below n
	}
	return func(i int) int { return list[i%len(list)] }
}

// entries is how many the store has in its rows.
const entries = 10_000

// filled is our store with its entries and their keys.
func filled() (m *httpcache.Memory, keys []httpcache.Key, end func() error, err error) {
	m = httpcache.NewMemory(64 << 20)
	c, err := httpcache.New(httpcache.Config{Store: m})
	if err != nil {
		return nil, nil, nil, err
	}
	body := kilobyte(1)
	do := getter(c.Layer(cacheable(body, "max-age=3600")), body, unique)
	keys = make([]httpcache.Key, entries)
	for i := range keys {
		if err := do(i); err != nil {
			return nil, nil, nil, err
		}
		keys[i] = httpcache.Key{Scheme: "http", Host: "api.example", Path: "/v1/items/" + strconv.Itoa(i)}
	}
	return m, keys, func() error { return c.Close(context.Background()) }, nil
}

func stores() []contestant {
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			m, keys, end, err := filled()
			if err != nil {
				return nil, nil, err
			}
			pick, ctx := zipf(entries), context.Background()
			return func(i int) error {
				e, err := m.Get(ctx, keys[pick(i)])
				if err != nil || e == nil {
					return fmt.Errorf("%w: %w", errWrong, err)
				}
				return nil
			}, end, nil
		}},
		{name: "naive-map", note: "16 shards by hash/fnv, a key by Sprintf", open: naiveMap(false)},
		{name: "otter", module: "github.com/maypok86/otter/v2", open: otterMap(false)},
	}
}

func storeWrites() []contestant {
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			m, keys, end, err := filled()
			if err != nil {
				return nil, nil, err
			}
			pick, ctx := zipf(entries), context.Background()
			e, err := m.Get(ctx, keys[0])
			return func(i int) error { return m.Set(ctx, keys[pick(i)], e) }, func() error {
				if n, _ := m.Size(); n != entries {
					return fmt.Errorf("%w: %d entries", errWrong, n)
				}
				return end()
			}, err
		}},
		{name: "naive-map", note: "16 shards by hash/fnv, a key by Sprintf", open: naiveMap(true)},
		{name: "otter", module: "github.com/maypok86/otter/v2", open: otterMap(true)},
	}
}

// alone is one layer over the stub, beside the stub.
func alone(name string) []contestant {
	body := kilobyte(1)[:27]
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			l, end, err := layer(name)
			if err != nil {
				return nil, nil, err
			}
			return getter(l(answers(body)), body, unique), end, nil
		}},
		{name: "stub", note: "the transport alone", open: func() (func(int) error, func() error, error) {
			return getter(answers(body), body, unique), nothing, nil
		}},
	}
}

func layer(name string) (fetch.Layer, func() error, error) {
	switch name {
	case "retry":
		b, err := retry.NewBudget(retry.BudgetConfig{})
		if err != nil {
			return nil, nil, err
		}
		l, err := retry.New(retry.Policy{Spender: b})
		return l, nothing, err
	case "breaker":
		s, err := breaker.NewSet(breaker.Config{})
		if err != nil {
			return nil, nil, err
		}
		return s.Layer, nothing, nil
	case "limit":
		k, err := limit.NewKeyed(limit.KeyedConfig{Default: plenty()})
		if err != nil {
			return nil, nil, err
		}
		return k.Layer, nothing, nil
	case "collapse":
		g, err := collapse.New(collapse.Config{})
		if err != nil {
			return nil, nil, err
		}
		return g.Layer, nothing, nil
	case "cache":
		c, err := httpcache.New(httpcache.Config{Heuristic: httpcache.Heuristic{Fraction: -1}})
		if err != nil {
			return nil, nil, err
		}
		return c.Layer, func() error { return c.Close(context.Background()) }, nil
	case "hedge":
		l, err := hedge.New(hedge.Config{Delay: time.Second})
		return l, nothing, err
	}
	return nil, nil, fmt.Errorf("no layer %s", name)
}
