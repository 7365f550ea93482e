// Package selfcheck shows that the harness can tell and can refrain from
// telling: a kernel that does a tenth more work is slower, and ten runs of a
// kernel beside itself are ten times no difference.
package selfcheck

import (
	"context"
	"errors"
	"hash/crc32"
	"strconv"

	"example.com/quire/bench/harness"
)

// AARuns is how many rows set a kernel beside itself.
const AARuns = 10

// units is the work of the plain kernel; the slowed one does a tenth more.
const (
	units  = 200
	slowed = units + units/10
)

// Suite returns the rows of the self-check. It is not part of make bench.
func Suite() harness.Suite {
	s := harness.Suite{
		Name: "selfcheck", Title: "The harness checks itself",
		About:    "A kernel beside a slowed copy of itself, and kernels beside themselves.",
		NotShown: []string{"Anything about the project's code."},
		Rows: []harness.Row{{
			Name: "slowed", Title: "a kernel slowed by 10 % beside itself",
			Workload: workload,
			Contestants: []harness.Contestant{
				{Name: "slowed", Open: kernel(slowed, false)},
				{Name: "plain", Open: kernel(units, false)},
			},
		}},
	}
	for i := range AARuns {
		// Half of the rows allocate, so that the collector's share is tried too.
		allocates := i%2 == 1
		s.Rows = append(s.Rows, harness.Row{
			Name: "same-" + strconv.Itoa(i+1), Title: "a kernel beside itself",
			Workload: workload,
			Contestants: []harness.Contestant{
				{Name: "one", Open: kernel(units, allocates)},
				{Name: "other", Open: kernel(units, allocates)},
			},
		})
	}
	return s
}

var workload = harness.Workload{
	Name: "crc-chain", Version: 1, Seed: 1,
	Text: "a chain of CRC-32 sums over 256 bytes, each depending on the one before.",
}

type input struct {
	seed  uint32
	sum   uint32
	trail [][]byte
}

func kernel(units int, allocates bool) func(context.Context, harness.Env) (harness.Subject, error) {
	return func(context.Context, harness.Env) (harness.Subject, error) {
		table := crc32.MakeTable(crc32.Castagnoli)
		chain := func(in *input, keep bool) uint32 {
			sum := in.seed
			var block [256]byte
			for i := range units {
				block[i%len(block)] = byte(sum & 0xff)
				sum = crc32.Update(sum, table, block[:])
				if keep && i%10 == 0 {
					in.trail[i/10%len(in.trail)] = append([]byte(nil), block[:64]...)
				}
			}
			return sum
		}
		return &harness.Ops[input]{
			Size: 64,
			Fill: func(i int, in *input) error {
				in.seed, in.sum = uint32(i)*2654435761, 0 //nolint:gosec // any 32 bits will do
				if in.trail == nil {
					in.trail = make([][]byte, 8)
				}
				return nil
			},
			Do: func(in *input) error {
				in.sum = chain(in, allocates)
				return nil
			},
			Verify: func(_ int, in *input) (harness.Facts, error) {
				if in.sum != chain(&input{seed: in.seed, trail: in.trail}, false) {
					return harness.Facts{}, errors.New("wrong sum")
				}
				return harness.Facts{}, nil
			},
			Cheap: func(_ int, in *input) error {
				if in.sum == 0 {
					return errors.New("no sum")
				}
				return nil
			},
		}, nil
	}
}
