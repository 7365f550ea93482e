// Package router is the suite of router look-ups: whole requests through
// ServeHTTP, the handler reads every parameter, and the route and the values are
// asserted.
package router

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"

	"example.com/quire/bench/harness"
)

const seed = 20

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "router",
		Title: "Router look-ups",
		About: "Whole requests through ServeHTTP with a writer that keeps the status. The handler reads every path parameter and " +
			"answers 204; route and values are asserted for each request. quire runs with zero Options, its secure profile: " +
			"panic recovery, a request id, nosniff, query limits and the cross-origin check are in its figures. " +
			"gin, echo, chi and httprouter run bare, without their recovery or logging middleware.",
		NotShown: []string{
			"Sockets: parsing a request and writing an answer cost several times a look-up.",
			"What a middleware of the peers would add to match the profile that quire runs with.",
			"httprouter in the row mixed: it refuses a literal beside a parameter.",
		},
		Rows: []harness.Row{
			lookups("static", "157 static routes", static(), all...),
			lookups("params-1", "one parameter", single(1), all...),
			lookups("params-5", "five parameters", single(5), all...),
			lookups("params-20", "twenty parameters", single(20), all...),
			lookups("github", "the 203 routes of GitHub's API", github(), all...),
			lookups("mixed", "literals beside parameters, asked for what needs backtracking", mixed(), without("httprouter")...),
			lookups("method-not-allowed", "a method that the path does not have", wrongMethod(), all...),
		},
	}
}

// route is one route of a set; method and pattern are net/http's.
type route struct {
	method  string
	pattern string
	names   []string
}

// ask is one request with what must come of it.
type ask struct {
	method string
	path   string
	route  int // index into the set; -1 expects 405
	values []string
}

// set is a route set with a stream of requests.
type set struct {
	name   string
	text   string
	routes []route
	asks   func(rng *rand.Rand) ask
}

func lookups(name, title string, s set, peers ...peer) harness.Row {
	row := harness.Row{
		Name: name, Title: title,
		Workload: harness.Workload{Name: "router-" + name, Version: 1, Seed: seed, Text: s.text},
		Goals: []harness.Goal{
			{Against: harness.Fastest, AtMost: 0.9},
			{Of: harness.Allocs, AtMost: 0},
		},
	}
	for _, p := range peers {
		row.Contestants = append(row.Contestants, harness.Contestant{
			Name: p.name, Module: p.module, Own: p.name == "quire",
			Open: func(context.Context, harness.Env) (harness.Subject, error) { return open(p, s) },
		})
	}
	return row
}

// probe is where a handler leaves what it saw.
type probe struct {
	route  int
	values [20]string
	length int // of all values together
}

// see reads the parameters of a matched route.
func (p *probe) see(route int, names []string, get func(string) string) {
	p.route, p.length = route, 0
	for i, n := range names {
		v := get(n)
		p.values[i] = v
		p.length += len(v)
	}
}

// input is one request made ready, and what came of it.
type input struct {
	ask    *ask
	req    http.Request
	url    url.URL
	w      writer
	route  int
	length int
}

// writer keeps the status.
type writer struct {
	header http.Header
	status int
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return len(p), nil
}

// distinct is how many different requests there are; they repeat after that.
const distinct = 4096

// open builds a contestant's router and its stream of requests, the same for
// every contestant.
func open(p peer, s set) (harness.Subject, error) {
	seen := &probe{}
	handler, err := p.build(s.routes, seen)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.name))
	rng := rand.New(rand.NewPCG(seed, h.Sum64())) //nolint:gosec // a fixed stream of inputs
	asks := make([]ask, distinct)
	urls := make([]url.URL, distinct)
	for i := range asks {
		asks[i] = s.asks(rng)
		u, err := url.Parse(asks[i].path)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		urls[i] = *u
	}
	header := http.Header{"Accept": {"*/*"}, "User-Agent": {"bench"}}
	return &harness.Ops[input]{
		Size: 512,
		Fill: func(i int, in *input) error {
			k := i % distinct
			in.ask, in.url = &asks[k], urls[k]
			in.req = http.Request{
				Method: in.ask.method, URL: &in.url, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header,
				Host: "localhost", RequestURI: in.ask.path, RemoteAddr: "127.0.0.1:40000", Body: http.NoBody,
			}
			if in.w.header == nil {
				in.w.header = http.Header{}
			}
			clear(in.w.header)
			in.w.status, in.route, in.length = 0, -1, 0
			return nil
		},
		Do: func(in *input) error {
			seen.route = -1
			handler.ServeHTTP(&in.w, &in.req)
			in.route, in.length = seen.route, seen.length
			return nil
		},
		Verify: func(_ int, in *input) (harness.Facts, error) {
			if err := in.check(); err != nil {
				return harness.Facts{}, err
			}
			for i, want := range in.ask.values {
				if got := seen.values[i]; got != want {
					return harness.Facts{}, fmt.Errorf("%s %s: parameter %d is %q, want %q", in.ask.method, in.ask.path, i, got, want)
				}
			}
			return harness.Facts{}, nil
		},
		Checks: distinct,
		Cheap:  func(_ int, in *input) error { return in.check() },
	}, nil
}

func (in *input) check() error {
	want := 0
	for _, v := range in.ask.values {
		want += len(v)
	}
	switch {
	case in.route != in.ask.route:
		return fmt.Errorf("%s %s reached route %d, want %d", in.ask.method, in.ask.path, in.route, in.ask.route)
	case in.ask.route >= 0 && in.length != want:
		return fmt.Errorf("%s %s: parameters of %d bytes, want %d", in.ask.method, in.ask.path, in.length, want)
	case in.ask.route >= 0 && in.w.status != http.StatusNoContent:
		return fmt.Errorf("%s %s: status %d, want 204", in.ask.method, in.ask.path, in.w.status)
	case in.ask.route < 0 && in.w.status != http.StatusMethodNotAllowed:
		return fmt.Errorf("%s %s: status %d, want 405", in.ask.method, in.ask.path, in.w.status)
	case in.ask.route < 0 && in.w.header.Get("Allow") == "":
		return errors.New("405 without Allow")
	}
	return nil
}

// names lists the parameters of a pattern in order.
func names(pattern string) []string {
	var out []string
	for part := range strings.SplitSeq(pattern, "/") {
		if inner, ok := strings.CutPrefix(part, "{"); ok {
			out = append(out, strings.TrimSuffix(strings.TrimSuffix(inner, "}"), "..."))
		}
	}
	return out
}

func newRoute(method, pattern string) route { return route{method, pattern, names(pattern)} }

// fill replaces the parameters of a pattern by unique values.
func fill(rng *rand.Rand, index int, r route) ask {
	a := ask{method: r.method, route: index}
	parts := strings.Split(r.pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = value(rng)
			a.values = append(a.values, parts[i])
		}
	}
	a.path = strings.Join(parts, "/")
	return a
}

func value(rng *rand.Rand) string { return fmt.Sprintf("v%09x", rng.Uint64N(1<<36)) }
