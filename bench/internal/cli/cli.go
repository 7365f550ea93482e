// Package cli is the command line of the harness.
package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/saved"
)

// Exit codes.
const (
	ok     = 0
	failed = 1 // a goal missed, a contestant failing, a gate broken, a judge absent under REQUIRE_JUDGES=1
	usage  = 2
)

// App is the program with its suites.
type App struct {
	Suites []harness.Suite // what make bench runs
	Self   harness.Suite   // the self-check, run by its own command only
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Dir    string // where to look for the repository's root upwards from

	root string
}

const help = `bench measures the project's speed.

  bench list                       suites, rows, contestants, saved runs
  bench run [-run RE]              measure; goes on where an interrupted run ended
  bench save [-name N] [-run RE]   measure longer and keep the run
  bench compare A B                old, new, change, verdict
  bench selfcheck                  the harness tells a tenth apart and calls equal things equal
  bench report [NAME]              keep run NAME and write docs/benchmarks/ from the kept runs
  bench gate                       counts, hashes and sizes against bench/baseline/
  bench gate-update [-only RE]     measure the baselines, or those of some kernels, anew and print what changed

-json writes the outcome as JSON. REQUIRE_JUDGES=1 makes an absent tool a failure.
`

var errUsage = errors.New("usage")

// Main runs one command and returns the exit code.
func (a *App) Main(ctx context.Context, args []string) int {
	if len(args) == 2 && args[0] == harness.WorkerCommand {
		if err := harness.Worker(ctx, append([]harness.Suite{a.Self}, a.Suites...), args[1], a.In, a.Out); err != nil {
			a.complain(err)
			return failed
		}
		return ok
	}
	commands := map[string]func(context.Context, []string) (int, error){
		"list": a.list, "run": a.run, "save": a.save, "compare": a.compare,
		"selfcheck": a.selfcheck, "report": a.report, "gate": a.gate, "gate-update": a.gateUpdate,
	}
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		a.printf("%s", help)
		return ok
	}
	command, known := commands[args[0]]
	if !known {
		var names []string
		for name := range commands {
			names = append(names, name)
		}
		a.complain(fmt.Errorf("unknown command %q%s", args[0], suggest(args[0], names)))
		return usage
	}
	if err := harness.Validate(append([]harness.Suite{a.Self}, a.Suites...)); err != nil {
		a.complain(err)
		return usage
	}
	var err error
	if a.root, err = findRoot(a.Dir); err != nil {
		a.complain(err)
		return usage
	}
	code, err := command(ctx, args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return ok
	case errors.Is(err, errUsage):
		a.complain(err)
		return usage
	case err != nil:
		a.complain(err)
		return max(code, failed)
	}
	return code
}

func (a *App) complain(err error) { _, _ = fmt.Fprintf(a.Err, "bench: %v\n", err) }

func (a *App) printf(format string, args ...any) { _, _ = fmt.Fprintf(a.Out, format, args...) }

func (a *App) sayf(format string, args ...any) { _, _ = fmt.Fprintf(a.Err, format, args...) }

// flags is a flag set that speaks through the app.
func (a *App) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.SetOutput(a.Err)
	return f
}

func parse(f *flag.FlagSet, args []string, positional int) error {
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if f.NArg() > positional {
		return fmt.Errorf("%w: %s takes no argument %q", errUsage, f.Name(), f.Arg(positional))
	}
	return nil
}

// findRoot walks up to the folder of the project's go.mod.
func findRoot(dir string) (string, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		b, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && bytes.HasPrefix(bytes.TrimSpace(b), []byte("module example.com/quire\n")) {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("find the repository: no go.mod of example.com/quire above %s", dir)
		}
		at = up
	}
}

func (a *App) results() saved.Store {
	return saved.Store{Dir: filepath.Join(a.root, "bench", "results")}
}
func (a *App) kept() saved.Store { return saved.Store{Dir: filepath.Join(a.root, "bench", "kept")} }

// chosen is a row that a run selected, with its suite.
type chosen struct {
	suite harness.Suite
	row   harness.Row
}

// choose selects rows by an expression over suite/row. One that selects nothing
// is an error that names the nearest.
func choose(suites []harness.Suite, expression string) ([]chosen, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("%w: RUN is no regular expression: %w", errUsage, err)
	}
	var out []chosen
	var names []string
	for _, s := range suites {
		names = append(names, s.Name)
		for _, r := range s.Rows {
			full := harness.FullName(s, r)
			names = append(names, full)
			if re.MatchString(full) {
				out = append(out, chosen{s, r})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: no suite or row matches %q%s", errUsage, expression, suggest(expression, names))
	}
	return out, nil
}

// suggest names the candidates nearest to what was asked for.
func suggest(asked string, candidates []string) string {
	type near struct {
		name string
		far  int
	}
	var all []near
	for _, c := range candidates {
		d := distance(strings.ToLower(asked), strings.ToLower(c))
		if strings.Contains(c, asked) || d <= max(2, len(asked)/2) {
			all = append(all, near{c, d})
		}
	}
	slices.SortStableFunc(all, func(x, y near) int { return x.far - y.far })
	if len(all) == 0 {
		for _, c := range candidates {
			all = append(all, near{name: c})
		}
		slices.SortFunc(all, func(x, y near) int { return strings.Compare(x.name, y.name) })
		if len(all) == 0 {
			return "; there is none"
		}
	}
	var names []string
	for _, n := range all[:min(5, len(all))] {
		names = append(names, n.name)
	}
	return "; near: " + strings.Join(names, ", ")
}

// distance is the number of single-character edits between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// load reads a saved run, or names the near ones.
func (a *App) load(name string) (*saved.Run, error) {
	r, err := a.results().Load(name)
	if err == nil {
		return r, nil
	}
	names, listErr := a.results().Names()
	if listErr != nil {
		return nil, listErr
	}
	if name == "" {
		return nil, fmt.Errorf("%w: name a saved run%s", errUsage, suggest(name, names))
	}
	if errors.Is(err, saved.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w%s", errUsage, err, suggest(name, names))
	}
	return nil, err
}
