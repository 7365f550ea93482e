package origin

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Registry keeps one V per key, made on demand, within a bound. An entry in use is never evicted,
// so the bound may be passed for as long as more than that many are in use at once; entries unused
// for the idle time go first, then the least recently used.
//
// What was used within the last second, which is nearly everything, is found without a lock and
// without a write: in a hash table of chains whose links are atomic. The rest happens under one
// mutex, evicting too: then the entry moves to the end of a ring, which so is in the order of last
// use, give or take that second. What V does with itself happens outside.
type Registry[K comparable, V any] struct {
	seed  maphash.Seed
	last  atomic.Pointer[Entry[K, V]]   // touched, which with a single key is the one that is looked for
	table atomic.Pointer[[]chain[K, V]] // its length is a power of two
	epoch time.Time
	idle  int64
	max   int
	make  func(*V, K)
	over  atomic.Bool // there are more than max

	mu   sync.Mutex
	n    int
	head Entry[K, V] // ring: head.newer is the least recently used
}

type chain[K comparable, V any] struct{ first atomic.Pointer[Entry[K, V]] }

// Entry is a key's place in the registry, held between Acquire and Release.
type Entry[K comparable, V any] struct {
	hash    uint64
	next    atomic.Pointer[Entry[K, V]] // of its chain
	touched atomic.Int64                // when it was moved to the end of the ring, in nanoseconds since epoch
	holders atomic.Int32
	gone    atomic.Bool // evicted, or about to be

	Key          K
	Value        V
	older, newer *Entry[K, V]
}

// slack is how long an entry keeps its place in the ring.
const slack = int64(time.Second)

// NewRegistry returns an empty one of at most limit idle entries, whose values mk makes of zero
// ones.
func NewRegistry[K comparable, V any](limit int, idle time.Duration, mk func(*V, K)) *Registry[K, V] {
	r := &Registry[K, V]{seed: maphash.MakeSeed(), epoch: time.Now(), idle: min(int64(idle), math.MaxInt64/2) + slack, max: limit, make: mk}
	table := make([]chain[K, V], 8)
	r.table.Store(&table)
	r.head.older, r.head.newer = &r.head, &r.head
	return r
}

// Acquire returns the entry of k and holds it until Release.
func (r *Registry[K, V]) Acquire(k K, now time.Time) *Entry[K, V] {
	t := int64(now.Sub(r.epoch))
	if e := r.find(k); e != nil && e.recent(t) {
		// Either this sees that the entry is going, or evict sees the holder.
		e.holders.Add(1)
		if !e.gone.Load() {
			return e
		}
		e.holders.Add(-1)
	}
	return r.touch(k, t, 1)
}

// Touch returns the value of k for what is done with it at once: it is used, but not held. It may
// be evicted in the meantime, as it may be afterwards.
func (r *Registry[K, V]) Touch(k K, now time.Time) *V {
	t := int64(now.Sub(r.epoch))
	if e := r.find(k); e != nil && e.recent(t) {
		return &e.Value
	}
	return &r.touch(k, t, 0).Value
}

// recent tells whether the entry may stay where it is in the ring: also for those whose clock is a
// little behind that of another.
func (e *Entry[K, V]) recent(t int64) bool {
	d := t - e.touched.Load()
	return -slack < d && d < slack
}

func (r *Registry[K, V]) find(k K) *Entry[K, V] {
	if e := r.last.Load(); e != nil && e.Key == k {
		return e
	}
	return r.lookup(maphash.Comparable(r.seed, k), k)
}

func (r *Registry[K, V]) lookup(hash uint64, k K) *Entry[K, V] {
	e := at(*r.table.Load(), hash).first.Load()
	for e != nil && (e.hash != hash || e.Key != k) {
		e = e.next.Load()
	}
	return e
}

