package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/machine"
	"example.com/quire/bench/internal/saved"
	"example.com/quire/bench/internal/stat"
)

// lastRun is the name under which make bench leaves its figures.
const lastRun = "last"

func (a *App) run(ctx context.Context, args []string) (int, error) {
	f := a.flags("run")
	expression := f.String("run", "", "regular expression over suite/row")
	asJSON := f.Bool("json", false, "write the run as JSON to standard output")
	fresh := f.Bool("fresh", false, "do not go on with an interrupted run")
	short := f.Bool("short", false, "few short rounds: to see that everything works, not for figures")
	if err := parse(f, args, 0); err != nil {
		return usage, err
	}
	o := harness.Quick()
	if *short {
		o.MinRounds, o.MaxRounds, o.Laps, o.Budget, o.Wait = 8, 8, 4, 4*time.Second, 0
	}
	return a.measure(ctx, task{name: lastRun, expression: *expression, options: o, asJSON: *asJSON, fresh: *fresh, replace: true, command: "make bench"})
}

func (a *App) save(ctx context.Context, args []string) (int, error) {
	f := a.flags("save")
	name := f.String("name", "", "name of the run; default: time and commit")
	expression := f.String("run", "", "regular expression over suite/row")
	asJSON := f.Bool("json", false, "write the run as JSON to standard output")
	replace := f.Bool("replace", false, "replace a finished run of that name")
	quick := f.Bool("quick", false, "rounds as short as those of make bench")
	if err := parse(f, args, 0); err != nil {
		return usage, err
	}
	o := harness.Thorough()
	if *quick {
		o = harness.Quick()
	}
	t := task{name: *name, expression: *expression, options: o, asJSON: *asJSON, replace: *replace, command: "make bench-save"}
	if t.name != "" {
		if err := saved.CheckName(t.name); err != nil {
			return usage, fmt.Errorf("%w: %w", errUsage, err)
		}
	}
	return a.measure(ctx, t)
}

// task is one run to be made.
type task struct {
	name       string
	expression string
	options    harness.Options
	asJSON     bool
	fresh      bool
	replace    bool
	command    string
}

// measure makes a run, or goes on with one: rows that an interrupted run of the
// same binaries, selection and method has are not measured again.
func (a *App) measure(ctx context.Context, t task) (int, error) {
	rows, err := choose(a.Suites, t.expression)
	if err != nil {
		return usage, err
	}
	exe, err := harness.Executable()
	if err != nil {
		return failed, err
	}
	program := a.program()
	run := a.describe(ctx, t, rows)
	if run.Binaries, err = binaries(ctx, exe, rows, program); err != nil {
		return failed, err
	}
	if run, err = a.resume(run, t); err != nil {
		return usage, err
	}
	session := &harness.Session{Exe: exe, Root: a.root, Options: t.options, Quire: program}
	lines := a.progress()
	session.Progress = lines.show
	if err := session.Start(ctx); err != nil {
		return failed, err
	}
	defer session.Close(ctx)
	for i, c := range rows {
		full := harness.FullName(c.suite, c.row)
		if row, have := run.Row(full); have {
			lines.clear()
			a.sayf("[%d/%d] %s: kept from the interrupted run\n", i+1, len(rows), full)
			a.printRow(row, t.asJSON)
			continue
		}
		lines.prefix = fmt.Sprintf("[%d/%d] ", i+1, len(rows))
		row, err := session.Measure(ctx, c.suite, c.row)
		lines.clear()
		if err != nil {
			if saveErr := a.results().Save(run); saveErr != nil {
				err = errors.Join(err, saveErr)
			}
			if ctx.Err() != nil {
				a.sayf("interrupted: %d of %d rows are kept; the same command goes on\n", len(run.Rows), len(rows))
			}
			return failed, err
		}
		run.Put(row)
		if err := a.results().Save(run); err != nil {
			return failed, err
		}
		a.printRow(row, t.asJSON)
	}
	run.Finished = time.Now().UTC().Truncate(time.Second)
	if err := a.results().Save(run); err != nil {
		return failed, err
	}
	if t.asJSON {
		b, err := saved.Encode(run)
		if err != nil {
			return failed, err
		}
		a.printf("%s", b)
	}
	return a.conclude(run), nil
}

