package fetch

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/timeout"
	greg "github.com/gregjones/httpcache"
	"github.com/maypok86/otter/v2"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

func failsafeClient(body []byte) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		again := failsafehttp.NewRetryPolicyBuilder().WithMaxRetries(2).Build() //nolint:bodyclose // a policy has no body
		open := circuitbreaker.NewBuilder[*http.Response]().Build()             //nolint:bodyclose // a policy has no body
		limit := timeout.New[*http.Response](10 * time.Second)                  //nolint:bodyclose // a policy has no body
		return getter(failsafehttp.NewRoundTripper(answers(body), again, open, limit), body, same), nothing, nil
	}
}

func gregjones(next http.RoundTripper) http.RoundTripper {
	t := greg.NewTransport(greg.NewMemoryCache())
	t.Transport = next
	return t
}

func goBreaker() (func(int) error, func() error, error) {
	b := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{})
	return func(int) error {
		_, err := b.Execute(func() (int, error) { return 1, nil })
		return err
	}, nothing, nil
}

func xTime() (func(int) error, func() error, error) {
	l, start := rate.NewLimiter(100_000_000, 1_000_000), time.Now()
	return func(i int) error {
		if !l.AllowN(start.Add(time.Duration(i)*time.Microsecond), 1) {
			return errWrong
		}
		return nil
	}, nothing, nil
}

func singleflightCrowd(body []byte) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		return func(i int) error {
			var g singleflight.Group
			up := &gate{next: answers(body), ready: make(chan struct{})}
			var joined atomic.Int64
			err := together(func() error {
				if joined.Add(1) == crowd {
					time.AfterFunc(joinTime, func() { close(up.ready) })
				}
				req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, unique(i), nil)
				if err != nil {
					return err
				}
				v, err, _ := g.Do(req.Method+" "+req.URL.String(), func() (any, error) {
					resp, err := up.RoundTrip(req)
					if err != nil {
						return nil, err
					}
					b, err := io.ReadAll(resp.Body)
					if cerr := resp.Body.Close(); err == nil {
						err = cerr
					}
					return b, err
				})
				if err == nil && !bytes.Equal(v.([]byte), body) {
					err = errWrong
				}
				return err
			})
			if n := up.calls.Load(); err == nil && n != 1 {
				err = fmt.Errorf("%w: %d upstream calls", errWrong, n)
			}
			return err
		}, nothing, nil
	}
}

func otterMap(n int) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		c, err := otter.New(&otter.Options[string, []byte]{MaximumSize: 2 * n})
		if err != nil {
			return nil, nil, err
		}
		keys, body := make([]string, n), kilobyte(1)
		for i := range keys {
			keys[i] = unique(i)
			c.Set(keys[i], body)
		}
		pick := zipf(n)
		return func(i int) error {
			if v, ok := c.GetIfPresent(keys[pick(i)]); !ok || len(v) != len(body) {
				return errWrong
			}
			return nil
		}, nothing, nil
	}
}

// naiveCache is the plain way to write a TTL cache.
type naiveCache struct {
	next   http.RoundTripper
	shards [16]naiveShard
}

type naiveShard struct {
	mu sync.RWMutex
	m  map[string]*naiveEntry
}

type naiveEntry struct {
	resp http.Response
	body []byte
	till time.Time
}

func newNaiveCache(next http.RoundTripper) *naiveCache {
	c := &naiveCache{next: next}
	for i := range c.shards {
		c.shards[i].m = make(map[string]*naiveEntry)
	}
	return c
}

func (c *naiveCache) shard(key string) *naiveShard {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return &c.shards[h.Sum32()%16]
}

// RoundTrip implements http.RoundTripper.
func (c *naiveCache) RoundTrip(req *http.Request) (*http.Response, error) {
	key := fmt.Sprintf("%s:%s", req.Method, req.URL)
	s := c.shard(key)
	s.mu.RLock()
	e := s.m[key]
	s.mu.RUnlock()
	if e == nil || time.Now().After(e.till) {
		resp, err := c.next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		if err := resp.Body.Close(); err != nil {
			return nil, err
		}
		e = &naiveEntry{*resp, b, time.Now().Add(time.Hour)}
		s.mu.Lock()
		s.m[key] = e
		s.mu.Unlock()
	}
	r := e.resp
	r.Request, r.Body = req, io.NopCloser(bytes.NewReader(e.body))
	return &r, nil
}

func naiveMap(n int) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		c, body := newNaiveCache(nil), kilobyte(1)
		paths := make([]string, n)
		for i := range paths {
			paths[i] = unique(i)
			key := fmt.Sprintf("%s:%s", http.MethodGet, paths[i])
			c.shard(key).m[key] = &naiveEntry{body: body, till: time.Now().Add(time.Hour)}
		}
		pick := zipf(n)
		return func(i int) error {
			key := fmt.Sprintf("%s:%s", http.MethodGet, paths[pick(i)])
			s := c.shard(key)
			s.mu.RLock()
			e := s.m[key]
			s.mu.RUnlock()
			if e == nil || time.Now().After(e.till) {
				return errWrong
			}
			return nil
		}, nothing, nil
	}
}

// naiveClient is the plain way to write a resilient client: a loop, one breaker, one bucket.
type naiveClient struct {
	client   http.Client
	failures atomic.Int64
	opened   atomic.Int64
	tokens   atomic.Int64
}

func newNaiveClient(next http.RoundTripper) *naiveClient {
	c := &naiveClient{client: http.Client{Transport: next, Timeout: 10 * time.Second}}
	c.tokens.Store(1 << 60)
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *naiveClient) RoundTrip(req *http.Request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		if c.failures.Load() >= 5 && time.Now().UnixNano() < c.opened.Load()+int64(5*time.Second) {
			return nil, errWrong
		}
		for {
			n := c.tokens.Load()
			if n <= 0 {
				return nil, errWrong
			}
			if c.tokens.CompareAndSwap(n, n-1) {
				break
			}
		}
		resp, err := c.client.Do(req)
		if err == nil && resp.StatusCode < 500 {
			c.failures.Store(0)
			return resp, nil
		}
		c.opened.Store(time.Now().UnixNano())
		if c.failures.Add(1); attempt == 3 {
			return resp, err
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
}
