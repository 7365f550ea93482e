package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// libraries are covered each as a whole: a facade's tests exercise its other packages.
var libraries = []string{"web", "fetch", "cache", "pdf", "psrp", "shadow"}

// program is the group of all packages that are no library's.
const program = "program"

// order is that in which packages start: go test takes them as they are listed, so those whose
// tests take or wait the longest come first, and others are compiled meanwhile.
var order = []string{"pdf", "cache", "psrp", program, "fetch", "web", "shadow"}

// event is one line of `go test -json` (see `go doc test2json`).
type event struct {
	Action  string
	Package string
	Test    string  `json:",omitempty"`
	Elapsed float64 `json:",omitempty"`
	Output  string  `json:",omitempty"`
}

// tally is what a run came to.
type tally struct {
	passed, failed, skipped int
	missing                 map[string]string // judge -> how to install it
	skips                   []string          // tests skipped for any other reason
	brokenPackages          []string
}

// missingJudge opens the skip message of a test whose outside judge is absent:
// "missing judge: NAME: how to install it".
const missingJudge = "missing judge: "

func runTests(ctx context.Context, w io.Writer, dir, only string, require bool) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	race := slices.Clone(raceFlags)
	if why := noRace(ctx); why != "" {
		if require {
			return fmt.Errorf("the race detector is required here: %s", why)
		}
		_, _ = fmt.Fprintf(w, "race detector off: %s\n", why)
		race = nil
	}
	events, err := os.Create(eventsFile(dir))
	if err != nil {
		return err
	}
	defer func() { _ = events.Close() }()
	groups, err := testGroups(ctx)
	if err != nil {
		return err
	}
	sum := tally{missing: map[string]string{}}
	start := time.Now()
	var packages []string
	for _, g := range groups {
		if only == "" || only == g.name {
			packages = append(packages, g.packages...)
		}
	}
	// `make check` vets; here it would be done for every dependency before the tests run.
	args := []string{"test", "-json", "-vet=off", "-timeout=10m", atOnce()}
	if err := goTest(ctx, w, events, race, append(args, packages...), &sum); err != nil {
		return err
	}
	if race != nil && only == "" {
		if err := testRaceless(ctx, w, events, &sum); err != nil {
			return err
		}
	}
	if only == "" {
		// The tools are a module of their own, so that the program's go.mod does not name theirs.
		if err := goTest(ctx, w, events, nil, []string{"test", "-C", "tools", "-json", "-vet=off", "./..."}, &sum); err != nil {
			return err
		}
	}
	return sum.report(w, time.Since(start), require)
}

// atOnce is how many packages are compiled or tested at the same time: more than there are
// processors, since many a test waits for programs of others or for a time to pass.
func atOnce() string { return fmt.Sprintf("-p=%d", max(2, runtime.NumCPU()*3/2)) }

// compileFlags are those that the Makefile gives for all packages; a pattern that names some of
// them takes the place of what holds for all.
const compileFlags = " -dwarf=false -d=gcstart=256"

// raceFlags turn the race detector on, for all but a few packages. SQLite and its library are C
// turned into Go: they keep their data outside of Go's heap, where the detector does not look, and
// their part of a test would take three times as long. The commands of rueidis are thousands of
// generated functions that append to what their caller holds, and take the longest of all to
// compile. The checker of Go's types works in one goroutine, for internal/arch, through all that
// there is. The callers of these, and what they share with them, are watched. Without inlining they
// take a third less to compile, and so do the cache, which is compiled once more for each kind of
// keys and values, and those who keep most kinds.
//
// They are given by GOFLAGS, so that a test that asks go for what the compiler made, as that of
// internal/arch does, gets what is there and has nothing compiled once more.
var raceFlags = []string{
	"-race",
	"-gcflags=modernc.org/sqlite/lib=-race=false -l" + compileFlags,
	"-gcflags=modernc.org/libc=-race=false -l" + compileFlags,
	"-gcflags=github.com/redis/rueidis/internal/cmds=-race=false -l" + compileFlags,
	"-gcflags=go/...=-race=false" + compileFlags,
	"-gcflags=" + module + "/cache/...=-l" + compileFlags,
	"-gcflags=" + module + "/internal/api=-l" + compileFlags,
	"-gcflags=" + module + "/examples/heavyread=-l" + compileFlags,
}

// racelessFlags are those of a run without the race detector: what is the longest to compile is not
// what such a test measures. The database is compiled as for the other targets of `make check`.
var racelessFlags = []string{
	"-gcflags=github.com/redis/rueidis/internal/cmds=-l" + compileFlags,
	"-gcflags=" + module + "/internal/api=-l" + compileFlags,
}