// conclude prints what a run amounts to and makes the exit code of it.
func (a *App) conclude(run *saved.Run) int {
	var missed, failing, absent, dirty, unsound int
	worst := 0.0
	for _, r := range run.Rows {
		for _, g := range r.Goals {
			if g.State == saved.Missed {
				missed++
			}
		}
		for _, c := range r.Contestants {
			switch c.State {
			case saved.Failing:
				failing++
			case saved.Absent:
				absent++
			case saved.Timed:
			}
		}
		if r.Quality.Dirty > 0 {
			dirty++
		}
		if !r.Sound() {
			unsound++
		}
		if r.AA != nil {
			worst = max(worst, r.AA.Floor())
		}
	}
	a.sayf("\n%d rows, saved as %s: %d goals missed, %d contestants failing, %d absent, %d rows on a busy machine, %d with a failed control; worst noise floor %.1f %%\n",
		len(run.Rows), run.Name, missed, failing, absent, dirty, unsound, 100*worst)
	required := os.Getenv("REQUIRE_JUDGES") == "1"
	if absent > 0 && required {
		a.sayf("REQUIRE_JUDGES=1: absent contestants are a failure\n")
	}
	if missed > 0 || failing > 0 || unsound > 0 || absent > 0 && required {
		return failed
	}
	return ok
}

// describe begins the record of a run.
func (a *App) describe(ctx context.Context, t task, rows []chosen) *saved.Run {
	now := time.Now().UTC().Truncate(time.Second)
	commit, changed := a.commit(ctx)
	name := t.name
	if name == "" {
		name = now.Format("20060102-150405") + "-" + commit
	}
	command := t.command
	if t.expression != "" {
		command += " RUN='" + t.expression + "'"
	}
	r := &saved.Run{
		Name: name, Commit: commit, Changed: changed, Started: now, Command: command, Selected: t.expression,
		Machine: machine.Describe(),
		Method: saved.Method{
			SliceMS: float64(t.options.Slice) / float64(time.Millisecond), Laps: t.options.Laps,
			MinRounds: t.options.MinRounds, MaxRounds: t.options.MaxRounds, BudgetS: t.options.Budget.Seconds(),
		},
		Tools: tools(ctx, rows),
	}
	for _, c := range rows {
		if n := len(r.Suites); n == 0 || r.Suites[n-1].Name != c.suite.Name {
			r.Suites = append(r.Suites, saved.Suite{Name: c.suite.Name, Title: c.suite.Title, About: c.suite.About, NotShown: c.suite.NotShown})
		}
	}
	return r
}

// commit names the commit that is checked out, and whether files differ from it.
func (a *App) commit(ctx context.Context) (id string, changed bool) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // fixed arguments
		cmd.Dir = a.root
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	id, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "unknown", true
	}
	status, err := git("status", "--porcelain")
	return id, err != nil || status != ""
}

// tools finds the versions of the external programs that the rows name.
func tools(ctx context.Context, rows []chosen) map[string]string {
	out := map[string]string{}
	for _, c := range rows {
		for _, contestant := range c.row.Contestants {
			for _, t := range contestant.Needs {
				if t.Missing() || out[t.Name] != "" {
					continue
				}
				b, err := exec.CommandContext(ctx, t.Name, t.Version...).CombinedOutput() //nolint:gosec // a tool that a suite names
				first, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
				if err != nil || first == "" {
					first = "version unknown"
				}
				out[t.Name] = first
			}
		}
	}
	return out
}

// program returns a function that builds the program itself once.
func (a *App) program() func(context.Context) (string, error) {
	var once sync.Once
	var path string
	var err error
	return func(ctx context.Context) (string, error) {
		once.Do(func() {
			path = filepath.Join(a.root, ".build", "bench-quire")
			err = buildProgram(ctx, a.root, path)
		})
		return path, err
	}
}

// buildProgram builds the program as it is shipped, without what would make two
// builds of the same source differ.
func buildProgram(ctx context.Context, root, path string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, "./cmd/quire") //nolint:gosec // fixed arguments
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build ./cmd/quire: %w\n%s", err, out)
	}
	return nil
}

