package font

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Cache caches subsets. It is safe for concurrent use; a hit takes no lock. The key is the SHA-256
// of the font's hash, the whole glyph set and the texts, so a hit is exactly the subset that would
// be made otherwise. The nil Cache caches nothing.
type Cache struct {
	max     int64
	deflate Deflate

	// entries is replaced as a whole under mu and read without it. Insertions
	// are rare beside the work they stand for.
	entries atomic.Pointer[map[cacheKey]*cacheEntry]
	mu      sync.Mutex
	order   []cacheKey // clock hand at the front
	bytes   int64
}

type cacheKey = [sha256.Size]byte

type cacheEntry struct {
	make func() (*Subset, error) // makes it once
	size int64                   // under mu; 0 until made
	used atomic.Bool             // since the clock hand passed
}

// NewCache returns a cache of at most maxBytes of subsets; 0 or less keeps
// nothing. All subsets are compressed with deflate, nil for the default of
// [Use.Subset].
func NewCache(maxBytes int64, deflate Deflate) *Cache {
	c := &Cache{max: maxBytes, deflate: deflate}
	c.entries.Store(&map[cacheKey]*cacheEntry{})
	return c
}

// Subset returns the subset of what u has drawn, as [Use.Subset] makes it.
// Documents that need the same one at the same time make it once.
func (c *Cache) Subset(u *Use, exact bool) (*Subset, error) {
	set := u.glyphs(exact)
	if c == nil {
		return u.subset(set, nil)
	}
	if c.max <= 0 {
		return u.subset(set, c.deflate)
	}
	key := u.key(set)
	e := (*c.entries.Load())[key]
	if e == nil {
		e = c.insert(key, u, set)
	}
	if !e.used.Load() { // a store on every hit would move the line between cores
		e.used.Store(true)
	}
	s, err := e.make()
	if err != nil {
		c.forget(key, e)
		return nil, err
	}
	return s, nil
}

// Bytes returns the size of the cached subsets.
func (c *Cache) Bytes() int64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *Cache) insert(key cacheKey, u *Use, set glyphSet) *cacheEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.entries.Load()
	if e := old[key]; e != nil {
		return e
	}
	// The entry must not hold on to the document's Use, which goes on growing.
	own := &Use{face: u.face, index: u.index, texts: maps.Clone(u.texts)}
	set = slices.Clone(set)
	e := &cacheEntry{}
	e.make = sync.OnceValues(func() (*Subset, error) {
		s, err := own.subset(set, c.deflate)
		if err == nil {
			c.account(key, e, s.size())
		}
		return s, err
	})
	entries := maps.Clone(old)
	entries[key] = e
	c.order = append(c.order, key)
	c.entries.Store(&entries)
	return e
}

// account enters the size of a finished subset and makes room for it.
func (c *Cache) account(key cacheKey, e *cacheEntry, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if (*c.entries.Load())[key] != e {
		return
	}
	e.size = size
	c.bytes += size
	if c.bytes <= c.max {
		return
	}
	entries := maps.Clone(*c.entries.Load())
	// Second chance: what was used since the hand last passed stays for a
	// round. Two rounds see every entry unused.
	for left := 2 * len(c.order); c.bytes > c.max && left > 0; left-- {
		k := c.order[0]
		c.order = c.order[1:]
		v := entries[k]
		if v.size == 0 || k != key && v.used.Swap(false) || k == key && size <= c.max {
			c.order = append(c.order, k)
			continue
		}
		c.bytes -= v.size
		delete(entries, k)
	}
	c.entries.Store(&entries)
}

// forget removes an entry whose subset could not be made.
func (c *Cache) forget(key cacheKey, e *cacheEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := *c.entries.Load(); old[key] == e {
		entries := maps.Clone(old)
		delete(entries, key)
		c.order = slices.DeleteFunc(c.order, func(k cacheKey) bool { return k == key })
		c.entries.Store(&entries)
	}
}
