// Package nginx starts nginx as a contestant: one process with one worker in a directory of its
// own.
package nginx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"example.com/quire/bench/harness"
)

// Tool names the program. `make tools` unpacks it below .tools, where the make targets of bench
// find it.
var Tool = harness.Tool{Name: "nginx", Install: "make tools, or apt-get install nginx", Version: []string{"-v"}}

const configuration = `daemon off;
master_process off;
worker_processes 1;
pid nginx.pid;
error_log error.log;
events { worker_connections 512; }
http {
  types { application/pdf pdf; application/json json; }
  access_log off;
  sendfile on;
  keepalive_requests 100000000;
  open_file_cache max=512;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
  server { listen 127.0.0.1:%d; root files; %s }
}
`

// Serve starts nginx in dir with the files, by path, and what else the server block shall say.
func Serve(ctx context.Context, dir string, files map[string][]byte, server string) (harness.Served, error) {
	for name, b := range files {
		path := filepath.Join(dir, "files", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return harness.Served{}, fmt.Errorf("nginx: %w", err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			return harness.Served{}, fmt.Errorf("nginx: %w", err)
		}
	}
	port, err := freePort(ctx)
	if err != nil {
		return harness.Served{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), fmt.Appendf(nil, configuration, port, server), 0o600); err != nil {
		return harness.Served{}, fmt.Errorf("nginx: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), Tool.Name, "-p", dir, "-c", "nginx.conf", "-e", "error.log") //nolint:gosec // fixed arguments
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
	if err := await(ctx, addr); err != nil {
		return harness.Served{}, errors.Join(err, end())
	}
	return harness.Served{Addr: addr, PIDs: []int{cmd.Process.Pid}, Close: end}, nil
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

func await(ctx context.Context, addr string) error {
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
