package router_test

import (
	"testing"

	"example.com/quire/bench/harness"
	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/router"
)

func TestEveryContestantPassesItsCheck(t *testing.T) {
	if err := harness.Validate(router.Suites()); err != nil {
		t.Fatal(err)
	}
	for _, suite := range router.Suites() {
		harnesstest.Check(t, suite)
	}
}

func TestRouteSetSizes(t *testing.T) {
	for name, want := range map[string]int{"github": 203, "static": 157} {
		if got := router.Routes(name); got != want {
			t.Errorf("%s has %d routes, want %d", name, got, want)
		}
	}
}
