// Package fetch is the suite of the HTTP client: each layer alone and all together over a stub
// transport, the cache's hits and revalidations, collapsing, and the parts that are called most.
// What comes back is read and compared in every operation.
package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"example.com/quire/bench/harness"
)

const seed = 22

// What keeps a goal out of reach where the rows beside it show that it is.
const (
	costOfLayers = "The rows of stub and bounded are what no client can save. stub is the request, its address parsed, and the answer read; bounded adds a deadline and a header that asks for gzip, and nothing else: " +
		"no retries, no breaker, no limit, no count. Counted by valgrind, stub executes 7,800 instructions, bounded 12,800, quire 17,100, failsafe 19,700, naive-client 19,400: " +
		"0.4 times failsafe is the stub alone, and 0.6 times naive-client is less than bounded. What the layers add beyond is spread: the call's memory, readings of the clock, the locks of limit, budget, breaker and counters."
	costOfKept = "bare neither bounds a request nor asks for a coding. The row of timeout is net/http's own client with both, over a transport of the same settings: where it lies above the goal, no client that bounds a request meets it, " +
		"since net/http makes a context, a channel and a timer for each that can end. The system calls are as many for all three. What quire takes beyond timeout is retries, breaker, counters and the bound of each Read: " +
		"counted by valgrind over a stub that makes contexts as net/http's transport does, 11,600 instructions. A sampled profile finds them spread over some sixty functions, none with a hundredth of the whole, that run once per request, " +
		"after the kernel and the origin, on the same core, have had its caches."
	costOfCopies = "naive-cache gives the same header map to all callers, which one of them may change for the others. The row of copy makes a header of the caller's own " +
		"and does nothing else: where it lies above the goal, no response that may be changed can meet it. " +
		"Counted by valgrind, copy executes 7,600 instructions, of which the request is 3,000 and the response with its map 3,700; naive-cache's whole hit is 7,700, and 0.15 times gregjones 7,000. " +
		"The map and its values are 3,600 of that. To clone a map that is ready and put values of the caller's own into it costs 3,700 by a list of the names and 5,000 by going through the map; with values that all callers share it would be 1,800, which leaves 300 of the goal for every look-up. " +
		"quire executes 9,600: 2,000 more than copy for the look-up, the rules, Age and Cache-Status."
	costOfSharing = "singleflight hands all callers the same bytes and nothing else. Here each has a response with a header and a body of its own, and copies the bytes into memory of its own when it reads them; the key says who asks. " +
		"Counted by valgrind, 100 callers execute 3.7 million instructions, and 2.9 million through singleflight, most of which make and wake goroutines and let their stacks grow."
	costOfKeys = "The row of map is the plainest look-up there is: where it lies above the goal, no limit by key can meet it. What costs is memory: 10,000 keys with their texts, " +
		"their places in a table and their limiters do not fit the nearest caches, where the one limiter of bare always is. Counted by valgrind, bare executes 280 instructions, map 470 and quire 550, which forgets what is idle and keeps within a bound."
)

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "fetch",
		Title: "HTTP client",
		About: "Requests over a stub transport that answers at once, so that what the client itself costs is seen: made anew each time, " +
			"their bodies read and compared. Peers run at their documented defaults. naive-client and naive-cache are the plain ways " +
			"to write such things: a retry loop with one breaker and one bucket for all, a sharded map with a TTL.",
		NotShown: []string{
			"What happens over minutes: storms, slow tails and servers that degrade are tests in virtual time (`cd bench && go test ./fetch -v`).",
			"The peers with the very policy of this client; their defaults retry less carefully.",
		},
		Rows: []harness.Row{
			row("full-stack", "all layers, success", "a GET through limit, retries with budget, breaker, deadlines and counters", fullStack(), harness.Goal{Against: "failsafe", AtMost: 0.4, Obstacle: costOfLayers}, harness.Goal{Against: "naive-client", AtMost: 0.6, Obstacle: costOfLayers}),
			row("full-stack-parallel", "all layers, by goroutines", "64 GETs by 1, 2, 8 and 64 goroutines at once", parallelStacks()),
			row("kept", "a GET over a kept connection", "a GET of 27 bytes from a server in another process, read to its end", keptConnections(), harness.Goal{Against: "bare", AtMost: 1.03, Obstacle: costOfKept}, harness.Goal{Of: harness.Allocs, AtMost: 58}),
			row("closed-unread", "a body that is not read", "a GET of 16 KiB from a server in another process, closed without reading", closedUnread(), harness.Goal{Against: "bare", AtMost: 0.5}, harness.Goal{Against: "bare", Of: harness.Bytes, AtMost: 0.4}),
			row("hit-parallel", "a cached response, by goroutines", "64 GETs of 1,000 fresh responses of 1 KiB by 1, 2, 8 and 64 goroutines at once", parallelHits()),
			row("hit", "a cached response", "a GET of one of 1,000 fresh responses of 1 KiB with 8 fields", hits(), harness.Goal{Against: "naive-cache", AtMost: 0.8, Obstacle: costOfCopies}, harness.Goal{Against: "naive-clone", AtMost: 0.8}, harness.Goal{Against: "gregjones", AtMost: 0.15, Obstacle: costOfCopies}, harness.Goal{Of: harness.Allocs, AtMost: 10}),
			row("revalidate", "a 304 to a stale response", "a GET of a stale response of 1 KiB that the origin confirms", revalidations(), harness.Goal{Against: "gregjones", Of: harness.Allocs, AtMost: 0.6}),
			row("collapse", "100 identical requests at once", "100 goroutines get the same 10 KiB; one request goes up", crowds(), harness.Goal{Against: "singleflight", AtMost: 1.5, Obstacle: costOfSharing}),
			row("breaker", "one admission and its outcome", "Allow and Done of a closed breaker", breakers(), harness.Goal{Against: "gobreaker", AtMost: 0.25}, harness.Goal{Of: harness.Allocs, AtMost: 0}),
			row("limiter", "one admission", "AllowN of a bucket that is never empty", limiters(), harness.Goal{Against: "x-time", AtMost: 0.7}, harness.Goal{Of: harness.Allocs, AtMost: 0}),
			row("keyed", "one admission of one of 10,000 keys", "AllowN by key", keyed(), harness.Goal{Against: "bare", AtMost: 3, Obstacle: costOfKeys}, harness.Goal{Of: harness.Allocs, AtMost: 0}),
			row("store-get", "a look-up in the memory store", "Get of one of 10,000 entries of 1 KiB, zipf 0.99", stores(), harness.Goal{Against: "naive-map", AtMost: 0.5}, harness.Goal{Against: "otter", AtMost: 2}),
			row("store-set", "an entry put in the memory store", "Set of one of 10,000 entries of 1 KiB, zipf 0.99", storeWrites(), harness.Goal{Against: "naive-map", AtMost: 0.6}, harness.Goal{Of: harness.Allocs, AtMost: 2}),
			row("layer-retry", "retry alone", "a unique GET", alone("retry")),
			row("layer-retry-1", "retry after a failure", "a unique GET that succeeds at the second attempt, without a wait", retried(1)),
			row("layer-retry-3", "retry after three failures", "a unique GET that succeeds at the fourth attempt, without a wait", retried(3)),
			row("layer-breaker", "breaker alone", "a unique GET", alone("breaker")),
			row("layer-limit", "limit alone", "a unique GET", alone("limit")),
			row("layer-collapse", "collapse alone", "a unique GET", alone("collapse")),
			row("layer-cache-miss", "cache alone, a miss", "a unique GET whose answer is not stored", alone("cache")),
			row("layer-hedge", "hedge alone", "a unique GET, answered before its delay", alone("hedge")),
		},
	}
}

