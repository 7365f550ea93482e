package heavyread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"example.com/quire/bench/internal/machine"
)

// server is one whose processor time is measured.
type server struct {
	name, addr string
	targets    []string
	process    *process
}

// cost is the processor time of one request in microseconds, at 64 connections.
func (p *server) cost(ctx context.Context, t tools, dir string, d time.Duration) (float64, error) {
	before, err := machine.CPUOf(p.process.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	l, err := wrk(ctx, t, dir, p.addr, p.targets, 1, 64, d)
	if err != nil {
		return 0, err
	}
	after, err := machine.CPUOf(p.process.cmd.Process.Pid)
	return float64(after-before) / float64(time.Microsecond) / float64(l.Requests), err
}

// The names of the servers in figures and report.
const (
	plainPeer  = "net/http, a map"
	fastPeer   = "fasthttp, a map"
	redisPeer  = "net/http, go-redis GET"
	nginxPeer  = "nginx, from memory"
	nginxFiles = "nginx, from files"
)

// peers starts the servers to compare with, which answer with the same bodies. The tag and the body
// are those of the reader, but for nginx's files, whose tags are nginx's.
func (s *service) peers(ctx context.Context, c Config, t tools, dir string) ([]*server, error) {
	var all []*server
	for _, e := range endpoints {
		all = append(all, &server{e, s.readers[0], targets(e), s.reader})
	}
	files := filepath.Join(dir, "files")
	if err := os.MkdirAll(files, 0o750); err != nil {
		return nil, err
	}
	for id, body := range s.bodies {
		if err := os.WriteFile(filepath.Join(files, id+".json"), body, 0o600); err != nil {
			return nil, err
		}
	}
	addrs, err := freeAddrs(ctx, 5)
	if err != nil {
		return nil, err
	}
	for i, name := range []string{plainPeer, fastPeer, redisPeer} {
		args := append(c.Self[1:len(c.Self):len(c.Self)], "serve", name, addrs[i], files, s.redis)
		p, err := s.procs.start(ctx, measured, addrs[i], c.Self[0], args...)
		if err != nil {
			return nil, err
		}
		all = append(all, &server{name, addrs[i], targets("/post"), p})
	}
	var bodies, tags strings.Builder
	for id, body := range s.bodies {
		fmt.Fprintf(&bodies, "%s '%s';\n", id, body)
		fmt.Fprintf(&tags, "%s '%s';\n", id, tagOf(body))
	}
	for name, conf := range map[string]string{
		nginxPeer: fmt.Sprintf("map $arg_id $body { default ''; %s }\nmap $arg_id $tag { default ''; %s }\nserver { listen %s; location = /post { add_header ETag $tag; return 200 $body; } }", &bodies, &tags, addrs[3]),
		nginxFiles: fmt.Sprintf("open_file_cache max=100; sendfile on; tcp_nopush on;\nserver { listen %s; root %s; location = /post { try_files /$arg_id.json =404; } }",
			addrs[4], files),
	} {
		addr := addrs[3]
		if name == nginxFiles {
			addr = addrs[4]
		}
		p, err := s.nginx(ctx, t, measured, filepath.Join(dir, strings.ReplaceAll(name, " ", "-")), addr, conf)
		if err != nil {
			return nil, err
		}
		all = append(all, &server{name, addr, targets("/post"), p})
	}
	for _, p := range all {
		for i, target := range p.targets {
			body, _, _, err := ask(ctx, p.addr, target)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if !bytes.Equal(body, s.bodies[id(i)]) {
				return nil, fmt.Errorf("%s: %s, want %s", p.name, body, s.bodies[id(i)])
			}
		}
	}
	return all, nil
}

// tagOf makes the entity tag that examples/heavyread gives a post: half of the hash at its end.
func tagOf(body []byte) string {
	if len(body) < 66 {
		return `""`
	}
	return `"` + string(body[len(body)-66:len(body)-34]) + `"`
}

// Serve is a server to compare with, until it is ended.
func Serve(ctx context.Context, name, addr, files, redisAddr string) error {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = ln.Close() })() // the server then ends
	bodies, tags := map[string][]byte{}, map[string]string{}
	for i := range posts {
		b, err := os.ReadFile(filepath.Join(files, id(i)+".json"))
		if err != nil {
			return err
		}
		bodies[id(i)], tags[id(i)] = b, tagOf(b)
	}
	switch name {
	case fastPeer:
		return (&fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
			id := ctx.QueryArgs().Peek("id")
			body, ok := bodies[string(id)]
			if !ok || string(ctx.Path()) != "/post" {
				ctx.SetStatusCode(http.StatusNotFound)
				return
			}
			ctx.Response.Header.SetContentType("application/json")
			ctx.Response.Header.Set("Etag", tags[string(id)])
			ctx.Response.SetBodyRaw(body)
		}}).Serve(ln)
	case plainPeer:
		return answerFrom(ln, func(_ context.Context, id string) ([]byte, error) { return bodies[id], nil })
	case redisPeer:
		client := redis.NewClient(&redis.Options{Addr: redisAddr})
		for id, body := range bodies {
			if err := client.Set(ctx, "bench:"+id, body, 0).Err(); err != nil {
				return err
			}
		}
		return answerFrom(ln, func(ctx context.Context, id string) ([]byte, error) { return client.Get(ctx, "bench:"+id).Bytes() })
	}
	return errors.New("no server of that name: " + name)
}

// answerFrom serves posts by net/http.
func answerFrom(ln net.Listener, find func(context.Context, string) ([]byte, error)) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /post", func(w http.ResponseWriter, r *http.Request) {
		body, err := find(r.Context(), r.URL.Query().Get("id"))
		if err != nil || body == nil {
			http.Error(w, "no such post", http.StatusNotFound)
			return
		}
		h := w.Header()
		h["Content-Type"], h["Etag"] = []string{"application/json"}, []string{tagOf(body)}
		_, _ = w.Write(body) // the client may have gone
	})
	return (&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(ln)
}
