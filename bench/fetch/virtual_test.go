package fetch

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/hashicorp/go-retryablehttp"

	"example.com/quire/fetch"
	"example.com/quire/fetch/hedge"
)

// These are shapes of minutes: they run in virtual time, so that what they count is the same on
// every machine.

// counting is a transport that counts the requests it gets.
type counting struct {
	n    atomic.Int64
	trip func(*http.Request) (*http.Response, error)
}

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.trip(req)
}

func reply(req *http.Request, status int) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

// get sends a request and returns its status; 0 for an error.
func get(ctx context.Context, rt http.RoundTripper) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.example/", nil)
	if err != nil {
		return 0
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// wait ends with the context, as a transport does.
func wait(req *http.Request, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-req.Context().Done():
		return req.Context().Err()
	}
}

func own(t *testing.T, c fetch.Config) http.RoundTripper {
	t.Helper()
	cl, err := fetch.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cl.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return cl.Transport()
}

func retryable(base http.RoundTripper) http.RoundTripper {
	c := retryablehttp.NewClient()
	c.HTTPClient, c.Logger = &http.Client{Transport: base}, nil
	return c.StandardClient().Transport
}

// 1,000 requests a second for a minute to an origin that answers 503, each client with its
// defaults.
func TestStormOfRetries(t *testing.T) {
	const calls, floor = 60_000, 10
	for _, c := range []struct {
		name string
		most float64 // extra requests per call; 0 = not bounded
		open func(*testing.T, http.RoundTripper) http.RoundTripper
	}{
		{"quire", 0.2, func(t *testing.T, b http.RoundTripper) http.RoundTripper {
			t.Helper()
			return own(t, fetch.Config{Base: b})
		}},
		{"quire, the budget alone", 0.2, func(t *testing.T, b http.RoundTripper) http.RoundTripper {
			t.Helper()
			return own(t, fetch.Config{Base: b, Off: fetch.OffBreaker})
		}},
		{"failsafe", 0, func(_ *testing.T, b http.RoundTripper) http.RoundTripper {
			return failsafehttp.NewRoundTripper(b, failsafehttp.NewRetryPolicyBuilder().WithMaxRetries(2).Build()) //nolint:bodyclose // a policy has no body
		}},
		{"go-retryablehttp", 0, func(_ *testing.T, b http.RoundTripper) http.RoundTripper { return retryable(b) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := &counting{trip: func(req *http.Request) (*http.Response, error) { return reply(req, http.StatusServiceUnavailable), nil }}
				rt := c.open(t, up)
				var wg sync.WaitGroup
				for range calls {
					wg.Go(func() { get(t.Context(), rt) })
					<-time.After(time.Millisecond)
				}
				wg.Wait()
				extra := float64(up.n.Load()-calls) / calls
				t.Logf("%+.1f %% requests", 100*extra)
				if c.most > 0 && float64(up.n.Load()-calls) > c.most*calls+floor {
					t.Errorf("%d requests for %d calls", up.n.Load(), calls)
				}
				if c.most == 0 && extra <= 0.2 {
					t.Error("a peer without a budget keeps within it: is this a storm?")
				}
			})
		})
	}
}

// One of a hundred answers comes 200 ms late.
func TestTailOfLatency(t *testing.T) {
	const calls, least, spread, late = 20_000, 5 * time.Millisecond, 10 * time.Millisecond, 200 * time.Millisecond
	run := func(t *testing.T, share float64, open func(*testing.T, http.RoundTripper) http.RoundTripper) (p99 time.Duration, extra float64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 10)) //nolint:gosec // a fixed stream of inputs
			var mu sync.Mutex
			up := &counting{}
			up.trip = func(req *http.Request) (*http.Response, error) {
				mu.Lock()
				d := least + time.Duration(r.ExpFloat64()*float64(spread))
				if r.Float64() < share {
					d += late
				}
				mu.Unlock()
				if err := wait(req, d); err != nil {
					return nil, err
				}
				return reply(req, http.StatusOK), nil
			}
			rt := open(t, up)
			took := make([]time.Duration, 0, calls)
			for range calls {
				start := time.Now()
				if get(t.Context(), rt) != http.StatusOK {
					t.Fatal("no answer")
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			p99, extra = took[calls*99/100], float64(up.n.Load()-calls)/calls
		})
		return p99, extra
	}
	bare := func(_ *testing.T, b http.RoundTripper) http.RoundTripper { return b }
	ours := func(t *testing.T, b http.RoundTripper) http.RoundTripper {
		t.Helper()
		return own(t, fetch.Config{Base: b, Hedge: &hedge.Config{Percentile: 0.98}})
	}
	fixed := func(t *testing.T, b http.RoundTripper) http.RoundTripper {
		t.Helper()
		return own(t, fetch.Config{Base: b, Hedge: &hedge.Config{Delay: 50 * time.Millisecond}})
	}
	even, _ := run(t, 0, bare)
	without, _ := run(t, 0.0101, bare)
	set, setExtra := run(t, 0.0101, fixed)
	p99, extra := run(t, 0.0101, ours)
	t.Logf("p99 without slow answers %v, without hedging %v, after a fixed 50ms %v and %+.1f %% requests, by percentile %v and %+.1f %%", even, without, set, 100*setExtra, p99, 100*extra)
	if without < even*3/2 {
		t.Errorf("p99 without hedging is %v: there is no tail", without)
	}
	if p99 > even*13/10 || extra > 0.03 {
		t.Errorf("p99 %v, want at most 1.3 times %v; %+.1f %% requests, want at most 3", p99, even, 100*extra)
	}
}

// 100,000 origins through a client with everything on leave a bounded number, and each takes
// little.
func TestMemoryOfIdleOrigins(t *testing.T) {
	const kept = 4096
	live := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // below the machine's memory
	}
	c := everything(&counting{trip: func(req *http.Request) (*http.Response, error) { return reply(req, http.StatusNotFound), nil }})
	c.Cache = nil // what it keeps is bounded in bytes
	before := live()
	cl, err := fetch.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100_000 {
		resp, err := cl.Get(t.Context(), fmt.Sprintf("http://%d.example/", i))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	after := live()
	origins := len(cl.State().Origins)
	each := float64(after-before) / float64(max(origins, 1))
	t.Logf("%d origins kept, %.0f bytes each", origins, each)
	if origins > kept || each > mostPerOrigin {
		t.Errorf("%d origins of %.0f bytes, want at most %d of %d", origins, each, kept, mostPerOrigin)
	}
	if err := cl.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// mostPerOrigin are the bytes of an idle origin.
const mostPerOrigin = 4 << 10

// What a client takes by its configuration.
func TestMemoryOfAClient(t *testing.T) {
	live := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc) //nolint:gosec // below the machine's memory
	}
	base := &counting{trip: func(req *http.Request) (*http.Response, error) { return reply(req, http.StatusOK), nil }}
	for _, c := range []struct {
		name string
		cfg  fetch.Config
		most int64
	}{
		{"defaults", fetch.Config{Base: base}, 64 << 10},
		{"everything", everything(base), 256 << 10},
	} {
		const clients = 50
		list := make([]*fetch.Client, clients)
		before := live()
		for i := range list {
			cl, err := fetch.New(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if get(t.Context(), cl.Transport()) != http.StatusOK {
				t.Fatal("no answer")
			}
			list[i] = cl
		}
		each := (live() - before) / clients
		t.Logf("%s: %d bytes a client", c.name, each)
		if each > c.most {
			t.Errorf("%s: %d bytes a client, at most %d", c.name, each, c.most)
		}
		for _, cl := range list {
			if err := cl.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}
