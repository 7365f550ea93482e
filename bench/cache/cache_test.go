package cache_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/quire/bench/cache"
	"example.com/quire/bench/harness"
)

// world is what contestants need of it.
func world(t *testing.T) harness.Env {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return harness.Env{Root: root, Dir: t.TempDir()}
}

func TestMain(m *testing.M) {
	cache.ServeReader()
	os.Exit(m.Run())
}

func TestEveryContestantPassesItsCheck(t *testing.T) {
	suite := cache.SmallSuite()
	if err := harness.Validate([]harness.Suite{suite}); err != nil {
		t.Fatal(err)
	}
	for _, row := range suite.Rows {
		for _, c := range row.Contestants {
			t.Run(row.Name+"/"+c.Name, func(t *testing.T) {
				env := world(t)
				if _, err := os.Stat(filepath.Join(env.Root, ".tools", "redis")); err != nil && strings.HasPrefix(row.Name, "redis-") && os.Getenv("REQUIRE_JUDGES") != "1" {
					t.Skip("missing judge: redis: ./tools/install-judges")
				}
				s, err := c.Open(t.Context(), env)
				if err != nil {
					t.Fatal(err)
				}
				_, err = s.Check(t.Context())
				if err = errors.Join(err, s.Prepare(5, min(1000, s.Chunk())), s.Run(), s.Glance(), s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestAllocations of an operation. Those of the rows of Redis are of many goroutines.
func TestAllocations(t *testing.T) {
	most := map[string]float64{"hit": 0, "hit-bytes": 0, "hit-256": 0, "set-in-place": 1, "set-unique": 5}
	for _, row := range cache.Suite().Rows {
		limit, ok := most[row.Name]
		if !ok {
			continue
		}
		s, err := row.Contestants[0].Open(t.Context(), world(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Prepare(0, 1000); err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(20, func() {
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}) / 1000
		if n > limit+0.05 { // the clock and the store have goroutines of their own
			t.Errorf("%s: %v allocations, want at most %v", row.Name, n, limit)
		}
		if err := errors.Join(s.Glance(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}
