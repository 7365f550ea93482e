// Command bench measures the project's speed: see bench/bench.mk for the targets
// that call it, and docs/benchmarks/README.md for how it measures.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"

	"example.com/quire/bench/cache"
	"example.com/quire/bench/documents"
	"example.com/quire/bench/fetch"
	"example.com/quire/bench/handlers"
	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/cli"
	"example.com/quire/bench/notes"
	"example.com/quire/bench/path"
	"example.com/quire/bench/pdfops"
	"example.com/quire/bench/psrp"
	"example.com/quire/bench/router"
	"example.com/quire/bench/selfcheck"
	"example.com/quire/bench/sockets"
)

func main() {
	fetch.ServeOrigin()
	cache.ServeReader()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	a := &cli.App{Suites: suites(), Self: selfcheck.Suite(), In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: "."}
	code := a.Main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// suites lists every suite of make bench.
func suites() []harness.Suite {
	return slices.Concat([]harness.Suite{path.Suite()}, router.Suites(), []harness.Suite{handlers.Suite(), sockets.Suite(), fetch.Suite(), psrp.Suite(), cache.Suite(), notes.Suite(), documents.Suite(), pdfops.Suite()})
}
