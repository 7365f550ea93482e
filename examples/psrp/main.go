// Command psrp collects the inventory of several hosts concurrently over PowerShell remoting and
// prints a row for each. The hosts are its own, each a psrp.Server on loopback with one command.
// The last one is down, and its row says why.
//
//	go run ./examples/psrp
//	go run ./examples/psrp -hosts 50
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"example.com/quire/psrp"
	"example.com/quire/psrp/oop"
)

func main() {
	hosts := flag.Int("hosts", 8, "how many hosts there are; the last is down")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *hosts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Inventory is what Get-Inventory writes, and what the client reads it into.
type Inventory struct {
	_         struct{} `clixml:",type=Sample.Inventory"`
	Host      string
	System    string
	Memory    uint64 // MiB
	Uptime    time.Duration
	FreeDisks map[string]float64 // share of each that is free
}

// inventoryOf makes up the host number n.
func inventoryOf(n int) Inventory {
	return Inventory{
		Host: hostName(n), System: []string{"Windows Server 2025", "Debian 12", "Ubuntu 24.04"}[n%3], Memory: 4096 << (n % 4),
		Uptime: time.Duration(n*n+1) * 7 * time.Hour, FreeDisks: map[string]float64{"/": float64(n%10) / 10},
	}
}

func hostName(n int) string { return fmt.Sprintf("host%02d", n) }

// serve is host number n until ctx ends.
func serve(ctx context.Context, l net.Listener, n int) error {
	r := &psrp.Registry{}
	psrp.Add(r, psrp.CommandInfo{Name: "Get-Inventory", Summary: "Describes this host."}, func(_ context.Context, _ struct{}, c *psrp.Call) error {
		return c.Output(inventoryOf(n))
	})
	srv := psrp.Server{Registry: r}
	return srv.ServeListener(ctx, l)
}

// run starts n hosts, asks them all and prints what they say. Hosts that are down are rows, not
// errors.
func run(ctx context.Context, out io.Writer, n int) (err error) {
	serving, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	var targets []psrp.Target
	for i := range n {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addr := l.Addr().String()
		if i < n-1 {
			group.Go(func() { _ = serve(serving, l, i) }) // it ends when it is told to
		} else if err := l.Close(); err != nil {
			return err
		}
		targets = append(targets, psrp.Target{Name: hostName(i), Dial: func(ctx context.Context) (psrp.Transport, error) {
			var d net.Dialer
			conn, err := d.DialContext(ctx, "tcp", addr)
			if err != nil {
				return nil, err
			}
			return oop.NewConn(conn, oop.Client, oop.Options{Host: addr}), nil
		}})
	}
	results := psrp.FanOut(ctx, targets, psrp.FanOutOptions{Timeout: 30 * time.Second, DialRetries: -1}, func(ctx context.Context, s *psrp.Session) (Inventory, error) {
		for host, err := range psrp.Invoke[Inventory](ctx, s, psrp.Cmd("Get-Inventory")) {
			return host, err
		}
		return Inventory{}, errors.New("the host said nothing")
	})
	return table(out, results)
}

func table(out io.Writer, results []psrp.TargetResult[Inventory]) error {
	var rows strings.Builder
	rows.WriteString("HOST\tSYSTEM\tMEMORY\tUP\tFREE /\n")
	down := 0
	for _, r := range results {
		if r.Err != nil {
			down++
			fmt.Fprintf(&rows, "%s\tdown (%s): %v\n", r.Target, r.Phase, r.Err)
			continue
		}
		h := r.Value
		fmt.Fprintf(&rows, "%s\t%s\t%d GiB\t%.0f d\t%.0f %%\n", h.Host, h.System, h.Memory>>10, h.Uptime.Hours()/24, 100*h.FreeDisks["/"])
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(w, rows.String()); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%d hosts, %d down\n", len(results), down)
	return err
}
