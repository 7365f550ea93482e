// Command web serves a small point of sale: a catalogue, orders that require a JSON Web Token, a
// WebSocket feed for a display at the counter, server-sent events about the stock, and a page that
// describes it all.
//
//	go run ./examples/web -addr 127.0.0.1:8080
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"example.com/quire/web"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`HOST:PORT` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	a, err := newAPI()
	if err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf(`http://%[1]s/docs/

The catalogue is public; who orders signs in:

  curl -s http://%[1]s/products
  TOKEN=$(curl -s -H 'Content-Type: application/json' -d '{"user": "ada", "password": "lovelace"}' http://%[1]s/login | sed 's/.*"access_token":"\([^"]*\)".*/\1/')
  curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"lines": [{"sku": "TEA", "quantity": 2}]}' http://%[1]s/orders
  curl -sN http://%[1]s/events
`, ln.Addr())
	return (&web.Server{App: a.app}).Serve(ctx, ln)
}
