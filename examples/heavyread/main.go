// Command heavyread is a service that reads far more than it writes: one writer takes posts, and
// any number of readers serve them, synchronised by package cache over Redis. A read is a lookup in
// the process, and its response was built when the post was written (package web/frozen).
//
//	go run ./examples/heavyread all       # redis-server, one writer and two readers, on loopback
//	go run ./examples/heavyread writer -addr 127.0.0.1:8080 -redis 127.0.0.1:6379 -data posts
//	go run ./examples/heavyread reader -addr 127.0.0.1:8081 -redis 127.0.0.1:6379 -data posts
//
// Each flag has a twin in the environment: HEAVYREAD_ADDR, HEAVYREAD_REDIS, HEAVYREAD_DATA.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/quire/cache/cacheredis"
	"example.com/quire/web/frozen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "heavyread:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	role := ""
	if len(args) > 0 {
		role, args = args[0], args[1:]
	}
	f := flag.NewFlagSet("heavyread "+role, flag.ContinueOnError)
	addr := f.String("addr", cmp.Or(os.Getenv("HEAVYREAD_ADDR"), "127.0.0.1:8080"), "`HOST:PORT` to listen on; all takes it and the two ports after it")
	redis := f.String("redis", cmp.Or(os.Getenv("HEAVYREAD_REDIS"), "127.0.0.1:6379"), "`HOST:PORT` of the Redis server; all starts one of its own")
	data := f.String("data", cmp.Or(os.Getenv("HEAVYREAD_DATA"), "posts"), "`DIRECTORY` of the posts: what a cache loses is read from here")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch role {
	case "writer", "reader":
		client, err := cacheredis.Open(cacheredis.Config{Addr: *redis})
		if err != nil {
			return err
		}
		defer client.Close()
		n, err := newNode(client, *data, role == "writer")
		if err != nil {
			return err
		}
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", *addr)
		if err == nil {
			fmt.Printf("%s on http://%s\n", role, ln.Addr())
			err = n.serve(ctx, ln)
		}
		return errors.Join(err, n.close())
	case "all":
		return startAll(ctx, *addr, *data)
	}
	return fmt.Errorf("%q: want writer, reader or all", role)
}

// serve answers until ctx ends, and then lets each connection have its last answer.
func (n *node) serve(ctx context.Context, ln net.Listener) error {
	lane := frozen.NewLane(frozen.LaneOptions{}, held{"/post?id=", n.replies})
	server := &http.Server{Handler: n.handler(), ConnState: lane.ConnState, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(lane.Listener(ln)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- lane.Drain(limit) }()
	return errors.Join(server.Shutdown(limit), <-drained)
}
