// Package harnesstest is the test that every suite has to pass.
package harnesstest

import (
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/load"
)

// Need ends a test without what the contestant needs. With REQUIRE_JUDGES=1 a judge that is missing
// is a failure; a peer by one of the given names is not, for no check of ours stands on it.
func Need(t *testing.T, tools []harness.Tool, peers ...string) {
	t.Helper()
	for _, tool := range tools {
		if !tool.Missing() {
			continue
		}
		if os.Getenv("REQUIRE_JUDGES") == "1" && !slices.Contains(peers, tool.Name) {
			t.Fatalf("missing judge: %s: %s", tool.Name, tool.Install)
		}
		t.Skipf("missing: %s: %s", tool.Name, tool.Install)
	}
}

// Check opens every contestant as the harness does and has its output judged in full.
func Check(t *testing.T, suite harness.Suite) {
	t.Helper()
	if err := harness.Validate([]harness.Suite{suite}); err != nil {
		t.Fatal(err)
	}
	for _, row := range suite.Rows {
		for _, c := range row.Contestants {
			t.Run(suite.Name+"/"+row.Name+"/"+c.Name, func(t *testing.T) {
				Need(t, c.Needs, "nginx")
				env := harness.Env{Dir: t.TempDir()}
				if row.Load == nil {
					checkSubject(t, c, env)
					return
				}
				served, err := c.Serve(t.Context(), env)
				if err != nil {
					t.Fatal(err)
				}
				if err := load.Probe(t.Context(), served.Addr, served.Target, row.Load, 0, 200); err != nil {
					t.Error(err)
				}
				if err := served.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func checkSubject(t *testing.T, c harness.Contestant, env harness.Env) {
	t.Helper()
	s, err := c.Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Allocations returns those of one operation of a contestant.
func Allocations(t *testing.T, suite harness.Suite, row, contestant string) float64 {
	t.Helper()
	for _, r := range suite.Rows {
		for _, c := range r.Contestants {
			if r.Name == row && c.Name == contestant {
				return allocations(t, c)
			}
		}
	}
	t.Fatalf("no contestant %s/%s/%s", suite.Name, row, contestant)
	return 0
}

func allocations(t *testing.T, c harness.Contestant) float64 {
	t.Helper()
	s, err := c.Open(t.Context(), harness.Env{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	n, least := min(256, s.Chunk()), math.Inf(1)
	for range 5 {
		if err := s.Prepare(0, n); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := s.Run()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, float64(after.Mallocs-before.Mallocs)/float64(n))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return least
}
