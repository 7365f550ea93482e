package fetch_test

import (
	"testing"

	"example.com/quire/bench/fetch"
	"example.com/quire/bench/internal/harnesstest"
)

func TestEveryContestantPassesItsCheck(t *testing.T) { harnesstest.Check(t, fetch.Suite()) }
