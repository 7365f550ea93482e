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

func TestX(t *testing.T) {
	for _, r := range fetch.Suite().Rows {
		for _, c := range r.Contestants {
			if r.Name == "collapse" {
				continue
			}
			t.Logf("%-20s %-12s %.1f", r.Name, c.Name, allocations(t, r.Name, c.Name))
		}
	}
}
