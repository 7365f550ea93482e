// Command testreport runs the module's tests and judges what they showed.
//
//	testreport run      run every test with the race detector, keep its events in -dir
//	testreport cover    run the libraries' tests with coverage; fail a library below its threshold
//	testreport status   fail when a row that docs/*-status.md calls done is not proved by a test that passed in the last run
//
// It exists because three questions need the same run: did everything pass, which outside
// judges were missing, and does each claim of the status pages have a test that ran. Coverage
// has a run of its own: instrumented packages are other packages to the compiler, and the
// race detector would slow their counters most.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

const module = "example.com/quire"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("testreport", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("dir", ".build/test", "where events and coverage of the last run are kept")
	docs := fs.String("docs", "docs", "where the status pages are")
	only := fs.String("only", "", "run one group: web, fetch, cache, pdf, psrp, shadow or program")
	fs.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage: testreport [flags] run|cover|status")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return 2
	}
	require := os.Getenv("REQUIRE_JUDGES") == "1"
	var err error
	switch fs.Arg(0) {
	case "run":
		err = runTests(ctx, stdout, *dir, *only, require)
	case "cover":
		if err = measureCoverage(ctx, stdout, *dir, *only); err == nil {
			err = reportCoverage(stdout, *dir, *docs)
		}
	case "status":
		err = reportStatus(stdout, *dir, *docs)
	default:
		fs.Usage()
		return 2
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "testreport:", err)
		return 1
	}
	return 0
}

func eventsFile(dir string) string       { return filepath.Join(dir, "events.json") }
func coverFile(dir, group string) string { return filepath.Join(dir, "cover-"+group+".out") }
func coverFiles(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "cover-*.out"))
}