// touch finds or makes the entry of k, moves it to the end of the ring, and evicts.
func (r *Registry[K, V]) touch(k K, t int64, holders int32) *Entry[K, V] {
	hash := maphash.Comparable(r.seed, k)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.lookup(hash, k)
	if e == nil {
		e = &Entry[K, V]{hash: hash, Key: k}
		r.make(&e.Value, k)
		r.insert(e)
	} else {
		e.unlink()
	}
	e.link(&r.head, t)
	// Without a holder it could be evicted at once, by itself, when all others have one.
	e.holders.Add(1)
	r.evict(t)
	e.holders.Add(holders - 1)
	r.last.Store(e)
	return e
}

// Release gives e back. It takes the lock only where there is something to evict; the entry that
// was one too many is held by whoever made it, so that at least its own Release finds that out.
func (r *Registry[K, V]) Release(e *Entry[K, V]) {
	e.holders.Add(-1)
	if r.over.Load() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.evict(e.touched.Load())
	}
}

// Peek returns the value of k without making or touching it; nil when there is none.
func (r *Registry[K, V]) Peek(k K) *V {
	e := r.find(k)
	if e == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if e = r.find(k); e == nil {
			return nil
		}
	}
	return &e.Value
}

// Len returns the number of entries.
func (r *Registry[K, V]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Each calls f for every entry, least recently used first. f must not call the registry.
func (r *Registry[K, V]) Each(f func(K, *V)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.head.newer; e != &r.head; e = e.newer {
		f(e.Key, &e.Value)
	}
}

// evict removes idle entries, and beyond the bound the least recently used ones that nobody holds.
// Held entries count as used now, which takes them out of the way; at most a handful are looked at
// per call, so that many held ones cost little.
func (r *Registry[K, V]) evict(t int64) {
	const look = 8
	e := r.head.newer
	for i := 0; i < look && e != &r.head; i++ {
		newer := e.newer
		over, old := r.n > r.max, t-e.touched.Load() >= r.idle
		if !over && !old {
			break
		}
		e.unlink()
		e.gone.Store(true)
		if e.holders.Load() == 0 {
			r.remove(e)
		} else {
			e.gone.Store(false)
			e.link(&r.head, t)
		}
		e = newer
	}
	r.over.Store(r.n > r.max)
}

// insert puts e at the head of its chain. When there are more entries than chains the table becomes
// twice as large: who looks for an entry while it moves from chain to chain may miss it, and finds
// it under the lock. An entry that has moved points only to such as moved before, so that nobody is
// led in a circle.
func (r *Registry[K, V]) insert(e *Entry[K, V]) {
	table := *r.table.Load()
	if r.n++; r.n > len(table) {
		larger := make([]chain[K, V], 2*len(table))
		for old := r.head.newer; old != &r.head; old = old.newer {
			push(larger, old)
		}
		r.table.Store(&larger)
		table = larger
	}
	push(table, e)
}

// at returns the chain of a hash.
func at[K comparable, V any](table []chain[K, V], hash uint64) *chain[K, V] {
	return &table[hash&uint64(len(table)-1)] //nolint:gosec // never empty
}

func push[K comparable, V any](table []chain[K, V], e *Entry[K, V]) {
	c := at(table, e.hash)
	e.next.Store(c.first.Load())
	c.first.Store(e)
}

// remove takes e out of its chain. Who stands on it meanwhile still finds the way on.
func (r *Registry[K, V]) remove(e *Entry[K, V]) {
	r.n--
	link := &at(*r.table.Load(), e.hash).first
	for link.Load() != e {
		link = &link.Load().next
	}
	link.Store(e.next.Load())
	r.last.CompareAndSwap(e, nil)
}

func (e *Entry[K, V]) unlink() {
	e.older.newer, e.newer.older = e.newer, e.older
}

func (e *Entry[K, V]) link(head *Entry[K, V], t int64) { // as the most recently used
	e.touched.Store(t)
	e.older, e.newer = head.older, head
	head.older.newer, head.older = e, e
}
