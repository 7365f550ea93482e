package path

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
	"example.com/quire/bench/workload"
)

// storedDocuments is how many documents are asked for in turn.
const storedDocuments = 16

const hexSum = 2 * sha256.Size

// storedPlan asks for /d/{sha256}.pdf; the target is the hashes of all documents,
// one after the other.
func storedPlan() *load.Plan {
	at := func(target string, i int) string {
		k := i % storedDocuments
		return target[k*hexSum : (k+1)*hexSum]
	}
	return &load.Plan{
		Text: "GET /d/{content}.pdf over 16 connections", Conns: 16,
		Request: func(dst []byte, target string, i int) []byte {
			dst = append(append(dst, "GET /d/"...), at(target, i)...)
			return append(dst, ".pdf HTTP/1.1\r\nHost: localhost\r\n\r\n"...)
		},
		Check: func(_ int, a load.Answer) error { return looksLikePDF(a) },
		Deep: func(i int, a load.Answer) error {
			if err := looksLikePDF(a); err != nil {
				return err
			}
			if sum := sha256.Sum256(a.Body); hex.EncodeToString(sum[:]) != at(a.Target, i) {
				return errors.New("the body is not the document of that address")
			}
			return nil
		},
	}
}

// serveStored makes the documents once in a running program and has them read.
func serveStored(public bool) func(context.Context, harness.Env) (harness.Served, error) {
	return func(ctx context.Context, env harness.Env) (harness.Served, error) {
		p, err := startQuire(ctx, env)
		if err != nil {
			return harness.Served{}, err
		}
		report := "private"
		if public {
			report = "public"
		}
		var target strings.Builder
		var size int64
		c := &http.Client{}
		for i := range storedDocuments {
			request := append([]byte(`{"report":"`+report+`",`), appendRequest(nil, i)[1:]...)
			head, body, err := post(ctx, c, "http://"+p.addr+"/v1/documents", request)
			if err != nil {
				return harness.Served{}, errors.Join(err, p.close())
			}
			sum := strings.Trim(head.Get("ETag"), `"`)
			if len(sum) != hexSum {
				return harness.Served{}, errors.Join(fmt.Errorf("the entity tag %q is no SHA-256", sum), p.close())
			}
			target.WriteString(sum)
			size = int64(len(body))
		}
		return harness.Served{
			Addr: p.addr, Target: target.String(), PIDs: []int{p.cmd.Process.Pid},
			Facts: harness.Facts{OutputBytes: size}, Close: p.close,
		}, nil
	}
}

// finished makes the documents for those that only serve: address -> bytes.
func finished(ctx context.Context) (target string, files map[string][]byte, err error) {
	produce, err := quireMaker(ctx, false)
	if err != nil {
		return "", nil, err
	}
	files = map[string][]byte{}
	for i := range storedDocuments {
		in := input{data: workload.AppendData(nil, i)}
		if err := produce(ctx, &in); err != nil {
			return "", nil, err
		}
		sum := sha256.Sum256(in.out.Bytes())
		target += hex.EncodeToString(sum[:])
		files["/d/"+hex.EncodeToString(sum[:])+".pdf"] = in.out.Bytes()
	}
	return target, files, nil
}

// serveMemory is net/http with the documents in a map.
func serveMemory(ctx context.Context, _ harness.Env) (harness.Served, error) {
	target, files, err := finished(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	s, err := serveHandler(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		_, _ = w.Write(b)
	}))
	s.Target = target
	s.Facts.OutputBytes = int64(len(files["/d/"+target[:hexSum]+".pdf"]))
	return s, err
}

const nginxConfiguration = `daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events { worker_connections 512; }
http {
  types { application/pdf pdf; }
  access_log off;
  sendfile on;
  keepalive_requests 100000000;
  open_file_cache max=64;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  server { listen 127.0.0.1:%d; root files; }
}
`

// serveNginx serves the documents as files.
func serveNginx(ctx context.Context, env harness.Env) (harness.Served, error) {
	target, files, err := finished(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	for name, b := range files {
		path := filepath.Join(env.Dir, "files", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return harness.Served{}, fmt.Errorf("prepare: %w", err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return harness.Served{}, fmt.Errorf("prepare: %w", err)
		}
	}
	port, err := freePort(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	if err := os.WriteFile(filepath.Join(env.Dir, "nginx.conf"), fmt.Appendf(nil, nginxConfiguration, port), 0o600); err != nil {
		return harness.Served{}, fmt.Errorf("prepare: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), nginx.Name, "-p", env.Dir, "-c", "nginx.conf", "-e", "error.log") //nolint:gosec // fixed arguments
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		return harness.Served{}, fmt.Errorf("start nginx: %w", err)
	}
	end := func() error {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		return nil
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := awaitPort(ctx, addr); err != nil {
		return harness.Served{}, errors.Join(err, end())
	}
	return harness.Served{
		Addr: addr, Target: target, PIDs: []int{cmd.Process.Pid}, Close: end,
		Facts: harness.Facts{OutputBytes: int64(len(files["/d/"+target[:hexSum]+".pdf"]))},
	}, nil
}

func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err := errors.Join(err, ln.Close()); err != nil {
		return 0, fmt.Errorf("find a port: %w", err)
	}
	return strconv.Atoi(port)
}

func awaitPort(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing listens at %s: %w", addr, err)
		case <-tick.C:
		}
	}
}