// testRaceless runs the tests that stand in files built without the race detector only, such
// as those that count allocations, which it makes itself.
func testRaceless(ctx context.Context, w, events io.Writer, sum *tally) error {
	with, err := testFiles(ctx, withRace)
	if err != nil {
		return err
	}
	without, err := testFiles(ctx)
	if err != nil {
		return err
	}
	var packages, names []string
	for pkg, files := range without {
		for _, f := range files {
			if slices.Contains(with[pkg], f) {
				continue
			}
			tests, err := testsIn(f)
			if err != nil {
				return err
			}
			if len(tests) > 0 {
				packages = append(packages, pkg)
				names = append(names, tests...)
			}
		}
	}
	if len(packages) == 0 {
		return nil
	}
	slices.SortFunc(packages, inOrder)
	slices.Sort(names)
	_, _ = fmt.Fprintln(w, "without the race detector:")
	args := []string{"test", "-json", "-vet=off", "-timeout=10m", atOnce(), "-run", "^(" + strings.Join(slices.Compact(names), "|") + ")$"}
	return goTest(ctx, w, events, racelessFlags, append(args, slices.Compact(packages)...), sum)
}

// withRace chooses files as -race does, but needs no C compiler.
const withRace = "-tags=race"

// testFiles lists the test files of each package, as they are chosen under flags.
func testFiles(ctx context.Context, flags ...string) (map[string][]string, error) {
	args := append([]string{"list", "-f", "{{$d := .Dir}}{{$p := .ImportPath}}{{range .TestGoFiles}}{{$p}}\t{{$d}}/{{.}}\n{{end}}{{range .XTestGoFiles}}{{$p}}\t{{$d}}/{{.}}\n{{end}}"}, flags...)
	out, err := exec.CommandContext(ctx, "go", append(args, "./...")...).Output() //nolint:gosec // the arguments are this program's own
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	files := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		if pkg, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			files[pkg] = append(files[pkg], file)
		}
	}
	return files, nil
}

