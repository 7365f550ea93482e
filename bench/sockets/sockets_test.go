package sockets_test

import (
	"testing"

	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/sockets"
)

func TestEveryContestantPassesItsCheck(t *testing.T) { harnesstest.Check(t, sockets.Suite()) }
