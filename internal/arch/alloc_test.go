package arch_test

import (
	"bufio"
	"go/build/constraint"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Under the race detector a sync.Pool drops at random what it is given, so that a count of
// allocations says nothing there. Such tests stand in files that are not built with it, which
// `make test` runs in a second pass.
func TestAllocationsAreCountedWithoutTheRaceDetector(t *testing.T) {
	found, root := 0, os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "bench" || path == "tools": // other modules, tested without the race detector
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go") || path == "internal/arch/alloc_test.go":
			return nil
		}
		text, err := fs.ReadFile(root, path)
		if err != nil || !strings.Contains(string(text), "testing.AllocsPerRun(") {
			return err
		}
		found++
		if builtUnderRace(string(text)) {
			t.Errorf("%s counts allocations and is built with the race detector: want `//go:build !race`", path)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d files that count allocations, %v", found, err)
	}
	if !builtUnderRace("package x") || !builtUnderRace("//go:build linux\n\npackage x") || builtUnderRace("//go:build linux && !race\n\npackage x") {
		t.Error("build constraints are misjudged")
	}
}

// builtUnderRace tells whether a source file is among those built with the race detector on some
// system.
func builtUnderRace(text string) bool {
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan() && !strings.HasPrefix(s.Text(), "package "); {
		if e, err := constraint.Parse(s.Text()); err == nil && constraint.IsGoBuild(s.Text()) {
			return e.Eval(func(string) bool { return true })
		}
	}
	return true
}
