// Command quire makes documents of record. `quire help` lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"example.com/quire/internal/cli"
)

// version is set by the linker when a release is built.
var version = "dev"

func main() { os.Exit(run()) }

// run ends cleanly on the first interrupt and at once on the second.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	return cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		LookupEnv: os.LookupEnv, Version: version,
	})
}
