package psrp_test

import (
	"testing"

	"example.com/quire/bench/internal/harnesstest"
	"example.com/quire/bench/psrp"
)

func TestEveryContestantPassesItsCheck(t *testing.T) { harnesstest.Check(t, psrp.Suite()) }
