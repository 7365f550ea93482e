// Package heavyread measures examples/heavyread: latency and throughput by wrk, directly and
// through nginx, latency in an open loop, and processor time per request beside other servers of
// the same bytes. Every answer counts: one error fails the run.
package heavyread

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/internal/machine"
	"example.com/quire/cache"
)

// Config says how long to measure.
type Config struct {
	Root        string // of the repository
	Threads     int    // of wrk
	Connections int    // of wrk
	Duration    time.Duration
	Passes      int
	// Self is this program, which is started again as a server to compare with (Serve).
	Self []string
	Log  io.Writer
}

// Latency is what wrk tells of one run. Times are microseconds.
type Latency struct {
	P50, P90, P99, Mean, Max, Stdev float64
	Requests, Bytes, Errors         int64
	Seconds                         float64
}

// Figures is the outcome of a run: passes of each measurement, in their order.
type Figures struct {
	Machine               machine.Info
	Commit, Date, Command string
	Config                string
	Tools                 map[string]string
	ReplyBytes, BodyBytes int
	Latency               map[string]map[string][]Latency // by route and endpoint
	CPU                   map[string][]float64            // by server, microseconds per request
	Open                  []Paced
	Peek                  float64 // nanoseconds of a look-up in the cache
}

// Paced is one run in an open loop. Times are microseconds.
type Paced struct {
	Endpoint           string
	PerSecond          float64
	P50, P90, P99, Max float64
}

// endpoints are compared in this order, the dearest first.
var endpoints = []string{"/post-redis", "/post-marshal", "/post-plain", "/post"}

const posts = 5

func id(i int) string { return fmt.Sprint("bench-post-", 1+i%posts) }

func targets(endpoint string) []string {
	var all []string
	for i := range posts {
		all = append(all, endpoint+"?id="+id(i))
	}
	return all
}

// service is what is measured.
type service struct {
	procs   group
	writer  string
	readers [2]string
	reader  *process // the one that is asked directly
	gateway string
	redis   string
	bodies  map[string][]byte // by id
	replies int
}

// Run measures everything.
func Run(ctx context.Context, c Config) (f *Figures, err error) {
	tools, err := findTools(c.Root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "heavyread-")
	if err != nil {
		return nil, err
	}
	s := &service{}
	defer func() { err = errors.Join(err, s.procs.stop(), os.RemoveAll(dir)) }()
	if err := s.start(ctx, c, tools, dir); err != nil {
		return nil, err
	}
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	f = &Figures{
		Machine: machine.Describe(), Commit: commit(ctx, c.Root), Date: time.Now().UTC().Format("2006-01-02 15:04 MST"), Tools: tools.versions(ctx),
		Config:     fmt.Sprintf("wrk -t%d -c%d -d%v, %d passes", c.Threads, c.Connections, c.Duration, c.Passes),
		ReplyBytes: s.replies, BodyBytes: len(s.bodies[id(0)]),
		Latency: map[string]map[string][]Latency{"direct": {}, "nginx": {}}, CPU: map[string][]float64{},
	}
	servers, err := s.peers(ctx, c, tools, dir)
	if err != nil {
		return nil, err
	}
	for pass := range c.Passes {
		for route, addr := range map[string]string{"direct": s.readers[0], "nginx": s.gateway} {
			for _, e := range endpoints {
				l, err := wrk(ctx, tools, dir, addr, targets(e), c.Threads, c.Connections, c.Duration)
				if err != nil {
					return nil, fmt.Errorf("%s of %s: %w", e, route, err)
				}
				_, _ = fmt.Fprintf(c.Log, "pass %d, %s, %s: %.0f requests/s, p50 %.2f ms, p99 %.2f ms\n", pass+1, route, e, float64(l.Requests)/l.Seconds, l.P50/1e3, l.P99/1e3)
				f.Latency[route][e] = append(f.Latency[route][e], l)
			}
		}
		for _, p := range servers {
			per, err := p.cost(ctx, tools, dir, c.Duration)
			if err != nil {
				return nil, fmt.Errorf("processor time of %s: %w", p.name, err)
			}
			_, _ = fmt.Fprintf(c.Log, "pass %d, %s: %.2f µs of processor time a request\n", pass+1, p.name, per)
			f.CPU[p.name] = append(f.CPU[p.name], per)
		}
	}
	if f.Open, err = s.open(ctx, c, f); err != nil {
		return nil, err
	}
	if f.Peek, err = peek(ctx); err != nil {
		return nil, err
	}
	return f, s.check(ctx)
}

