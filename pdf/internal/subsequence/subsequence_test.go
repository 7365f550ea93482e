package subsequence_test

import (
	"math/rand/v2"
	"testing"

	"example.com/quire/pdf/internal/subsequence"
)

// TestCommonSubsequencesAreTheLongest: as long as those that are found by the table of all lengths,
// and in order.
func TestCommonSubsequencesAreTheLongest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same lists each time
	list := func(n, kinds int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = r.IntN(kinds)
		}
		return out
	}
	for range 3000 {
		a, b := list(r.IntN(14), 1+r.IntN(5)), list(r.IntN(14), 1+r.IntN(5))
		length := make([][]int, len(a)+1)
		for i := range length {
			length[i] = make([]int, len(b)+1)
		}
		for i := range a {
			for j := range b {
				length[i+1][j+1] = max(length[i][j+1], length[i+1][j])
				if a[i] == b[j] {
					length[i+1][j+1] = length[i][j] + 1
				}
			}
		}
		pairs := subsequence.Common(a, b)
		i, j := -1, -1
		for _, p := range pairs {
			if p[0] <= i || p[1] <= j || a[p[0]] != b[p[1]] {
				t.Fatalf("%v and %v: %v", a, b, pairs)
			}
			i, j = p[0], p[1]
		}
		if len(pairs) != length[len(a)][len(b)] {
			t.Fatalf("%v and %v: %v, want %d", a, b, pairs, length[len(a)][len(b)])
		}
	}
	// Beyond the limit of edits the ends count.
	a, b := list(5000, 1<<30), list(5000, 1<<30)
	a[0], a[4999] = b[0], b[4999]
	if pairs := subsequence.Common(a, b); len(pairs) != 2 || pairs[1] != [2]int{4999, 4999} {
		t.Errorf("%d pairs", len(pairs))
	}
}
