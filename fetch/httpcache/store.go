package httpcache

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Store keeps entries. Entries are immutable and shared: a store may hand the same one to many. No
// entry is nil, nil. Its methods are called concurrently. One that takes longer than 100 ms is
// given up for that request, with its context cancelled.
type Store interface {
	Get(ctx context.Context, k Key) (*Entry, error)
	Set(ctx context.Context, k Key, e *Entry) error
	Delete(ctx context.Context, k Key) error
}

// Purger is a store that can delete by a rule.
type Purger interface {
	// Purge deletes the entries whose keys match and returns how many they were.
	Purge(ctx context.Context, match func(Key) bool) (int, error)
}

// Sizer is a store that knows its size.
type Sizer interface {
	Size() (entries, bytes int64)
	MaxBytes() int64
}

// Memory is a Store in memory within a bound of bytes: bodies, headers, keys and overhead. What
// goes when it is full is chosen by SIEVE (Zhang and others, NSDI 2024): entries stand in the order
// of their arrival, a hand goes from the oldest to the newest, spares those used since it came by
// last and removes the first that was not. A look-up sets a bit and moves nothing.
//
// It is divided into shards, each with a lock and a hand; the bound is common to all.
type Memory struct {
	max         int64
	bytes       atomic.Int64
	entries     atomic.Int64
	partitioned atomic.Int64 // entries with a partition
	next        atomic.Uint32
	seed        maphash.Seed
	shards      [memoryShards]shard
}

const memoryShards = 16

type shard struct {
	mu    sync.RWMutex
	m     map[uint64]*node // by hash: the first of those that have it
	count int
	head  node // ring by arrival: head.next is the newest
	hand  *node
	_     [64]byte // no two shards on one line of the processor's cache
}

type node struct {
	key        Key
	hash       uint64
	same       *node // the next of the same hash
	entry      *Entry
	size       int64
	used       atomic.Bool
	prev, next *node
}

// NewMemory returns an empty store of at most maxBytes: 0 or less = 64 MiB.
func NewMemory(maxBytes int64) *Memory {
	if maxBytes <= 0 {
		maxBytes = defaultStore
	}
	s := &Memory{max: maxBytes, seed: maphash.MakeSeed()}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.m = make(map[uint64]*node)
		sh.head.prev, sh.head.next = &sh.head, &sh.head
	}
	return s
}

// shard returns the key's hash and shard. Keys that differ in the scheme alone have one hash, and
// find compares them in full.
func (s *Memory) shard(k *Key) (uint64, *shard) {
	h := maphash.String(s.seed, k.Path) ^ 3*maphash.String(s.seed, k.Host)
	if k.Query != "" {
		h ^= 5 * maphash.String(s.seed, k.Query)
	}
	if k.Partition != "" {
		h ^= 7 * maphash.String(s.seed, k.Partition)
	}
	return h, &s.shards[h%memoryShards]
}

func (sh *shard) find(h uint64, k *Key) *node {
	n := sh.m[h]
	for n != nil && n.key != *k {
		n = n.same
	}
	return n
}

func (s *Memory) get(k *Key) *Entry {
	h, sh := s.shard(k)
	sh.mu.RLock()
	n := sh.find(h, k)
	if n == nil {
		sh.mu.RUnlock()
		return nil
	}
	e := n.entry
	if !n.used.Load() {
		n.used.Store(true)
	}
	sh.mu.RUnlock()
	return e
}

// Get implements Store.
func (s *Memory) Get(_ context.Context, k Key) (*Entry, error) { return s.get(&k), nil }

