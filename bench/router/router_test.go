package router_test

import (
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/router"
)

func TestEveryContestantPassesItsCheck(t *testing.T) {
	suite := router.Suite()
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

func TestRouteSetSizes(t *testing.T) {
	for name, want := range map[string]int{"github": 203, "static": 157} {
		if got := router.Routes(name); got != want {
			t.Errorf("%s has %d routes, want %d", name, got, want)
		}
	}
}