// peek is how many nanoseconds a look-up takes as the lane does it, in the best of some turns.
func peek(ctx context.Context) (best float64, err error) {
	c, err := cache.New(cache.Options[string, string]{Policy: cache.Policy{TTL: time.Hour}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	var keys [posts][]byte
	for i := range keys {
		keys[i] = []byte(id(i))
		if err := c.Set(ctx, id(i), "reply"); err != nil {
			return 0, err
		}
	}
	const turns, each = 20, 100_000
	for range turns {
		began, found := time.Now(), 0
		for i := range each {
			if _, ok := cache.PeekBytes(c, keys[i%posts]); ok {
				found++
			}
		}
		per := float64(time.Since(began)) / each
		if found != each {
			return 0, fmt.Errorf("%d of %d look-ups found something", found, each)
		}
		if best == 0 || per < best {
			best = per
		}
	}
	return best, nil
}

// start runs Redis, the writer, the readers and the gateway. The readers have core 0 for
// themselves.
func (s *service) start(ctx context.Context, c Config, t tools, dir string) error {
	bin := filepath.Join(dir, "heavyread")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", bin, "./examples/heavyread") //nolint:gosec // into a directory of ours
	build.Dir = c.Root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build examples/heavyread: %w\n%s", err, out)
	}
	addrs, err := freeAddrs(ctx, 5)
	if err != nil {
		return err
	}
	s.redis, s.writer, s.readers, s.gateway = addrs[0], addrs[1], [2]string{addrs[2], addrs[3]}, addrs[4]
	if _, err := s.procs.start(ctx, other, s.redis, t["redis-server"], "--bind", "127.0.0.1", "--port", port(s.redis), "--save", "", "--appendonly", "no", "--dir", dir); err != nil {
		return err
	}
	data := filepath.Join(dir, "posts")
	for role, addr := range map[string]string{"writer": s.writer, "reader": s.readers[1]} {
		if _, err := s.procs.start(ctx, core(role), addr, bin, role, "-addr", addr, "-redis", s.redis, "-data", data); err != nil {
			return err
		}
	}
	if s.reader, err = s.procs.start(ctx, measured, s.readers[0], bin, "reader", "-addr", s.readers[0], "-redis", s.redis, "-data", data); err != nil {
		return err
	}
	// The gateway keeps as many connections to the readers as can be in use at once: what it closed
	// and opened again would be measured as the readers' latency.
	conf := fmt.Sprintf(`upstream readers { server %s; server %s; keepalive %d; keepalive_requests 100000000; }
server {
  listen %s;
  location / { proxy_pass http://readers; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header X-Request-Id $request_id; }
}`, s.readers[0], s.readers[1], c.Connections, s.gateway)
	_, err = s.nginx(ctx, t, other, filepath.Join(dir, "gateway"), s.gateway, conf)
	return err
}

func core(role string) int {
	if role == "reader" {
		return measured
	}
	return other
}

// nginx starts a server with what conf says.
func (s *service) nginx(ctx context.Context, t tools, core int, dir, addr, conf string) (*process, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 8192; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 4096; }
http {
access_log off; keepalive_requests 100000000; types { } default_type application/json;
client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
%[2]s
}
`, dir, conf)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return s.procs.start(ctx, core, addr, t["nginx"], "-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log"))
}

// create writes the posts.
func (s *service) create(ctx context.Context) error {
	s.bodies = map[string][]byte{}
	for i := range posts {
		in, err := json.Marshal(map[string]string{"id": id(i), "title": "A post to be read", "content": "Written once, read often.", "author": "bench"})
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.writer+"/create", bytes.NewReader(in))
		if err != nil {
			return err
		}
		resp, err := new(http.Client).Do(req)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // it is read to its end
		if err != nil || resp.StatusCode != http.StatusCreated {
			return fmt.Errorf("create %s: status %d, %w: %s", id(i), resp.StatusCode, err, b)
		}
	}
	return nil
}

// check holds every endpoint of every node and of the gateway to one body and tag for each post.
func (s *service) check(ctx context.Context) error {
	for i := range posts {
		tag := ""
		for _, addr := range []string{s.writer, s.readers[0], s.readers[1], s.gateway} {
			for _, e := range endpoints {
				body, got, size, err := ask(ctx, addr, e+"?id="+id(i))
				if err != nil {
					return err
				}
				if s.bodies[id(i)] == nil {
					s.bodies[id(i)] = body
				}
				if tag == "" {
					tag = got
				}
				if got == "" || got != tag || !bytes.Equal(body, s.bodies[id(i)]) {
					return fmt.Errorf("%s%s: tag %s and %s, want %s and %s", addr, e, got, body, tag, s.bodies[id(i)])
				}
				if e == "/post" && addr == s.readers[0] {
					s.replies = size
				}
			}
		}
	}
	return nil
}

// ask gets one reply and its size with its head.
func ask(ctx context.Context, addr, target string) (body []byte, tag string, size int, err error) {
	plan := &load.Plan{
		Conns:   1,
		Request: func(dst []byte, _ string, _ int) []byte { return request(dst, target) },
		Check: func(_ int, a load.Answer) error {
			body, tag, size = bytes.Clone(a.Body), a.Field("Etag"), len(a.Head)+4+len(a.Body)
			if kind := a.Field("Content-Type"); a.Status != http.StatusOK || kind != "application/json" {
				return fmt.Errorf("%s: status %d, type %q", target, a.Status, kind)
			}
			return nil
		},
	}
	_, err = load.Run(ctx, addr, "", plan, 0, 1)
	return body, tag, size, err
}

func request(dst []byte, target string) []byte {
	return append(append(append(dst, "GET "...), target...), " HTTP/1.1\r\nHost: localhost\r\n\r\n"...)
}

// open asks in an open loop, all endpoints at the same two rates: shares of what the slowest
// answers in the closed one.
func (s *service) open(ctx context.Context, c Config, f *Figures) ([]Paced, error) {
	knee := 0.0
	for _, e := range endpoints {
		if per := median(f.Latency["direct"][e], func(l Latency) float64 { return float64(l.Requests) / l.Seconds }); knee == 0 || per < knee {
			knee = per
		}
	}
	var all []Paced
	for _, share := range []float64{0.5, 0.8} {
		for _, e := range endpoints {
			rate := share * knee
			want := targets(e)
			plan := &load.Plan{
				Conns:   64,
				Request: func(dst []byte, _ string, i int) []byte { return request(dst, want[i%posts]) },
				Check: func(i int, a load.Answer) error {
					if a.Status != http.StatusOK || !bytes.Equal(a.Body, s.bodies[id(i)]) {
						return fmt.Errorf("status %d, body %q", a.Status, a.Body)
					}
					return nil
				},
			}
			r, err := load.RunAt(ctx, s.readers[0], "", plan, max(100, int(rate*c.Duration.Seconds())), rate)
			if err != nil {
				return nil, fmt.Errorf("open loop, %s: %w", e, err)
			}
			micros := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
			all = append(all, Paced{e, rate, micros(r.P50), micros(r.P90), micros(r.P99), micros(r.Max)})
			_, _ = fmt.Fprintf(c.Log, "open loop, %s at %.0f/s: p50 %v, p99 %v\n", e, rate, r.P50, r.P99)
		}
	}
	return all, nil
}

// median is that of the passes.
func median[T any](passes []T, of func(T) float64) float64 {
	all := make([]float64, 0, len(passes))
	for _, p := range passes {
		all = append(all, of(p))
	}
	slices.Sort(all)
	switch n := len(all); {
	case n == 0:
		return 0
	case n%2 == 0:
		return (all[n/2-1] + all[n/2]) / 2
	default:
		return all[n/2]
	}
}

func commit(ctx context.Context, root string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--always", "--dirty").Output() //nolint:gosec // the repository that is measured
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
