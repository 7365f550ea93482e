package api

import (
	"context"
	"errors"
	"math"
	"time"

	"example.com/quire/cache"
)

// held is a *cache.Cache by a string. As an interface it keeps the cache's generic code in this
// package: one that imports API would compile all of it again, for each type of value.
type held[V any] interface {
	Get(ctx context.Context, key string) (V, error)
	Peek(key string) (V, bool)
	Delete(ctx context.Context, key string) error
	Clear(ctx context.Context) error
	Stats() cache.Stats
	Staleness() time.Duration
	Close(ctx context.Context) error
}

// CacheState has the statistics and content of one of the server's caches.
type CacheState struct {
	Name         string `json:"name"`
	Hits         uint64 `json:"hits"`
	Misses       uint64 `json:"misses"`
	Loads        uint64 `json:"loads"`
	LoadFailures uint64 `json:"loadFailures"`
	Evictions    uint64 `json:"evictions"`
	Entries      int64  `json:"entries"`
	Bytes        int64  `json:"bytes"`
	MaxBytes     int64  `json:"maxBytes"`
	// Bound is the longest time since which a served value may have been replaced; null: unknown.
	Bound *float64 `json:"boundSeconds"`
}

// CachedEntry is the entry of a key.
type CachedEntry struct {
	Cache   string `json:"cache"`
	Key     string `json:"key"`
	Content string `json:"content"`        // SHA-256 of the file
	Name    string `json:"name,omitempty"` // of the file, if that is held
	Bytes   int    `json:"bytes"`          // of the file, if that is held
}

func stateOf[V any](c held[V], maxBytes int64) CacheState {
	s := c.Stats()
	state := CacheState{
		Name: s.Name, Hits: s.Hits, Misses: s.Misses, Loads: s.Loads, LoadFailures: s.LoadFailures,
		Evictions: s.Evictions, Entries: s.Entries, Bytes: s.Bytes, MaxBytes: maxBytes,
	}
	if bound := c.Staleness(); bound < math.MaxInt64 {
		state.Bound = new(bound.Seconds())
	}
	return state
}

// Caches returns the state of the caches: public documents, and the latest document of each report.
func (a *API) Caches() []CacheState {
	return []CacheState{stateOf(a.public, a.o.Limits.PublicBytes), stateOf(a.newest, newestBytes)}
}

// Cached returns the entry of a key: the hash of a public document's bytes, or the name of a public
// report. It reads nothing else. file is nil unless the document itself is cached.
func (a *API) Cached(key string) (e CachedEntry, file []byte, ok bool) {
	content, isReport := a.newest.Peek(key)
	if isReport {
		e = CachedEntry{Cache: a.newest.Stats().Name, Key: key, Content: content}
	} else {
		e = CachedEntry{Cache: a.public.Stats().Name, Key: key, Content: key}
	}
	f, held := a.public.Peek(e.Content)
	e.Name, e.Bytes = f.name, len(f.bytes)
	return e, f.bytes, isReport || held
}

// PurgeCaches empties the caches. What is asked for next is read from its blob.
func (a *API) PurgeCaches(ctx context.Context) error {
	return errors.Join(a.newest.Clear(ctx), a.public.Clear(ctx))
}
