// Package handlers is the suite of whole handlers in process: reading and binding a request,
// rendering an answer, middleware of each kind, beside those of others. Every answer is read and
// compared.
package handlers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"example.com/quire/bench/harness"
)

const seed = 12

// Suite returns the rows.
func Suite() harness.Suite {
	return harness.Suite{
		Name:  "web-handlers",
		Title: "Handlers and middleware",
		About: "Requests through ServeHTTP with a writer that keeps status, fields and body, emptied for each; bodies of requests are read anew. " +
			"Status and body of each answer are compared. quire runs with zero Options, its secure profile: it recovers panics, gives each " +
			"request an id and sets nosniff. The peers run bare but for the middleware that a row is about; in the first rows, where that " +
			"profile is most of the cost, gin is there once more with the same work.",
		NotShown: []string{
			"Sockets: parsing a request and writing an answer cost more than most of these handlers.",
			"That an answer of quire is encoded before its status is written, so that an error of encoding is a 500: the rows buffer-... show what it costs.",
		},
		Rows: append(append(plainRows(), bodyRows()...), middlewareRows()...),
	}
}

// job is what each contestant of a row is asked, and what it has to answer.
type job struct {
	name, title, text string
	method            string                       // GET unless said
	target            func(i int) string           // path and query
	body              func(i int) []byte           // nil: none
	fields            http.Header                  // of every request
	peer              func(i int) string           // remote address; nil: the same for all
	distinct          int                          // how many different requests there are; 0 is 512
	want              func(i int, a *answer) error // judges an answer
	procs             int
	together          int // requests at once in one operation; 0 is one
}

// contestant builds a handler.
type contestant struct {
	name, module, note string
	own                bool
	build              func() (http.Handler, error)
}

const (
	ginModule  = "github.com/gin-gonic/gin"
	echoModule = "github.com/labstack/echo/v5"
	humaModule = "github.com/danielgtaylor/huma/v2"
)

// row makes a row of a job. A goal whose AtMost is 0 allocations stands for itself.
func row(j job, list []contestant, goals ...harness.Goal) harness.Row {
	r := harness.Row{
		Name: j.name, Title: j.title, Procs: j.procs, Goals: goals,
		Workload: harness.Workload{Name: "web-handlers-" + j.name, Version: 1, Seed: seed, Text: j.text},
	}
	for _, c := range list {
		r.Contestants = append(r.Contestants, harness.Contestant{
			Name: c.name, Module: c.module, Note: c.note, Own: c.own,
			Open: func(context.Context, harness.Env) (harness.Subject, error) { return open(j, c) },
		})
	}
	return r
}

func faster(than string, ratio float64) harness.Goal {
	g := harness.Goal{Against: than, AtMost: ratio}
	if than == "gin" || than == "echo" || than == "echo-jwt" { // bare
		g.Obstacle = ownWork
	}
	return g
}

func hindered(g harness.Goal, by string) harness.Goal {
	g.Obstacle = by
	return g
}

func fewerAllocations(than string) harness.Goal {
	return harness.Goal{Against: than, Of: harness.Allocs, AtMost: 1}
}

// allocations is a goal of n. The memory of 1,024 request ids is taken at once, which is the
// fraction.
func allocations(n float64) harness.Goal { return harness.Goal{Of: harness.Allocs, AtMost: n + 0.05} }

// answer is a writer that keeps what is written.
type answer struct {
	header http.Header
	status int
	body   []byte
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.body = append(a.body, p...)
	return len(p), nil
}

// WriteString does not copy its text first, as that of net/http does not.
func (a *answer) WriteString(s string) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.body = append(a.body, s...)
	return len(s), nil
}

// Flush does nothing more: all is written already.
func (a *answer) Flush() {}

func (a *answer) reset() {
	if a.header == nil {
		a.header = http.Header{}
	}
	clear(a.header)
	a.status, a.body = 0, a.body[:0]
}

// payload is a request's body that can be read again from its beginning.
type payload struct{ bytes.Reader }

func (*payload) Close() error { return nil }

