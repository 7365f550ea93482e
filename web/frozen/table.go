package frozen

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"sync"
	"sync/atomic"
)

// Source finds the entry for a request target as it was sent, path and query. It
// must not block, must not keep target, and must be safe for concurrent use.
// Without an entry the ordinary handler answers.
type Source interface {
	Find(target []byte) (*Entry, bool)
}

// Limits bound a Table. Zero fields mean their defaults.
type Limits struct {
	Bytes   int64 // of all entries; default 256 MiB
	Entries int   // default 1,000,000
}

// ErrTableFull says that an entry has no room.
var ErrTableFull = errors.New("frozen: the table is full")

// shards spread the entries, so that a change copies only a small map.
const shards = 1024

// Table is a Source whose readers never lock. It is safe for concurrent use; a
// change holds for the very next request on every connection.
type Table struct {
	limits Limits
	seed   maphash.Seed
	shards [shards]atomic.Pointer[map[string]*Entry]

	mu      sync.Mutex // guards changes
	entries int
	bytes   int64
}

// Stats are the figures of a Table.
type Stats struct {
	Entries int
	Bytes   int64
}

// NewTable makes an empty table.
func NewTable(l Limits) *Table {
	if l.Bytes <= 0 {
		l.Bytes = 256 << 20
	}
	if l.Entries <= 0 {
		l.Entries = 1_000_000
	}
	t := &Table{limits: l, seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].Store(&map[string]*Entry{})
	}
	return t
}

// Find implements Source.
func (t *Table) Find(target []byte) (*Entry, bool) {
	e, ok := (*t.shards[maphash.Bytes(t.seed, target)%shards].Load())[string(target)]
	return e, ok
}

// checkTarget refuses what no request of an ordinary client asks for.
func checkTarget(target string) error {
	u, err := url.ParseRequestURI(target)
	if err != nil || target[0] != '/' || len(target) > 2048 || u.Host != "" {
		return fmt.Errorf("frozen: target %q: want a path with or without query, at most 2048 bytes", target)
	}
	for i := range len(target) {
		if target[i] <= ' ' || target[i] >= 0x7f {
			return fmt.Errorf("frozen: target %q: want it percent-encoded", target)
		}
	}
	return nil
}

// Put stores the entry for a target, path and query as clients send them. The
// error may be ErrTableFull; then nothing has changed.
func (t *Table) Put(target string, e *Entry) error {
	if err := checkTarget(target); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := &t.shards[maphash.String(t.seed, target)%shards]
	old := *slot.Load()
	entries, bytes := t.entries+1, t.bytes+cost(target, e)
	if was := old[target]; was != nil {
		entries, bytes = entries-1, bytes-cost(target, was)
	}
	if entries > t.limits.Entries || bytes > t.limits.Bytes {
		return ErrTableFull
	}
	next := maps.Clone(old)
	next[target] = e
	slot.Store(&next)
	t.entries, t.bytes = entries, bytes
	return nil
}

func cost(target string, e *Entry) int64 { return int64(len(target)) + int64(e.Size()) }

// Delete removes a target.
func (t *Table) Delete(target string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := &t.shards[maphash.String(t.seed, target)%shards]
	old := *slot.Load()
	was := old[target]
	if was == nil {
		return
	}
	next := maps.Clone(old)
	delete(next, target)
	slot.Store(&next)
	t.entries, t.bytes = t.entries-1, t.bytes-cost(target, was)
}

// Replace puts all in place of what the table has. A request meets either the old
// entry of its target or the new one.
func (t *Table) Replace(all map[string]*Entry) error {
	var next [shards]map[string]*Entry
	var bytes int64
	for target, e := range all {
		if err := checkTarget(target); err != nil {
			return err
		}
		i := maphash.String(t.seed, target) % shards
		if next[i] == nil {
			next[i] = map[string]*Entry{}
		}
		next[i][target] = e
		bytes += cost(target, e)
	}
	if len(all) > t.limits.Entries || bytes > t.limits.Bytes {
		return ErrTableFull
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.shards {
		t.shards[i].Store(&next[i])
	}
	t.entries, t.bytes = len(all), bytes
	return nil
}

// Stats returns the table's figures.
func (t *Table) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{t.entries, t.bytes}
}