// binaries hashes what will be measured.
func binaries(ctx context.Context, exe string, rows []chosen, program func(context.Context) (string, error)) (map[string]string, error) {
	out := map[string]string{}
	sum, err := hashFile(exe)
	if err != nil {
		return nil, err
	}
	out["bench"] = sum
	for _, c := range rows {
		for _, contestant := range c.row.Contestants {
			if !contestant.Quire || out["quire"] != "" {
				continue
			}
			path, err := program(ctx)
			if err != nil {
				// The row will say so; the rest can be measured.
				out["quire"] = "does not build"
				continue
			}
			if out["quire"], err = hashFile(path); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("hash %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// resume looks for an interrupted run that this one can go on with.
func (a *App) resume(run *saved.Run, t task) (*saved.Run, error) {
	store := a.results()
	same := func(old *saved.Run) bool {
		return old.Finished.IsZero() && maps.Equal(old.Binaries, run.Binaries) && old.Selected == run.Selected && old.Method == run.Method
	}
	if t.fresh {
		return run, nil
	}
	if t.name != "" {
		old, err := store.Load(t.name)
		switch {
		case errors.Is(err, saved.ErrNotFound):
			return run, nil
		case err != nil && t.replace:
			return run, nil
		case err != nil:
			return nil, err
		case same(old):
			return old, nil
		case t.replace:
			return run, nil
		case old.Finished.IsZero():
			return nil, fmt.Errorf("%w: %q is an unfinished run of other code or another selection; -replace starts it anew", errUsage, t.name)
		default:
			return nil, fmt.Errorf("%w: the run %q exists; choose another name or say -replace", errUsage, t.name)
		}
	}
	names, err := store.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(names) {
		if old, err := store.Load(name); err == nil && name != lastRun && same(old) {
			return old, nil
		}
	}
	return run, nil
}

func (a *App) list(_ context.Context, args []string) (int, error) {
	f := a.flags("list")
	if err := parse(f, args, 0); err != nil {
		return usage, err
	}
	for _, s := range a.Suites {
		a.printf("%s: %s\n", s.Name, s.Title)
		for _, r := range s.Rows {
			var names []string
			for _, c := range r.Contestants {
				names = append(names, c.Name)
				for _, t := range c.Needs {
					if t.Missing() {
						names[len(names)-1] += " (absent: " + t.Install + ")"
					}
				}
			}
			a.printf("  %-28s %s\n", harness.FullName(s, r), strings.Join(names, "; "))
		}
	}
	names, err := a.results().Names()
	if err != nil {
		return failed, err
	}
	for _, name := range names {
		r, err := a.results().Load(name)
		if err != nil {
			a.printf("saved: %s (%v)\n", name, err)
			continue
		}
		state := "finished"
		if r.Finished.IsZero() {
			state = "interrupted"
		}
		a.printf("saved: %s, %s, %s, %d rows, %s\n", name, r.Started.Format(time.DateTime), r.Commit, len(r.Rows), state)
	}
	return ok, nil
}

func (a *App) compare(_ context.Context, args []string) (int, error) {
	f := a.flags("compare")
	asJSON := f.Bool("json", false, "write the comparison as JSON")
	if err := parse(f, args, 2); err != nil {
		return usage, err
	}
	old, err := a.load(f.Arg(0))
	if err != nil {
		return usage, err
	}
	latest, err := a.load(f.Arg(1))
	if err != nil {
		return usage, err
	}
	c := saved.Compare(old, latest)
	if *asJSON {
		b, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			return failed, fmt.Errorf("encode comparison: %w", err)
		}
		a.printf("%s\n", b)
		return ok, nil
	}
	a.printComparing(c)
	return ok, nil
}

func (a *App) selfcheck(ctx context.Context, args []string) (int, error) {
	f := a.flags("selfcheck")
	if err := parse(f, args, 0); err != nil {
		return usage, err
	}
	exe, err := harness.Executable()
	if err != nil {
		return failed, err
	}
	o := harness.Quick()
	o.Wait = 0 // it must hold on a busy machine too
	session := &harness.Session{Exe: exe, Root: a.root, Options: o}
	lines := a.progress()
	session.Progress = lines.show
	if err := session.Start(ctx); err != nil {
		return failed, err
	}
	defer session.Close(ctx)
	right, wrong := 0, 0
	for i, r := range a.Self.Rows {
		want := stat.NoDifference
		session.Options.Budget, session.Options.MaxRounds = 6*time.Second, 60
		if i == 0 {
			want = stat.Slower
			session.Options.Budget, session.Options.MaxRounds = time.Minute, 600
		}
		lines.prefix = fmt.Sprintf("[%d/%d] ", i+1, len(a.Self.Rows))
		row, err := session.Measure(ctx, a.Self, r)
		lines.clear()
		if err != nil {
			return failed, err
		}
		if len(row.Comparisons) != 1 {
			return failed, fmt.Errorf("%s: %s", row.FullName(), row.Contestants[0].Error)
		}
		c := row.Comparisons[0]
		state := "ok"
		if c.Verdict == want {
			right++
		} else {
			wrong++
			state = "WRONG"
		}
		a.printf("%-20s %-14s %.3f [%.3f..%.3f] want %-14s %s  (%d rounds, %d repeated, load %.1f)\n",
			row.FullName(), c.Verdict, c.Ratio.Median, c.Ratio.Lo, c.Ratio.Hi, want, state, row.Quality.Rounds, row.Quality.Repeated, row.Quality.Load)
	}
	a.printf("selfcheck: %d right, %d wrong\n", right, wrong)
	if wrong > 0 {
		return failed, nil
	}
	return ok, nil
}