// Set implements Store. An entry larger than the store is not kept.
func (s *Memory) Set(_ context.Context, k Key, e *Entry) error {
	size := e.size() + int64(len(k.Scheme)+len(k.Host)+len(k.Path)+len(k.Query)+len(k.Partition)) + nodeOverhead
	if s.replace(&k, e, size) {
		return nil
	}
	s.remove(k)
	if size > s.max {
		return nil
	}
	for !s.reserve(size) {
		if !s.evict() {
			return nil // others hold the room and have not arrived yet
		}
	}
	h, sh := s.shard(&k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if old := sh.find(h, &k); old != nil { // another Set came first
		s.forget(sh, old)
	}
	n := &node{key: k, hash: h, same: sh.m[h], entry: e, size: size}
	n.prev, n.next = &sh.head, sh.head.next
	n.prev.next, n.next.prev = n, n
	sh.m[h] = n
	sh.count++
	s.entries.Add(1)
	if k.Partition != "" {
		s.partitioned.Add(1)
	}
	return nil
}

// reserve takes so many bytes of the bound, or gives back when n is negative; false when they are
// not there.
func (s *Memory) reserve(n int64) bool {
	for {
		b := s.bytes.Load()
		if n > 0 && b+n > s.max {
			return false
		}
		if s.bytes.CompareAndSwap(b, b+n) {
			return true
		}
	}
}

// replace puts e in the place of what the key has, which is a use of it. It is false where there is
// nothing, and where the new one does not fit without another's going.
func (s *Memory) replace(k *Key, e *Entry, size int64) bool {
	h, sh := s.shard(k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	n := sh.find(h, k)
	if n == nil {
		return false
	}
	if !s.reserve(size - n.size) {
		return false
	}
	n.entry, n.size = e, size
	n.used.Store(true)
	return true
}

// nodeOverhead is what a key costs besides its text: node, place in the map, Entry.
const nodeOverhead = 320

// Delete implements Store.
func (s *Memory) Delete(_ context.Context, k Key) error {
	s.remove(k)
	return nil
}

func (s *Memory) remove(k Key) {
	h, sh := s.shard(&k)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if n := sh.find(h, &k); n != nil {
		s.forget(sh, n)
	}
}

// forget takes n out. With the shard's lock held.
func (s *Memory) forget(sh *shard, n *node) {
	if sh.hand == n {
		sh.hand = n.prev
	}
	n.prev.next, n.next.prev = n.next, n.prev
	sh.count--
	switch first := sh.m[n.hash]; {
	case first != n:
		for first.same != n {
			first = first.same
		}
		first.same = n.same
	case n.same != nil:
		sh.m[n.hash] = n.same
	default:
		delete(sh.m, n.hash)
	}
	s.bytes.Add(-n.size)
	s.entries.Add(-1)
	if n.key.Partition != "" {
		s.partitioned.Add(-1)
	}
}

// evict removes one entry, of the next shard whose hand finds one that was not used. Where it finds
// none it has taken the marks away, and a second round does.
func (s *Memory) evict() bool {
	for range 2 * memoryShards {
		sh := &s.shards[s.next.Add(1)%memoryShards]
		sh.mu.Lock()
		n := sh.sieve()
		if n != nil {
			s.forget(sh, n)
		}
		sh.mu.Unlock()
		if n != nil {
			return true
		}
	}
	return false
}

// sieve moves the hand to what goes next, once around at most.
func (sh *shard) sieve() *node {
	n := sh.hand
	for range sh.count {
		if n == nil || n == &sh.head {
			n = sh.head.prev // the oldest
		}
		if !n.used.Load() {
			sh.hand = n
			return n
		}
		n.used.Store(false)
		n = n.prev
	}
	sh.hand = n
	return nil
}

// Purge implements Purger.
func (s *Memory) Purge(_ context.Context, match func(Key) bool) (int, error) {
	gone := 0
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		for n := sh.head.next; n != &sh.head; n = n.next {
			if match(n.key) {
				s.forget(sh, n)
				gone++
			}
		}
		sh.mu.Unlock()
	}
	return gone, nil
}

// Size implements Sizer.
func (s *Memory) Size() (entries, bytes int64) { return s.entries.Load(), s.bytes.Load() }

// MaxBytes implements Sizer.
func (s *Memory) MaxBytes() int64 { return s.max }

// get reads the store. A store of others' may be slow or fail: that costs storeWait at most and is
// a miss. ok is false then.
func (c *Cache) get(ctx context.Context, k *Key) (e *Entry, ok bool) {
	if c.direct != nil {
		return c.direct.get(k), true
	}
	key := *k
	return c.bounded(ctx, func(ctx context.Context) (*Entry, error) { return c.cfg.Store.Get(ctx, key) })
}

func (c *Cache) set(ctx context.Context, k Key, e *Entry) {
	if c.direct != nil {
		_ = c.direct.Set(ctx, k, e) // it never fails
		c.stats.stored.Add(1)
		return
	}
	if _, ok := c.bounded(ctx, func(ctx context.Context) (*Entry, error) { return nil, c.cfg.Store.Set(ctx, k, e) }); ok {
		c.stats.stored.Add(1)
	}
}

func (c *Cache) remove(ctx context.Context, k Key) {
	if c.direct != nil {
		c.direct.remove(k)
		return
	}
	c.bounded(ctx, func(ctx context.Context) (*Entry, error) { return nil, c.cfg.Store.Delete(ctx, k) })
}

// bounded runs a call of the store for at most storeWait, also one that does not look at its
// context. The caller's cancellation does not reach it: an entry half written is of no use to
// anybody.
func (c *Cache) bounded(ctx context.Context, f func(context.Context) (*Entry, error)) (*Entry, bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeWait)
	defer cancel() // not before the answer was taken, which would look like the end of the time
	type result struct {
		e   *Entry
		err error
	}
	done := make(chan result, 1)
	c.mu.Lock()
	tracked := !c.closed // Close waits for the calls before it, and none may be added while it waits
	if tracked {
		c.wg.Add(1)
	}
	c.mu.Unlock()
	go func() {
		if tracked {
			defer c.wg.Done()
		}
		e, err := f(ctx)
		done <- result{e, err}
	}()
	select {
	case r := <-done:
		if r.err == nil {
			return r.e, true
		}
	case <-ctx.Done():
	}
	c.stats.storeErrors.Add(1)
	return nil, false
}
