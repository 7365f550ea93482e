package pdfops

import (
	"path/filepath"
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/harnesstest"
)

// TestEveryContestantDoesTheOperations opens each contestant as the harness does and has what it
// wrote judged.
func TestEveryContestantDoesTheOperations(t *testing.T) {
	if err := harness.Validate([]harness.Suite{Suite()}); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	rows := append([]harness.Row{}, signing())
	for _, o := range operations() {
		rows = append(rows, o.row())
	}
	for _, r := range rows {
		for _, c := range r.Contestants {
			t.Run(r.Name+"/"+c.Name, func(t *testing.T) {
				harnesstest.Need(t, c.Needs)
				s, err := c.Open(t.Context(), harness.Env{Dir: t.TempDir(), Root: root})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
				for _, do := range []func() error{func() error { return s.Prepare(100, 1) }, s.Run, s.Glance, s.Close} {
					if err := do(); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestLargeFile is worked on by all, with the pages that it should have in the end; here it has
// three.
func TestLargeFile(t *testing.T) {
	for _, l := range largeOperations(3) {
		for _, c := range l.row().Contestants {
			t.Run(l.name+"/"+c.Name, func(t *testing.T) {
				harnesstest.Need(t, c.Needs)
				s, err := c.Open(t.Context(), harness.Env{Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
