// Package load sends HTTP/1.1 requests in a closed loop over a fixed number of
// connections and judges every answer. It is made to cost little beside the
// server it loads: requests are written from one buffer and answers read into
// another, without net/http in between.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Plan is what is asked and what must be answered.
type Plan struct {
	Text  string // one phrase for the report: "POST /v1/render, 8 connections"
	Conns int
	// Pipeline is how many requests a connection sends before it reads their answers; 0 is one.
	Pipeline int
	// Timed tells whose latency counts for the quantiles. Nil is all; a run without any has none.
	Timed func(i int) bool
	// Request appends request i, head and body, to dst; target is what the server
	// said of itself (harness.Served.Target). It is called by several goroutines at
	// once and its result must depend on its arguments alone.
	Request func(dst []byte, target string, i int) []byte
	// Check judges one answer. It is called by several goroutines at once and
	// retains nothing.
	Check func(i int, a Answer) error
	// Deep judges one answer in full; it is used on a few before and after the
	// timing. Nil is Check.
	Deep func(i int, a Answer) error
}

// Answer is one response. Its slices are valid during the call only.
type Answer struct {
	Target string // what the server said of itself
	Status int
	Head   []byte // status line and fields, without the final empty line
	Body   []byte
}

// Field returns the first value of a field, or "".
func (a Answer) Field(name string) string {
	for line := range bytes.SplitSeq(a.Head, []byte("\r\n")) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(bytes.TrimSpace(key), []byte(name)) {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// Result is what a run of requests showed.
type Result struct {
	Requests           int
	Wall               time.Duration
	P50, P90, P99, Max time.Duration
}

// answerTimeout is how long one answer may take before the server counts as
// stuck.
const answerTimeout = 20 * time.Second

// Run sends requests first ... first+n-1 over fresh connections and returns once
// all are answered. The first wrong answer ends it.
func Run(ctx context.Context, addr, target string, p *Plan, first, n int) (Result, error) {
	return run(ctx, addr, target, p, p.Check, first, n, 0)
}

// RunAt is Run in an open loop: request k is due at k/perSecond whatever became of those before it,
// and its latency counts from then on. A timer wakes late by about 0.1 ms, which is part of the
// figures.
func RunAt(ctx context.Context, addr, target string, p *Plan, n int, perSecond float64) (Result, error) {
	return run(ctx, addr, target, p, p.Check, 0, n, time.Duration(float64(time.Second)/perSecond))
}

// Probe sends n requests and judges the answers in full.
func Probe(ctx context.Context, addr, target string, p *Plan, first, n int) error {
	check := p.Deep
	if check == nil {
		check = p.Check
	}
	_, err := run(ctx, addr, target, p, check, first, n, 0)
	return err
}

func run(ctx context.Context, addr, target string, p *Plan, check func(int, Answer) error, first, n int, every time.Duration) (Result, error) {
	conns := max(1, min(p.Conns, n))
	lanes := make([]*lane, conns)
	defer func() {
		for _, l := range lanes {
			if l != nil {
				_ = l.conn.Close()
			}
		}
	}()
	var dialer net.Dialer
	for k := range lanes {
		c, err := dialer.DialContext(ctx, "tcp", addr)
		if err != nil {
			return Result{}, fmt.Errorf("load: %w", err)
		}
		lanes[k] = &lane{conn: c, target: target, in: bufio.NewReaderSize(c, 64<<10), took: make([]time.Duration, 0, n/conns+1)}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		for _, l := range lanes {
			_ = l.conn.SetDeadline(time.Unix(1, 0))
		}
	})
	defer stop()

	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for _, l := range lanes {
		wg.Go(func() {
			depth := max(1, p.Pipeline)
			for ctx.Err() == nil {
				i := int(next.Add(int64(depth))) - depth
				if i >= n {
					return
				}
				due := time.Now()
				if every > 0 {
					due = start.Add(time.Duration(i) * every)
					select {
					case <-time.After(time.Until(due)):
					case <-ctx.Done():
						return
					}
				}
				if err := l.batch(p, check, first+i, min(depth, n-i), due); err != nil {
					cancel(fmt.Errorf("request %d: %w", first+i, err))
					return
				}
			}
		})
	}
	wg.Wait()
	wall := time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("load: %w", err)
	}
	var all []time.Duration
	for _, l := range lanes {
		all = append(all, l.took...)
	}
	if len(all) == 0 {
		return Result{Requests: n, Wall: wall}, nil
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100] }
	return Result{Requests: n, Wall: wall, P50: at(50), P90: at(90), P99: at(99), Max: at(100)}, nil
}

// lane is one connection with its buffers.
type lane struct {
	conn   net.Conn
	target string
	in     *bufio.Reader
	out    []byte
	head   []byte
	body   []byte
	took   []time.Duration
}

// batch sends requests first ... first+n-1 at once and reads their answers in order. Latencies
// count from due on.
func (l *lane) batch(p *Plan, check func(int, Answer) error, first, n int, due time.Time) error {
	l.out = l.out[:0]
	for i := range n {
		l.out = p.Request(l.out, l.target, first+i)
	}
	if err := l.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	if _, err := l.conn.Write(l.out); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	for i := first; i < first+n; i++ {
		a, err := l.read()
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if p.Timed == nil || p.Timed(i) {
			l.took = append(l.took, time.Since(due))
		}
		if err := check(i, a); err != nil {
			return err
		}
	}
	return nil
}

var errMalformed = errors.New("malformed answer")

// read takes one answer off the connection: Content-Length by hand, anything
// else (chunks) by net/http's reader.
func (l *lane) read() (Answer, error) {
	l.head = l.head[:0]
	for {
		line, err := l.in.ReadSlice('\n')
		if err != nil {
			return Answer{}, fmt.Errorf("read head: %w", err)
		}
		l.head = append(l.head, line...)
		if len(line) <= 2 {
			break
		}
	}
	if len(l.head) < 16 || !bytes.HasPrefix(l.head, []byte("HTTP/1.1 ")) {
		return Answer{}, errMalformed
	}
	a := Answer{Target: l.target, Head: bytes.TrimSuffix(l.head, []byte("\r\n\r\n"))}
	var err error
	if a.Status, err = strconv.Atoi(string(l.head[9:12])); err != nil {
		return Answer{}, errMalformed
	}
	if length := a.Field("Content-Length"); length != "" {
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 {
			return Answer{}, errMalformed
		}
		if cap(l.body) < n {
			l.body = make([]byte, n)
		}
		l.body = l.body[:n]
		if _, err := io.ReadFull(l.in, l.body); err != nil {
			return Answer{}, fmt.Errorf("read body: %w", err)
		}
		a.Body = l.body
		return a, nil
	}
	res, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(l.head), l.in)), nil)
	if err != nil {
		return Answer{}, fmt.Errorf("read chunked answer: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if a.Body, err = io.ReadAll(res.Body); err != nil {
		return Answer{}, fmt.Errorf("read chunked answer: %w", err)
	}
	return a, nil
}