var _ io.ReadCloser = (*payload)(nil)

// exchange is one request made ready, with its answer.
type exchange struct {
	req  http.Request
	url  url.URL
	sent payload
	answer
}

// input is one operation: one exchange, or several at once.
type input struct{ parts []exchange }

// requests are the different requests of a job, made once.
type requests struct {
	urls    []url.URL
	targets []string
	bodies  [][]byte
	peers   []string
}

func prepare(j job) (*requests, error) {
	n := j.distinct
	if n == 0 {
		n = 512
	}
	r := &requests{urls: make([]url.URL, n), targets: make([]string, n), bodies: make([][]byte, n), peers: make([]string, n)}
	for i := range n {
		r.targets[i], r.peers[i] = j.target(i), "127.0.0.1:40000"
		u, err := url.ParseRequestURI(r.targets[i])
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		r.urls[i] = *u
		if j.body != nil {
			r.bodies[i] = j.body(i)
		}
		if j.peer != nil {
			r.peers[i] = j.peer(i)
		}
	}
	return r, nil
}

func (r *requests) fill(j job, i int, x *exchange) {
	k := i % len(r.urls)
	x.url = r.urls[k]
	x.reset()
	method := j.method
	if method == "" {
		method = http.MethodGet
	}
	x.req = http.Request{
		Method: method, URL: &x.url, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: j.fields,
		Host: "localhost", RequestURI: r.targets[k], RemoteAddr: r.peers[k], Body: http.NoBody,
	}
	if j.body != nil {
		x.sent.Reset(r.bodies[k])
		x.req.Body, x.req.ContentLength = &x.sent, int64(len(r.bodies[k]))
	}
}

func open(j job, c contestant) (harness.Subject, error) {
	handler, err := c.build()
	if err != nil {
		return nil, err
	}
	all, err := prepare(j)
	if err != nil {
		return nil, err
	}
	if j.fields == nil {
		j.fields = http.Header{"Accept": {"*/*"}, "User-Agent": {"bench"}}
	}
	together := max(1, j.together)
	check := func(i int, in *input) error {
		for k := range in.parts {
			n := (i*together + k) % len(all.urls)
			if err := j.want(n, &in.parts[k].answer); err != nil {
				a := &in.parts[k].answer
				return fmt.Errorf("%s: %w; the answer is %d %.300q", all.targets[n], err, a.status, a.body)
			}
		}
		return nil
	}
	do := func(in *input) error {
		handler.ServeHTTP(&in.parts[0], &in.parts[0].req)
		return nil
	}
	if together > 1 {
		do = func(in *input) error {
			crowd(handler, in.parts)
			return nil
		}
	}
	return &harness.Ops[input]{
		Size: max(1, 512/together),
		Fill: func(i int, in *input) error {
			if in.parts == nil {
				in.parts = make([]exchange, together)
			}
			for k := range in.parts {
				all.fill(j, i*together+k, &in.parts[k])
			}
			return nil
		},
		Do: do,
		Verify: func(i int, in *input) (harness.Facts, error) {
			return harness.Facts{OutputBytes: int64(len(in.parts[0].body))}, check(i, in)
		},
		Checks: 64,
		Cheap:  check,
	}, nil
}

// crowd serves all parts by goroutines, of which each takes its share.
func crowd(h http.Handler, parts []exchange) {
	const hands = 4
	done := make(chan struct{}, hands)
	for k := range hands {
		go func() {
			for i := k; i < len(parts); i += hands {
				h.ServeHTTP(&parts[i], &parts[i].req)
			}
			done <- struct{}{}
		}()
	}
	for range hands {
		<-done
	}
}

var errWrong = errors.New("the answer is not what was asked for")

// says wants a status and a body.
func says(status int, body func(i int) string) func(int, *answer) error {
	return func(i int, a *answer) error {
		if want := body(i); a.status != status || string(a.body) != want {
			return fmt.Errorf("%w: want %d %.300q", errWrong, status, want)
		}
		return nil
	}
}

func always(s string) func(int) string { return func(int) string { return s } }
