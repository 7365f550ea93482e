package cache

import (
	"math"
	"math/rand/v2"
	"sort"
)

// zipf draws from 0 ... n-1 with a probability that falls with rank to the power of s, ranks being
// spread over the numbers. math/rand's generator takes no s of 1 or less.
func zipf(rng *rand.Rand, n int, s float64) func() int {
	sums := make([]float64, n)
	sum := 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -s)
		sums[i] = sum
	}
	place := rng.Perm(n)
	return func() int {
		return place[min(sort.SearchFloat64s(sums, rng.Float64()*sum), n-1)]
	}
}
