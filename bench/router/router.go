// Package router holds the suites of look-ups: requests through ServeHTTP whose handler reads every
// parameter; the route and the values are asserted. web-router is the router alone beside peers
// without middleware, web-app the whole App beside peers that do the same for each request.
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

// Suites returns both suites.
func Suites() []harness.Suite {
	return []harness.Suite{
		{
			Name:  "web-router",
			Title: "Look-ups by the router alone",
			About: "Requests through ServeHTTP with a writer that keeps the status. The handler reads every path parameter and " +
				"answers 204; route and values are asserted for each request. quire is the table of its patterns in a handler of a few lines, " +
				"as bare as the peers, which run without their recovery or logging middleware.",
			NotShown: []string{
				"Sockets: parsing a request and writing an answer cost several times a look-up.",
				"What the App does for each request beside the look-up: see web-app.",
				"httprouter in the row mixed: it refuses a literal beside a parameter.",
				"bunrouter in the row method-not-allowed: its 405 has no Allow.",
			},
			Rows: rows("web-router", bares, 0),
		},
		{
			Name:  "web-app",
			Title: "Look-ups through the App",
			About: "The requests of web-router through a web.App with zero Options, its secure profile: panic recovery, a request id, nosniff, " +
				"query limits, the cross-origin check and a log line's worth of bookkeeping are in its figures. The peers recover panics and set a " +
				"request id and nosniff too, by their own middleware where they have it.",
			NotShown: []string{
				"Sockets: parsing a request and writing an answer cost several times a look-up.",
				"The cross-origin check and the limit of query pairs, which no peer has.",
				"httprouter in the row mixed: it refuses a literal beside a parameter.",
				"bunrouter in the row method-not-allowed: its 405 has no Allow.",
			},
			Rows: rows("web-app", apps, 0.05), // memory for 1,024 request ids is taken at once
		},
	}
}

func rows(suite string, peers []peer, allocs float64) []harness.Row {
	row := func(name, title string, s set, peers []peer) harness.Row {
		return lookups(suite, name, title, s, peers, allocs)
	}
	wrong := row("method-not-allowed", "a method that the path does not have", wrongMethod(), without(peers, "bunrouter"))
	if suite == "web-app" {
		wrong.Goals[0].Obstacle = costOfProblem
	}
	return []harness.Row{
		row("static", "157 static routes", static(), peers),
		row("params-1", "one parameter", single(1), peers),
		row("params-5", "five parameters", single(5), peers),
		row("params-20", "twenty parameters", single(20), peers),
		row("github", "the 203 routes of GitHub's API", github(), peers),
		row("mixed", "literals beside parameters, asked for what needs backtracking", mixed(), without(peers, "httprouter")),
		wrong,
	}
}

const costOfProblem = "By profile a third of the time makes the problem of RFC 9457: its form by Accept, its text, and the fields Vary, Cache-Control, Content-Type and Content-Length. " +
	"Without that third the goal would be met; the peers answer a line of text."

// line is one route of a set; method and pattern are net/http's.
type line struct {
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
	routes []line
	asks   func(rng *rand.Rand) ask
}

func lookups(suite, name, title string, s set, peers []peer, allocs float64) harness.Row {
	row := harness.Row{
		Name: name, Title: title,
		Workload: harness.Workload{Name: suite + "-" + name, Version: 1, Seed: seed, Text: s.text},
		Goals: []harness.Goal{
			{Against: harness.Fastest, AtMost: 0.9},
			{Of: harness.Allocs, AtMost: allocs},
		},
	}
	for _, p := range peers {
		row.Contestants = append(row.Contestants, harness.Contestant{
			Name: p.name, Module: p.module, Note: p.note, Own: p.name == "quire",
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

func newLine(method, pattern string) line { return line{method, pattern, names(pattern)} }

// fill replaces the parameters of a pattern by unique values.
func fill(rng *rand.Rand, index int, r line) ask {
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