// contestant makes a do function: operation i, which must return an error when what came back is
// not right.
type contestant struct {
	name, module, note string
	own                bool
	open               func() (do func(i int) error, end func() error, err error)
}

func row(name, title, text string, list []contestant, goals ...harness.Goal) harness.Row {
	r := harness.Row{Name: name, Title: title, Workload: harness.Workload{Name: "fetch-" + name, Version: 1, Seed: seed, Text: text}, Goals: goals}
	for _, c := range list {
		r.Contestants = append(r.Contestants, harness.Contestant{
			Name: c.name, Module: c.module, Note: c.note, Own: c.own,
			Open: func(context.Context, harness.Env) (harness.Subject, error) { return subject(c) },
		})
	}
	return r
}

func subject(c contestant) (harness.Subject, error) {
	do, end, err := c.open()
	if err != nil {
		return nil, err
	}
	return &harness.Ops[int]{
		Size:   1024,
		Fill:   func(i int, in *int) error { *in = i; return nil },
		Do:     func(in *int) error { return do(*in) },
		Verify: func(int, *int) (harness.Facts, error) { return harness.Facts{}, nil },
		Checks: 50,
		End:    end,
	}, nil
}

func nothing() error { return nil }

var errWrong = errors.New("the answer is not what was sent")

// stub is a transport that answers every request at once.
type stub struct {
	header http.Header
	body   []byte
	status int
}

// RoundTrip implements http.RoundTripper.
func (s *stub) RoundTrip(req *http.Request) (*http.Response, error) {
	status, body := s.status, s.body
	if req.Header.Get("If-None-Match") != "" || req.Header.Get("If-Modified-Since") != "" {
		status, body = http.StatusNotModified, nil
	}
	h := make(http.Header, len(s.header))
	maps.Copy(h, s.header)
	r := &http.Response{
		Status: "200 OK", StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, ContentLength: int64(len(body)), Request: req,
		Body: http.NoBody,
	}
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r, nil
}

func answers(body []byte, fields ...string) *stub {
	h := http.Header{
		"Content-Type": {"application/json"}, "Server": {"stub"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}, "Content-Length": {strconv.Itoa(len(body))},
		"X-Request-Id": {"0123456789abcdef"}, "Vary": {"Accept-Encoding"},
	}
	for i := 0; i+1 < len(fields); i += 2 {
		h[fields[i]] = []string{fields[i+1]}
	}
	return &stub{h, body, http.StatusOK}
}

func kilobyte(n int) []byte { return bytes.Repeat([]byte("0123456789abcdef"), n*64) }

// getter sends a request and compares the body.
func getter(rt http.RoundTripper, body []byte, url func(i int) string) func(i int) error {
	ctx := context.Background()
	buf := make([]byte, len(body)+1)
	return func(i int) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url(i), nil)
		if err != nil {
			return err
		}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			return err
		}
		n, err := io.ReadFull(resp.Body, buf)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if err := resp.Body.Close(); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK || !bytes.Equal(buf[:n], body) {
			return fmt.Errorf("%w: status %d, %d bytes", errWrong, resp.StatusCode, n)
		}
		return nil
	}
}

func same(int) string { return "http://api.example/v1/items/1" }

func unique(i int) string { return "http://api.example/v1/items/" + strconv.Itoa(i) }

func oneOf(n int) func(int) string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = unique(i)
	}
	return func(i int) string { return urls[i*7919%n] }
}
