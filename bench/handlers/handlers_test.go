package handlers_test

import (
	"testing"

	"example.com/quire/bench/handlers"
	"example.com/quire/bench/internal/harnesstest"
)

func TestEveryContestantPassesItsCheck(t *testing.T) { harnesstest.Check(t, handlers.Suite()) }
