// Package cli is the command line: one file per command, over app and record.
//
// Output is for people unless --json asks for one JSON value on standard output. Errors go to
// standard error, with --json as one JSON object. The exit status gives the result:
//
//	0  done; verify: identical
//	1  failed; verify: the file differs
//	2  the request was wrong: usage, configuration, template or data; verify: nothing was compared
//	3  verify: intact, made by another engine; ps: the host could not be reached or refused access
//	4  verify: the document is unknown here
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/quire/internal/app"
	"example.com/quire/internal/config"
	"example.com/quire/internal/record"
	"example.com/quire/pdf"
)

// Env is the world as a command sees it.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	LookupEnv      func(string) (string, bool)
	Version        string
}

// program is one run of the command line.
type program struct {
	Env
	json   bool
	config string
	data   string
	code   int // exit status of a command that did not fail
}

// usageError is a mistake in how the command was called.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// errInterrupted is what a command that the user ended is said to have failed by.
var errInterrupted = errors.New("interrupted")

// Run executes a command line and returns the exit status.
func Run(ctx context.Context, env Env) int {
	p := &program{Env: env}
	root := p.root()
	root.SetArgs(append([]string{}, env.Args...)) // never nil: cobra would take those of the process
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return p.code
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted
	}
	p.report(err)
	return exitCode(err)
}

func (p *program) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "quire",
		Short: "Documents of record: collect, freeze, render, serve, prove",
		Long: "Quire makes documents of record. It collects data, freezes it, renders it to a tagged,\n" +
			"archival PDF, and serves the same bytes for ever. Every document can be rendered again and\n" +
			"compared with its file.\n\n" +
			"Exit status: 0 done, 1 failed, 2 wrong request (usage, configuration, template, data);\n" +
			"verify: 0 identical, 1 differs, 2 nothing was compared, 3 intact but made by another engine,\n" +
			"4 unknown here; ps: 3 the host could not be reached or refused access.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          subcommand,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return p.printVersion()
			}
			return c.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the versions of the program, the engine and Go")
	root.CompletionOptions.DisableDefaultCmd = true // completion.go has ours
	root.SetFlagErrorFunc(wrongFlag)
	root.SetHelpCommand(p.help())
	f := root.PersistentFlags()
	f.BoolVar(&p.json, "json", false, "print one JSON value on standard output instead of text")
	f.StringVar(&p.config, "config", "", "configuration `FILE` (default: quire.yaml if it exists; QUIRE_CONFIG)")
	f.StringVar(&p.data, "data-dir", "", "`DIRECTORY` of state and stored files (QUIRE_DATA)")
	root.AddCommand(p.serve(), p.demo(), p.render(), p.template(), p.pdf(), p.convert(), p.verify(), p.cache(), p.fetch(), p.ps(), p.doctor(), p.version(), p.completion(), p.man())
	return root
}

// counted checks that a command is given as many arguments as it takes; what is one of them, such
// as "file". The error shows the form.
func counted(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, a []string) error {
		if len(a) >= least && len(a) <= most {
			return nil
		}
		if most == 0 {
			return usageError{fmt.Errorf("got %q, want no arguments; usage: %s", a[0], c.UseLine())}
		}
		want := strconv.Itoa(least)
		switch {
		case most == math.MaxInt:
			want = "at least " + want
		case most > least:
			want += " to " + strconv.Itoa(most)
		}
		got := "1 " + what
		if len(a) != 1 {
			got = fmt.Sprintf("%d %ss", len(a), what)
		}
		return usageError{fmt.Errorf("got %s, want %s; usage: %s", got, want, c.UseLine())}
	}
}

// load reads the configuration, flags last.
func (p *program) load() (*config.Config, error) {
	lookup := p.LookupEnv
	if p.data != "" {
		lookup = func(k string) (string, bool) {
			if k == "QUIRE_DATA" {
				return p.data, true
			}
			return p.LookupEnv(k)
		}
	}
	return config.Load(p.config, lookup)
}

// print writes v as JSON with --json, and text without.
func (p *program) print(v any, text string) error {
	if p.json {
		e := json.NewEncoder(p.Stdout)
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
	_, err := io.WriteString(p.Stdout, text)
	return err
}

// problems are the places an error names, if it does.
func problems(err error) []record.Problem {
	if e, ok := errors.AsType[*record.TemplateError](err); ok {
		return e.All()
	}
	if e, ok := errors.AsType[*record.DataError](err); ok {
		return e.All()
	}
	if e, ok := errors.AsType[*config.Error](err); ok {
		return e.Faults
	}
	return nil
}

// report writes an error for whoever called.
func (p *program) report(err error) {
	all := problems(err)
	if p.json {
		out := struct {
			Error    string           `json:"error"`
			Exit     int              `json:"exit"`
			Problems []record.Problem `json:"problems,omitempty"`
		}{Error: err.Error(), Exit: exitCode(err), Problems: all}
		e := json.NewEncoder(p.Stderr)
		e.SetEscapeHTML(false)
		_ = e.Encode(out) // nothing is left to tell it to
		return
	}
	if len(all) > 0 {
		for _, one := range all {
			line := one.String()
			if one.File == "" { // a flag or the environment
				line = "quire: " + line
			}
			_, _ = fmt.Fprintln(p.Stderr, p.mark(line))
		}
		return
	}
	_, _ = fmt.Fprintln(p.Stderr, p.mark("quire: "+err.Error()))
}

// mark colours an error on a terminal, unless NO_COLOR asks for none.
func (p *program) mark(s string) string {
	if _, none := p.LookupEnv("NO_COLOR"); none || !terminal(p.Stderr) {
		return s
	}
	return "\x1b[31m" + s + "\x1b[0m"
}

// terminal reports whether a stream is one.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// has reports whether an error of the type is in the chain.
func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// exitCode sorts errors into failures and wrong requests.
func exitCode(err error) int {
	switch {
	case has[usageError](err), has[unjudged](err), has[*config.Error](err):
		return 2
	case notReached(err):
		return 3
	case has[*record.TemplateError](err), has[*record.DataError](err), has[*record.RequestError](err),
		has[*record.LimitError](err), has[*pdf.OptionError](err):
		return 2
	}
	for _, wrong := range []error{pdf.ErrDamaged, pdf.ErrPassword, pdf.ErrUnsupported, pdf.ErrLimit, fs.ErrNotExist, config.ErrNoFile, app.ErrNoData, app.ErrForeign} {
		if errors.Is(err, wrong) {
			return 2
		}
	}
	return 1
}

// parseTime reads --time: RFC 3339, or a date, which is its midnight in UTC.
func parseTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError{fmt.Errorf("--time %q: want 2026-01-31T18:30:00Z or 2026-01-31", s)}
}