// testsIn names the test functions of a file.
func testsIn(file string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && fn.Name.Name != "TestMain" {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}

// report prints the close of a run: what was missing, what was skipped, the count.
func (s *tally) report(w io.Writer, took time.Duration, require bool) error {
	for _, p := range s.brokenPackages {
		_, _ = fmt.Fprintf(w, "package failed: %s\n", p)
	}
	for _, t := range s.skips {
		_, _ = fmt.Fprintf(w, "skipped: %s\n", t)
	}
	names := make([]string, 0, len(s.missing))
	for n := range s.missing {
		names = append(names, n)
	}
	slices.Sort(names)
	if len(names) > 0 {
		_, _ = fmt.Fprintf(w, "\noutside judges that were missing (`make tools` installs them):\n")
		for _, n := range names {
			_, _ = fmt.Fprintf(w, "  %-12s %s\n", n, s.missing[n])
		}
	} else {
		_, _ = fmt.Fprintln(w, "\nno outside judge was missing")
	}
	_, _ = fmt.Fprintf(w, "%s in all\n%d passed, %d failed, %d skipped\n", took.Round(time.Second), s.passed, s.failed, s.skipped)
	switch {
	case s.failed > 0 || len(s.brokenPackages) > 0:
		return errors.New("tests failed")
	case require && s.skipped > 0:
		return errors.New("REQUIRE_JUDGES=1: nothing may be skipped")
	case s.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

type group struct {
	name            string
	packages, cover []string
}

// inOrder compares packages by when they start.
func inOrder(a, b string) int {
	return cmp.Or(cmp.Compare(slices.Index(order, groupOf(a)), slices.Index(order, groupOf(b))), cmp.Compare(a, b))
}

// testGroups is one group for each library and one, "program", for all else, in the order in which
// they start.
func testGroups(ctx context.Context) ([]group, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	byName := map[string][]string{}
	for p := range strings.Lines(string(out)) {
		p = strings.TrimSpace(p)
		g := groupOf(p)
		byName[g] = append(byName[g], p)
	}
	var groups []group
	for _, name := range order {
		if p := byName[name]; len(p) > 0 {
			groups = append(groups, group{name: name, packages: p, cover: withoutKits(p)})
		}
	}
	return groups, nil
}

func groupOf(importPath string) string {
	rel := strings.TrimPrefix(importPath, module+"/")
	first, _, _ := strings.Cut(rel, "/")
	if slices.Contains(libraries, first) {
		return first
	}
	return program
}

// withoutKits leaves out what no user runs: test kits and the gates themselves.
func withoutKits(pkgs []string) []string {
	return slices.DeleteFunc(slices.Clone(pkgs), func(p string) bool {
		return strings.HasSuffix(p, "test") || strings.HasSuffix(p, "/internal/arch") || strings.Contains(p, "/examples/")
	})
}

// noRace says why the race detector cannot run, or "".
func noRace(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil {
		return "go env: " + err.Error()
	}
	f := strings.Fields(string(out))
	if len(f) < 2 {
		return "go env names no C compiler"
	}
	if f[0] != "1" {
		return "CGO_ENABLED is " + f[0]
	}
	if _, err := exec.LookPath(f[1]); err != nil {
		return "no C compiler (" + f[1] + "); on Debian: apt-get install gcc libc6-dev"
	}
	return ""
}

// raceEnv shortens the second for which every program with the race detector stays at its
// exit, so that other threads may still report: the suite starts some 200 such programs.
func raceEnv(env []string) []string {
	for i, v := range env {
		if options, ok := strings.CutPrefix(v, "GORACE="); ok {
			if !strings.Contains(options, "atexit_sleep_ms=") {
				env[i] = v + " atexit_sleep_ms=20"
			}
			return env
		}
	}
	return append(env, "GORACE=atexit_sleep_ms=20")
}

// goTest runs one `go test -json` with flags added to GOFLAGS, copies its events to record and
// prints a line a package and the output of what failed.
func goTest(ctx context.Context, w, record io.Writer, flags, args []string, sum *tally) error {
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the arguments are this program's own
	cmd.Stderr = w
	cmd.Env = raceEnv(append(os.Environ(), "GOFLAGS="+withFlags(os.Getenv("GOFLAGS"), flags)))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := readEvents(io.TeeReader(pipe, record), w, sum)
	waitErr := cmd.Wait()
	if readErr != nil {
		return readErr
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return waitErr
	}
	if exit != nil && sum.failed == 0 && len(sum.brokenPackages) == 0 {
		return fmt.Errorf("go test: %w", waitErr)
	}
	return nil
}

// withFlags adds flags to those of GOFLAGS, where each is quoted as a whole.
func withFlags(goflags string, flags []string) string {
	for _, f := range flags {
		goflags += " '" + f + "'"
	}
	return strings.TrimSpace(goflags)
}

func readEvents(r io.Reader, w io.Writer, sum *tally) error {
	type key struct{ pkg, test string }
	output := map[key]*bytes.Buffer{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			_, _ = fmt.Fprintf(w, "%s\n", lines.Bytes()) // a build failure's plain text
			continue
		}
		k := key{e.Package, e.Test}
		rel := strings.TrimPrefix(e.Package, module+"/")
		switch e.Action {
		case "output", "build-output":
			b := output[k]
			if b == nil {
				b = new(bytes.Buffer)
				output[k] = b
			}
			b.WriteString(e.Output)
		case "pass", "fail", "skip":
			if e.Test == "" {
				printPackage(w, rel, e, output[k], sum)
				delete(output, k)
				// What ended with its package, as by a panic or when time was up,
				// had no end of its own.
				for k, b := range output {
					if k.pkg == e.Package {
						if e.Action == "fail" {
							_, _ = fmt.Fprintf(w, "--- UNFINISHED %s.%s\n%s", rel, k.test, text(b))
						}
						delete(output, k)
					}
				}
				continue
			}
			switch e.Action {
			case "pass":
				sum.passed++
			case "fail":
				sum.failed++
				_, _ = fmt.Fprintf(w, "--- FAIL %s.%s (%.2fs)\n%s", rel, e.Test, e.Elapsed, text(output[k]))
			case "skip":
				sum.skipped++
				sum.noteSkip(rel+"."+e.Test, text(output[k]))
			}
			delete(output, k)
		case "build-fail":
			_, _ = fmt.Fprintf(w, "%s", text(output[k]))
		}
	}
	return lines.Err()
}

func printPackage(w io.Writer, rel string, e event, out *bytes.Buffer, sum *tally) {
	switch {
	case e.Action == "fail":
		sum.brokenPackages = append(sum.brokenPackages, rel)
		_, _ = fmt.Fprintf(w, "FAIL %-40s %6.1fs\n", rel, e.Elapsed)
		for line := range strings.Lines(text(out)) {
			if !strings.HasPrefix(line, "coverage: ") && !strings.HasPrefix(line, "FAIL") {
				_, _ = io.WriteString(w, line)
			}
		}
	case strings.Contains(text(out), "[no test files]"):
	default:
		_, _ = fmt.Fprintf(w, "ok   %-40s %6.1fs\n", rel, e.Elapsed)
	}
}

func (s *tally) noteSkip(test, out string) {
	if _, rest, ok := strings.Cut(out, missingJudge); ok {
		line, _, _ := strings.Cut(rest, "\n")
		name, how, _ := strings.Cut(line, ": ")
		s.missing[name] = how
		return
	}
	reason := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			reason = line
		}
	}
	s.skips = append(s.skips, test+": "+reason)
}

func text(b *bytes.Buffer) string {
	if b == nil {
		return ""
	}
	return b.String()
}

// readRun reads the events of the last run.
func readRun(dir string) (map[string]string, error) {
	f, err := os.Open(filepath.Clean(eventsFile(dir)))
	if err != nil {
		return nil, fmt.Errorf("no recorded run; `make test` makes one: %w", err)
	}
	defer func() { _ = f.Close() }()
	results := map[string]string{} // "web.TestRouter" -> pass, fail, skip
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Test == "" {
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			results[strings.TrimPrefix(e.Package, module+"/")+"."+e.Test] = e.Action
		}
	}
	return results, lines.Err()
}
