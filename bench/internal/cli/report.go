package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/report"
	"example.com/quire/bench/internal/saved"
)

func (a *App) report(_ context.Context, args []string) (int, error) {
	f := a.flags("report")
	if err := parse(f, args, 1); err != nil {
		return usage, err
	}
	if name := f.Arg(0); name != "" {
		if err := a.keep(name); err != nil {
			return usage, err
		}
	}
	runs, err := keptRuns(a.kept())
	if err != nil {
		return failed, err
	}
	return ok, writePages(filepath.Join(a.root, "docs", "benchmarks"), report.Pages(runs), a.printf)
}

// keep moves the suites of a saved run into the kept ones, one file a suite. Rows that the run did
// not measure stay as they were.
func (a *App) keep(name string) error {
	run, err := a.load(name)
	if err != nil {
		return err
	}
	if run.Finished.IsZero() {
		return fmt.Errorf("%w: the run %q was interrupted; finish it first", errUsage, name)
	}
	for _, s := range run.Suites {
		one := *run
		one.Name, one.Suites, one.Rows = s.Name, []saved.Suite{s}, nil
		for _, r := range run.Rows {
			if r.Suite == s.Name {
				one.Rows = append(one.Rows, r)
			}
		}
		if len(one.Rows) == 0 {
			continue
		}
		old, err := a.kept().Load(s.Name)
		switch {
		case err == nil:
			one.Adopt(old, func(row string) bool { return a.hasRow(s.Name, row) })
		case !errors.Is(err, saved.ErrNotFound):
			return err
		}
		if err := a.kept().Save(&one); err != nil {
			return err
		}
		a.printf("kept %s of %s\n", s.Name, name)
	}
	return nil
}

// hasRow tells whether there is a row of that name in a suite.
func (a *App) hasRow(suite, row string) bool {
	for _, s := range a.Suites {
		if s.Name == suite {
			return slices.ContainsFunc(s.Rows, func(r harness.Row) bool { return r.Name == row })
		}
	}
	return false
}

func keptRuns(store saved.Store) ([]*saved.Run, error) {
	names, err := store.Names()
	if err != nil {
		return nil, err
	}
	var runs []*saved.Run
	for _, n := range names {
		r, err := store.Load(n)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// writePages writes the pages and removes those of suites that are gone. Pages that another command
// made, which says so in their first line, stay.
func writePages(dir string, pages map[string]string, printf func(string, ...any)) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("write pages: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("write pages: %w", err)
	}
	for _, e := range entries {
		if _, wanted := pages[e.Name()]; !wanted && filepath.Ext(e.Name()) == ".md" {
			if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || !report.Generated(b) {
				continue
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove stale page: %w", err)
			}
			printf("removed %s\n", e.Name())
		}
	}
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == pages[name] {
			continue
		}
		if err := os.WriteFile(path, []byte(pages[name]), 0o644); err != nil { //nolint:gosec // documentation is for everybody to read
			return fmt.Errorf("write pages: %w", err)
		}
		printf("wrote docs/benchmarks/%s\n", name)
	}
	return nil
}
