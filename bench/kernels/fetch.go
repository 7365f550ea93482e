package kernels

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"example.com/quire/fetch/breaker"
	"example.com/quire/fetch/httpcache"
	"example.com/quire/fetch/limit"
)

// fetchKernels are what a request through the HTTP client's layers costs where no other request is
// made: a cached response, and the parts that every request passes.
func fetchKernels() []Kernel {
	return []Kernel{
		{Name: "fetch/hit", N: 12_000, Open: cachedResponse},
		{Name: "fetch/breaker", N: 300_000, Open: admission},
		{Name: "fetch/limiter", N: 300_000, Open: func() (func() error, error) {
			g, err := limit.NewGCRA(limit.Rate{Events: 1000, Per: time.Second}, 1000)
			return allow(func(now time.Time) bool { return g.AllowN(now, 1) }), err
		}},
		{Name: "fetch/keyed", N: 200_000, Open: func() (func() error, error) {
			k, err := limit.NewKeyed(limit.KeyedConfig{Default: limit.Rule{Rate: limit.Rate{Events: 1000, Per: time.Second}, Burst: 1000}})
			return allow(func(now time.Time) bool { return k.AllowN(now, "https://api.example", 1) }), err
		}},
		{Name: "fetch/store-get", N: 250_000, Open: lookUp},
		{Name: "fetch/store-set", N: 140_000, Open: replacement},
	}
}

var errOutcome = errors.New("not the outcome that was expected")

// allow asks for one admission each millisecond, which is the rate.
func allow(ask func(now time.Time) bool) func() error {
	now := time.Unix(1_700_000_000, 0)
	return func() error {
		now = now.Add(time.Millisecond)
		if !ask(now) {
			return errOutcome
		}
		return nil
	}
}

func admission() (func() error, error) {
	b, err := breaker.New(breaker.Config{})
	now := time.Unix(1_700_000_000, 0)
	return func() error {
		t, err := b.Allow(now)
		if err != nil {
			return err
		}
		t.Done(breaker.Success, time.Millisecond, now)
		return nil
	}, err
}

// eightFields answers with a body of 1 KiB and 8 fields.
type eightFields struct{ body []byte }

func (o *eightFields) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{
			"Content-Type": {"application/json"}, "Server": {"origin"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}, "X-Request-Id": {"0123456789abcdef"},
			"Content-Length": {strconv.Itoa(len(o.body))}, "Vary": {"Accept-Encoding"}, "Cache-Control": {"max-age=86400"}, "Etag": {`"0123456789abcdef"`},
		},
		ContentLength: int64(len(o.body)), Body: io.NopCloser(bytes.NewReader(o.body)),
	}, nil
}

// stored returns a cache over a memory store that has the response to the address.
func stored(address string) (get func() error, m *httpcache.Memory, err error) {
	m = httpcache.NewMemory(1 << 20)
	c, err := httpcache.New(httpcache.Config{Store: m})
	if err != nil {
		return nil, nil, err
	}
	body := bytes.Repeat([]byte("0123456789abcdef"), 64)
	rt, buf := c.Layer(&eightFields{body}), make([]byte, len(body)+1)
	get = func() error {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			return err
		}
		if n, err := io.ReadFull(resp.Body, buf); !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(buf[:n], body) {
			return fmt.Errorf("%w: %d bytes, %w", errOutcome, n, err)
		}
		return resp.Body.Close()
	}
	return get, m, get()
}

func cachedResponse() (func() error, error) {
	get, _, err := stored(storedItem)
	return get, err
}

// storedItem is the address that the store's kernels fill, itemKey its key.
const storedItem = "https://api.example/v1/items/1"

var itemKey = httpcache.Key{Scheme: "https", Host: "api.example", Path: "/v1/items/1"}

func lookUp() (func() error, error) {
	_, m, err := stored(storedItem)
	return func() error {
		if e, err := m.Get(context.Background(), itemKey); err != nil || e == nil {
			return fmt.Errorf("%w: %w", errOutcome, err)
		}
		return nil
	}, err
}

func replacement() (func() error, error) {
	_, m, err := stored(storedItem)
	if err != nil {
		return nil, err
	}
	e, err := m.Get(context.Background(), itemKey)
	return func() error {
		if err := m.Set(context.Background(), itemKey, e); err != nil {
			return err
		}
		if n, _ := m.Size(); n != 1 {
			return fmt.Errorf("%w: %d entries", errOutcome, n)
		}
		return nil
	}, err
}
