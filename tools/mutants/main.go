// Command mutants plants faults in the code, one at a time, and demands that a test catches each.
//
//	cd tools && go run ./mutants ../fetch/testdata/mutants.json
//
// The file lists faults: the text that stands once in a source file, what to put in its place, and
// the test that must fail then. Paths are relative to the root of the repository. Sources are not
// touched: the build takes the changed file by -overlay.
//
// Exit status 1 when a fault was not caught; 2 when one no longer applies or compiles, which proves
// nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

type mutant struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Package string `json:"package"`
	Run     string `json:"run"`
}

// errUseless is a fault that cannot be planted.
var errUseless = errors.New("proves nothing")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: mutants FILE")
		os.Exit(2)
	}
	caught, all, err := run(ctx, os.Args[1])
	fmt.Printf("mutants caught %d/%d\n", caught, all)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	switch {
	case errors.Is(err, errUseless) || err != nil && all == 0:
		os.Exit(2)
	case err != nil || caught != all:
		os.Exit(1)
	}
}

func run(ctx context.Context, name string) (caught, all int, err error) {
	b, err := os.ReadFile(name) //nolint:gosec // the list that the developer names
	if err != nil {
		return 0, 0, err
	}
	var list []mutant
	if err := json.Unmarshal(b, &list); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", name, err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	var bad []error
	for i, m := range list {
		ok, err := m.try(ctx, root, filepath.Join(dir, fmt.Sprint(i)))
		switch {
		case err != nil:
			bad = append(bad, fmt.Errorf("%s: %w", m.Name, err))
		case !ok:
			bad = append(bad, fmt.Errorf("%s: not caught by %s %s", m.Name, m.Package, m.Run))
		default:
			caught++
		}
	}
	return caught, len(list), errors.Join(bad...)
}

// try plants the fault and runs its test.
func (m *mutant) try(ctx context.Context, root, dir string) (caught bool, err error) {
	source := filepath.Join(root, filepath.FromSlash(m.File))
	b, err := os.ReadFile(source)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errUseless, err)
	}
	if n := strings.Count(string(b), m.Old); n != 1 {
		return false, fmt.Errorf("%w: the text stands %d times in %s, want once", errUseless, n, m.File)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	changed, overlay, binary := filepath.Join(dir, filepath.Base(m.File)), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "test")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(b), m.Old, m.New, 1)), 0o600); err != nil { //nolint:gosec // a base name in a directory of its own
		return false, err
	}
	j, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(overlay, j, 0o600); err != nil {
		return false, err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+m.Package) //nolint:gosec // of our own list
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return false, fmt.Errorf("%w: it does not compile: %w\n%s", errUseless, err, out)
	}
	test := exec.CommandContext(ctx, binary, "-test.run", m.Run, "-test.timeout", "2m") //nolint:gosec // just built
	test.Dir = filepath.Join(root, filepath.FromSlash(m.Package))
	test.Env = append(os.Environ(), "REQUIRE_JUDGES=1")
	out, err := test.CombinedOutput()
	if strings.Contains(string(out), "missing judge") {
		return false, fmt.Errorf("%w: %s", errUseless, out)
	}
	if err == nil {
		if strings.Contains(string(out), "no tests to run") || strings.Contains(string(out), "[no test") {
			return false, fmt.Errorf("%w: no test is called %s", errUseless, m.Run)
		}
		return false, nil
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return false, err
	}
	return true, nil
}
