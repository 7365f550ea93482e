// Command heavyread measures examples/heavyread and writes docs/benchmarks/heavyread.md: see the
// target bench-heavyread of bench/bench.mk.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.com/quire/bench/heavyread"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-heavyread:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 5 && args[0] == "serve" {
		if err := heavyread.Serve(ctx, args[1], args[2], args[3], args[4]); ctx.Err() == nil {
			return err
		}
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f := flag.NewFlagSet("heavyread", flag.ContinueOnError)
	c := heavyread.Config{Self: []string{self}, Log: os.Stderr}
	f.StringVar(&c.Root, "root", ".", "the repository")
	f.IntVar(&c.Threads, "threads", 4, "threads of wrk")
	f.IntVar(&c.Connections, "connections", 400, "connections of wrk")
	f.DurationVar(&c.Duration, "duration", 10*time.Second, "of one measurement")
	f.IntVar(&c.Passes, "passes", 3, "passes over all measurements")
	out := f.String("out", "", "`DIRECTORY` of heavyread.md and heavyread.json; default: docs/benchmarks of the repository")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || c.Threads < 1 || c.Connections < c.Threads || c.Duration < time.Second || c.Passes < 1 {
		return errors.New("want at least a thread, a connection for each thread, a second and a pass")
	}
	if *out == "" {
		*out = filepath.Join(c.Root, "docs", "benchmarks")
	}
	figures, err := heavyread.Run(ctx, c)
	if err != nil {
		return err
	}
	figures.Command = strings.Join(append([]string{"make bench-heavyread"}, args...), " ")
	b, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(*out, "heavyread.json"), append(b, '\n'), 0o644),      //nolint:gosec // documentation is for everybody to read
		os.WriteFile(filepath.Join(*out, "heavyread.md"), []byte(figures.Page()), 0o644)) //nolint:gosec // as above
}
