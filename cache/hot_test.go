package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHotFindsTheMostReadKeys: of the true ten most read ones of a million keys, read by Zipf's law
// with exponent 0.99, nine are in the list of ten.
func TestHotFindsTheMostReadKeys(t *testing.T) {
	const keys, reads = 1_000_000, 2_000_000
	sums := make([]float64, keys)
	sum := 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -0.99)
		sums[i] = sum
	}
	first := make([]int, keys) // whose sum reaches as many parts of the whole: where to look from
	for k, i := 0, 0; i < keys; i++ {
		for sums[k] < float64(i)/keys*sum {
			k++
		}
		first[i] = k
	}
	c := open(t, Options[int, int]{MaxEntries: 1})
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // G404: the same keys each time
	counts := map[int]int{}
	hits := &c.n.stripes[0]
	for range reads {
		at := r.Float64()
		k := first[int(at*keys)]
		for sums[k] < at*sum {
			k++
		}
		if k < 100 {
			counts[k]++
		}
		if hits.hit() {
			c.hot.count(k, same)
		}
	}
	all := make([]int, 0, len(counts))
	for k := range counts {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b int) int { return counts[b] - counts[a] })
	found := 0
	top := c.Hot(10)
	for _, h := range top {
		if slices.Contains(all[:10], h.Key) {
			found++
		}
	}
	if found < 9 || len(top) != 10 {
		t.Errorf("%d of the ten most read keys in %v", found, top)
	}
	if share := float64(top[0].Hits) / float64(counts[all[0]]); share < 0.8 || share > 1.25 {
		t.Errorf("%d reads told of the most read key, %d true", top[0].Hits, counts[all[0]])
	}
}

// TestHotListsReads by every way, the most read first; the bytes of a key are not kept.
func TestHotListsReads(t *testing.T) {
	c := open(t, Options[string, string]{})
	if got := c.Hot(10); len(got) != 0 {
		t.Errorf("before all reads: %v", got)
	}
	for i := range 5 {
		set(t, c, fmt.Sprint("k", i), "v")
	}
	b := []byte("k?")
	for i := range 5 {
		for range 2000 * (i + 1) {
			b[1] = byte('0' + i)
			_, _ = PeekBytes(c, b)
			b[1] = '?'
			_, _ = c.Peek(string([]byte{'k', byte('0' + i)}))
			want(t, c, fmt.Sprint("k", i), "v")
			if _, err := c.GetMany(t.Context(), []string{fmt.Sprint("k", i)}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := c.Hot(3)
	if len(got) != 3 || got[0].Key != "k4" || got[1].Key != "k3" || got[2].Key != "k2" {
		t.Errorf("%v", got)
	}
	if n := float64(got[0].Hits) / 40_000; n < 0.8 || n > 1.2 {
		t.Errorf("%v of 40000 reads", got[0])
	}
}

// TestHotForgets what was read long ago.
func TestHotForgets(t *testing.T) {
	var h hotKeys[int]
	for range 1000 {
		h.count(1, same)
	}
	for range 20 {
		h.total = hotSpan - 1
		h.count(2, same)
	}
	h.count(2, same)
	if top := h.top(1); top[0].Key == 1 {
		t.Errorf("%v", h.top(3))
	}
	if n := len(h.top(-1)); n != 0 {
		t.Errorf("%d", n)
	}
}
