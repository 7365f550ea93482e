package main

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
)

// redisServer finds the program: that of `make tools`, or one in PATH.
func redisServer() (string, error) {
	if p, err := filepath.Abs(".tools/redis/bin/redis-server"); err == nil {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	p, err := exec.LookPath("redis-server")
	if err != nil {
		return "", errors.New("redis-server is missing: run ./tools/install-judges, or install your system's package of Redis")
	}
	return p, nil
}

// startAll runs Redis, a writer and two readers until ctx ends or one of them does.
func startAll(ctx context.Context, addr, data string) error {
	redis, err := redisServer()
	if err != nil {
		return err
	}
	host, first, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	redisAddr, err := freeAddr(ctx)
	if err != nil {
		return err
	}
	// Redis ends last: a node that closes gives back what it holds there.
	nodes, stopNodes := context.WithCancel(ctx)
	defer stopNodes()
	server, stopServer := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServer()
	_, redisPort, _ := net.SplitHostPort(redisAddr) // of a listener
	redisEnded, err := launch(server, "redis-server", redis, "--bind", "127.0.0.1", "--port", redisPort, "--save", "", "--appendonly", "no", "--loglevel", "warning")
	if err != nil {
		return err
	}
	running, nodesEnded := 0, make(chan error, 3)
	for i, role := range []string{"writer", "reader", "reader"} {
		var ended <-chan error
		if ended, err = launch(nodes, role, self, role, "-addr", net.JoinHostPort(host, strconv.Itoa(port+i)), "-redis", redisAddr, "-data", data); err != nil {
			break
		}
		running++
		go func() { nodesEnded <- <-ended }()
	}
	if err == nil {
		fmt.Printf(`Redis on %[1]s; the writer is on port %[3]d, readers on %[4]d and %[5]d.

  curl -s http://%[2]s:%[3]d/create -d '{"id": "first", "title": "Hello", "content": "Read often.", "author": "ada"}'
  curl -si 'http://%[2]s:%[4]d/post?id=first'
  curl -s http://%[2]s:%[5]d/healthz

`, redisAddr, host, port, port+1, port+2)
		select {
		case <-ctx.Done():
		case err = <-nodesEnded:
			running--
			err = errors.Join(errEnded, err)
		case err = <-redisEnded:
			redisEnded = nil
			err = errors.Join(errEnded, err)
		}
	}
	stopNodes()
	for range running {
		err = errors.Join(err, <-nodesEnded)
	}
	stopServer()
	if redisEnded != nil {
		err = errors.Join(err, <-redisEnded)
	}
	return err
}

var errEnded = errors.New("a process ended that nobody had asked to")

// launch starts a process, which is asked to end when ctx does, and whose failure comes over the
// channel. An interrupt from the keyboard reaches this process alone, so that they end in order.
func launch(ctx context.Context, title, name string, args ...string) (<-chan error, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // G204: Redis and this program
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	setApart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if err != nil && err == ctx.Err() { //nolint:errorlint // that of the context itself: it ended well
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", title, err)
		}
		ended <- err
	}()
	return ended, nil
}

func freeAddr(ctx context.Context) (string, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}
