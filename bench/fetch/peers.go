package fetch

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
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
	l, now := rate.NewLimiter(100_000_000, 1_000_000), ticking()
	return func(int) error {
		if !l.AllowN(now(), 1) {
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
			err := together(func(int) error {
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

// otterMap reads, or writes, values of 1 KiB.
func otterMap(write bool) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		c, err := otter.New(&otter.Options[string, []byte]{MaximumSize: 2 * entries})
		if err != nil {
			return nil, nil, err
		}
		keys, body := make([]string, entries), kilobyte(1)
		for i := range keys {
			keys[i] = unique(i)
			c.Set(keys[i], body)
		}
		pick := zipf(entries)
		return func(i int) error {
			key := keys[pick(i)]
			if write {
				c.Set(key, body)
				return nil
			}
			if v, ok := c.GetIfPresent(key); !ok || len(v) != len(body) {
				return errWrong
			}
			return nil
		}, nothing, nil
	}
}

// naiveCache is the plain way to write a TTL cache.
type naiveCache struct {
	next   http.RoundTripper
	clones bool // each response has a header of its own, with an Age, as RFC 9111 wants it
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

const naiveTTL = time.Hour

func newNaiveCache(next http.RoundTripper, clones bool) *naiveCache {
	c := &naiveCache{next: next, clones: clones}
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
	now := time.Now()
	if e == nil || now.After(e.till) {
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
		e = &naiveEntry{*resp, b, now.Add(naiveTTL)}
		s.mu.Lock()
		s.m[key] = e
		s.mu.Unlock()
	}
	r := e.resp
	r.Request, r.Body = req, io.NopCloser(bytes.NewReader(e.body))
	if c.clones {
		r.Header = e.resp.Header.Clone()
		r.Header.Set("Age", strconv.FormatInt(int64((now.Sub(e.till)+naiveTTL)/time.Second), 10))
	}
	return &r, nil
}

// copied answers with the same response, in a header of the caller's own: the fields that a hit
// has, from a list, into a map of the right size.
type copied struct {
	names  []string
	values []string
	body   []byte
}

// newCopied takes the fields and the body of next's answer, and adds those of a cache.
func newCopied(next *stub) *copied {
	c := &copied{names: []string{"Age", "Cache-Status"}, values: []string{"0", "quire-fetch; hit; ttl=3600"}, body: next.body}
	for name, values := range next.header {
		c.names, c.values = append(c.names, name), append(c.values, values[0])
	}
	return c
}

// copiedResponse is a response in one piece with what it points to.
type copiedResponse struct {
	http.Response
	body   bytes.Reader
	values [10]string
}

func (*copiedResponse) Close() error { return nil }

func (r *copiedResponse) Read(p []byte) (int, error) { return r.body.Read(p) }

// RoundTrip implements http.RoundTripper.
func (c *copied) RoundTrip(req *http.Request) (*http.Response, error) {
	r := &copiedResponse{Response: http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header, len(c.names)),
		ContentLength: int64(len(c.body)), Request: req,
	}}
	copy(r.values[:], c.values)
	for i, name := range c.names {
		r.Header[name] = r.values[i : i+1 : i+1]
	}
	r.body.Reset(c.body)
	r.Body = r
	return &r.Response, nil
}

// naiveMap is the map of naiveCache, read or written.
func naiveMap(write bool) func() (func(int) error, func() error, error) {
	return func() (func(int) error, func() error, error) {
		c, body := newNaiveCache(nil, false), kilobyte(1)
		paths := make([]string, entries)
		set := func(path string) {
			key := fmt.Sprintf("%s:%s", http.MethodGet, path)
			s := c.shard(key)
			s.mu.Lock()
			s.m[key] = &naiveEntry{body: body, till: time.Now().Add(naiveTTL)}
			s.mu.Unlock()
		}
		for i := range paths {
			paths[i] = unique(i)
			set(paths[i])
		}
		pick := zipf(entries)
		return func(i int) error {
			path := paths[pick(i)]
			if write {
				set(path)
				return nil
			}
			key := fmt.Sprintf("%s:%s", http.MethodGet, path)
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
