package fetch

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/failsafehttp"

	"example.com/quire/fetch"
	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/collapse"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
	"example.com/quire/fetch/retry"
)

// burst is how many requests one operation of a parallel row has, whatever the number of its
// goroutines.
const burst = 64

// parallel is a contestant for each number of goroutines.
func parallel(open func() (rt http.RoundTripper, body []byte, url func(int) string, end func() error, err error)) []contestant {
	var list []contestant
	for _, workers := range []int{1, 2, 8, 64} {
		list = append(list, contestant{name: strconv.Itoa(workers), own: true, open: func() (func(int) error, func() error, error) {
			rt, body, url, end, err := open()
			if err != nil {
				return nil, nil, err
			}
			gets := make([]func(int) error, workers)
			for w := range gets {
				gets[w] = getter(rt, body, url)
			}
			return func(i int) error {
				var wg sync.WaitGroup
				var first atomic.Pointer[error]
				for w, get := range gets {
					wg.Go(func() {
						for n := w; n < burst; n += workers {
							if err := get(i + n); err != nil {
								first.CompareAndSwap(nil, &err)
							}
						}
					})
				}
				wg.Wait()
				if e := first.Load(); e != nil {
					return *e
				}
				return nil
			}, end, nil
		}})
	}
	return list
}

func parallelHits() []contestant {
	return parallel(func() (http.RoundTripper, []byte, func(int) string, func() error, error) {
		body, url := kilobyte(1), oneOf(1000)
		cl, end, err := ownClient(fetch.Config{Base: cacheable(body, "max-age=3600"), Cache: &httpcache.Config{}})
		if err != nil {
			return nil, nil, nil, nil, err
		}
		do := getter(cl.Transport(), body, url)
		for i := range 1000 {
			if err := do(i); err != nil {
				return nil, nil, nil, nil, err
			}
		}
		return cl.Transport(), body, url, end, nil
	})
}

func parallelStacks() []contestant {
	return parallel(func() (http.RoundTripper, []byte, func(int) string, func() error, error) {
		body := kilobyte(1)[:27]
		cl, end, err := ownClient(fetch.Config{Base: answers(body), Limit: &limit.KeyedConfig{Default: plenty()}})
		if err != nil {
			return nil, nil, nil, nil, err
		}
		return cl.Transport(), body, same, end, nil
	})
}

// failing answers 503 so many times before each success. One goroutine uses it.
type failing struct {
	next     http.RoundTripper
	times, n int
}

// RoundTrip implements http.RoundTripper.
func (f *failing) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.n++; f.n%(f.times+1) == 0 {
		return f.next.RoundTrip(req)
	}
	return &http.Response{
		Status: "503 Service Unavailable", StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

// retried is the retry layer when so many attempts fail first, without a wait.
func retried(times int) []contestant {
	body := bytes.Clone(kilobyte(1)[:27])
	return []contestant{
		{name: "quire", own: true, open: func() (func(int) error, func() error, error) {
			l, err := retry.New(retry.Policy{MaxAttempts: times + 1, Backoff: retry.Exponential{Base: time.Nanosecond, Max: time.Nanosecond}})
			if err != nil {
				return nil, nil, err
			}
			return getter(l(&failing{next: answers(body), times: times}), body, unique), nothing, nil
		}},
		{name: "failsafe", module: "github.com/failsafe-go/failsafe-go", open: func() (func(int) error, func() error, error) {
			again := failsafehttp.NewRetryPolicyBuilder().WithMaxRetries(times).WithDelay(time.Nanosecond).Build() //nolint:bodyclose // a policy has no body
			return getter(failsafehttp.NewRoundTripper(&failing{next: answers(body), times: times}, again), body, unique), nothing, nil
		}},
	}
}

// everything is a client with each layer on.
func everything(base http.RoundTripper) fetch.Config {
	return fetch.Config{
		Base: base, Cache: &httpcache.Config{}, Collapse: &collapse.Config{}, Breaker: breaker.Config{},
		Limit: &limit.KeyedConfig{Default: plenty()}, Bulkhead: &limit.BulkheadConfig{Max: 1000, Queue: 1000},
	}
}
