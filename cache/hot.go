package cache

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
	"time"
)

// The most read keys are counted by Space-Saving: Metwally, Agrawal and El Abbadi, "Efficient
// Computation of Frequent and Top-k Elements in Data Streams", ICDT 2005. There are as many
// counters as there is room for; a key without one takes that of the key with the least count, and
// goes on from there. A key with more than its share of the reads is so never missed, and its count
// is too great by the least count at most.
//
// One hit in sampleEvery is counted. Which ones is decided by the number of the hit times the
// golden ratio: evenly, but not in step with a reader that goes round a number of keys.

const (
	sampleEvery = 64
	hotCounters = 1 << 10
	// hotSpan is the number of samples after which all counts are halved: the list is of late.
	hotSpan = 1 << 20
)

// hit counts one and says whether it is a sample.
func (s *stripe) hit() bool {
	return s.hits.Add(1)*0x9E3779B97F4A7C15 < (1<<64-1)/sampleEvery
}

// same is for keys that may be kept.
func same[K any](k K) K { return k }

// sample takes a hit on r. own makes a key that may be kept.
func (c *Cache[K, V]) sample(k K, r *record[V], own func(K) K) {
	c.hot.count(k, own)
	if every := c.checkEvery; every > 0 && r.shared != nil && linked(r.gen) {
		now, last := int64(c.link.now()), c.checked.Load()
		if now-last >= every && c.checked.CompareAndSwap(last, now) && c.busy.begin() {
			go c.checkItself(own(k), r, time.Duration(now))
		}
	}
}

// HotKey is a key that is read often.
type HotKey[K comparable] struct {
	Key K
	// Hits is how often about it was found here, of late.
	Hits uint64
}

// Hot returns the n most read keys that were found here of late, 1024 at most, the most read first.
// It goes by one hit in 64. Safe for concurrent use.
func (c *Cache[K, V]) Hot(n int) []HotKey[K] { return c.hot.top(n) }

// hotKeys counts keys. The zero value is empty.
type hotKeys[K comparable] struct {
	mu    sync.Mutex
	at    map[K]*hotKey[K]
	least leastFirst[K]
	total uint64
}

type hotKey[K comparable] struct {
	key   K
	count uint64
	index int // in the heap
}

// count counts k, unless another goroutine counts: readers do not wait for each other.
func (h *hotKeys[K]) count(k K, own func(K) K) {
	if !h.mu.TryLock() {
		return
	}
	defer h.mu.Unlock()
	if h.at == nil {
		h.at = make(map[K]*hotKey[K])
	}
	e := h.at[k]
	switch {
	case e != nil:
	case len(h.least) < hotCounters:
		e = &hotKey[K]{key: own(k)}
		h.at[e.key] = e
		heap.Push(&h.least, e)
	default:
		e = h.least[0]
		delete(h.at, e.key)
		e.key = own(k)
		h.at[e.key] = e
	}
	e.count++
	heap.Fix(&h.least, e.index)
	if h.total++; h.total >= hotSpan {
		h.total /= 2
		for _, e := range h.least {
			e.count /= 2 // keeps the order
		}
	}
}

func (h *hotKeys[K]) top(n int) []HotKey[K] {
	h.mu.Lock()
	all := make([]HotKey[K], len(h.least))
	for i, e := range h.least {
		all[i] = HotKey[K]{Key: e.key, Hits: e.count * sampleEvery}
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b HotKey[K]) int { return cmp.Compare(b.Hits, a.Hits) })
	return all[:max(min(n, len(all)), 0)]
}

// leastFirst is a heap.Interface.
type leastFirst[K comparable] []*hotKey[K]

func (h leastFirst[K]) Len() int           { return len(h) }
func (h leastFirst[K]) Less(i, j int) bool { return h[i].count < h[j].count }

func (h leastFirst[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *leastFirst[K]) Push(x any) {
	e := x.(*hotKey[K])
	e.index = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface. Nothing is taken out.
func (h *leastFirst[K]) Pop() any { panic("cache: a counter is never taken out") }
