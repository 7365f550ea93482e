package fetch_test

import (
	"testing"

	"example.com/quire/bench/fetch"
	"example.com/quire/bench/harness"
)

// allocations of one operation of a contestant.
func allocations(t *testing.T, row, name string) float64 {
	t.Helper()
	for _, r := range fetch.Suite().Rows {
		for _, c := range r.Contestants {
			if r.Name != row || c.Name != name {
				continue
			}
			s, err := c.Open(t.Context(), harness.Env{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // counted before
			if err := s.Prepare(0, 1); err != nil {
				t.Fatal(err)
			}
			return testing.AllocsPerRun(500, func() {
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	t.Fatalf("no contestant %s/%s", row, name)
	return 0
}

func TestAllocationsStayWithinTheirBounds(t *testing.T) {
	for _, c := range []struct {
		row, name string
		most      float64
	}{
		{"hit", "quire", 8},
		{"hit", "quire-all", 11},
		{"full-stack", "quire", 12}, // 8 of them are the stub's and the request's
		{"revalidate", "quire", 31},
		{"breaker", "quire", 0},
		{"limiter", "quire", 0},
		{"keyed", "quire", 0},
		{"store-get", "quire", 0},
		{"layer-retry", "quire", 11},
		{"layer-breaker", "quire", 10},
		{"layer-limit", "quire", 10},
		{"layer-cache-miss", "quire", 13},
		{"layer-collapse", "quire", 22}, // 3 of them a request, a header and an address of its own
		{"layer-hedge", "quire", 26},    // 2 of them a header and an address of the leg's own
	} {
		got := allocations(t, c.row, c.name)
		t.Logf("%s/%s: %.0f", c.row, c.name, got)
		if got > c.most {
			t.Errorf("%s/%s: %.1f allocations, at most %.0f", c.row, c.name, got, c.most)
		}
	}
}
