package origin

import (
	"sync"
	"sync/atomic"
	"time"
)

// Registry keeps one V per key, made on demand, within a bound. An entry in use is never evicted, so the bound
// may be passed for as long as more than that many are in use at once; entries unused for the idle time go first,
// then the least recently used.
//
// The entries form a ring by last use, give or take a second: front is the oldest. An entry that was moved to the end a moment ago
// stays where it is, which spares its neighbours. One mutex guards map and ring; what V does with itself happens outside.
type Registry[K comparable, V any] struct {
	mu   sync.Mutex
	m    map[K]*Entry[K, V]
	head Entry[K, V] // ring: head.next is the least recently used
	max  int
	over atomic.Bool // there are more than max
	idle time.Duration
	make func(K) V
}

// Entry is a key's place in the registry, held between Acquire and Release.
type Entry[K comparable, V any] struct {
	Key        K
	Value      V
	prev, next *Entry[K, V]
	used       time.Time
	moved      time.Time    // to the end of the ring
	holders    atomic.Int32 // grows with the lock held
}

// slack is how long an entry keeps its place in the ring once others stand behind it.
const slack = time.Second

// NewRegistry returns an empty one of at most limit idle entries.
func NewRegistry[K comparable, V any](limit int, idle time.Duration, mk func(K) V) *Registry[K, V] {
	r := &Registry[K, V]{m: make(map[K]*Entry[K, V]), max: limit, idle: idle, make: mk}
	r.head.prev, r.head.next = &r.head, &r.head
	return r
}

// Acquire returns the entry of k and holds it until Release.
func (r *Registry[K, V]) Acquire(k K, now time.Time) *Entry[K, V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.m[k]
	if e == nil {
		e = &Entry[K, V]{Key: k, Value: r.make(k)}
		r.m[k] = e
		e.link(&r.head, now)
	} else if e.next != &r.head && now.Sub(e.moved) >= slack {
		e.unlink()
		e.link(&r.head, now)
	}
	e.used = now
	e.holders.Add(1)
	r.evict(now)
	return e
}

// Release gives e back. It takes the lock only where there is something to evict; the entry that was one too many is held by whoever made
// it, so that at least its own Release finds that out.
func (r *Registry[K, V]) Release(e *Entry[K, V]) {
	e.holders.Add(-1)
	if r.over.Load() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.evict(e.used)
	}
}

// Peek returns the value of k without making or touching it.
func (r *Registry[K, V]) Peek(k K) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.m[k]; e != nil {
		return e.Value, true
	}
	return v, false
}

// Len returns the number of entries.
func (r *Registry[K, V]) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.m)
}

// Each calls f for every entry, least recently used first. f must not call the registry.
func (r *Registry[K, V]) Each(f func(K, V)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.head.next; e != &r.head; e = e.next {
		f(e.Key, e.Value)
	}
}

// evict removes idle entries, and beyond the bound the least recently used ones that nobody holds.
// Held entries count as used now, which takes them out of the way; at most a handful are looked at per call, so that
// many held ones cost little.
func (r *Registry[K, V]) evict(now time.Time) {
	const look = 8
	e := r.head.next
	for i := 0; i < look && e != &r.head; i++ {
		next := e.next
		over, old := len(r.m) > r.max, now.Sub(e.used) >= r.idle
		if !over && !old {
			break
		}
		e.unlink()
		if e.holders.Load() == 0 {
			delete(r.m, e.Key)
		} else {
			e.used = now
			e.link(&r.head, now)
		}
		e = next
	}
	r.over.Store(len(r.m) > r.max)
}

func (e *Entry[K, V]) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
}

func (e *Entry[K, V]) link(head *Entry[K, V], now time.Time) { // as the most recently used
	e.moved = now
	e.prev, e.next = head.prev, head
	head.prev.next, head.prev = e, e
}
