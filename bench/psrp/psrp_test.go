package psrp_test

import (
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/psrp"
)

func TestEveryContestantPassesItsCheck(t *testing.T) {
	suite := psrp.Suite()
	if err := harness.Validate([]harness.Suite{suite}); err != nil {
		t.Fatal(err)
	}
	for _, row := range suite.Rows {
		for _, c := range row.Contestants {
			t.Run(row.Name+"/"+c.Name, func(t *testing.T) {
				s, err := c.Open(t.Context(), harness.Env{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
